"""Keeps secrets out of Midwatch's log: set on each handler, because loggers do not call each other's filters."""

import logging

from midwatch.gateway.redaction.redactor import Redactor

PLAIN = logging.Formatter()


class RedactingFilter(logging.Filter):
    """Redacts a record before it is written: its message, its arguments, and the traceback."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, redacted."""
        record.msg, record.args = self._redactor.redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = PLAIN.formatException(record.exc_info)
        if record.exc_text:
            # A formatter writes the text it finds and does not format the error again.
            record.exc_text = self._redactor.redact(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.redact(record.stack_info)
        return True
