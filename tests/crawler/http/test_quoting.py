"""The contact is in the User-Agent, so a wiki can repeat it: never into a message."""

from urllib.parse import quote

import pytest

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.quoting import Quoting

CONTACT = "somebody@wiki-reader.org"
PIECES = ("some", "body", "wiki-reader")


def repeats_the_contact(message):
    return any(piece in message.lower() for piece in PIECES)


@pytest.mark.parametrize(
    "text",
    [
        CONTACT,
        CONTACT.upper(),
        f"wikitopics/1.2 ({CONTACT}) aiohttp/3",
        "somebody&#64;wiki-reader&#x2e;org",
        "somebody&commat;wiki&#45;reader&period;org",
        "somebody&amp;#64;wiki-reader.org",
        "somebody%40wiki-reader%2Eorg",
        "somebody%2540wiki-reader.org",
        "".join(f"%{ord(letter):02x}" for letter in CONTACT),
        "".join(f"&#{ord(letter)};" for letter in CONTACT),
        "".join(rf"\u{ord(letter):04x}" for letter in CONTACT),
        "some<b>body</b>@wiki-reader.org",
        "some\u200bbody@wiki-\u00adreader.org",
        "somebody@\nwiki-reader.org",
        "wikitopics/1.2 (somebody@wiki-rea",
        "wikitopics/1.2 (some…",
        "the agent some... is blocked",
        "…body@wiki-reader.org is blocked",
        "the user somebody@, of wiki-reader.org",
        "https://somebody@wiki-reader.org/",
    ],
)
def test_no_writing_of_the_contact_is_repeated(text):
    """What is quoted is cut after 200 characters, wherever in the contact that may be."""
    assert Quoting(CONTACT).knows(text)
    for n_before in (0, 150, *range(170, 200)):
        before = "x" * n_before
        after = "y" * 300 if n_before else ""
        quoted = Quoting(CONTACT)(f"{before} {text} {after}")
        assert not repeats_the_contact(quoted), n_before
        assert len(quoted) <= 200, n_before


@pytest.mark.parametrize(
    ("contact", "text"),
    [
        ("jürgen@bücher.example", "no xn--bcher-kva.example, please"),
        ("jürgen@bücher.example", "no j%C3%BCrgen@b%c3%bccher.example, please"),
        ("https://bücher.example/~jürgen", "no https://xn--bcher-kva.example/~j%C3%BCrgen, please"),
        ("User:Jürgen Ö", "no User:J%C3%BCrgen &Ouml;, please"),
        ("User:Some Body", "no User:Some%20Body, please"),
        ("[[User:Some Body]]", "no [[User:Some_Body]], please"),
        ("[[User:Some Body]]", "no Some Body, please"),
        ("[[User:Art]]", "no Art, please"),
        ("https://w.org/wiki/User%3AJ%C3%BCrgen", "no https://w.org/wiki/User:Jürgen, please"),
        ("https://w.org/wiki/User%3AJ%C3%BCrgen", "no https://w.org/wiki/User%3AJürgen, please"),
        ("https://host.org/%7Eme", "no //host.org/~me, please"),
    ],
)
def test_contacts_of_every_kind_are_replaced(contact, text):
    assert Quoting(contact)(text) in ("no [contact], please", "no //[contact], please")
    assert Quoting(contact)("a part of these") == "a part of these"


@pytest.mark.parametrize("contact", ["me@", "me@_", "me@.", "@", "_", "User:_"])
def test_an_incomplete_contact_replaces_nothing_else(contact):
    """Wikis that are not Wikimedia's are sent any contact."""
    assert Quoting(contact)("no pages, please.") == "no pages, please."
    assert not Quoting(contact).knows("no pages, please.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "too many requests",
        "see https://mediawiki.org/wiki/API",
        "100 % of it...",
        "&#" + "9" * 5000,
    ],
)
def test_everything_else_stays(text):
    assert Quoting(CONTACT)(text) == Quoting(None)(text)
    assert not Quoting(CONTACT).knows(text)


async def test_no_reply_brings_the_contact_into_a_message(source, acts, read, wiki):
    cut_in_the_contact = "y" * 185 + f" wikitopics/0 ({CONTACT}) may not"
    escaped = cut_in_the_contact.replace("@", "&#64;")
    opened = source(contact=CONTACT)
    await opened.open()
    wiki.script = [
        acts.text(302, Location=f"http://{CONTACT}/"),
        acts.json({"error": {"code": "internal_api_error_" + CONTACT, "info": cut_in_the_contact}}),
        acts.json({"error": {"code": "ratelimited", "info": escaped}}),
        acts.text(200, "Too many requests, " + quote(CONTACT)),
        acts.text(302, Location=f"/{quote(CONTACT)}/api.php"),
        acts.json({"error": {"code": "badvalue", "info": cut_in_the_contact}}),
    ]
    with pytest.raises(CrawlerError) as caught:
        await read(opened)
    assert not repeats_the_contact(str(caught.value))
    assert opened.activity.retries == 5
    for error in opened.activity.errors:
        assert not repeats_the_contact(error.text)


@pytest.mark.parametrize("target", ["http://xn--a/", "//xn--a/x", "http://[::1", "http://h:99999/"])
async def test_redirects_to_what_is_no_address_are_told_and_retried(acts, crawled, target):
    batches, source = await crawled(acts.text(302, Location=target))
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert "redirects to" in source.activity.errors[0].text
