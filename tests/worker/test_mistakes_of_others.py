"""Where other workers went wrong, each with the test that shows that this one does not.

`HELD_BY` is the table: reference → test. Tests that have no better place stand below it.
"""

import asyncio
import importlib
from dataclasses import replace

import boto3
import pytest

from tests.aws.moto_cloud import use_test_account
from tests.worker.conftest import PLAN, Work, until, working
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.sandbox.sqs import SqsServer
from tidegate.testing import FakeWorkQueue
from tidegate.worker.message import Message

HELD_BY = {
    # Leases
    "bbc/sqs-consumer #270: elapsed time is added on top": "test_lease_book:test_elapsed_time_is_not_added_on_top",
    "bbc/sqs-consumer #303: a tick after the delete": "test_lease_keeping:test_no_extension_is_sent_after_the_delete",
    "aws/aws-dotnet-messaging #191: skipped messages stay tracked":
        "test_mistakes_of_others:test_what_was_never_started_is_not_kept",
    "MassTransit #5159: a duplicate never cancels its renewal":
        "test_mistakes_of_others:test_the_renewal_of_each_copy_of_a_duplicate_ends_with_it",
    "MassTransit #3585: prefetched messages are not renewed":
        "test_several_queues:test_what_waits_for_its_class_keeps_its_lease_and_runs_once",
    "shoryuken #1021: no positive interval for short timeouts":
        "test_lease_book:test_looking_is_frequent_enough_for_every_lease",
    "shoryuken #636: a soft stop kills the extenders": "test_drain:test_leases_are_kept_alive_through_the_drain",
    "procrastinate #1585: heartbeats end before the drain": "test_drain:test_leases_are_kept_alive_through_the_drain",
    "solid_queue #568: heartbeats end before the drain": "test_drain:test_leases_are_kept_alive_through_the_drain",
    "Hangfire #2233: heartbeats end before the drain": "test_drain:test_leases_are_kept_alive_through_the_drain",
    "db-scheduler #368: heartbeats end before the drain":
        "test_drain:test_leases_are_kept_alive_until_the_queued_deletes_are_confirmed",
    "novu #12437: a late tick overwrites the backoff of a retry":
        "test_mistakes_of_others:test_no_extension_overwrites_the_backoff_of_a_retry",
    "agno #9512: a blocked loop starves the renewal":
        "test_process:test_a_blocked_loop_of_async_handlers_does_not_starve_the_leases",
    # Deletes
    'wolverine #4023: a delete with a stale handle "succeeds"': "test_lease_keeping:"
        "test_a_handler_that_returns_after_its_lease_was_lost_is_no_success_and_its_delete_is_uncertain",
    "JustSaying #1584: the duplicate is left undeleted":
        "test_settling:test_both_copies_of_a_message_delivered_twice_are_deleted_by_their_own_handles",
    "shoryuken #370: failed entries of a batch are ignored":
        "test_settling:test_a_failed_delete_entry_is_tried_again_and_the_others_are_not",
    "bbc/sqs-consumer #315: failed entries of a batch are ignored":
        "test_lease_keeping:test_a_failed_entry_in_a_call_that_succeeded_is_read_and_tried_again",
    "broadway_sqs #49: one id twice in a batch":
        "test_settling:test_both_copies_of_a_message_delivered_twice_are_deleted_by_their_own_handles",
    "redpanda connect #182: one id twice in a batch":
        "test_settling:test_both_copies_of_a_message_delivered_twice_are_deleted_by_their_own_handles",
    "misk #3811: long polls take the connections of deletes":
        "test_mistakes_of_others:test_long_polls_hold_up_no_delete",
    "NServiceBus.AmazonSQS #1926: a handler slower than the timeout is retried for ever":
        "test_lease_keeping:test_a_handler_may_work_longer_than_the_lease",
    "spring-cloud-aws #516: the receive count rises without a run":
        "test_refill:test_a_worker_without_a_free_slot_does_not_poll",
    # Shutdown
    "spring-cloud-aws #1661: deletes below a threshold are never flushed":
        "test_drain:test_deletes_below_a_full_batch_are_flushed_at_the_end",
    "shoryuken #677: a poll comes back after the executor was closed":
        "test_drain:test_messages_that_the_last_poll_brings_are_released_at_once_and_never_started",
    "superlog #280: an aborted long poll strands a message":
        "test_drain:test_an_idle_worker_leaves_when_its_outstanding_poll_is_back",
    "kombu #1835: a worker's own poll takes back what it released":
        "test_drain:test_a_released_message_is_not_taken_back_by_a_late_poll_of_the_same_worker",
    "kombu #2049: a worker's own poll takes back what it released":
        "test_drain:test_a_released_message_is_not_taken_back_by_a_late_poll_of_the_same_worker",
    "celery #4002: what a stopped worker held waits for its timeout":
        "test_drain:test_what_does_not_end_within_the_grace_is_told_and_released",
    "misk #3892: killed handlers fill a dead-letter queue at maxReceiveCount 1":
        "test_mistakes_of_others:test_a_drain_costs_no_message_a_second_receive",
    # Flow
    "bbc/sqs-consumer #86: the slowest of ten": "test_refill:test_a_slow_message_does_not_hold_up_the_other_slots",
    "bbc/sqs-consumer #61: the slowest of ten": "test_refill:test_a_slow_message_does_not_hold_up_the_other_slots",
    "spring-cloud-aws #1187: one long task stops the polling":
        "test_refill:test_a_slow_message_does_not_hold_up_the_other_slots",
    "aws-sdk-js #367: polling ends silently": "test_refill:test_polling_goes_on_after_any_error_once_it_has_worked",
    "bbc/sqs-consumer #130: polling ends silently":
        "test_refill:test_polling_goes_on_after_any_error_once_it_has_worked",
    "kombu #1937: a stale signature ends the worker":
        "test_refill:test_polling_goes_on_after_any_error_once_it_has_worked",
    "kombu #2031: an expired token ends the worker":
        "test_refill:test_polling_goes_on_after_any_error_once_it_has_worked",
    "concurrency-limits #137: constant timeouts look like a stable latency":
        "test_pool:test_it_backs_off_when_the_dependency_slows_and_comes_back_when_it_has_recovered",
    "concurrency-limits #134: a limit grows that nothing has reached":
        "tests.core.workers.test_auto_slots:"
        "test_after_each_calm_while_one_more_is_allowed_and_none_is_added_without_need",
    'bbc/sqs-consumer #236: stuck, but "healthy"':
        "test_health:test_a_deadlocked_thread_pool_is_found_and_its_end_too",
    # Platforms
    "aws-node-termination-handler #493: a lifecycle hook without heartbeats":
        "test_notices:test_a_lifecycle_hook_is_kept_while_handlers_finish_and_completed_when_nothing_is_held",
    "aws-node-termination-handler #668: IMDS says 401":
        "tests.aws.test_imds:test_a_token_is_renewed_before_it_ends_and_once_it_is_not_taken_any_more",
    "ecs-task-protection-examples #3: DEPLOYMENT_BLOCKED is unhandled":
        "test_retirement:test_what_was_blocked_is_got_once_the_deployment_is_through",
    "robosystems #738: a client's retries stall the task":
        "test_retirement:test_a_protection_call_that_hangs_delays_the_first_poll_by_seconds_only",
}  # fmt: skip


