"""Runs work with a server in this process, until the work is done."""

import asyncio
import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from midwatch.surfaces.cli.shell import client

T = TypeVar("T")
LOOK_SECONDS = 0.02
LOG = "server.log"


def attended(work: Callable[[], T]) -> T | None:
    """Run the work with a server that is opened here until it is done; None when the person leaves before that."""
    return asyncio.run(_attended(work))


async def _attended(work: Callable[[], T]) -> T | None:
    from midwatch.compose.local_checks import keep_secrets_out_of_logs  # noqa: PLC0415
    from midwatch.compose.opening import open_house  # noqa: PLC0415  heavy, and only without a server
    from midwatch.surfaces.address import SOCKET  # noqa: PLC0415
    from midwatch.surfaces.server import refuse_long_path, serve  # noqa: PLC0415

    refuse_long_path(client.home() / SOCKET)
    stop = asyncio.Event()
    async with open_house(client.home(), flags={"server.port": 0}) as house:
        kept = logging.FileHandler(client.home() / LOG)
        keep_secrets_out_of_logs(house, kept)
        logging.getLogger().addHandler(kept)
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(serve(house, say=lambda _: None, stop=stop))
            working = _in_a_thread(work)
            await asyncio.wait((serving, working), return_when=asyncio.FIRST_COMPLETED)
            signalled = stop.is_set()
            stop.set()
        logging.getLogger().removeHandler(kept)
    # After a signal, an error of the work only means that the server has stopped.
    if working.done() and (not signalled or working.exception() is None):
        return working.result()
    return None


def _in_a_thread(work: Callable[[], T]) -> "asyncio.Future[T]":
    """Run it in a thread. At the end the thread is not awaited: it may wait for an answer in the terminal."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            while not client.server_answers():
                time.sleep(LOOK_SECONDS)
            result: Any = work()
        except BaseException as error:  # noqa: BLE001  every error goes to the waiting caller
            _call(loop, future.set_exception, error)
        else:
            _call(loop, future.set_result, result)

    threading.Thread(target=run, daemon=True).start()
    return future


def _call(loop: asyncio.AbstractEventLoop, result: Callable[[Any], None], what: Any) -> None:
    with contextlib.suppress(RuntimeError, asyncio.InvalidStateError):  # the loop is gone: the person left
        loop.call_soon_threadsafe(lambda: None if sys.is_finalizing() else result(what))
