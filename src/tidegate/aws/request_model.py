"""A request that botocore has made, as the model of more like it: other body, other time, signed anew.

Signature Version 4 is worked out here once more, keeping from call to call what stays the same (the key of the day, the
headers). It is used only for requests whose signature it has reproduced first: see `model_of`.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import calendar
import hashlib
import hmac
import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest
from botocore.credentials import ReadOnlyCredentials

__all__ = ["RequestModel", "model_of"]

_SIGNED: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request, "
    r"SignedHeaders=(?P<names>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)
_TIME: Final = "%Y%m%dT%H%M%SZ"
_DATE, _TOKEN, _AUTHORIZATION = "x-amz-date", "x-amz-security-token", "authorization"
_CALL, _LENGTH, _ATTEMPT = "amz-sdk-invocation-id", "content-length", "amz-sdk-request"
_OF_ONE_CALL: Final = frozenset({_DATE, _TOKEN, _AUTHORIZATION, _CALL, _LENGTH})
_FIRST: Final = "attempt=1"
_NEVER_SIGNED: Final = frozenset({_CALL, _LENGTH})
"""By botocore as it is: signing them anew for each body is more than the frame of a second can hold."""
_KNOWN: Final = _OF_ONE_CALL | {"x-amz-target", "content-type", "x-amzn-query-mode", "user-agent", _ATTEMPT}
"""A header beyond these was added by somebody (a tracer, say) who may want another value for each call."""

_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class _Frame:
    """All of a request but its body that holds for one second and one set of credentials."""

    second: int
    credentials: ReadOnlyCredentials
    headers: Mapping[str, str]
    canonical: str
    to_sign: str
    authorization: str
    key: bytes


class RequestModel:
    """Requests to one URL with the same headers; made by `model_of`."""

    def __init__(self, url: str, headers: Mapping[str, str], region: str, service: str, names: frozenset[str]) -> None:
        """`headers` have names in small letters, the host among them; `names` are those that are signed."""
        self._url = url
        self._path = urlsplit(url).path or "/"
        self._headers = {name: value for name, value in headers.items() if name not in _OF_ONE_CALL}
        self._region = region
        self._service = service
        self._names = names - {_TOKEN}
        self._frame: _Frame | None = None

    def request(self, body: bytes, at_s: float, credentials: ReadOnlyCredentials) -> AWSPreparedRequest:
        """One more request, signed for `at_s` (seconds since the epoch)."""
        frame = self._framed(int(at_s), credentials)
        headers: Any = {  # botocore's own kind of headers takes as long to make as the whole signature
            **frame.headers,
            _AUTHORIZATION: frame.authorization + _signature(frame, body),
            _CALL: str(uuid.uuid4()),
            _LENGTH: str(len(body)),
        }
        return AWSPreparedRequest("POST", self._url, headers, body, stream_output=False)

    def signature(self, body: bytes, second: int, credentials: ReadOnlyCredentials) -> str:
        """The signature alone, in hexadecimal digits."""
        return _signature(self._framed(second, credentials), body)

    def _framed(self, second: int, credentials: ReadOnlyCredentials) -> _Frame:
        frame = self._frame
        if frame is None or frame.second != second or frame.credentials != credentials:
            frame = self._frame = self._make_frame(second, credentials)
        return frame

    def _make_frame(self, second: int, credentials: ReadOnlyCredentials) -> _Frame:
        stamp = time.strftime(_TIME, time.gmtime(second))
        headers = {**self._headers, _DATE: stamp, **({_TOKEN: credentials.token} if credentials.token else {})}
        names = sorted(self._names | ({_TOKEN} if credentials.token else set()))
        lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names)
        scope = f"{stamp[:8]}/{self._region}/{self._service}/aws4_request"
        return _Frame(
            second=second,
            credentials=credentials,
            headers={name: value for name, value in headers.items() if name != "host"},  # the HTTP client says that
            canonical=f"POST\n{self._path}\n\n{lines}\n{';'.join(names)}\n",
            to_sign=f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n",
            authorization=f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, "
            f"SignedHeaders={';'.join(names)}, Signature=",
            key=_key(credentials.secret_key or "", scope),
        )


def _key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _signature(frame: _Frame, body: bytes) -> str:
    canonical = frame.canonical + hashlib.sha256(body).hexdigest()
    to_sign = frame.to_sign + hashlib.sha256(canonical.encode()).hexdigest()
    return hmac.digest(frame.key, to_sign.encode(), "sha256").hex()


def model_of(request: Any, credentials: ReadOnlyCredentials) -> RequestModel | None:
    """The model of a request that botocore sent under these credentials (an AWSPreparedRequest).

    None unless everything in it is understood and its own signature comes out as botocore's: a request that is signed
    in another way or with other credentials, has a query or headers of somebody else's, has no model.
    """
    headers = {str(name).lower(): _text(value) for name, value in request.headers.items()}
    signed = _SIGNED.fullmatch(headers.get(_AUTHORIZATION, ""))
    parts = urlsplit(request.url)
    if signed is None or request.method != "POST" or parts.query or not headers.keys() <= _KNOWN:
        return None
    names = frozenset(signed["names"].split(";"))
    headers["host"] = parts.netloc.removesuffix(_USUAL_PORTS.get(parts.scheme, ""))
    if signed["key"] != credentials.access_key or not names <= headers.keys() or _DATE not in names:
        return None
    if names & _NEVER_SIGNED or not isinstance(request.body, bytes) or _is_repeated(headers):
        return None
    model = RequestModel(request.url, headers, signed["region"], signed["service"], names)
    ours = model.signature(request.body, _second(headers[_DATE]), credentials)
    return model if hmac.compare_digest(ours, signed["signature"]) else None


def _is_repeated(headers: Mapping[str, str]) -> bool:
    """It says that it is botocore's second attempt, or until when there may be one, which is true of this one only."""
    return headers.get(_ATTEMPT, _FIRST) != _FIRST


def _second(stamp: str) -> int:
    """Seconds since the epoch.

    >>> _second("19700101T000200Z")
    120
    """
    return calendar.timegm(time.strptime(stamp, _TIME))


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
