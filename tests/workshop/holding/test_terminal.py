"""An interactive job: a real terminal whose viewer may come and go."""

from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.held import Held
from tests.workshop.holding import agents
from tests.workshop.holding.conftest import MakeSpec, left_over, until


async def test_a_terminal_has_a_size_takes_keys_and_outlives_its_viewers(agent: MakeSpec, mark: str) -> None:
    spec = agent(agents.TERMINAL, terminal=(40, 100))
    held = await launch(spec)
    place = await until(held, b"terminal True True")
    await held.resize(50, 132)
    place = await until(held, b"size 132 50", place)
    await held.say(b"\x03")
    place = await until(held, b"interrupted", place)

    attached = await adopt(spec.folder)  # somebody else looks, from the beginning
    assert isinstance(attached, Held)
    await until(attached, b"size 100 40")
    await attached.say(b"hello\n")
    await until(held, b"heard hello", place)
    await held.say(b"\x04")
    assert (await held.wait()).exit_code == 0
    assert left_over(mark, held.state) == []


async def test_a_terminal_job_that_is_stopped_leaves_nothing(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.STAYS_WITH_DAEMON, terminal=(24, 80)))
    await until(held, b"ready")
    assert (await held.stop(0.2)).how == "stopped"
    assert left_over(mark, held.state) == []
