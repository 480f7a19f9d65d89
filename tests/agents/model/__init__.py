"""A model that plays a script instead of thinking; real agents talk to it and cannot tell.

It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent, streaming and not.

    async with scripted_model() as model:                      # or scripted_model(sealed.listen()), see sealed.py
        key = model.play("job1", Say("Looking.", do=(Read("README.md"),)), Say("Done."))
        ... run an agent with base URL model.url and credential key ...
        model.requests("job1")[0].headers["x-api-key"]         # everything that was asked, oldest first
        model.told("job1"), model.made("job1")                 # Tokens told in whole events; Tokens made, told or not

Which script is played is found by the credential (any that ends in `script-<name>`, in x-api-key, authorization,
x-goog-api-key, api-key or ?key=) or, where the credential is not yours to choose, by the base URL
`model.address(name)`. A name nobody laid down is answered 401. Where several jobs share one credential, `model.tells`
finds the script by words in the request.

A script's steps answer the requests that offer tools, in turn (each `times` times), then `final` answers the rest.
Requests without tools (titles and such) are answered by `side`; with `every=True` they are answered from the steps too.
With `opening=(words, number)` the step follows from the conversation itself, so that an attempt that is tried again, or
a request that is sent twice, gets the answer a real model would give.

Steps:    Say(text, do, thinking, usage, headers, times, drip, cut, hold, encoding)
          Fault(status, message, headers, kind, times) · Hang() · HangUp() · Garbage() · usage_limit(resets_at)
Actions:  Shell(command) · Write(path, content) · Edit(path, old, new) · Read(path, line), put into the tools that the
          agent offers; Use(tool, given)
Waiting:  await model.asked(name, n)       n main requests have come
          await model.sending(asked, n)    n bytes of that answer's body are out
          model.release(name)              lets go what `hold` and Hang hold back
A refused connection is `refused_port()`: a port where nobody listens.
In a program that is not async: `with model_in_a_thread() as model` (its waiting methods belong to its own loop).
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.agents.model.ledger import Asked
from tests.agents.model.script import (
    FOREVER,
    Action,
    Edit,
    Fault,
    Garbage,
    Hang,
    HangUp,
    Read,
    Say,
    Shell,
    Step,
    Use,
    Write,
    fuel,
    usage_limit,
)
from tests.agents.model.scripted import Model, scripted_model

__all__ = [
    "FOREVER",
    "Action",
    "Asked",
    "Edit",
    "Fault",
    "Garbage",
    "Hang",
    "HangUp",
    "Model",
    "Read",
    "Say",
    "Shell",
    "Step",
    "Use",
    "Write",
    "fuel",
    "model_in_a_thread",
    "refused_port",
    "scripted_model",
    "usage_limit",
]


def refused_port() -> int:
    """Give a port on loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as briefly:
        port: int = briefly.getsockname()[1]
    return port


@contextmanager
def model_in_a_thread(listening: socket.socket | None = None) -> Iterator[Model]:
    """Serve from a thread of its own."""
    begun = threading.Event()
    models: list[Model] = []
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with scripted_model(listening) as model:
            models.append(model)
            begun.set()
            await over.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="scripted-model")
    thread.start()
    begun.wait()
    try:
        yield models[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
