"""What the words of well-known programs mean: paths written, paths read, addresses, and commands that they start."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from midwatch.rules.tools import command_lists as lists
from midwatch.rules.tools.rough_shell import HOLE, RoughCommand, read_roughly

NETWORK: Final = frozenset({"curl", "wget", "http", "https", "xh", "aria2c", "nc", "ncat", "netcat", "telnet", "rsync"})
_TAKES: Final[dict[str, str]] = {
    "curl": "-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --data --data-raw "
    "--data-binary --data-urlencode --header --output --request --user --user-agent --write-out --max-time "
    "--connect-timeout --cookie --cookie-jar --form --retry --retry-delay --retry-max-time --cacert --cert --key "
    "--referer --range --json --unix-socket --resolve --interface --dump-header --proto --tlsv1 --output-dir --url",
    "wget": "-O -o -a -e -T -w -t -Q -P -U -i --output-document --header --user-agent --tries --timeout --post-data "
    "--directory-prefix --method --body-data",
    "nc": "-w -p -s -q -i -X -x",
    "xargs": "-I -n -P -L -d -a -s -E --max-args --max-procs --max-lines --delimiter --arg-file --replace",
    "env": "-u -C --unset --chdir",
    "exec": "-a",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p",
    "timeout": "-k -s --kill-after --signal",
    "gtimeout": "-k -s --kill-after --signal",
    "stdbuf": "-i -o -e",
    "watch": "-n -d --interval",
    "time": "-f -o",
    "strace": "-o -e -p -s -u",
    "flock": "-w -E --timeout",
    "parallel": "-j -a --jobs --colsep",
    "touch": "-d -t -r --date --reference",
    "mkdir": "-m --mode",
    "truncate": "-s -r --size --reference",
    "install": "-m -o -g -t --mode --owner --group",
    "cp": "-t -S",
    "mv": "-t -S",
    "ln": "-t -S",
    "shred": "-n -s",
    "sed": "-e -f -l -s --expression --file",
    "perl": "-e -E -I -M",
    "grep": "-e -f -m -A -B -C -d -D --regexp --file --include --exclude --exclude-dir --max-count --color",
    "rg": "-e -f -g -m -A -B -C -t -T -j -r -M -d --regexp --file --glob --iglob --type --type-not --max-count "
    "--max-depth --replace --sort --context",
    "awk": "-F -v -f --field-separator --assign --file",
    "find": "-name -iname -path -ipath -wholename -regex -iregex -newermt -printf -perm -size -mtime -mmin -user -type "
    "-maxdepth -mindepth",
    "jq": "--arg --argjson --indent -L",
    "git": "-S -G -m -F -c -C -L --grep --author --since --until --format --pretty --message",
}
"""Options that take the next word, by program."""
_SAME: Final = {
    **dict.fromkeys(("egrep", "fgrep", "zgrep", "ggrep", "ag", "ack"), "grep"),
    **dict.fromkeys(("gawk", "mawk", "nawk"), "awk"),
    **dict.fromkeys(("ncat", "netcat", "telnet"), "nc"),
    "gsed": "sed",
    "ugrep": "grep",
}
_PATTERN_FIRST: Final = frozenset({"grep", "rg", "sed", "awk", "jq", "perl"})
"""Their first plain word is a pattern or a small program, unless an option gave it."""
_GIVES_PATTERN: Final = frozenset({"-e", "-f", "--regexp", "--file", "--expression", "--files", "--type-list", "-E"})
_PATH_OPTIONS: Final = frozenset({"-f", "--file", "-r", "--reference", "-T", "--arg-file", "-a", "--from-file"})
"""Options whose word is a path that is read."""
_SPEAKERS: Final = lists.words_of("echo printf : true false export local declare typeset set unset let expr read")
"""Their words are text."""
_PATTERN_OPTIONS: Final = re.compile(
    r"--(?:grep|author|include|exclude|exclude-dir|glob|iglob|regexp|expression|format|pretty|prefix|filter|ignore)"
)
_LAUNCHERS: Final = lists.words_of(
    "xargs env nice ionice timeout gtimeout stdbuf watch time strace ltrace flock parallel nohup setsid command "
    "builtin exec busybox caffeinate"
)
_FIRST_IS_NOT_A_PROGRAM: Final = frozenset({"timeout", "gtimeout", "flock"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SHELL_TEXT: Final = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*|--command")
_SPLIT: Final = re.compile(r"-S|--split-string=?")
_LAST_ONLY: Final = frozenset({"cp", "install", "ln"})
_MODE_FIRST: Final = frozenset({"chmod", "chown"})


def started_by(command: RoughCommand) -> tuple[RoughCommand, ...]:
    """Give the commands that a command starts out of its own words; nothing where it starts none."""
    words = command.words
    program, rest = lists.basename(words[0]) if words else "", words[1:]
    if (text := _given_text(program, rest)) is not None:
        return _in_text(text, command)
    if program == "find":
        return tuple(_by_find(rest, command))
    if program in _LAUNCHERS:
        return _launched(program, rest, command)
    return ()


def _given_text(program: str, rest: Sequence[str]) -> Sequence[str] | None:
    """The text among the words that a shell will read; nothing where there is none."""
    if program in {"eval", "trap"}:
        return rest[:1] if program == "trap" else rest
    if program == "bun":
        return rest[rest.index("exec") + 1 :] if "exec" in rest else None
    if program == "env":
        at = next((at for at, word in enumerate(rest) if word.startswith(("-S", "--split-string"))), None)
        return None if at is None else (_SPLIT.sub("", rest[at]), *rest[at + 1 :])
    if program not in lists.SHELLS | {"script", "flock"}:
        return None
    at = next((at for at, word in enumerate(rest) if _SHELL_TEXT.fullmatch(word)), None)
    if at is None:
        return () if program in lists.SHELLS else None
    return [word for word in rest[at + 1 :] if not word.startswith(("-", "+"))][:1]


def _in_text(texts: Sequence[str], command: RoughCommand) -> tuple[RoughCommand, ...]:
    deeper = command.depth + 1
    found = read_roughly(" ".join(texts).replace(HOLE, "$_"))
    return tuple(RoughCommand(one.words, one.redirections, one.depth + deeper) for one in found)


def _by_find(rest: Sequence[str], command: RoughCommand) -> Iterator[RoughCommand]:
    starts = [at for at, word in enumerate(rest) if word.startswith(("-exec", "-ok"))]
    for at in starts:
        end = next((to for to in range(at + 1, len(rest)) if rest[to] in {";", "+"}), len(rest))
        yield RoughCommand(tuple(rest[at + 1 : end]), depth=command.depth)


def _launched(program: str, rest: Sequence[str], command: RoughCommand) -> tuple[RoughCommand, ...]:
    """Pass over the launcher's own options, up to the program that it starts."""
    takes, at = _TAKES.get(program, "").split(), 0
    while at < len(rest) and (rest[at].startswith("-") or (program == "env" and _ASSIGNMENT.match(rest[at]))):
        at += 2 if rest[at] in takes else 1
    at += program in _FIRST_IS_NOT_A_PROGRAM
    return (RoughCommand(tuple(rest[at:]), depth=command.depth),) if at < len(rest) else ()


