"""From when on the leases of what a poll brings must be counted. Pure: no clock in here.

SQS starts a lease when it hands a message out; we only see the answer. Between the two may lie the network, or a time
in which the process stood still (SIGSTOP, a frozen container, a machine that slept): then the answer has been waiting
for us, and the lease may be over and the message with another worker. So the lease is counted from the last time that
the answer was certainly not there yet, and from no later than the poll's wait allows: SQS answers by then.
"""

__all__ = ["PollWatch"]


class PollWatch:
    """One poll, sent at `sent_at_s`, asking SQS to wait for up to `wait_s`; looked at every `look_s`.

    A look that finds no answer shows that there was none at the look before it: the loop has read its sockets between
    the two. It does not show that for itself: the process may have been stopped between reading and looking.
    """

    def __init__(self, sent_at_s: float, wait_s: float, look_s: float) -> None:
        self._answered_by_s = sent_at_s + wait_s
        self._longest_gap_s = 2 * look_s
        self._looked_at_s = (sent_at_s, sent_at_s)
        self._stood_still_from_s: float | None = None

    def not_back(self, now_s: float) -> None:
        """A look: there is no answer yet. One that comes much too late tells that the process stood still."""
        before_s, last_s = self._looked_at_s
        if self._stood_still_from_s is None and now_s - last_s > self._longest_gap_s:
            self._stood_still_from_s = before_s
        self._looked_at_s = (last_s, now_s)

    def handed_out_s(self) -> float:
        """The earliest time at which SQS can have handed out what has come back just now.

        A stop in the middle of the poll counts to its end: the answer may have come then, and have been read in parts.
        """
        before_s, _ = self._looked_at_s
        earliest_s = before_s if self._stood_still_from_s is None else self._stood_still_from_s
        return min(earliest_s, self._answered_by_s)
