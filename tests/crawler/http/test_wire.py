"""Where a redirect leads."""

import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from wikitopics.crawler.http.wire import Reply, not_followed, redirected
from wikitopics.crawler.source import TransientError


def reply(url, target):
    return Reply(301, URL(url), CIMultiDictProxy(CIMultiDict({"Location": target})), b"")


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a.org/x", "/y"),
        ("http://a.org/x", "https://a.org/x"),
        ("http://a.org:8080/x", "https://a.org:8443/x"),
        ("https://a.org:444/x", "https://a.org:444/y"),
    ],
)
def test_a_redirect_within_a_host_is_followed(url, target):
    assert redirected(reply(url, target), not_followed) == URL(url).join(URL(target))


@pytest.mark.parametrize("target", ["http://b.org/x", "http://a.org:8080/x"])
def test_a_redirect_to_another_host_or_port_is_not(target):
    with pytest.raises(TransientError, match="not followed"):
        redirected(reply("http://a.org/x", target), not_followed)


@pytest.mark.parametrize("target", ["https://joe:secret@a.org/y", "//joe@b.org/y", "https://:secret@a.org/y"])
def test_a_redirect_that_brings_a_name_or_a_password_is_not_followed(target):
    """They would be sent, and stand in messages."""
    with pytest.raises(
        TransientError, match=r"^a\.org redirects to an address with a user name or password$"
    ) as caught:
        redirected(reply("https://a.org/x", target), lambda *_: None)
    assert caught.value.lasting
