"""What ruff reports and no maintainer would call a finding."""

import re

from midwatch.crew.housekeeper.linter import Offence
from midwatch.crew.housekeeper.tree import Tree

OLD = re.compile(
    r"`(unicode|basestring|long|xrange|raw_input|unichr|file|cmp|execfile|reload|buffer|intern|reduce|apply)`"
)
KNOWING = re.compile(rb"py_?2|py_?3|version_info|except \(?(NameError|ImportError)|\bsix\b", re.IGNORECASE)
SIGNAL = re.compile(r"variable `__\w+__`")


def is_false_alarm(offence: Offence, tree: Tree) -> bool:
    """Whether a person would shrug: a signal to a debugger, or a name of Python 2 where both Pythons are known."""
    if offence.rule == "F841":
        return bool(SIGNAL.search(offence.message))
    is_old = offence.rule == "F821" and OLD.search(offence.message)
    return bool(is_old and KNOWING.search(tree.read(offence.path)))
