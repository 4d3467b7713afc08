"""Where a server that we did not write differs from AWS.

`DEVIATIONS` are expected to fail, strictly, so that a mended server is noticed. `UNSTEADY` fail now and then (races
in the server), which no strict expectation can say: they are skipped. The reason says what the server does. Ours has
no entry in either.
"""

from collections.abc import Mapping

__all__ = ["DEVIATIONS", "UNSTEADY"]

_Table = Mapping[str, str]
"""Reason by test, with the test's parameters in brackets where only some of them differ."""

_MOTO: _Table = {
    "test_a_cancelled_long_poll_takes_no_message_with_it": "hands the message to the closed connection",
    "test_the_handle_of_a_lapsed_lease_is_refused": "deletes with any handle",
    "test_a_repeated_deduplication_id_is_accepted_and_not_delivered": "answers with a new message id",
    "test_sequence_numbers_grow": "gives no SequenceNumber",
    "test_a_lapsed_lease_can_not_be_extended": "extends it",
    "test_a_lapsed_lease_fails_alone_in_a_batch_of_extensions": "extends it",
    "test_an_older_handle_of_a_standard_queue_deletes_nothing_and_says_nothing": "refuses it",
    "test_a_dead_letter_says_which_queue_it_comes_from": "does not know the attribute",
    "test_an_empty_batch_is_refused[change]": "accepts it",
    "test_a_batch_of_eleven_is_refused[delete]": "accepts it",
    "test_a_batch_of_eleven_is_refused[change]": "accepts it",
    "test_a_batch_with_an_id_twice_is_refused[delete]": "compares the handles instead of the ids",
    "test_a_batch_with_an_id_twice_is_refused[change]": "accepts it",
    "test_a_batch_with_a_malformed_id_is_refused[delete]": "accepts it",
    "test_a_batch_with_a_malformed_id_is_refused[change]": "accepts it",
    "test_a_control_character_in_the_body_is_refused": "accepts it",
    "test_timestamps_are_whole_seconds_of_the_epoch": "gives fractions",
    "test_an_attribute_out_of_range_is_refused[VisibilityTimeout-43201]": "accepts it",
    "test_an_attribute_out_of_range_is_refused[DelaySeconds-901]": "accepts it",
}

_MINISTACK: _Table = {
    "test_the_handle_of_a_lapsed_lease_is_refused": "deletes with it",
    "test_a_lapsed_lease_can_not_be_extended": "extends it",
    "test_a_lapsed_lease_fails_alone_in_a_batch_of_extensions": "extends it",
    "test_no_lease_lasts_longer_than_twelve_hours": "accepts any timeout",
    "test_an_extension_beyond_twelve_hours_from_the_receive_is_an_error_and_not_cut_down": "accepts any timeout",
    "test_deleting_twice_succeeds": "refuses the handle (which of the two AWS does is unverified)",
    "test_an_older_handle_of_a_standard_queue_deletes_nothing_and_says_nothing": "refuses it",
    "test_a_receive_out_of_range_is_refused[{'VisibilityTimeout': 43201}]": "accepts it",
    "test_an_unknown_attribute_can_not_be_asked_for": "leaves it out silently",
    "test_a_dead_letter_queue_knows_its_sources": "does not implement the operation",
    "test_a_second_purge_within_a_minute_is_refused": "purges again",
}

DEVIATIONS: Mapping[str, _Table] = {"tidegate": {}, "moto": _MOTO, "ministack": _MINISTACK}

UNSTEADY: Mapping[str, _Table] = {
    "tidegate": {},
    "moto": {"test_each_group_keeps_its_order_under_eight_consumers": "hands out of order under concurrent receives"},
    "ministack": {
        "test_a_cancelled_long_poll_takes_no_message_with_it": "may hand the message to the closed connection"
    },
}
