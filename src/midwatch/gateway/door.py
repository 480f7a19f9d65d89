"""The door: every effect outside the database passes here, is judged again with fresh facts, and is recorded."""

from collections.abc import Awaitable, Callable

from midwatch.errors import MidwatchError, Refused, Stale, Unavailable
from midwatch.journal.events.session import ToolCalled, ToolFinished
from midwatch.ports.door import Effect
from midwatch.ports.journal import Journal
from midwatch.terms.trust import Verdict

Result = dict[str, str]


class TracedDoor:
    """Lets an effect pass at most once per key.

    The effects that pass here are idempotent by nature (the same commit to the same ref), so an effect that a crash
    interrupted may be carried out again under the same key.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def pass_through(
        self, effect: Effect, judge: Callable[[], Awaitable[Verdict]], act: Callable[[], Awaitable[Result]]
    ) -> Result:
        ended = await self._journal.known(f"tool:{effect.key}:finished")
        if ended is not None and isinstance(ended.event, ToolFinished):
            return _recalled(ended.event)
        await self._begin(effect)
        verdict = await judge()
        if not verdict.outcome.acts:
            await self._finish(effect, "denied", error=verdict.first.text)
            raise Refused(verdict.first.text, because=tuple(reason.text for reason in verdict.reasons))
        try:
            result = await act()
        except Stale:
            raise
        except MidwatchError as error:
            await self._finish(effect, "error", error=error.message)
            raise
        await self._finish(effect, "ok", result)
        return result

    async def _begin(self, effect: Effect) -> None:
        called = ToolCalled(
            invocation=effect.key,
            tool=effect.tool,
            session=effect.session,
            run=effect.run,
            job=effect.job,
            request=dict(effect.request),
        )
        await self._journal.record(called, key=f"tool:{effect.key}:called")

    async def _finish(self, effect: Effect, status: str, result: Result | None = None, *, error: str = "") -> None:
        finished = ToolFinished.model_validate(
            {"invocation": effect.key, "status": status, "result": result or {}, "error": error}
        )
        await self._journal.record(finished, key=f"tool:{effect.key}:finished")


def _recalled(finished: ToolFinished) -> Result:
    if finished.status == "denied":
        raise Refused(finished.error)
    if finished.status != "ok":
        raise Unavailable(finished.error)  # a crash interrupted what was to follow: the next attempt has its own key
    return {name: str(value) for name, value in finished.result.items()}
