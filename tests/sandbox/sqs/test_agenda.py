from hypothesis import given
from hypothesis import strategies as st

from tidegate.sandbox.sqs.agenda import Agenda

NUMBERS = st.integers(0, 20)
TIMES = st.integers(0, 50).map(float)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), NUMBERS, TIMES),
        st.tuples(st.just("forget"), NUMBERS, TIMES),
        st.tuples(st.just("take"), NUMBERS, TIMES),
    ),
    max_size=200,
)


@given(STEPS)
def test_it_behaves_as_a_dictionary_of_times_read_in_order(steps: list[tuple[str, int, float]]) -> None:
    agenda, model = Agenda(), dict[int, float]()
    for step, number, time_s in steps:
        if step == "set":
            agenda.set(number, time_s)
            model[number] = time_s
        elif step == "forget":
            agenda.forget(number)
            model.pop(number, None)
        else:
            due = sorted((at_s, each) for each, at_s in model.items() if at_s <= time_s)
            assert list(agenda.take_due(time_s)) == [each for _, each in due]
            for _, each in due:
                del model[each]
        assert agenda.first_s() == min(model.values(), default=None)
        assert len(agenda) == len(model)


def test_setting_the_same_number_for_ever_takes_no_more_memory() -> None:
    agenda = Agenda()
    for beat in range(10_000):
        agenda.set(1, float(beat))
    assert len(agenda._heap) < 200
    assert list(agenda.take_due(9_999.0)) == [1]


def test_forgetting_everything_frees_the_memory_also_when_nothing_ever_comes_due() -> None:
    agenda = Agenda()
    for number in range(10_000):
        agenda.set(number, 1e9)
    for number in range(10_000):
        agenda.forget(number)
    assert len(agenda._heap) < 200
