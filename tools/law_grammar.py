"""Commands that aim at where a reading of the shell goes wrong: quotes, expansions, builtins that compute, options."""

import random
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Final

from tools.law_trace import CANARY, Trial

Pieces = tuple[str, ...]
"""A command in pieces, so that a finding can be made smaller."""

_PAYLOADS: Final = (
    f"$({CANARY})", f"`{CANARY}`", f"a[$({CANARY})]", f"a[`{CANARY}`]", f"a[$({CANARY})]=1", f"$\\\n({CANARY})",
    f"${{x:=$({CANARY})}}", f"$[$({CANARY})]", f"$(({CANARY}))", f"a[$({CANARY})]@P", CANARY, ">w1", "x", "1",
)  # fmt: skip
_COMPUTED: Final = (f"'a[$({CANARY})]'", f"'a[$({CANARY})]'", f"'a[$({CANARY})]=1'", f"'$({CANARY})'", CANARY)
_QUOTED: Final = ("{}", "'{}'", '"{}"', "\\{}", "$'{}'", '$"{}"', '"`"{}"`"', "'{}", '"{}', '"\'"{}"\'"', '"$"{}')
_BUILTINS: Final = (
    "test", "[", "printf", "echo", "read", "unset", "let", "declare", "typeset", "local", "export", "readonly",
    "getopts", "mapfile", "readarray", "wait", "shift", "exit", "return", "break", "continue", "jobs", "compgen",
    "complete", "bind", "eval", "exec", "source", ".", "trap", "alias", "set", "shopt", "enable", "hash", "history",
    "fc", "ulimit", "umask", "time", "command", "builtin", "coproc", "[[", "!", "{", "if", "while", "until",
    "case x in", "for a in", "select", "dirs", "pushd", "popd", "cd", "type", "caller", "times", "suspend", "logout",
    "kill", "disown", "fg", "bg", "help", ":", "true", "git status", "git commit -m", "cat", "ls", "nice",
    "timeout 5", "nohup", "grep", "time -p", "sort", CANARY, "pwd", "a=", "CI=1", "CI=", "time time", "time nice",
    "nice time", "function f", "a[1]=", "coproc time",
)  # fmt: skip
_OPTIONS: Final = (
    *(f"-{one}" for one in "vpCxnWFdauRolcestw"),
    *("--", "-eq", "-o", "-a", "%n", "%q", "%d", "%s", "%b", "=~"),
)
_GLUE: Final = (" ", " ", " ", " ", "\n", ";", " && ", "||", "|", "&", "\t", "\\\n", "#", " #", "")
_MARKS: Final = (
    "'", '"', "'", '"', "\\", "`", "`", "$", "$", "$'", '$"', "$(", ")", "${", "}", "$((", "))", "$[", "]", "(", "<",
    ">", ">>", "<<", "<<<", "2>", "\uff12>", ">&", ">&\uff12", ">&1", "&>", "<(", ">(", "{a,b}", "{", ",", "..", "*",
    "?", "[", "~", "<<EOF", "<<'EOF'", "\nEOF\n", "\nEOF )", "\nEOF", "=", "+=", "!", "\\\n", "\\\n", "\\\\\n",
    "\u00a0", "\u3000", "\u0665", "9", "99999999999", "{v}", "esac", "]]", "done", "fi", "then", "do", "in", ";;",
    "#", "a", "b", " ", " ", ">|", "<>", "|&",
)  # fmt: skip
_NEVER: Final = ("sudo x", "git push", "docker run x", "ssh h", "su x")
_BOXES: Final = (
    "{}", "$({})", "`{}`", "({})", "{{ {}; }}", '"$({})"', '"`{}`"', "${{x:-$({})}}", "$(( $({}) ))", "(( $({}) ))",
    "a=$({})", "a=( $({}) )", "a=({} $({}))", "<({})", "[[ x == $({}) ]]", "[[ -n `{}` ]]", "a[$({})]=1",
    "if {}; then x; fi", "! {}", "while {}; do break; done", "case $({}) in x) ;; esac", "case x in x) {} ;; esac",
    "case x in x|y) {};; esac", "f() {{ {}; }}; f", "function f {{ {}; }}; f", "for i in 1; do {}; done",
    "for i in $({}); do x; done", "for ((;$({});)); do break; done", "x && {}", "cat <<EOF\n$({})\nEOF\n",
    "cat <<EOF\n`{}`\nEOF", "cat <<'EOF'\nx\nEOF\n{}", "cat <<E'O'F\nx\nEOF\n{}", "cat <<\\EOF\nx\nEOF\n{}",
    "cat <<-EOF\n\tx\n\tEOF\n{}", "cat <<A <<B\nA\nB\n{}", "cat <<< $({})", "coproc {}", "time {}", "time -p {}",
    "echo x | {}", "{} &", "$[ $({}) ]", "${{x[$({})]}}", "${{x/$({})/y}}", "x=1 {}", "{} <<EOF\nx\nEOF",
    "$'a\\'b'; {}", "echo $'\\''; {} #'", "echo \\'; {} #'", 'echo "\\""; {}', "echo '\\'; {}",
    "echo ${{x:-'}}'}}; {}", 'echo "${{x:-"a b"}}"; {}', "echo $((1)); {}", "((1)); {}", "echo ${{#x}}; {}",
    "echo $#; {}", "echo a#b; {}", "cat <<E\\ F\nE F\n{}", 'cat <<"E F"\nE F\n{}', "echo $(case x in x) {};; esac)",
    "echo `echo \\`{}\\``", "echo $(echo ')'; {})", 'echo "$(echo ")"; {})"', "echo $(# )\n{})",
    "[[ a =~ (b) ]]; {}", "[[ a < b ]] && {}", "x=(a b); {}", "x=(\na # )\n); {}",
    "select i in 1; do {}; done <<< 1", "until ! {}; do break; done", "if x; then y; elif {}; then z; fi",
    "{} 2>&1 | x", "(( 1 < 2 )) && {}", "((\n1\n)); {}", "{{ {}; }} 2>w", "( ( {} ) )", "(({}) )", "$( ({}) )",
    "echo $((1)) $({})", "> w {}", "2>w {}", "<aa {}", "a=1 >w b=2 {}", "x=$'\\n'; {}", 'echo $"a"; {}',
    "cat <<$'EOF'\nx\nEOF\n{}", "cat <<EOF;{}\nx\nEOF", "cat <<EOF\n\\$({})\nEOF\n{}", "echo \\\n; {}", "{}\\\n",
    "!\\\n {}", "i\\\nf {}; then x; fi", "echo x &\\\n& {}", "echo $\\\n({})", 'echo "$\\\n({})"', 'echo "`"{}"`"',
    "echo `'{}'`",
)  # fmt: skip


