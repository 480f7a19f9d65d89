"""Keeps secrets out of our own log: hung on each handler, since loggers do not ask each other's filters."""

import logging

from midwatch.gateway.redaction.redactor import Redactor

PLAIN = logging.Formatter()


class RedactingFilter(logging.Filter):
    """Redacts a record before it is written: its words, what they are about, and the traceback."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, clean."""
        record.msg, record.args = self._redactor.redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = PLAIN.formatException(record.exc_info)
        if record.exc_text:
            # A formatter writes the text it finds and does not look at the error again.
            record.exc_text = self._redactor.redact(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.redact(record.stack_info)
        return True
