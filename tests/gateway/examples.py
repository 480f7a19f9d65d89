"""Secrets for tests, made when they are needed: no file here holds what a scanner takes for one."""

import random
import re
import string

CLASSES = {
    "an": string.ascii_letters + string.digits,
    "AN": string.ascii_uppercase + string.digits,
    "al": string.ascii_letters,
    "n": string.digits,
    "hex": "0123456789abcdef",
    "url": string.ascii_letters + string.digits + "-_",
    "B32": string.ascii_uppercase + "234567",
    "BECH": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
PLACE = re.compile(r"<(B32|BECH|an|AN|al|n|hex|url)(\d+)>")


def filled(template: str, seed: int = 7) -> str:
    """Write letters where the template has places for them: <an36> is 36 letters and digits."""
    source = random.Random(f"{template}{seed}")  # noqa: S311  repeatable
    return PLACE.sub(lambda place: "".join(source.choices(CLASSES[place[1]], k=int(place[2]))), template)


def secret_parts(template: str, seed: int = 7) -> list[str]:
    """The filled places alone, the long ones: none of them may be seen again."""
    source = random.Random(f"{template}{seed}")  # noqa: S311  repeatable
    parts = ["".join(source.choices(CLASSES[place[1]], k=int(place[2]))) for place in PLACE.finditer(template)]
    return [part for part in parts if len(part) >= 12]


def private_key(seed: int = 7, lines: int = 12) -> str:
    """A key that opens nothing, in its armour."""
    source = random.Random(seed)  # noqa: S311  repeatable
    body = ["".join(source.choices(CLASSES["an"] + "+/", k=64)) for _ in range(lines)]
    return "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *body, "q1==", "-----END RSA " + "PRIVATE KEY-----"])
