"""Where secrets are kept on a machine, so that no folder that holds one is lent to a job or made a project."""

import os
import pwd
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from midwatch.errors import Misuse
from midwatch.settings.folder import OF_A_DEMO, data_folder, environment

IN_A_HOME: Final = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".oci", ".password-store", ".pki", ".terraform.d"),
    *(".config/gh", ".config/hub", ".config/gcloud", ".config/git/credentials", ".config/op", ".config/sops"),
    *(".config/glab-cli", ".config/rclone", ".config/doctl", ".config/containers", ".config/pip", ".config/pypoetry"),
    *(".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".s3cfg", ".boto", ".vault-token"),
    *(".git-credentials", ".gitcookies", ".pip", ".bash_history", ".zsh_history", ".mozilla", ".thunderbird"),
    *(".local/share/keyrings", ".config/google-chrome", ".config/chromium", ".config/Signal"),
)
"""What a person's home keeps secrets in; it may come into being later, so a home itself is never lent."""
IN_A_TOOL: Final = (
    *(".cargo/credentials.toml", ".cargo/credentials", ".gem/credentials", ".m2/settings.xml"),
    *(".m2/settings-security.xml", ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json"),
    *(".nuget/NuGet/NuGet.Config", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"),
    *(".local/share/opencode/auth.json", ".bunfig.toml", ".huggingface/token", ".cache/huggingface/token"),
)
"""Files of tools beside programs that may well be lent; they count while they exist."""
OF_THE_SYSTEM: Final = (
    *("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/etc/docker", "/etc/krb5.keytab"),
    *("/run/docker.sock", "/var/run/docker.sock", "/run/user", "/run/secrets", "/var/run/secrets", "/run/dbus"),
    *("/proc", "/sys", "/dev", "/boot", "/var/lib/docker", "/var/spool/cron"),
)
NAMED_BY: Final = (
    *("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "DOCKER_CONFIG"),
    *("GH_CONFIG_DIR", "GNUPGHOME", "GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG", "NETRC"),
    *("NPM_CONFIG_USERCONFIG", "PASSWORD_STORE_DIR", "PGPASSFILE", "PIP_CONFIG_FILE", "SSH_AUTH_SOCK"),
)
"""Variables that say where a tool keeps its secrets, where it is not the usual place."""
SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - people keep fast checkouts there
"""A repository may lie in it, unlike in the rest of /dev."""
BY_NAME: Final = frozenset(
    {
        *(one for one in IN_A_HOME if "/" not in one),
        *("id_rsa", "id_ecdsa", "id_ed25519", "id_dsa", ".env", "credentials.json", "service-account.json"),
    }
    - {".npmrc", ".docker", ".yarnrc.yml", ".pip"}
)
"""A folder with one of these in it holds a secret, wherever it is; the ones left out are often harmless there."""


def refuse_secret_place(path: Path, what: str, *, home: Path | None = None, kept: Iterable[Path] = ()) -> None:
    """Raise where this path, followed through its links, is or holds or lies in a place of secrets.

    `home` is the data folder, `kept` are files that the settings name as secrets.
    """
    if why := why_secret(path, home=home, kept=kept):
        raise Misuse(f"{what} {path} cannot be used: {why}.", hint=HINT)


def refuse_inside_secret_place(path: Path, what: str, *, home: Path | None = None) -> None:
    """Raise where this path is a place of secrets or lies in one; what only holds one beside it may be used."""
    real = _real(path)
    if (real.parent / OF_A_DEMO).is_file() or SHARED_MEMORY in real.parents:
        return
    for place in _places(real, home, ()):
        if real == place or place in real.parents:
            raise Misuse(f"{what} {path} cannot be used: {_said(real, place, home)}.", hint=HINT)


def holds_secret(path: Path, *, home: Path | None = None, kept: Iterable[Path] = ()) -> bool:
    """Return whether a path may not be lent."""
    try:
        return bool(why_secret(path, home=home, kept=kept))
    except Misuse:
        return True


def why_secret(path: Path, *, home: Path | None = None, kept: Iterable[Path] = ()) -> str:
    """Say why a path may not be lent; nothing where it may be."""
    real = _real(path)
    for place in _places(real, home, kept):
        if real == place or real in place.parents or place in real.parents:
            return _said(real, place, home)
    found = _by_name(real)
    return f"it holds {found}, which is usually a secret" if found else ""


HINT: Final = "Name a folder that holds no secret."


def _said(real: Path, place: Path, home: Path | None) -> str:
    ours = place in {data for one in _data(home) for data in (one, _real(one))}
    known = f"Midwatch's own data ({place})" if ours else f"secrets ({place})"
    if real in place.parents:
        return f"it holds {known}" if _exists(place) else f"it would hold {known}"
    where = "it is" if real == place else "it lies in"
    return f"{where} the place of {known}"


def _places(real: Path, home: Path | None, kept: Iterable[Path]) -> Iterator[Path]:
    """Give every known place that may have to do with a path, as written and as its links lead."""
    own = Path.home()
    named = (*_data(home), *kept, *(own / one for one in IN_A_HOME), *_named_by(environment()))
    there = (*(place / one for place in _homes(real) for one in (*IN_A_HOME, *IN_A_TOOL)), *map(Path, OF_THE_SYSTEM))
    for place in chain(named, (one for one in there if _exists(one))):
        yield place
        if (real := _real(place)) != place:
            yield real


def _data(home: Path | None) -> tuple[Path, ...]:
    return (data_folder(), home) if home is not None else (data_folder(),)


def _homes(real: Path) -> set[Path]:
    """Give our own home, and those that a path lies in or above: to look into any other may mount it."""
    named = {Path(one.pw_dir) for one in pwd.getpwall()}
    above = {parent: _real(parent) for parent in {one.parent for one in named}}
    at = {above[one.parent] / one.name for one in named}
    return {Path.home(), *(one for one in at if one == real or one in real.parents or real in one.parents)}


def _named_by(environ: Mapping[str, str]) -> Iterator[Path]:
    for name in NAMED_BY:
        yield from (Path(one) for one in environ.get(name, "").split(os.pathsep) if one.startswith("/"))


def _by_name(folder: Path) -> str:
    try:
        return next((one.name for one in sorted(folder.iterdir()) if one.name in BY_NAME), "")
    except OSError:
        return ""


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return True  # it is there, and not for us to look at


def _real(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as problem:
        raise Misuse(f"{str(path)!r} is not a path: {problem}.", hint=HINT) from problem
