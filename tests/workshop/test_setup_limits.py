"""A setup that writes more than a check may is stopped, named and leaves nothing; what jobs will lack is named (W6)."""

import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from midwatch.errors import Broken
from midwatch.workshop.git.checkouts import Checkouts
from midwatch.workshop.rooms.setup import Setups
from midwatch.workshop.sandbox import disk
from midwatch.workshop.sandbox.enclosure import Enclosure
from tests.workshop.repository import Repository

FILLS = "[open(os.path.join(os.environ['MIDWATCH_CACHE'], str(n)), 'w') for n in range(2000)]"
GROWS = "open('big', 'wb').write(bytes(8 << 20))"


@pytest.mark.parametrize(("code", "told"), [(FILLS, "500 files"), (GROWS, "2 MiB")])
async def test_a_setup_that_writes_too_much_is_stopped_and_leaves_nothing(
    person: Repository, checkouts: Checkouts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, told: str
) -> None:
    monkeypatch.setattr(disk, "EVERY_SECONDS", 0.05)
    commit = person.commit("Base", {"app.py": "x = 1\n"})
    await checkouts.mirrors.refresh("shop", person.path)
    enclosure = Enclosure()
    narrow = replace(enclosure, limits=replace(enclosure.limits, written_bytes=2 << 20, written_files=500))
    setups = Setups(tmp_path / "home", checkouts, narrow)
    command = f'{sys.executable} -c "import os, time; {code}; time.sleep(600)"'
    with pytest.raises(Broken, match=f"The project's setup wrote more than {told}, so it was stopped") as stopped:
        await setups.make("shop", "job", commit, command, log=tmp_path / "setup.log", wall=timedelta(minutes=1))
    assert "sandbox.check_mib" in stopped.value.hint
    kept = [place for place in (tmp_path / "home" / "setup" / "shop").iterdir() if place.is_dir()]
    assert kept == [], "what it wrote is gone"
    assert setups.made("shop", await setups.fingerprint("shop", commit, command)) is None


async def test_what_a_setup_made_and_jobs_will_not_find_is_named_in_its_log(
    person: Repository, checkouts: Checkouts, tmp_path: Path
) -> None:
    """A name that cannot be listed used to be left out in silence."""
    commit = person.commit("Base", {"app.py": "x = 1\n"})
    await checkouts.mirrors.refresh("shop", person.path)
    setups, log = Setups(tmp_path / "home", checkouts, Enclosure()), tmp_path / "setup.log"
    odd = """touch kept "$(printf 'new\\nline')" "$(printf 'odd\\377')" """
    command = f"echo begun; {odd}; ln -s kept link; rm app.py; ln -s kept app.py"
    made, *_ = await setups.make("shop", "job", commit, command, log=log, wall=timedelta(minutes=1))
    assert made.placed == ("kept",)
    said = log.read_text()
    assert said.startswith("begun\n")
    assert r"jobs will not find 'link', 'new\nline', 'odd\udcff': links at the top" in said
    assert "app.py" not in said, "a job has it from its commit"
