"""The chain: whoever changes what was written is found and the entry named. Redaction is not tampering."""

import pytest

from midwatch.errors import Refused
from midwatch.journal.entry import digest
from midwatch.store.rebuild import fingerprint, rebuild, verify_chain
from tests.store import scenes
from tests.store.opened import Store

TAMPERING = {
    "payload": ("update journal set payload = replace(payload, 'm3', 'm9') where seq = 3", "content of entry 3"),
    "payload and hash": (
        f"update journal set payload = '{{}}', payload_hash = '{digest('{}')}' where seq = 3",  # noqa: S608
        "Entry 3 does not follow",
    ),
    "time": ("update journal set at = at + 1 where seq = 3", "Entry 3 does not follow"),
    "actor": ("update journal set actor = 'eve' where seq = 3", "Entry 3 does not follow"),
    "because": ("update journal set because = '[1]' where seq = 3", "Entry 3 does not follow"),
    "kind": ("update journal set kind = 'session.resumed' where seq = 3", "Entry 3 does not follow"),
    "chain": ("update journal set chain = 'x' where seq = 3", "Entry 3 does not follow"),
    "first": ("update journal set actor = 'eve' where seq = 1", "Entry 1 does not follow"),
    "delete": ("delete from journal where seq = 3", "Entry 3 is missing"),
    "delete the first": ("delete from journal where seq = 1", "Entry 1 is missing"),
    "redacted and moved": ("update journal set payload = null, key = 'x' where seq = 3", "Entry 3 does not follow"),
}
REORDER = ("update journal set seq = 99 where seq = 3", "update journal set seq = 3 where seq = 4",
           "update journal set seq = 4 where seq = 99")  # fmt: skip


async def five(store: Store) -> None:
    await store.journal.record(*(scenes.said(f"m{i}") for i in range(1, 6)), key="k")


async def test_an_untouched_chain_holds(store: Store) -> None:
    with store.behind() as connection:
        assert verify_chain(connection) == (0, "")
    await five(store)
    with store.behind() as connection:
        assert verify_chain(connection) == (5, "")


async def test_tampering_is_found_and_named(store: Store, subtests: pytest.Subtests) -> None:
    await five(store)
    for how, (statement, sentence) in TAMPERING.items():
        with subtests.test(how), store.behind() as connection:
            assert connection.exec_driver_sql(statement).rowcount == 1
            good, said = verify_chain(connection)
            connection.rollback()
            assert sentence in said
            assert good == (0 if "1 " in sentence else 2)


async def test_two_entries_that_changed_places_are_found(store: Store) -> None:
    await five(store)
    with store.behind() as connection:
        for statement in REORDER:
            connection.exec_driver_sql(statement)
        assert verify_chain(connection) == (2, "Entry 3 does not follow from the one before it.")


async def test_redaction_is_not_tampering(store: Store) -> None:
    await five(store)
    with store.behind() as connection:
        connection.exec_driver_sql("update journal set payload = null where seq in (1, 3, 5)")
        assert verify_chain(connection) == (5, "")
    assert [entry.seq for entry in await store.journal.entries()] == [2, 4]


async def test_the_chain_goes_on_over_a_redacted_entry(store: Store) -> None:
    await five(store)
    with store.behind() as connection:
        connection.exec_driver_sql("update journal set payload = null where seq = 5")
    (entry,) = await store.journal.record(scenes.said("m6"))
    assert entry.seq == 6
    with store.behind() as connection:
        assert verify_chain(connection) == (6, "")


async def test_records_are_not_rebuilt_without_what_was_redacted(store: Store) -> None:
    await five(store)
    before = store.everything()
    with store.behind() as connection:
        connection.exec_driver_sql("update journal set payload = null where seq = 3")
    with pytest.raises(Refused, match="entry 3 was redacted") as refused, store.behind() as connection:
        rebuild(connection)
    assert refused.value.hint
    with store.behind() as connection:
        assert fingerprint(connection) == before
