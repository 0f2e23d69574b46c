"""The proxy that the environment names for a URL."""

from urllib.request import getproxies, proxy_bypass

from yarl import URL

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.limits import is_loopback


def proxy_for(url: URL) -> URL | None:
    """The proxy of ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy``, if any.

    Requests to this machine never go through a proxy. (aiohttp's own ``trust_env`` would also send passwords
    from ``~/.netrc``.) Raises `BadSource` for an invalid address, and for a proxy that is not an http proxy.
    """
    host = url.host
    if host is None or is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    named = proxies.get(url.scheme) or proxies.get("all")
    if not named:
        return None
    try:
        proxy = URL(named if "://" in named else f"http://{named}")
        host = proxy.host  # raises if it is not valid IDNA
    except ValueError:
        raise BadSource("the proxy named in the environment is not an address") from None
    if not host:
        raise BadSource("the proxy named in the environment is not an address")
    if proxy.scheme not in ("http", "https"):
        raise BadSource(f"the environment names a {proxy.scheme} proxy: only http proxies can be used")
    return proxy
