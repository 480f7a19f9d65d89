"""Programs by what they can do: only read, write, reach outside, or start others."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final


def words_of(text: str) -> frozenset[str]:
    """Write a set of words as one text."""
    return frozenset(text.split())


NEVER: Final = words_of(
    "sudo su doas pkexec ssh scp sftp docker podman nerdctl kubectl helm crontab at batch systemctl service kill pkill "
    "killall mount umount chroot unshare nsenter bwrap reboot shutdown gh glab sendmail mail twine"
)
NEVER_WITH: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("npm", "yarn", "pnpm", "bun", "cargo", "poetry", "uv", "hatch", "flit", "vsce"), frozenset({"publish"})
    ),
    "npm": frozenset({"publish", "login", "adduser", "token", "unpublish"}),
    "gem": frozenset({"push"}),
    "git": frozenset({"push", "send-pack", "send-email", "daemon", "credential", "instaweb"}),
    "terraform": frozenset({"apply", "destroy"}),
    "mvn": frozenset({"deploy"}),
}
LAUNCHERS: Final = words_of(
    "env xargs parallel nohup setsid stdbuf nice ionice timeout time watch script flock strace ltrace gdb busybox "
    "command builtin exec eval source . sh bash dash zsh ksh fish trap alias"
)
"""Programs that start others; what they are given is looked through for what is never done."""
PLAIN_LAUNCHERS: Final = frozenset({"nohup", "nice", "time", "command", "timeout"})
NEVER_MATCHED: Final = words_of(
    "eval source . exec trap alias unalias enable export declare typeset readonly set shopt hash builtin cd pushd "
    "popd patch env xargs parallel setsid script busybox let read mapfile readarray getopts unset local wait jobs "
    "compgen complete compopt bind fc history caller umask"
)
"""A pattern says nothing about these: they change what the words after them mean, or compute it."""
SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh"})
FETCHERS: Final = frozenset({"curl", "wget", "http", "https", "aria2c", "bunx", "npx"})
BUN_FETCHERS: Final = frozenset({"x", "create", "c"})
_BUN_CODE_VERBS: Final = BUN_FETCHERS | {"exec", "repl", "-"}
_BUN_CODE_OPTIONS: Final = re.compile(r"-[A-Za-z]*[ep].*|--(?:eval|print)(?:=.*)?|-|.*\bdata:.*", re.DOTALL)
HARMLESS_VARIABLES: Final = re.compile(
    r"(?:CI|NO_COLOR|FORCE_COLOR|TERM|TZ|LANG|LC_\w+|COLUMNS|DEBUG|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|NODE_ENV)=.*|"
    r"GIT_PAGER=cat",
    re.DOTALL,
)
"""Any other variable may name a file or a program to some program: no list of those is complete."""

READERS: Final = words_of(
    "ls cat head tail wc pwd echo printf true false test [ grep egrep fgrep rg find stat du df basename dirname "
    "realpath readlink sort cut tr nl diff cmp md5sum sha1sum sha256sum which tree uniq sed git"
)
# One dash and letters may hold several options, the last with its value attached; a long one may be shortened.
READER_HAZARDS: Final[dict[str, re.Pattern[str]]] = {
    program: re.compile(pattern, re.DOTALL | re.ASCII)
    for program, pattern in {
        "find": r"-(?:exec|ok|delete|fprint|fls|files0-from).*",
        "rg": r"--(?:pre|search-zip|hostname-bin).*|-[\w.]*z.*",
        "sort": r"-(?!-).*[oTS].*|--(?:o|co|t|fil|bu).*",
        "tree": r"-(?!-).*[oR].*|--(?:output|from).*",
        "tail": r"-(?!-).*[fF].*|\+.*f|--(?:f|r).*",
        "uniq": r"[^-].*",
        "printf": r"-v.*|.*%[^%A-Za-z]*[hjlLtqz]*n.*",
        "diff": r"--(?:to|fr|ou|pag).*|-(?!-).*l.*",
        "wc": r"--f.*",
        "du": r"--fil.*",
        **dict.fromkeys(("md5sum", "sha1sum", "sha256sum"), r"-(?!-).*c.*|--c.*"),
    }.items()
}
FIRST_WILD: Final = words_of(
    "ls cat head wc grep egrep fgrep stat du df basename dirname realpath readlink cut tr nl cmp which echo pwd true "
    "false"
)
"""Readers that do nothing else whatever option they are given, as a wildcard may when a file is called like one."""
_SED_LINES: Final = re.compile(r"\d+(?:,(?:\d+|\$))?p(?:;\d+(?:,(?:\d+|\$))?p)*", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
GIT_READERS: Final = words_of(
    "status diff log show blame ls-files ls-tree cat-file grep rev-parse describe shortlog rev-list merge-base "
    "diff-tree name-rev show-ref for-each-ref check-ignore count-objects version"
)
GIT_WRITERS: Final = words_of(
    "add commit branch checkout switch restore stash mv rm reset tag merge rebase cherry-pick revert reflog clean"
)
"""What `git *` means besides looking; `apply` writes wherever a patch says, so it is named by itself."""
_GIT_LONG: Final = tuple(
    "--" + name
    for name in sorted(
        words_of(
            "exec exec-path output upload-pack receive-pack open-files-in-pager ext-diff extcmd textconv template "
            "config-env git-dir work-tree separate-git-dir filters no-index directory unsafe-paths tool global system "
            "pathspec-from-file help gpg-sign local-user sign verify-signatures show-signature"
        )
    )
)
_GIT_HARMLESS: Final = frozenset({"--no-pager", "--no-optional-locks", "--literal-pathspecs", "-P"})
_GIT_TAKES_A_WORD: Final = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_GIT_SHORT: Final = {
    verb: re.compile(pattern, re.DOTALL)
    for verb, pattern in {
        "rebase": r"-(?!-).*[xS].*",
        "grep": r"-(?!-).*O.*",
        "diff": r"-O.*",
        "tag": r"-(?!-)[^mF]*[suv].*",
        **dict.fromkeys(("commit", "merge"), r"-(?!-)[^mFCcst]*S.*"),
        **dict.fromkeys(("cherry-pick", "revert"), r"-(?!-)[^mX]*S.*"),
    }.items()
}
_GIT_FORMATTED: Final = words_of(
    "log show shortlog rev-list for-each-ref branch tag diff-tree reflog stash whatchanged"
)
_SIGNED: Final = re.compile(r"%[-+ ]?G|%\(\*?signature|--sort=-?\*?signature")
_GIT_STRATEGY: Final = {
    # The letters that take a value themselves end a word: what follows them is that value.
    "merge": re.compile(r"-([^-mFXSs=][^mFXSs=]*)?s(?P<own>.*)", re.DOTALL),
    "rebase": re.compile(r"-([^-xXCSs=][^xXCSs=]*)?s(?P<own>.*)", re.DOTALL),
}
_GIT_STRATEGIC: Final = words_of("merge rebase cherry-pick revert")
_GIT_STRATEGIES: Final = words_of("ort recursive resolve octopus ours subtree")
"""Git starts a program for any other one, by its name."""
_DRY_RUN: Final = re.compile(r"-(?!-)[^e]*n.*|--dry-run")
_GIT_FORCED: Final = {
    "reset": re.compile(r"--(?:h|me|k).*"),
    **dict.fromkeys(("checkout", "switch"), re.compile(r"-(?!-)[^bBcC]*f.*|--(?:f|di).*")),
}
"""Options with which they also take back what was not committed, in the whole tree."""
_OWN_TARGET: Final = re.compile(r"-(?!-).*t.*|--t.*", re.DOTALL)
_LAST_WRITTEN: Final = re.compile(
    r"-[abfilnpPrRsuvxHLT]+|--(?:recursive|force|verbose|archive|parents|update|no-clobber)|--"
)
_GIT_BRANCH_LISTING: Final = re.compile(r"-a|-r|-v{1,2}|--(?:list|all|remotes|show-current|merged|no-merged|contains)")
PATH_WRITERS: Final = words_of("rm mv cp touch mkdir rmdir ln tee truncate chmod chown install unlink shred dd")


def never_done(argv: Sequence[str]) -> str:
    """Name what in these words is never done by an agent; empty when nothing is."""
    if not argv:
        return ""
    program = basename(argv[0])
    if program in NEVER:
        return program
    if program == "git":
        return _git_never(argv)
    rest = [word for word in argv[1:] if not word.startswith("-")]
    # An option may take a word of its own, so the verb need not come first.
    verb = next((word for word in rest[:2] if word in NEVER_WITH.get(program, ())), "")
    return f"{program} {verb}" if verb else ""


def _git_never(argv: Sequence[str]) -> str:
    verb, rest = git_verb(argv, everything=True)
    if verb in NEVER_WITH["git"]:
        return f"git {verb}"
    if verb == "remote" and not all(word in {"-v", "--verbose", "get-url", "origin"} for word in rest):
        return "git remote"
    far = {"--global", "--system"} & set(rest)
    return f"git config {min(far)}" if verb == "config" and far else ""


def git_verb(argv: Sequence[str], *, everything: bool = False) -> tuple[str, tuple[str, ...]]:
    """Give git's verb and what follows it; of the options before it only harmless ones are passed over, or all."""
    at = 1
    while at < len(argv) and (argv[at] in _GIT_HARMLESS or (everything and argv[at].startswith("-"))):
        at += 2 if everything and argv[at] in _GIT_TAKES_A_WORD else 1
    return (argv[at], tuple(argv[at + 1 :])) if at < len(argv) else ("", ())


