"""The proxy and the certificates by which AWS is reached: what can't be either is said before anything is called.

botocore finds out at the first call, and then calls it a connection that failed, whose cause is elsewhere.
"""

import os
import ssl
import stat
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.utils import get_environ_proxies

from tidegate.errors import ConfigError, Fault

__all__ = ["check_bundle_is_named", "check_way_out", "proxy_in_force"]

_PROXY_FIX: Final = "write it as http://host:port, or unset it (NO_PROXY names the hosts that need none)"
_NO_URL_WITH_USER: Final = "is no URL (in a user or a password, signs such as / are written as %2F)"
"""Without what Python says of it, which quotes parts of the password."""

_BUNDLE_FIX: Final = "name a file of PEM certificates, or unset it to use those that come with botocore"
_SCHEMES: Final = ("http", "https")
_BUNDLES: Final = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
"""In the order in which botocore heeds them; `ca_bundle` in the profile stands between them."""


def check_way_out(endpoint_url: str, session: Any) -> None:
    """Raises ConfigError when the proxy for `endpoint_url` is no URL, or what is to verify its certificate is no file
    of certificates; ValueError when the endpoint is none that can be called. `session` is botocore's, or None where
    only the environment is to be looked at.

    Asks nothing of the network. Plain http needs no certificates, and what NO_PROXY names no proxy.
    """
    if (parts := urlsplit(endpoint_url)).scheme not in _SCHEMES or parts.port == 0:
        raise ValueError(f"Invalid endpoint: {endpoint_url}")
    faults = [_proxy_fault(endpoint_url)]
    if endpoint_url.startswith("https:"):
        faults.append(_bundle_fault(session))
    if found := [fault for fault in faults if fault is not None]:
        raise ConfigError(found)


def check_bundle_is_named(session: Any) -> None:
    """Raises ConfigError when the certificates' variable is empty, which botocore refuses for every endpoint (and which
    turned the check of certificates off before it did). `session` as for `check_way_out`."""
    name, path = _bundle(session)
    if path is not None and not path.strip():
        raise ConfigError([Fault(name, path, "names no file", _BUNDLE_FIX)])


def proxy_in_force(endpoint_url: str) -> str:
    """The variable and its value ("HTTPS_PROXY = 'http://proxy:3128'") by which the endpoint is reached; "": none."""
    name, value = _proxy(endpoint_url)
    return f"{name} = {_masked(value)!r}" if value else ""


def _proxy(endpoint_url: str) -> tuple[str, str]:
    scheme = urlsplit(endpoint_url).scheme
    value = get_environ_proxies(endpoint_url).get(scheme, "")
    small = f"{scheme}_proxy"
    return small if small in os.environ else small.upper(), value


def _proxy_fault(endpoint_url: str) -> Fault | None:
    name, value = _proxy(endpoint_url)
    if not value or (problem := _proxy_problem(value)) is None:
        return None
    return Fault(name, _masked(value), problem, _PROXY_FIX)


def _proxy_problem(value: str) -> str | None:
    scheme, separator, rest = value.partition("://")
    if separator and scheme.lower() not in _SCHEMES:
        return _NO_URL_WITH_USER if "@" in scheme else f"{scheme} is no kind of proxy that botocore knows"
    try:
        parts = urlsplit(f"http://{rest if separator else value.removeprefix('//')}")
        host, _ = parts.hostname, parts.port  # a port that is none raises when it is read
    except ValueError as error:
        return _NO_URL_WITH_USER if "@" in value else f"is no URL ({error})"
    named = (
        host and not any(each.isspace() for each in host) and (separator or not value.startswith(("http:", "https:")))
    )
    return None if named else "names no host"


def _masked(value: str) -> str:
    """A proxy's user and password are nobody's business."""
    before, at, host = value.rpartition("@")
    scheme, separator, _ = before.partition("://")
    named = f"{scheme}://" if separator and "@" not in scheme else ""
    return f"{named}***@{host}" if at else value


def _bundle_fault(session: Any) -> Fault | None:
    name, path = _bundle(session)
    if path is None or (problem := _bundle_problem(path)) is None:
        return None
    return Fault(name, path, problem, _BUNDLE_FIX)


def _bundle(session: Any) -> tuple[str, str | None]:
    first, last = _BUNDLES
    if first in os.environ:
        return first, os.environ[first]
    profile = None if session is None else session.get_config_variable("ca_bundle")
    return ("ca_bundle (of the AWS profile)", profile) if profile is not None else (last, os.environ.get(last))


def _bundle_problem(path: str) -> str | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for
            return "is no file"
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError:  # an OSError too
        return "holds no certificate in PEM form"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return f"can't be read ({getattr(error, 'strerror', None) or error})"
    return None
