"""What workers are told, and for how long it is told again."""

import pytest

from tidegate.core.directive import Directive, must_tell, said
from tidegate.core.stored.codec import from_json, to_json


def test_it_survives_json() -> None:
    directive = Directive(("i-1",), shed=True, limits={"db": 20.0}, changed_at_s=5.0)
    assert from_json(Directive, to_json(directive)) == directive


def test_a_field_of_a_newer_version_is_ignored() -> None:
    assert from_json(Directive, '{"retire": ["a"], "pause_until_s": 5, "schema": 1}') == Directive(("a",))


@pytest.mark.parametrize("now", [Directive(("a",)), Directive(shed=True), Directive(limits={"db": 1.0})])
def test_what_says_something_is_told_at_every_tick(now: Directive) -> None:
    assert must_tell(now, now_s=1e9)


def test_what_became_empty_is_told_for_a_quarter_of_an_hour_in_case_the_write_was_lost() -> None:
    emptied = said(Directive(("a",), changed_at_s=5.0), now_s=100.0, retire=(), shed=False)
    assert emptied.changed_at_s == 100.0
    assert must_tell(emptied, now_s=1000.0)
    assert not must_tell(emptied, now_s=1001.0)


def test_a_pool_that_was_never_told_anything_is_told_nothing() -> None:
    assert not must_tell(said(Directive(), now_s=1e9, retire=(), shed=False), now_s=1e9)
