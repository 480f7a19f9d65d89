"""What was signed stays signed: a wish that came later does not change the hash of orders that have none."""

from datetime import time

import pytest

from midwatch.journal.events.session import OrdersChanged, SessionOpened
from midwatch.journal.upcasts import read_event
from midwatch.terms.orders import Limits, Orders
from tests.journal.golden_files import stored


@pytest.mark.parametrize("name", ["session.opened.before-1.json", "orders.changed.before-1.json"])
def test_orders_without_the_wish_are_written_as_they_were_before_there_was_one(name: str) -> None:
    kind, payload = stored()[name]
    event = read_event(kind, payload)
    assert isinstance(event, SessionOpened | OrdersChanged)
    assert event.orders.model_dump(mode="json") == payload["orders"]


def test_a_wish_is_part_of_what_is_signed() -> None:
    wished = Orders(limits=Limits(leave_percent=40, leave_at=time(8)))
    written = wished.model_dump(mode="json")
    assert written["limits"] | {"leave_percent": 40, "leave_at": "08:00:00"} == written["limits"]
    assert Orders.model_validate(written) == wished
