"""How strongly a job is kept apart, what it may reach and what it tried: in words that are true and cannot lie."""

import pytest

from midwatch.terms.contract import Constraints, RunContract, ToolPolicy, ToolScope
from midwatch.terms.figures import first_few, joined, size
from midwatch.terms.records import ConnectionRow
from midwatch.terms.trust import Isolation
from midwatch.views.pages.live.jobs import job_shown
from midwatch.views.pages.walls import FIRST, WALLS, connections_shown, reach_of
from tests.views.test_live import DUSK, a_job


def connection(number: int, **more: object) -> ConnectionRow:
    usual = {
        "id": str(number), "job": "j1", "epoch": 1, "host": "example.org", "port": 443, "verdict": "refused",
        "why": "not on the list", "rule": "", "bytes_out": 0, "bytes_in": 0, "created_at": DUSK,
    }  # fmt: skip
    return ConnectionRow.model_validate(usual | more)


def contract(*domains: str) -> RunContract:
    scopes = {"web_research": ToolScope(allowed_domains=domains)}
    return RunContract(
        project_id="p", mission_id="m", objective="o", constraints=Constraints(tool_policy=ToolPolicy(scopes=scopes))
    )


def test_each_kind_of_walls_has_a_mark_of_its_own_strength() -> None:
    assert set(WALLS) == set(Isolation)
    assert [WALLS[one].mark for one in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK, Isolation.NONE)] == [
        "walled",
        "half-walled",
        "no walls",
    ]
    assert {one.state for one in WALLS.values()} == {"good", "half", "bad"}


def test_a_job_nobody_took_up_has_no_mark_yet() -> None:
    assert job_shown(a_job(), None, DUSK).walls is None
    taken = job_shown(a_job(worker="here-1-x", isolation="bubblewrap"), None, DUSK)
    assert taken.walls is not None
    assert taken.walls.mark == "walled"


def test_what_may_be_reached_is_what_the_house_and_the_orders_name() -> None:
    job = a_job(worker="w", isolation="bubblewrap")
    named = reach_of(job, contract("docs.example", "a\u202eb.example"), ("docs.example", "pkg.example"))
    assert named.hosts == ("docs.example", "pkg.example", "ab.example")
    assert reach_of(job, contract(), ()).said == "Nothing: its orders name no host."


@pytest.mark.parametrize(
    ("isolation", "begins"), [("landlock", "Nothing"), ("none", "Everything this machine reaches")]
)
def test_walls_without_doors_decide_what_is_reached_whatever_is_named(isolation: str, begins: str) -> None:
    told = reach_of(a_job(worker="w", isolation=isolation), contract("docs.example"), ("pkg.example",))
    assert not told.hosts
    assert told.said.startswith(begins)


def test_what_was_refused_is_gathered_counted_and_told_newest_first() -> None:
    rows = [connection(number, host=f"h{number}.example") for number in range(9, 9 + FIRST + 3)]
    rows += [connection(100 + number, host="again.example", verdict="cut", why="too much") for number in range(3)]
    rows += [connection(200, verdict="allowed", bytes_out=1024, bytes_in=3 * 1024**2)]
    shown = connections_shown(rows)
    assert shown.allowed == 1
    assert shown.traffic == "1.0 KiB out, 3.0 MiB in"
    assert [one.place for one in shown.first[:3]] == ["again.example:443", "h21.example:443", "h20.example:443"]
    assert shown.first[0].times == 3
    assert shown.first[0].verdict == "cut"
    assert len(shown.first) == FIRST
    assert len(shown.more) == 4
    assert connections_shown([]).none


def test_a_host_or_a_reason_cannot_lie_to_its_reader() -> None:
    told = connections_shown([connection(1, host="good.example\u202e\x1b[2K\n", why="\u200bno\x07")]).first[0]
    assert (told.place, told.why) == ("good.example:443", "no")
    assert connections_shown([connection(1, host="")]).first[0].place == "nowhere:443"


def test_sizes_read_well() -> None:
    counts = (0, 1, 1023, 1024, 20_000, 1024**2 - 1, 1024**2, 3 * 1024**3, 2 * 1024**4, 5000 * 1024**4)
    assert [size(count) for count in counts] == [
        *("0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "20 KiB", "1024 KiB", "1.0 MiB", "3.0 GiB", "2.0 TiB"),
        "5000 TiB",
    ]


def test_lists_read_like_a_sentence_and_name_each_word_once() -> None:
    assert [joined("abc"[:many]) for many in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert joined(["a", "b", "a"], "or") == "a or b"
    assert [first_few("abcd", most) for most in (2, 4)] == ["a, b and 2 more", "a, b, c, d"]