def shell_pieces(dice: random.Random) -> Pieces:
    """A line for the reader of lines: builtins and what they compute, or any marks at all."""
    kind = dice.random()
    if kind < 0.25:
        return (
            dice.choice(_BUILTINS),
            " ",
            dice.choice(_OPTIONS),
            " ",
            dice.choice(_COMPUTED),
            dice.choice(("", "", " x", " 1")),
        )
    if kind < 0.45:
        return tuple(_computed(dice))
    if kind < 0.55:
        return _message(dice)
    if kind < 0.65:
        return _torn(dice)
    many = dice.randint(2, 10)
    pool = (_MARKS, _MARKS, _BUILTINS, _PAYLOADS, _GLUE)
    return ("echo ", *(dice.choice(dice.choice(pool)) for _ in range(many)))


def _computed(dice: random.Random) -> list[str]:
    pieces = [dice.choice(_BUILTINS)]
    for _ in range(dice.randint(1, 4)):
        pieces.append(" ")
        if dice.random() < 0.4:
            pieces.append(dice.choice(_OPTIONS))
        else:
            pieces.append(_quoted(dice))
    if dice.random() < 0.3:
        pieces += [dice.choice(_GLUE), dice.choice(_BUILTINS), " ", _quoted(dice)]
    return pieces


def _quoted(dice: random.Random) -> str:
    return dice.choice(_QUOTED).format(dice.choice(_PAYLOADS))


def _message(dice: random.Random) -> Pieces:
    """A long commit message as Claude Code writes it, with lines that may end it early."""
    lines = (
        "text",
        "EOF",
        "EOF)",
        f"EOF {CANARY} )",
        f"EOF\\\n{CANARY})",
        ")",
        f'"; {CANARY}',
        f"$({CANARY})",
        "EOF ",
        "\tEOF",
        "EOFX )",
    )
    body = [f"{dice.choice(lines)}\n" for _ in range(dice.randint(1, 4))]
    mark = dice.choice(("'EOF'", "'EOF'", "EOF", "'EO'", "\\EOF"))
    return (
        "git commit -m ",
        '"',
        f"$(cat <<{mark}\n",
        *body,
        "EOF\n",
        dice.choice((")", " )", "\n)")),
        '"',
        dice.choice(("", f" && {CANARY}")),
    )