def git_written(argv: Sequence[str]) -> tuple[str, ...]:
    """Give the paths git would write because its words name them."""
    verb, rest = git_verb(argv)
    if verb in {"rm", "mv", "clean"}:
        return _plain_words(_without_values(rest, "e", "--exclude") if verb == "clean" else rest)
    if verb == "stash":
        push = rest[:1] == ("push",)
        return _plain_words(_without_values(rest[1:], "m", "--message")) if push else _behind_dashes(rest)
    if verb not in {"checkout", "restore"}:
        return ()
    if "--" in rest:
        return _behind_dashes(rest)
    # Without `--` the first word of checkout may be a branch; restore takes paths alone, besides the commit they come
    # from.
    if verb == "checkout" and {"-b", "-B", "--orphan"} & set(rest):  # a new branch takes no paths
        return ()
    named = {"-s", "--source"}
    sources = {at + 1 for at, word in enumerate(rest) if word in named}
    plain = tuple(word for at, word in enumerate(rest) if at not in sources and not word.startswith("-"))
    return plain if verb == "restore" else plain[1:]


def git_may_write(argv: Sequence[str]) -> tuple[str, ...]:
    """Give the words of a checkout that are branches or paths: only git can tell."""
    verb, rest = git_verb(argv)
    return _plain_words(rest)[:1] if verb == "checkout" and "--" not in rest else ()


