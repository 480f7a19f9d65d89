"""The texts by which failures are known, as data. Of two marks that fit one line, the first in the table counts."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Cause(StrEnum):
    """Why something failed, grouped by who could fix it."""

    TRANSIENT = "transient"
    NETWORK = "network"
    LIMIT = "limit"
    DEPENDENCY = "dependency"
    MEMORY = "memory"
    LOGIC = "logic"
    CONFLICT = "conflict"
    AUTH = "auth"
    FUNDS = "funds"
    TLS = "tls"
    MISSING = "missing"
    DISK = "disk"
    UNKNOWN = "unknown"


class Force(StrEnum):
    """How much a line says."""

    WHY = "why"
    """Why it failed."""
    HINT = "hint"
    """That it failed, or that something was tried again; believed only where nothing says why."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One text, in one line, in any case of letters."""

    cause: Cause
    pattern: str
    force: Force = Force.WHY
    yields_to: tuple[Cause, ...] = ()
    """Causes that explain this line, if they were printed before it."""


NOISE: Final = (
    # What agents report of the provider's limits all the time, in their own protocols.
    r"^\{\"method\":\"account/rateLimits/|^\{\"type\":\"rate_limit_event\"",
    r"\bPASSED\b|\bXFAIL|\bSKIPPED\b",  # pytest -v
    r"^\s*test .* \.\.\. (ok|ignored)$",  # cargo
    r"^\s*--- (PASS|SKIP):",  # go
    r"^\s*=== (RUN|PAUSE|CONT)|^\s*ok\s+\d|^ok\s+\S+\s+[\d.]",
    r"^\s*# (Subtest|pass|tests|suites|duration|cancelled|skipped|todo)",
    r"^\s*[✓✔]",
    r"\b0 (failed|failures?|errors?|warnings?)\b(?!.*\b[1-9]\d* (failed|failures?|errors?)\b)",
    r"\b(INFO|DEBUG|TRACE|NOTICE)\b",
    r"^\s*(>|\+|-|#|//|\*)\s",  # quoted code, diffs, comments
    r"^[\w./-]+:\d+:\s*(#|//|raise\b|def\b|return\b|What|\")",  # what a search found
    r"^(I|I'(m|ll|ve)|Next,?|Now|We|Let me) .*[.:]$",  # what an agent says about its work
    r"^\s*\d+\. |^[0-9a-f]{7,12} |^W: ",  # lists, one-line histories, apt's warnings
    r"^npm (warn|notice)\b",
    r"^\s*(hint|note|help): ",
    r"^\s+(raise|return|yield|await|self\.|response\.|with|for|if|try|except|except_)\b",  # a traceback's own lines
    r"^\s+File \"|^\s+\^+|^\s+~*\^+~*",
    r"For more information check: |please visit|A complete log of this run|for help visit|^curl performs SSL",
)
"""Lines that mention trouble and have none: passing tests, logs, quoted code, advice."""

_BEHIND: Final = (Cause.NETWORK, Cause.TLS, Cause.AUTH, Cause.DISK, Cause.TRANSIENT)


def _http(codes: str) -> str:
    """Write a status so that a mere number is none."""
    named = r"(?:HTTP(?:/[\d.]+)?|status(?: code)?|error code|returned error|response code|answered|code|failed)"
    words = (
        r"(?:unauthorized|payment required|forbidden|not found|gone|conflict|too many requests|client error|"
        r"server error|internal server error|bad gateway|service unavailable|gateway time-?out)"
    )
    return rf"\b{named}\W{{0,4}}\b({codes})\b|\b({codes})\b\W{{0,3}}{words}|\bE({codes})\b"