@pytest.mark.parametrize("mistake", HELD_BY, ids=lambda mistake: mistake.partition(":")[0])
def test_each_mistake_has_its_test(mistake: str) -> None:
    module, _, name = HELD_BY[mistake].partition(":")
    found = importlib.import_module(module if "." in module else f"tests.worker.{module}")
    assert callable(getattr(found, name))


@pytest.mark.looptime
async def test_what_was_never_started_is_not_kept(work: Work) -> None:
    """aws/aws-dotnet-messaging #191. The last poll's message is given back once, and then left alone."""
    work.takes_s = 15.0
    async with working(work, FakeWorkQueue(visibility_s=2)) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        await until(lambda: len(bench.queue.of("receive")) == 2)
        bench.service.stop("test")
        late = bench.queue.send()
        await bench.serving
        changes = [handle for call in bench.queue.of("change") for handle in call.receipt_handles]
        assert changes.count(f"{late}#1") == 1
        assert late in bench.queue.visible()


@pytest.mark.looptime
async def test_the_renewal_of_each_copy_of_a_duplicate_ends_with_it() -> None:
    """MassTransit #5159."""
    work = Work(takes_s=10.0)
    async with working(work, FakeWorkQueue(visibility_s=4)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.queue.show_again(sent)
        await until(lambda: len(work.finished) + len(work.told) == 2)
        await until(lambda: len(bench.queue.of("delete")) >= 1)
        ended_at_s = asyncio.get_running_loop().time()
        await asyncio.sleep(60)
        assert [call for call in bench.queue.of("change") if call.at_s > ended_at_s + 0.1] == []


@pytest.mark.looptime
@pytest.mark.parametrize("latency_s", [0.0, 0.4, 0.9])
async def test_no_extension_overwrites_the_backoff_of_a_retry(latency_s: float) -> None:
    """novu #12437. The handler fails while an extension of its lease may be under way."""
    starts: list[float] = []

    async def fails(message: Message) -> None:
        starts.append(asyncio.get_running_loop().time())
        if len(starts) == 1:
            await asyncio.sleep(4.1)
            raise RuntimeError

    plan = replace(PLAN, retry_base_s=100.0)
    queue = FakeWorkQueue(visibility_s=8, latency_s=latency_s)
    async with working(fails, queue, plan, random=lambda: 0.5) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert starts[1] - starts[0] == pytest.approx(4.1 + 50, abs=2 * latency_s + 0.2)
        returned = next(call for call in bench.queue.of("change") if call.timeouts_s == (50,))
        assert bench.queue.of("change")[-1] is returned


@pytest.mark.looptime
async def test_a_drain_costs_no_message_a_second_receive() -> None:
    """misk #3892: with maxReceiveCount 1 a handler killed at a deploy puts its message with the dead letters."""
    work = Work(takes_s=15.0)
    async with working(work, FakeWorkQueue(visibility_s=4), replace(PLAN, slots=4)) as bench:
        for _ in range(4):
            bench.queue.send()
        await until(lambda: len(work.started) == 4)
        await bench.stop()
        assert sorted(bench.queue.deleted) == sorted(work.started)
        assert bench.sink.reports[-1].total.redeliveries == 0


@pytest.mark.integration
async def test_long_polls_hold_up_no_delete(monkeypatch: pytest.MonkeyPatch) -> None:
    """misk #3811. Many polls wait, on an endpoint that answers them in 5 s, and a delete goes through meanwhile."""
    use_test_account(monkeypatch)
    with SqsServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        client = boto3.client("sqs")
        url = client.create_queue(QueueName="orders")["QueueUrl"]
        client.send_message(QueueUrl=url, MessageBody="hello")
        queue = await SqsWorkQueue.connect(url, poll_wait_s=5)
        (received,) = await queue.receive(1, 0, 60)
        polls = [asyncio.create_task(queue.receive(10, 5, 60)) for _ in range(30)]
        await asyncio.sleep(0)
        assert await queue.delete([received.receipt_handle]) == []
        assert not any(poll.done() for poll in polls)
        for poll in polls:
            poll.cancel()
        await asyncio.wait(polls)
        await queue.close()
