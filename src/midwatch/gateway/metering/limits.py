"""Sizes and times: what one job may use of the proxy, and how long each part of a request may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """How much of the proxy one job may use at once."""

    body: int = 32 * 1024 * 1024
    """Bytes of one request."""
    bodies: int = 64 * 1024 * 1024
    """Bytes of all requests together, which are held in our memory."""
    at_once: int = 64
    """Further connections wait until one ends."""
    error: int = 256 * 1024
    """Bytes of a provider's error; a longer one is replaced by our own text."""


@dataclass(frozen=True, slots=True)
class ProxyTimeouts:
    """Seconds for each part as a whole: a time-out per read never fires on a slow drip."""

    head: float = 60
    """From the job: its request without the body. On a busy machine its program may not run for many seconds."""
    body: float = 60
    connect: float = 10
    send: float = 120
    first: float = 600
    """From the provider: the head of its answer. A model may think long before it answers."""
    quiet: float = 300
    """From the provider: silence in the middle of an answer."""
    stalled: float = 300
    """The job reads nothing of its answer."""
    whole: float = 3_600
    linger: float = 2