MARKS: Final[tuple[Mark, ...]] = (
    # A test that speaks of a status is a test.
    Mark(
        Cause.LOGIC,
        r"^(E|FAILED \S+ -)\s+(assert\b|AssertionError|Failed:)|^AssertionError|assertion .*failed|panicked at",
    ),
    # Disk: what else a program prints when the disk is full follows from that.
    Mark(
        Cause.DISK,
        r"no space left on device|\bENOSPC\b|disk quota exceeded|\bEDQUOT\b|disk (is )?full|"
        r"wrote only \d+ of \d+ bytes",
    ),
    Mark(
        Cause.MEMORY,
        r"\b(OutOf)?MemoryError\b|heap out of memory|out of memory|cannot allocate memory|\bENOMEM\b|\bOOM\b|oom-?kill|"
        r"signal: 9|SIGKILL|memory allocation of \d+ bytes failed|bad_alloc|exit(ed with)? (code|status) 137|\bKilled$",
    ),
    # Money before limits before permissions: an empty account says 429 or 400, a used-up plan says 429.
    Mark(
        Cause.FUNDS,
        _http("402")
        + r"|insufficient_quota|exceeded your current quota|credit balance is too low|billing_(hard_)?(limit|error)|"
        r"payment required|more credits|insufficient (funds|credits|balance)",
    ),
    Mark(
        Cause.LIMIT,
        r"usage[ _]limit|(hit|reached) your (session |weekly )?limit|(hour|weekly|daily|session) limit reached|"
        r"limits? (will )?resets?\b",
    ),
    # Identity of the other side.
    Mark(
        Cause.TLS,
        r"certificate (verif|has expired|is not (yet )?valid|problem|required|unknown)|self[- ]signed certificate|"
        r"SSLError|SSLCertVerification|CERTIFICATE_VERIFY|CERT_HAS_EXPIRED|DEPTH_ZERO_SELF_SIGNED|\bx509:|"
        r"SSL routines|SSL_ERROR|ssl: no alternative|no alternative certificate subject name|subject name .*not match|"
        r"handshake (failure|failed)|tlsv1 alert|wrong version number|host key verification failed|"
        r"remote host identification has changed|ERR_TLS_|unable to get (local )?issuer",
    ),
    # Permissions.
    Mark(
        Cause.AUTH,
        _http("401|403") + r"|permission denied|\bEACCES\b|\bEPERM\b|operation not permitted|read-only file system|"
        r"\bEROFS\b|PermissionError|authentication (failed|required|error)|AuthenticationError|authentication_error|"
        r"permission_error|unauthori[sz]ed|access denied|invalid (x-)?(api[- ]?)?key|incorrect api key|"
        r"could not read (username|password)|terminal prompts disabled|not logged in|token (has )?(expired|is invalid)|"
        r"not allowed to push|transport '\w+' not allowed|protected branch|dubious ownership|"
        r"pre-receive hook declined|bad credentials|"
        r"need auth|\bE401\b|\bENEEDAUTH\b|forbidden\b",
    ),
    # The network.
    Mark(
        Cause.NETWORK,
        r"could not resolve (host|hostname)|name or service not known|(temporary )?failure in name resolution|"
        r"getaddrinfo|\bENOTFOUND\b|\bEAI_AGAIN\b|NameResolutionError|no such host|network is unreachable|"
        r"no route to host|\bENETUNREACH\b|\bEHOSTUNREACH\b|\bECONNREFUSED\b|connection refused|"
        r"couldn'?t connect to server|failed to connect to|NewConnectionError|APIConnectionError|"
        r"all connection attempts failed|cannot connect to host|connect call failed|failure resolving|dial tcp|"
        r"nodename nor servname|connection timed out",
    ),
    # What is busy.
    Mark(
        Cause.TRANSIENT,
        _http("408|425|429|500|502|503|504|520|522|524|529")
        + r"|rate.?limit|too many requests|overloaded|temporarily unavailable|try again later|"
        r"connection (reset|aborted)|\bECONNRESET\b|\bETIMEDOUT\b|broken pipe|empty reply from server|"
        r"(read|connect|pool|network|request|operation) ?time?d? ?-?out|timed out|timeout (was reached|exceeded|at:)|"
        r"database is locked|\.lock': File exists|another git process|resource temporarily|"
        r"unexpected disconnect|internal server error|bad gateway|service unavailable|gateway time-?out",
        yields_to=(Cause.LIMIT, Cause.FUNDS),
    ),
    # Changes by others.
    Mark(
        Cause.CONFLICT,
        _http("409") + r"|non-fast-forward|\(fetch first\)|merge conflict in|^CONFLICT |automatic merge failed|"
        r"fix conflicts|could not apply [0-9a-f]{7}|would be overwritten|patch does not apply|stale info",
    ),
    # What is needed: before what is merely not there, because packages are "not found" too.
    Mark(
        Cause.DEPENDENCY,
        r"no matching distribution|could not find a version|\bETARGET\b|npm error 404|\bE404\b",
        yields_to=_BEHIND,
    ),
    Mark(
        Cause.DEPENDENCY,
        r"ModuleNotFoundError|no module named|command not found|: not found$|cannot find (module|package)|"
        r"\bMODULE_NOT_FOUND\b|ERESOLVE|ResolutionImpossible|conflicting dependencies|unmet peer|missing dependenc|"
        r"do(es)? not match the hashes|could not build wheels|failed building wheel|fatal error: .*\.h: No such file|"
        r"unresolved (import|crate)|unlinked crate|use of undeclared crate|can't find crate|no matching package|"
        r"failed to select a version|no required module provides|missing go\.sum entry|unsatisfiable|"
        r"cannot find -l|spawn \S+ ENOENT|no such file or directory: '[\w-]+'$|Unable to locate package|"
        r"undefined reference to|Error 127\b",
    ),
    Mark(
        Cause.MISSING,
        _http("404|410") + r"|repository .*(not found|does not exist)|does not appear to be a git repository|"
        r"couldn'?t find remote ref|remote branch .* not found|no such remote|not_found_error|project not found",
    ),
    # The work itself.
    Mark(
        Cause.LOGIC,
        r"\b(Assertion|Type|Value|Name|Attribute|Key|Index|Syntax|Indentation|ZeroDivision|Recursion|NotImplemented|"
        r"Reference|Range|UnboundLocal|Import|Runtime|Unicode\w*)Error\b|segmentation fault|core dumped|"
        r"error\[E\d{4}\]|^\S+\.\w+:\d+(:\d+)?: (fatal )?error\b|\berror TS\d+|cannot use .* as .* value|"
        r"^\s*--- FAIL:|^FAILED |^FAIL\b|^not ok |test result: FAILED|Missing script|Could not read package\.json|"
        r"fixture '.*' not found|node down|crashed while running|^Fatal Python error|undefined: \w+|"
        r"^[\w./-]+:\d+:\d+: [^:]+$|^[A-Z]+\d{3,4} |would be reformatted",
    ),
    Mark(
        Cause.LOGIC,
        r"\b[1-9]\d* (failed|failures?|errors?|problems?)\b|tests? failed|build failed|compilation (error|failed)|"
        r"could not compile|^Traceback \(most recent|^Exception in thread|^(?-i:(Uncaught )?Error): |"
        r"make(\[\d+\])?: \*\*\* |exit status [1-9]|# fail [1-9]|npm error (Lifecycle|command failed)",
        Force.HINT,
    ),
    Mark(Cause.TRANSIENT, r"connection closed|remote end hung up|retrying", Force.HINT),
)
"""Every text, the strongest claims first."""
