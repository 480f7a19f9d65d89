"""Reading records: by id, number or name; in a stable order; and a helpful sentence where there is nothing."""

import asyncio

import pytest
import sqlalchemy as sa

from midwatch.errors import Unknown
from midwatch.journal.events import projects, session
from midwatch.store.ids import Ulids
from midwatch.store.schema.columns import EPOCH, from_micros, to_micros
from midwatch.terms.asks import AskState
from midwatch.terms.projects import Flag
from midwatch.terms.records import AskRow, JobRow, PastAct, ProjectRow, WorkRow
from tests.journal.samples import THEN
from tests.store import scenes
from tests.store.opened import Store
from tests.store.scenes import of


async def test_one_row_is_found_by_id_number_or_name(store: Store) -> None:
    await store.journal.record(scenes.project("first"), scenes.project("second", "prj_2"))
    for name in ("prj_2", "2", "#2", "second"):
        assert (await store.records.get(ProjectRow, name)).id == "prj_2"


async def test_what_nobody_has_is_unknown_with_a_hint(store: Store) -> None:
    await store.journal.record(scenes.project())
    for name in ("nobody", "99", "9" * 40, "²", "", "#"):
        with pytest.raises(Unknown, match=f"There is no project '{name}'") as missing:
            await store.records.get(ProjectRow, name)
        assert "midwatch project" in missing.value.hint


async def test_an_unknown_work_item_is_called_by_its_noun(store: Store) -> None:
    with pytest.raises(Unknown, match="There is no work item '7'"):
        await store.records.get(WorkRow, "7")


async def test_a_number_goes_before_a_name_that_looks_like_one(store: Store) -> None:
    await store.journal.record(scenes.project("2", "prj_1"), scenes.project("other", "prj_2"))
    assert (await store.records.get(ProjectRow, "2")).id == "prj_2"


async def test_a_removed_project_is_found_by_find_but_not_by_name(store: Store) -> None:
    await store.journal.record(scenes.project(), projects.ProjectRemoved(project="prj_1"))
    with pytest.raises(Unknown):
        await store.records.get(ProjectRow, "sample")
    assert [row.removed for row in await store.records.find(ProjectRow)] == [True]


async def test_find_takes_values_choices_enums_and_nothing(store: Store) -> None:
    due, never = scenes.ask("ask_1"), scenes.ask("ask_2").model_copy(update={"due_at": None})
    await store.journal.record(due, never, scenes.ask("ask_3"), scenes.answer(id_="ask_3"))

    async def found(**where: object) -> list[str]:
        return [row.id for row in await store.records.find(AskRow, **where)]

    assert await found() == ["ask_1", "ask_2", "ask_3"]
    assert await found(state=AskState.OPEN) == ["ask_1", "ask_2"]
    assert await found(id=("ask_3", "ask_1")) == ["ask_1", "ask_3"]
    assert await found(state=(AskState.ANSWERED, AskState.EXPIRED)) == ["ask_3"]
    assert await found(due_at=None) == ["ask_2"]
    assert await found(due_at=THEN, state=AskState.OPEN) == ["ask_1"]
    assert await found(id=()) == []


async def test_numbers_count_up_and_give_the_order(store: Store) -> None:
    await store.journal.record(*(scenes.project(f"p{i}", f"prj_{9 - i}") for i in range(4)))
    rows = await store.records.find(ProjectRow)
    assert [(row.number, row.name) for row in rows] == [(1, "p0"), (2, "p1"), (3, "p2"), (4, "p3")]


async def test_rows_come_back_as_they_were_written(store: Store) -> None:
    odd = "Überraschung \U0001f319 'quoted' \\ %s"
    await store.journal.record(scenes.project())
    change = projects.ProjectChanged(project="prj_1", purpose=odd, checks=(odd, ""), flags=(Flag.BLOCKED,))
    (entry,) = await store.journal.record(change)
    row = await store.records.get(ProjectRow, "prj_1")
    assert (row.purpose, row.checks, row.flags, row.updated_at) == (odd, (odd, ""), (Flag.BLOCKED,), entry.at)


async def test_a_slim_row_is_read_from_the_table_of_the_full_one(store: Store) -> None:
    await store.journal.record(of(session.ActJudged, act="act_1"))
    (found,) = await store.records.find(PastAct)
    assert found == await store.records.get(PastAct, "act_1")


async def test_the_head_counts_entries(store: Store) -> None:
    assert await store.records.head() == 0
    await store.journal.record(scenes.said("a"), scenes.said("b"))
    assert await store.records.head() == 2
    assert await store.records.find(JobRow) == ()


def test_microseconds_are_exact() -> None:
    assert from_micros(to_micros(THEN)) == THEN
    assert to_micros(EPOCH) == 0
    assert to_micros(from_micros(2**53 + 1)) == 2**53 + 1


def test_ids_sort_in_the_order_of_making_even_when_the_clock_stands_or_goes_back() -> None:
    class Jumpy:
        def __init__(self) -> None:
            self.at = [THEN, THEN, from_micros(to_micros(THEN) - 10**9), THEN]

        def now(self) -> object:
            return self.at.pop(0) if len(self.at) > 1 else self.at[0]

        def real_seconds(self, house_seconds: float) -> float:
            return house_seconds

    ids = Ulids(Jumpy())  # type: ignore[arg-type]
    made = [ids.new("job") for _ in range(200)]
    assert made == sorted(set(made))
    assert all(len(one) == len("job_") + 26 for one in made)


async def test_rows_of_several_kinds_are_of_one_moment_whatever_is_written_meanwhile(store: Store) -> None:
    await store.journal.record(scenes.project("first"))
    loop, late = asyncio.get_running_loop(), iter([scenes.project("second", "prj_2")])

    def meddle(*_: object) -> None:
        for event in late:  # in the reader's thread, after its first statement that reads
            asyncio.run_coroutine_threadsafe(store.journal.record(event), loop).result()

    def reads(_: object, __: object, statement: str, *___: object) -> None:
        if statement.startswith("SELECT"):
            meddle()

    sa.event.listen(store.reader.engine, "after_cursor_execute", reads)
    seen = await store.records.at_once(lambda now: (now.head, now.find(JobRow), now.find(ProjectRow)))
    assert (*seen[:2], [row.name for row in seen[2]]) == (1, (), ["first"])
    assert await store.records.head() == 2
    assert len(await store.records.at_once(lambda now: now.find(ProjectRow))) == 2