def git_whole(argv: Sequence[str]) -> str:
    """Say what a verb of git changes that names no path: `.` for the folder it runs in, `/` for the whole tree."""
    verb, rest = git_verb(argv)
    options = tuple(word for word in rest if word.startswith("-"))
    if git_written(argv):
        return ""
    if verb == "clean":
        return "" if any(_DRY_RUN.fullmatch(word) for word in options) else "."
    if verb == "stash":
        plain = [word for word in rest if not word.startswith("-")]
        return "/" if rest[:1] in {("push",), ("save",)} or not plain or rest[0].startswith("-") else ""
    forced = _GIT_FORCED.get(verb)
    return "/" if forced and any(forced.fullmatch(word) for word in options) else ""


def _without_values(words: Sequence[str], letter: str, name: str) -> tuple[str, ...]:
    """Leave out the words that one option takes, which may be the last of several letters."""
    end = words.index("--") if "--" in words else len(words)
    takes = [bool(word == name or re.fullmatch(rf"-(?!-)[^{letter}]*{letter}", word)) for word in words[:end]]
    return (*(word for word, taken in zip(words[:end], (False, *takes), strict=False) if not taken), *words[end:])


def _behind_dashes(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(words[words.index("--") + 1 :]) if "--" in words else ()


def _plain_words(words: Sequence[str]) -> tuple[str, ...]:
    """Give the words that are no options; behind `--` none is."""
    end = words.index("--") if "--" in words else len(words)
    return (*(word for word in words[:end] if not word.startswith("-")), *words[end + 1 :])


def written_paths(argv: Sequence[str]) -> tuple[str, ...]:
    """Give the paths that one of the programs which write to their words names, rather too many than too few."""
    program, words = bare_name(argv[0]), argv[1:]
    plain, options = _plain_words(words), [word for word in words if word.startswith("-")]
    if program == "dd":
        return tuple(word.removeprefix("of=") for word in words if word.startswith("of="))
    if program in {"chmod", "chown"}:
        return plain if any(word.startswith("--ref") for word in options) else plain[1:]
    if program in {"cp", "install"} and all(map(_LAST_WRITTEN.fullmatch, options)):
        return plain[-1:]
    if program in {"cp", "mv", "install", "ln"}:  # a folder to write to may be an option's value, also attached
        own = (word for word in options if _OWN_TARGET.fullmatch(word))
        return (*plain, *(value for word in own for value in attached(word)))
    return plain


def attached(word: str) -> tuple[str, ...]:
    """Give what may be a value written together with its option: `--file=x`, `-Fx`, `-nFx`, `if=x`, `@x`."""
    if word.startswith("--") or not word.startswith("-"):
        key, found, value = word.partition("=")
        prose = not word.startswith("-") and any(map(str.isspace, word))  # a message may say `a=/b`
        named = found and not prose and "/" not in key
        return (*((value,) if named else ()), *((word[1:],) if word.startswith("@") else ()))
    letters = re.match(r"-[A-Za-z0-9]*", word)
    most = letters.end() if letters else 1
    return tuple(word[at:].removeprefix("=") for at in range(2, most + 1) if word[at:])


def only_looks(argv: Sequence[str]) -> bool:
    """Whether a command is a plain reader: it starts nothing and writes nothing, whatever its words."""
    program, words = bare_name(argv[0]), argv[1:]
    if program not in READERS:
        return False
    if program == "git":
        return _git_only_looks(argv)
    if program == "sed":
        return len(words) >= 2 and words[0] == "-n" and bool(_SED_LINES.fullmatch(words[1])) and _all_files(words[2:])
    hazard = READER_HAZARDS.get(program)
    return not computes(argv) and not (hazard and any(hazard.fullmatch(word) for word in words))


def computes(argv: Sequence[str]) -> bool:
    """Whether a shell's own command computes what it is given: a subscript may hold a command, a name be a variable."""
    program, words = basename(argv[0]), argv[1:]
    if program == "printf":
        return any(READER_HAZARDS["printf"].fullmatch(word) for word in words)
    if program not in {"test", "["}:
        return False
    names = (after for word, after in pairwise(words) if word in {"-v", "-R"})
    return not all(map(_VARIABLE.fullmatch, names))


def _all_files(words: Sequence[str]) -> bool:
    return not any(word.startswith("-") for word in words)


def _git_only_looks(argv: Sequence[str]) -> bool:
    verb, rest = git_verb(argv)
    if verb == "branch":
        return all(_GIT_BRANCH_LISTING.fullmatch(word) for word in rest)
    if verb == "remote":
        return not never_done(argv)
    return verb in GIT_READERS and not git_hazard(verb, rest)


def git_hazard(verb: str, rest: Sequence[str]) -> bool:
    """Whether an option makes git start a program or leave its tree; git takes the beginning of a name for it too."""
    if verb == "rev-parse":  # its options are questions
        return "--help" in rest
    if verb in _GIT_STRATEGIC and _strange_strategy(_GIT_STRATEGY.get(verb), rest):
        return True
    if verb in _GIT_FORMATTED and any(_SIGNED.search(word) for word in rest):
        return True  # it asks another program about a signature
    short = _GIT_SHORT.get(verb)
    return any(_is_long_hazard(word) or bool(short and short.fullmatch(word)) for word in rest)


def _strange_strategy(short: re.Pattern[str] | None, rest: Sequence[str]) -> bool:
    for word, after in zip(rest, (*rest[1:], ""), strict=True):
        name, found, value = word.partition("=")
        if name == "--strategy" and (value if found else after) not in _GIT_STRATEGIES:
            return True
        letters = short.fullmatch(word) if short else None
        if letters and (letters["own"] or after) not in _GIT_STRATEGIES:
            return True
    return False


def _is_long_hazard(word: str) -> bool:
    name = word.partition("=")[0]
    if not name.startswith("--") or name in {"--", "--text"}:
        return False
    return any(option.startswith(name) for option in _GIT_LONG)


def runs_given_code(argv: Sequence[str]) -> str:
    """Give the word that makes bun run code from its arguments or a package; empty when it runs a file of the tree."""
    program, words = basename(argv[0]), list(argv[1:])
    if program == "bunx":
        return program
    if program != "bun" or not words:
        return ""
    if words[0] in _BUN_CODE_VERBS:
        return words[0]
    at = 1 if words[0] == "run" else 0
    # From the script on, words are the script's; an option may take a word, so one in front leaves that open.
    if words[0] != "test" and len(words) > at and not words[at].startswith(("-", "data:")):
        return ""
    verbs = _BUN_CODE_VERBS if words[0].startswith("-") else frozenset[str]()
    return next((word for word in words if word in verbs or _BUN_CODE_OPTIONS.fullmatch(word)), "")


def basename(program: str) -> str:
    """The name of a program without its folder."""
    return program.rpartition("/")[2]


def bare_name(program: str) -> str:
    """The name of an installed program; a program of the tree keeps its path, so that it is not taken for one."""
    folder, _, name = program.rpartition("/")
    return name if folder in {"/bin", "/usr/bin", "/usr/local/bin"} else program
