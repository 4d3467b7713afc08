"""Whether a client still listens, asked of the socket itself."""

import asyncio
import socket

__all__ = ["hung_up"]


def hung_up(transport: asyncio.BaseTransport | None) -> bool:
    """True when the peer has closed, also when the event loop has not come round to seeing it.

    A killed worker's FIN may lie in the socket while its long poll is being woken; peeking at the socket in the
    same step keeps the message from going to the dead.
    """
    if transport is None or transport.is_closing():
        return True
    watched = transport.get_extra_info("socket")
    if watched is None:
        return False
    try:
        with watched.dup() as peeked:
            peeked.setblocking(False)
            return len(peeked.recv(1, socket.MSG_PEEK)) == 0
    except BlockingIOError:
        return False  # open and silent, as a client that waits for its answer is
    except OSError:
        return True
