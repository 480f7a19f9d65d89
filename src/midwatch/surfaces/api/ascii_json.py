"""JSON in plain ASCII, so that no hidden character reaches a terminal or an editor unseen."""

import json
from typing import Any

from fastapi.responses import JSONResponse


class AsciiJson(JSONResponse):
    """JSON with everything beyond ASCII as an escape; a parser returns the same text."""

    def render(self, content: Any) -> bytes:
        return (
            json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
            .replace("\x7f", "\\u007f")
            .encode()
        )
