"""A worker that has warmed up needs no more memory, however much it works off."""

import gc
import logging
import sys

import pytest

from tests.worker.endless import long_run


def allocated_blocks() -> int:
    """Of Python's own allocator: every object that is alive is one or two, floats and texts included."""
    gc.collect()
    return sys.getallocatedblocks()


def test_what_is_allocated_is_the_same_after_many_messages(caplog: pytest.LogCaptureFixture) -> None:
    """`make bench` runs a million, for a day of virtual time."""
    caplog.set_level(logging.CRITICAL)  # or pytest keeps every line
    run = long_run(1_000, 4_000, allocated_blocks)
    assert run.took_s > 240
    assert run.heartbeats > 20
    assert run.after < run.before + 300, "something is kept of every tenth message, or of more"
