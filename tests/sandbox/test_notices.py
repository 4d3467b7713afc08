"""What the metadata knows of workers that come and go."""

from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Identity


def test_a_worker_that_is_gone_in_the_middle_of_a_request_is_given_nothing() -> None:
    notices = Notices(lambda: 1)
    notices.register(Identity("w1", "i-1", "arn"))
    notices.forget("w1")
    notices.protect("w1", 60, now_s=0.0)
    notices.unprotect("w1")
    notices.spot("w1", 120.0)
    token = notices.issue_token("w1", 60, now_s=0.0)
    assert not notices.token_holds("w1", token, now_s=0.0)
    assert notices.protected(0.0) == set()
    assert notices.protected_until_s("w1", 0.0) is None
    assert notices.document("w1", "spot/instance-action") is None


def test_an_id_that_comes_again_starts_with_a_clean_sheet() -> None:
    notices = Notices(lambda: 1)
    notices.register(Identity("w1", "i-1", "arn"))
    notices.protect("w1", 60, now_s=0.0)
    notices.spot("w1", 120.0)
    notices.register(Identity("w1", "i-1", "arn"))
    assert notices.protected(0.0) == set()
    assert notices.document("w1", "spot/instance-action") is None