def known_as(program: str) -> str:
    """The program whose options another one shares."""
    name = lists.basename(program)
    return _SAME.get(name, name)


def plain_words(words: Sequence[str]) -> tuple[str, ...]:
    """Give the words that are neither options nor the words which options take."""
    takes = _TAKES.get(known_as(words[0]), "").split()
    plain: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        if not word.startswith("-") or word == "-":
            plain.append(word)
        at += 2 if _takes_next(word, takes) else 1
    return tuple(plain)


def _takes_next(word: str, takes: Sequence[str]) -> bool:
    """Whether an option, or the last letter of several, takes the next word."""
    if word in takes:
        return True
    cluster = (
        len(word) > 2 and word[0] == "-" and word[1:].isalpha() and not any(f"-{one}" in takes for one in word[1:-1])
    )
    return cluster and f"-{word[-1]}" in takes


def written_by(words: Sequence[str]) -> Iterator[str]:
    """Give the paths that a command names to be written."""
    program = known_as(words[0])
    if program == "git":
        yield from (path for path in lists.git_written(words) if path not in {".", ":/", "./"})
    elif program in {"sed", "perl"} and any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words[1:]):
        given = any(word in _GIVES_PATTERN or re.fullmatch(r"-[a-z]*[eE]", word) for word in words)
        yield from tuple(word for word in plain_words(words) if word)[0 if given else 1 :]
    elif program == "dd":
        yield from (word[3:] for word in words[1:] if word.startswith("of="))
    elif program in {"curl", "wget"}:
        yield from _saved(program, words)
    elif program in lists.PATH_WRITERS:
        yield from _named_targets(program, words)


