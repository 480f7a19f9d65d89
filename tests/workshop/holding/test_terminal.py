"""An interactive job: a real terminal whose viewer may come and go."""

import pytest

from midwatch.workshop.holding.adoption import adopt, launch
from midwatch.workshop.holding.held import HeldProgram
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
    assert isinstance(attached, HeldProgram)
    await until(attached, b"size 100 40")
    await attached.say(b"hello\n")
    await until(held, b"heard hello", place)
    await held.say(b"\x04")
    assert (await held.wait()).exit_code == 0
    assert left_over(mark, held.state) == []


@pytest.mark.usefixtures("bubblewrap")
async def test_a_terminal_works_inside_walls(walled: MakeSpec, mark: str) -> None:
    code = agents.TERMINAL.replace("size()\n", "size()\nprint('called', os.environ['TERM'], flush=True)\n", 1)
    walls = {"terminal": True, "environment": {"TERM": "xterm-256color"}}
    held = await launch(walled(code + agents.TYPES_BY_ITSELF, walls=walls, terminal=(40, 100)))
    place = await until(held, b"called xterm-256color\r\nterminal True True")
    await held.resize(50, 132)
    place = await until(held, b"size 132 50", place)
    await held.say(b"\x03")
    place = await until(held, b"interrupted", place)
    await held.say(b"hello\n")
    place = await until(held, b"heard hello", place)
    await held.say(b"\x04")
    await until(held, b"cannot type by itself", place)
    assert (await held.wait()).exit_code == 0
    assert left_over(mark, held.state) == []


@pytest.mark.usefixtures("bubblewrap")
async def test_a_shell_inside_walls_has_job_control(walled: MakeSpec, mark: str) -> None:
    shell = "import os; os.execv('/bin/bash', ['bash', '--norc', '--noprofile', '-i'])"
    walls = {"terminal": True, "environment": {"PS1": "$ "}}
    held = await launch(walled(shell, walls=walls, terminal=(24, 200)))
    await held.say(f'python3 -c "{agents.JOB}"\n'.encode())
    place = await until(held, b"job runs")
    await held.say(b"\x1a")
    place = await until(held, b"Stopped", place)
    await held.say(b"fg\n")
    place = await until(held, b"job is back", place)
    await held.say(b"\x03")
    await until(held, b"KeyboardInterrupt", place)
    await held.say(b"exit 5\n")
    ending = await held.wait()
    assert (ending.how, ending.exit_code) == ("exited", 5)
    assert "no job control" not in ending.last_words
    assert left_over(mark, held.state) == []


async def test_a_terminal_job_that_is_stopped_leaves_nothing(agent: MakeSpec, mark: str) -> None:
    held = await launch(agent(agents.STAYS_WITH_DAEMON, terminal=(24, 80)))
    await until(held, b"ready")
    assert (await held.stop(0.2)).how == "stopped"
    assert left_over(mark, held.state) == []
