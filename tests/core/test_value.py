"""What a maker makes is what the class makes, frozen where that is."""

from dataclasses import FrozenInstanceError

import pytest

from tidegate.core.decision import Health
from tidegate.core.model import Balance
from tidegate.core.value import maker


def test_a_maker_makes_what_the_class_makes() -> None:
    assert maker(Balance)(busy_s=1.0, span_s=2.0) == Balance(busy_s=1.0, span_s=2.0)
    assert maker(Health)(usual_count=3, advice=("mend it",)) == Health(usual_count=3, advice=("mend it",))


def test_a_maker_refuses_what_the_class_has_no_field_for() -> None:
    with pytest.raises(TypeError, match="unknown"):
        maker(Balance)(unknown=1.0)  # type: ignore[call-arg]  # what is tested


def test_what_the_maker_of_a_frozen_class_makes_is_of_that_class_and_frozen() -> None:
    made = maker(Health)(pinned_share=0.5)
    assert type(made) is Health
    with pytest.raises(FrozenInstanceError):
        made.pinned_share = 1.0  # type: ignore[misc]  # what is tested
