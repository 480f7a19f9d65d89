"""JSON as this API writes it: plain ASCII, so that no hidden character reaches a terminal or an editor unseen."""

import json
from typing import Any

from fastapi.responses import JSONResponse


class AsciiJson(JSONResponse):
    """The words as they are, with everything beyond ASCII as an escape; a parser gives the very same text back."""

    def render(self, content: Any) -> bytes:
        """Write it."""
        return (
            json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
            .replace("\x7f", "\\u007f")
            .encode()
        )
