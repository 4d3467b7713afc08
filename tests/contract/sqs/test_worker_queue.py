"""The worker's own adapter at every server: a first call goes through botocore, further ones by the short way."""

from typing import Any

import pytest

from tests.aws.moto_cloud import use_test_account
from tests.contract.sqs.account import Account
from tidegate.aws.short_way import ShortWay
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.errors import Gone
from tidegate.ports import VisibilityChange

ATTRIBUTES: Any = {
    "bytes": {"DataType": "Binary", "BinaryValue": b"\xff\x00>"},
    "text": {"DataType": "String", "StringValue": "\u2713"},
}


async def test_short_calls_do_what_botocores_do(sqs: Account, server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three messages, one after another: the first round is botocore's, what comes back is the same in each."""
    use_test_account(monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server_url)
    url = sqs.queue()
    queue: Any = await SqsWorkQueue.connect(url, region="us-east-1", poll_wait_s=1)
    hot: list[ShortWay] = [
        queue._polls.receive_message,
        queue._rest.delete_message_batch,
        queue._rest.change_message_visibility_batch,
    ]
    for number in range(3):
        assert [call.short for call in hot] == [number > 0] * 3
        sqs.client.send_message(QueueUrl=url, MessageBody=f"b\u2713{number}", MessageAttributes=ATTRIBUTES)
        (message,) = await queue.receive(10, 1, 30)
        assert message.body == f"b\u2713{number}"
        assert message.attributes["ApproximateReceiveCount"] == "1"
        for name, sent in ATTRIBUTES.items():
            assert sent.items() <= message.message_attributes[name].items()
        assert await queue.change_visibility([VisibilityChange(message.receipt_handle, 0)]) == []
        (again,) = await queue.receive(10, 1, 30)
        assert again.message_id == message.message_id
        assert await queue.delete([again.receipt_handle]) == []
    assert await queue.receive(10, 0, 30) == []
    sqs.client.delete_queue(QueueUrl=url)
    for short in (True, False):
        assert queue._polls.receive_message.short == short
        with pytest.raises(Gone, match="check the queue's name"):
            await queue.receive(1, 0, 30)
    await queue.close()