_WHOLE: Final = (
    f"echo $({CANARY})", f'echo "$({CANARY})"', f"echo a && {CANARY}", f"echo ${{x:=$({CANARY})}}", "echo a 2>w1",
    f"if {CANARY}; then b; fi", "echo {a,b}", "echo x >&2", f"time {CANARY}", f"echo <({CANARY})",
    "cat <<EOF\na\nEOF", f"echo `{CANARY}`", "echo $'a' # b", "[[ -v a ]]", "git status 3>w1",
    f'echo "`{CANARY}`"', "a=1 b", "echo ~/x *", f"echo ' ' && {CANARY} # '",
)  # fmt: skip


def _torn(dice: random.Random) -> Pieces:
    """A line with a continuation, a quote or a blank somewhere inside."""
    pieces = list(dice.choice(_WHOLE))
    for _ in range(dice.randint(1, 2)):
        pieces.insert(
            dice.randint(1, len(pieces)),
            dice.choice(("\\\n", "\\\n", "\\", "'", '"', '""', "''", " ", "$", "\\\\\n", "\n", "#")),
        )
    return tuple(pieces)


def walled_pieces(dice: random.Random) -> Pieces:
    """A line with a program that no agent runs, written plainly somewhere in it."""
    text = "{}"
    for _ in range(dice.randint(1, 3)):
        box = dice.choice(_BOXES)
        text = (
            text.replace("{}", box)
            if dice.random() < 0.6
            else text.replace("{}", f"{box.replace('{}', 'y', box.count('{}') - 1)}")
        )
        text = text.replace("{{", "{").replace("}}", "}")
    text = text.replace("{}", dice.choice(_NEVER))
    if dice.random() < 0.3:
        pieces = list(text)
        pieces.insert(dice.randint(0, len(pieces)), dice.choice(_MARKS))
        return tuple(pieces)
    return tuple(re.split(r"(\W)", text))


_READING: Final = (
    "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "find", "stat", "du", "df", "basename", "dirname",
    "realpath", "ls", "readlink", "sort", "sort", "sort", "cut", "tr", "nl", "diff", "diff", "cmp", "md5sum",
    "sha1sum", "sha256sum", "which", "tree", "uniq", "uniq", "sed", "sed -n 1p", "sed -n", "rg", "echo", "printf",
    "test", "[",
)  # fmt: skip
_GIT: Final = (
    "status", "diff", "log", "show", "blame", "ls-files", "ls-tree", "cat-file", "grep", "rev-parse", "describe",
    "shortlog", "rev-list", "merge-base", "diff-tree", "name-rev", "show-ref", "for-each-ref", "check-ignore",
    "count-objects", "version", "branch", "remote", "add", "commit", "checkout", "switch", "restore", "stash", "mv",
    "rm", "reset", "tag", "merge", "rebase", "cherry-pick", "revert", "reflog", "clean", "help", "var", "config",
    "archive", "bisect", "worktree", "notes", "apply", "am", "difftool", "mergetool",
)  # fmt: skip
_VALUES: Final = (
    "w1", "src/a.py", "/etc/canary", "../etc/canary", "../var/canary", "/var/canary", "~/.ssh/id", CANARY,
    f"./{CANARY}", f"'{CANARY} x'", "-", "1", "*", "?*", "[-a-z]*", "src/*", "*/*", "-*", "aa", "bb", "list", "prog",
    "HEAD", "main", "side", ".", "secrets/key", "docs/x.md", "'%G?'", "%n", f"'a[$({CANARY})]'", "HEAD~1", "''", "x",
    ":/", "'*.md'", "1p", "'1w w1'", "'1e pwn'", "a", "--", "\uff11p", "src", "'q\nr'",
)  # fmt: skip
_NAMES: Final = (
    "-o", "-owrote", "--output=wrote", "-i", "-e1wwrote", f"-e1e{CANARY}", f"--compress-program={CANARY}",
    "--files0-from=list", "-v", "-w", f"a[$({CANARY})]", f"-O{CANARY}", f"-x{CANARY}", "-f", "-delete", "-s", "-S1",
    "-T/x", f"-exec{CANARY}", "-F", "-n", "-flist", "-l", "--output=src/q", "--in-place", f"--exec={CANARY}",
    "--global", ":(top)secrets", "-fprint", "--files0-from=/etc/canary", "push", "-tsrc", "-r", "--remove",
    "--reference=x", "--no-index", f"--open-files-in-pager={CANARY}", "-d", "--hard", "-fdx", "0", "w9",
)  # fmt: skip


