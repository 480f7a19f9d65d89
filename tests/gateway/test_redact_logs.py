"""The program's own log holds no secret, not even in a traceback."""

import io
import logging

from midwatch.gateway.redaction.redactor import RedactingFilter, Redactor
from tests.gateway.examples import filled

VALUE = "the-owl-flies-at-0400"


def test_words_arguments_and_tracebacks_are_redacted() -> None:
    out, log = io.StringIO(), logging.getLogger("tests.discreet")
    handler = logging.StreamHandler(out)
    handler.addFilter(RedactingFilter(Redactor({"owl": VALUE})))
    log.addHandler(handler)
    log.propagate = False
    try:
        log.warning("with %s in %d places", VALUE, 3)
        log.warning("a token: %s", filled("ghp_<an36>"))
        try:
            raise ValueError(f"cannot read {VALUE}")  # noqa: TRY301
        except ValueError:
            log.exception("it failed", stack_info=True)
        log.info("100% sure")
        log.warning("100% sure")
    finally:
        log.removeHandler(handler)
    said = out.getvalue()
    assert VALUE not in said
    assert "with [secret:owl] in 3 places" in said
    assert "ValueError: cannot read [secret:owl]" in said
    assert "[secret:github]" in said
    assert "100% sure" in said
