"""What a remote host's refusal of a push means, in one sentence with what to do."""

import re
import shlex

from midwatch.errors import Away, Limited, Locked, MidwatchError, Refused
from midwatch.terms.projects import host_of
from midwatch.views.text.plain import clean

_Sign = tuple[str, type[MidwatchError], str, str]

# Order matters: a host may say more than one of these, and the most specific comes first.
_READING: tuple[_Sign, ...] = (
    (
        r"authentication failed|could not read (username|password)|returned error: 401|invalid username or",
        Locked,
        "the credential for {host} was refused, or there is none",
        "Renew the token that [forges] names for {host}, or let the server's user sign in there with ssh.",
    ),
    (
        r"permission denied \(publickey",
        Locked,
        "{host} did not accept the ssh key of the server's user",
        "Add the key there, and try `ssh -T git@{host}` as the server's user.",
    ),
    (
        r"host key verification failed|remote host identification has changed",
        Refused,
        "the host key of {host} is not confirmed",
        "Run `ssh {host}` once as the server's user and compare the key it shows.",
    ),
    (
        r"certificate|ssl|tls\b|gnutls",
        Refused,
        "the TLS certificate of {host} was not accepted",
        "Check the host's certificate and this machine's clock; Midwatch never skips the check.",
    ),
    (
        r"returned error: 429|rate limit",
        Limited,
        "{host} is limiting requests",
        "It resumes by itself.",
    ),
    (
        r"returned error: 5\d\d|could not resolve|connect|timed out|unreachable|no route|hung up|disconnect|early eof",
        Away,
        "{host} cannot be reached, or does not answer",
        "Check the address and the network; it is tried again.",
    ),
    (
        r"repository not found|not found|does not exist|not appear to be a git|returned error: 404",
        Refused,
        "there is no such repository, or the credential cannot access it",
        "Check the address with `git ls-remote {url}`; if it moved, add the project by its new address.",
    ),
)
_WRITING: tuple[_Sign, ...] = (
    (
        r"archived",
        Refused,
        "the repository is archived, so nothing can be written to it",
        "Unarchive it there, then resume the job.",
    ),
    (
        r"protected branch|GH006|GH013|rule violations|cannot (create|update) (ref )?due to",
        Refused,
        "{branch} is protected there",
        "Let agent/* be written (branch protection or rulesets of the repository), then resume the job.",
    ),
    (
        r"pre-receive hook declined|hook declined|GL-HOOK",
        Refused,
        "a hook of the server refused it",
        "Look at what the hook wants, then resume the job.",
    ),
    (
        r"non-fast-forward|fetch first|stale info|\(rejected\)",
        Refused,
        "{branch} has other work there, and nothing is pushed by force",
        "Look at it, then remove it with `git push {url} --delete {branch}` and resume the job.",
    ),
    (
        r"returned error: 403|permission to .* denied|write access|not allowed|access denied|denied",
        Refused,
        "the credential may read but not write there",
        "Give the token write access to the contents (classic tokens: the repo scope), then resume the job.",
    ),
)


def push_refused(source: str, branch: str, complaints: str) -> MidwatchError:
    """Say why a host rejected a branch."""
    return _error(f"{source} rejected {branch}", source, complaints, (*_WRITING, *_READING), branch)


def unread(source: str, complaints: str) -> MidwatchError:
    """Say why a host's branches cannot be listed."""
    return _error(f"The branches of {source} cannot be listed", source, complaints, _READING, "")


def _error(what: str, source: str, complaints: str, signs: tuple[_Sign, ...], branch: str) -> MidwatchError:
    host = host_of(source)
    # A host or repository may well be called ssl or archived; only what git and the server say about it counts.
    words = complaints.replace(source, "").replace(source.removesuffix(".git"), "").replace(host or "\0", "")
    for pattern, kind, why, hint in signs:
        if re.search(pattern, words, re.IGNORECASE):
            facts = {"host": host, "url": shlex.quote(source), "branch": branch}
            said = spoken(complaints)
            more = f" It says: {said}" if said else ""
            return kind(f"{what}: {why.format(**facts)}.{more}", hint=hint.format(**facts))
    last = clean((complaints.strip().splitlines() or ["no reason given"])[-1])
    return Refused(
        f"{what}: {last}.",
        hint=f"Check that the server's user may push there: `git push --dry-run {shlex.quote(source)} HEAD:{branch}`.",
    )


def spoken(complaints: str) -> str:
    """Return what the remote side said, as one line; it is untrusted text."""
    lines = [line.removeprefix("remote:").strip() for line in complaints.splitlines() if line.startswith("remote:")]
    telling = [line for line in lines if re.search(r"[A-Za-z]", line)]
    return clean(" ".join(telling[:3]))