def _named_targets(program: str, words: Sequence[str]) -> Sequence[str]:
    plain = plain_words(words)
    if program in _LAST_ONLY | {"mv"} and "-t" in words[:-1]:
        return (words[list(words).index("-t") + 1],)
    if program in _LAST_ONLY:
        return plain[-1:] if len(plain) > 1 else ()
    return plain[1:] if program in _MODE_FIRST else plain


def _saved(program: str, words: Sequence[str]) -> Iterator[str]:
    names = {"curl": ("o", "--output"), "wget": ("O", "--output-document")}[program]
    for at, word in enumerate(words[1:-1], 1):
        if word == names[1] or re.fullmatch(rf"-[a-zA-Z]*{names[0]}", word):
            yield words[at + 1]
    yield from (word.partition("=")[2] for word in words if word.startswith(names[1] + "="))


def read_by(words: Sequence[str]) -> Iterator[str]:
    """Give the words that may be paths; patterns, messages and small programs are none."""
    program = known_as(words[0])
    if program in _SPEAKERS or program in NETWORK:
        return
    takes = _TAKES.get(program, "").split()
    pattern_due = program in _PATTERN_FIRST or words[1:2] == ("grep",)
    if pattern_due and any(word in _GIVES_PATTERN for word in words[1:]):
        pattern_due = False
    at = 1 + (words[1:2] == ("grep",))
    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            if not pattern_due:
                yield word
            pattern_due = False
        elif not _PATTERN_OPTIONS.match(word):
            yield word.partition("=")[2]
        skips = _takes_next(word, takes)
        if skips and word in _PATH_OPTIONS and at + 1 < len(words) and program != "awk":
            yield words[at + 1]
        at += 2 if skips else 1


def addresses_of(words: Sequence[str]) -> Iterator[str]:
    """Give the addresses that a network program names, each as a URL."""
    program = known_as(words[0])
    plain = plain_words(words)
    if program == "rsync":
        yield from (f"http://{word.partition(':')[0].rpartition('@')[2]}" for word in plain if _is_remote(word))
    elif program == "nc":
        listens = any(word.startswith("-") and "l" in word for word in words[1:])
        port = plain[1] if plain[1:] and plain[1].isdecimal() else "80"
        yield from (f"http://{host}:{port}" for host in plain[:1] if not listens)
    elif program in {"http", "https", "xh"}:
        yield from (_as_url(word) for word in [one for one in plain if not one.isupper()][:1])
    else:
        yield from (_as_url(word) for word in plain if word not in {"-", ""})
    if program in {"curl", "wget"}:
        yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word in {"--url", "-x", "--proxy"})


def _is_remote(word: str) -> bool:
    return ":" in word and "/" not in word.partition(":")[0]


def _as_url(word: str) -> str:
    if "://" in word or word.startswith(HOLE):
        return word
    return f"http://localhost{word}" if word.startswith(":") else f"http://{word}"
