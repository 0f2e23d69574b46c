"""`--cluster ADDRESS`: valid addresses, and those to which articles may safely be sent."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from wikitopics.session.errors import BadUsage
from wikitopics.session.options import CLUSTER, CLUSTER_UNENCRYPTED
from wikitopics.session.request import TrainRequest

ENCRYPTED = ("tls", "wss")
UNENCRYPTED = ("tcp", "ws")
PORT = 8786
"""The port on which `dask scheduler` listens by default."""


def cluster_address(request: TrainRequest) -> str | None:
    """The requested scheduler, as Dask writes it; None if there is none. Raises `BadUsage`."""
    text = request.get(CLUSTER)
    if text is None:
        if CLUSTER_UNENCRYPTED in request:
            raise BadUsage(f"{CLUSTER_UNENCRYPTED.flag} needs {CLUSTER.flag} {CLUSTER.metavar}")
        return None
    scheme, host, port = _split(text)
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
    if scheme in UNENCRYPTED and not _is_loopback(host) and CLUSTER_UNENCRYPTED not in request:
        raise BadUsage(
            f"{CLUSTER.flag} {address} is not encrypted: anyone on the network can read the articles and run "
            f"programs here and on the workers. Use tls:// (docs/scaling.md), or {CLUSTER_UNENCRYPTED.flag} "
            "on a network of your own"
        )
    return address


def _split(text: str) -> tuple[str, str, int]:
    """(scheme, host, port)."""
    wrong = BadUsage(
        f"{CLUSTER.flag} {text!r} is not an address of a Dask scheduler: write tls://HOST:{PORT}"
    )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise wrong
    try:
        parts = urlsplit(text if "://" in text else f"tcp://{text}")
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise wrong from None
    beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None
    if parts.scheme not in (*ENCRYPTED, *UNENCRYPTED) or not host or beyond:
        raise wrong
    return parts.scheme, host, port


def _is_loopback(host: str) -> bool:
    """Whether the host is this machine; names other than localhost may lead anywhere."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
