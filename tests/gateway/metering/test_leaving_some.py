"""Leave me 40 % at 08:00: at the line of a provider's limit nothing more leaves, and the job is told why (X11)."""

from datetime import time, timedelta
from pathlib import Path

from midwatch.terms.orders import Limits
from midwatch.terms.records import FuelRow
from tests.agents.model import Say, fuel
from tests.gateway.metering.night import JOBS, SpendingNight, spending_night
from tests.store.opened import EVENING

BODY: dict[str, object] = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": []}
NEVER_USED = Say("No.", headers=fuel(0.1, 0))


def in_hours(hours: float) -> int:
    return round((EVENING + timedelta(hours=hours)).timestamp())


def at_eight() -> Limits:
    """The night begins at 21:00 UTC; the test's clock is the person's, wherever the machine stands."""
    eight = (EVENING + timedelta(hours=11)).astimezone()
    return Limits(leave_percent=40, leave_at=time(eight.hour, eight.minute))


async def asked(night: SpendingNight, *used: tuple[float, float]) -> list[int]:
    """Ask once for each answer; it tells how much of the window is used, and in how many hours it resets."""
    says = [Say("Yes.", headers=fuel(share, in_hours(hours))) for share, hours in used]
    night.model.play(JOBS[0], *says, final=NEVER_USED, every=True)
    return [(await night.ask(JOBS[0], BODY)).status_code for _ in used]


async def test_at_the_line_the_next_request_is_refused_with_a_sentence(database_url: str, tmp_path: Path) -> None:
    async with spending_night(database_url, tmp_path, at_eight()) as night:
        assert await asked(night, (0.3, 14), (0.59, 14), (0.62, 14)) == [200, 200, 200]
        (row,) = await night.store.records.find(FuelRow)
        assert (row.limit, round(row.remaining or 0, 2)) == ("5h", 0.38)
        for job in JOBS[:2]:
            refused = await night.ask(job, BODY)
            assert refused.status_code == 402
            eight = (EVENING + timedelta(hours=11)).astimezone()
            assert refused.json()["error"]["message"] == (
                f"Anthropic has 38 % of its 5h limit left, and the orders keep 40 % for {eight:%H:%M}. "
                f"No request is sent before {eight:%H:%M}."
            )
        assert len(night.model.requests()) == 3
        assert night.store.counts("reservations") == (0,)


async def test_when_the_hour_has_come_requests_leave_again(database_url: str, tmp_path: Path) -> None:
    async with spending_night(database_url, tmp_path, at_eight()) as night:
        assert await asked(night, (0.9, 14)) == [200]
        assert (await night.ask(JOBS[0], BODY)).status_code == 402
        night.store.clock.jump_to(EVENING + timedelta(hours=11))
        assert (await night.ask(JOBS[0], BODY)).status_code == 200


async def test_a_window_that_resets_before_is_burnt_to_its_end(database_url: str, tmp_path: Path) -> None:
    async with spending_night(database_url, tmp_path, at_eight()) as night:
        assert await asked(night, (0.7, 5), (0.95, 5), (0.99, 5)) == [200, 200, 200]
        assert (await night.ask(JOBS[0], BODY)).status_code == 200


async def test_without_a_wish_everything_may_be_burnt(database_url: str, tmp_path: Path) -> None:
    async with spending_night(database_url, tmp_path, Limits()) as night:
        assert await asked(night, (0.95, 14), (0.99, 14)) == [200, 200]