def machine_pieces(dice: random.Random) -> tuple[Pieces, tuple[tuple[str, str], ...]]:
    """A reader or git with real options, whole, shortened or attached, and hostile names of files."""
    if dice.random() < 0.25:
        return _wild(dice)
    verb = dice.choice(_GIT)
    git = dice.random() < 0.5
    pieces = ["git ", verb] if git else [dice.choice(_READING)]
    for _ in range(dice.randint(1, 4)):
        pieces += [
            " ",
            _option(dice, ("git", verb) if git else (pieces[0].split()[0],))
            if dice.random() < 0.5
            else dice.choice(_VALUES),
        ]
    if dice.random() < 0.1:
        pieces += [dice.choice((" >", " <", " &&", " ;", " |")), " ", dice.choice((*_VALUES, *_READING))]
    names: tuple[tuple[str, str], ...] = ()
    if any(mark in one for one in pieces for mark in "*?[") and "[$" not in "".join(pieces):
        chosen = dice.sample(_NAMES, dice.randint(1, 2))
        names = tuple((one, "x\n") for one in chosen if not one.endswith("/"))
    return tuple(pieces), names


def _wild(dice: random.Random) -> tuple[Pieces, tuple[tuple[str, str], ...]]:
    """An ordinary command with a wildcard, where files are called like options."""
    git = dice.random() < 0.4
    pieces = (
        ["git ", dice.choice(_GIT)]
        if git
        else [dice.choice((*_READING, "rm", "cp", "mv", "printf '%s'", "test -v", "[ -v", "bun", "sed -n '1p'"))]
    )
    words = [dice.choice(("*", "*", "?*", "-*", "[-:a-z]*", "src/*", "*/*", "s*", "a*", "?", "??", "*/a*"))]
    words += [dice.choice(("aa", "src/a.py", "x", "HEAD", "--", "src")) for _ in range(dice.choice((0, 0, 1, 2)))]
    dice.shuffle(words)
    for one in words:
        pieces += [" ", one]
    folder = dice.choice(("", "", "", "src/"))
    return tuple(pieces), tuple((f"{folder}{one}", "x\n") for one in dice.sample(_NAMES, dice.randint(1, 2)))


def _option(dice: random.Random, program: Sequence[str]) -> str:
    value = dice.choice(_VALUES)
    if dice.random() < 0.5 and (known := long_options(tuple(program))):
        steering = [one for one in known if _STEERING.search(one)]
        name = dice.choice(steering if steering and dice.random() < 0.6 else known)
        if dice.random() < 0.3:
            name = name[: dice.randint(4, max(4, len(name)))]
        return name + dice.choice(("", f"={value}", f" {value}"))
    cluster = "".join(dice.choice("abcdefiklmnoprstuvwxzCDEFGILMOPRSTUX0123") for _ in range(dice.choice((1, 1, 2, 3))))
    return f"-{cluster}" + dice.choice(("", "", value, f" {value}"))


_STEERING: Final = re.compile(
    "out|exec|file|prog|run|pager|edit|filter|conv|ext|sign|help|dir|from|strat|comp|tool|write|temp|check|refer|target|pre"
)


@cache
def long_options(program: tuple[str, ...]) -> tuple[str, ...]:
    """The long options that a program of this machine says it has."""
    words = [*program, "--git-completion-helper"] if program[0] == "git" else [*program, "--help"]
    if program[0] in {"echo", "printf", "test", "["}:
        return ()
    try:
        said = subprocess.run(words, capture_output=True, check=False, timeout=10, cwd="/", stdin=subprocess.DEVNULL)
    except OSError:
        return ()
    found = re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]{2,}", said.stdout.decode(errors="replace"))
    return tuple(sorted(set(found)))


def machine_trial(pieces: Pieces, names: tuple[tuple[str, str], ...]) -> Trial:
    return Trial("".join(pieces), names)
