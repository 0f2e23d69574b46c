import aiohttp
import pytest

from crawler.contact import check_contact, user_agent
from crawler.errors import ContactMissing


@pytest.mark.parametrize(
    "contact",
    [
        "someone@wiki-reader.org",
        "https://someone.net/about",
        "http://lab.uni.edu/~me",
        "User:Someone",
        "de:User:Some One",
        "  someone@wiki-reader.org ",
        "User:Łukasz",
    ],
)
def test_good_contacts(contact: str) -> None:
    assert check_contact(contact) == contact.strip()


@pytest.mark.parametrize(
    "contact",
    [
        "",
        "   ",
        "me",
        "me@localhost",
        "me@example.com",
        "me@sub.example.org",
        "https://example.com/me",
        "a@b.org\r\nX-Evil: 1",
        "User:A\u2028B",
        "a@b.org (me)",
        "a@b.org\x1b[31m",
        "https://nodot",
        "User: ",
        "ftp://someone.net",
        "x" * 300 + "@b.org",
    ],
)
def test_bad_contacts(contact: str) -> None:
    with pytest.raises(ContactMissing) as caught:
        check_contact(contact)
    assert "\n" not in str(caught.value)
    if len(contact.strip()) > 5:
        assert contact not in str(caught.value)


def test_user_agent() -> None:
    assert user_agent("1.2", "a@b.org") == f"wikitopics/1.2 (a@b.org) aiohttp/{aiohttp.__version__}"
    assert user_agent("1.2", None) == f"wikitopics/1.2 aiohttp/{aiohttp.__version__}"
    assert "(User:%C5%81)" in user_agent("1", "User:Ł")
