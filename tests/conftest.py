"""What holds for every test."""

import asyncio

from hypothesis import settings

# A deadline per example measures what else the machine is doing: a run beside other work would fail by chance.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


def pytest_configure() -> None:
    """No event loop but the tests' own.

    looptime asks for the current loop before every test, sync ones too; Python 3.11 makes one on such a question unless
    it was told that there is none, and pytest then fails the run for the loop that nobody closed.
    """
    asyncio.set_event_loop(None)
