import contextlib
import re
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wikitopics.crawler.errors import ContactMissing
from wikitopics.crawler.http.contact import check_contact, recognised, sendable, user_agent

NAMES_FOUND = (
    re.compile(r"\([^\W_]+:[a-zA-Z0-9-]+; [Uu]ser:([\w\s.()-]+)\)", re.ASCII),
    re.compile(r"\[\[[Uu]ser:([\w\s.()-]+)\]\]", re.ASCII),
)


def found_in(agent):
    """What Wikimedia's servers find in a User-Agent: what `recognised` finds, or else a user's
    name."""
    found = recognised(agent)
    if found:
        return found
    for pattern in NAMES_FOUND:
        match = pattern.search(agent)
        if match:
            return match[1]
    return None


def found_whole(contact):
    """What Wikimedia's servers find of an accepted contact, which must be all that is sent of
    it."""
    sent = check_contact(contact)
    assert check_contact(sent) == sent
    assert sendable(sent) == sent
    agent = user_agent("1.1.0", sent)
    assert len(agent) <= 512, "they look no further"
    found = found_in(agent)
    assert found is not None
    assert sent in (found, f"[[User:{found}]]")
    return found


@pytest.mark.parametrize(
    ("contact", "sent"),
    [
        ("someone@wiki-reader.org", "someone@wiki-reader.org"),
        ("  a.b+c-d_e@x-y.info ", "a.b+c-d_e@x-y.info"),
        ("me@müller.de", "me@xn--mller-kva.de"),
        ("User:Someone", "[[User:Someone]]"),
        ("w:User:Some_One", "[[User:Some One]]"),
        ("de:User:Some  One", "[[User:Some One]]"),
        ("[[:w:de:user talk:Someone]]", "[[User:Someone]]"),
        ("User:Łukasz", "https://meta.wikimedia.org/wiki/User%3A%C5%81ukasz"),
        ("User:O'Brien (WMF)", "https://meta.wikimedia.org/wiki/User%3AO%27Brien_%28WMF%29"),
        ("User:Some/one", "https://meta.wikimedia.org/wiki/User%3ASome/one"),
        ("User:100%", "https://meta.wikimedia.org/wiki/User%3A100%25"),
        ("User:%C5%81ukasz", "https://meta.wikimedia.org/wiki/User%3A%C5%81ukasz"),
        (
            "https://en.wikipedia.org/wiki/User:Someone",
            "https://en.wikipedia.org/wiki/User%3ASomeone",
        ),
        (
            "https://de.wikipedia.org/wiki/Be:A (B)",
            "https://de.wikipedia.org/wiki/Be%3AA%20%28B%29",
        ),
        (
            "https://w.wikipedia.org/w/index.php?title=User:A&action=x",
            "https://w.wikipedia.org/wiki/User%3AA",
        ),
        ("https://someone.toolforge.org/", "https://someone.toolforge.org/"),
        ("https://someone.net/about", "https://someone.net/about"),
        ("HTTP://Lab.uni.edu:80/~me", "http://lab.uni.edu/%7Eme"),
        ("https://social.net/@me", "https://social.net/%40me"),
        ("https://bücher.net/ü%2fb", "https://xn--bcher-kva.net/%C3%BC%2Fb"),
    ],
)
def test_what_is_sent(contact, sent):
    assert check_contact(contact) == sent
    name_of_user = sent.removeprefix("[[User:").removesuffix("]]")
    assert found_whole(contact) == name_of_user


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30)
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="<>|[]{}#:@/_%"),
    min_size=1,
    max_size=20,
)
HOSTS = st.sampled_from(["host.org", "host.org:8080", "en.wikipedia.org/wiki"])
ANY = st.one_of(
    TEXT,
    st.builds("{}@{}.{}".format, TEXT, TEXT, st.sampled_from(["org", "co.uk", "c", "x1"])),
    st.builds("https://{}/{}".format, HOSTS, TEXT),
    st.builds("{}User:{}".format, st.sampled_from(["", "w:", "de:", "[["]), TEXT),
)


@given(ANY)
def test_whatever_is_accepted_is_found_whole(contact):
    with contextlib.suppress(ContactMissing):
        found_whole(contact)


@given(NAMES, NAMES)
@example("A", "AB")
@example("Ł", "Ł.")
def test_two_users_are_two(one, other):
    assume(one != other)
    assert found_whole(f"User:{one}") != found_whole(f"en:User:{other}")
    page_of_one = f"https://en.wikipedia.org/wiki/Benutzer:{quote(one)}"
    page_of_other = f"https://en.wikipedia.org/wiki/Benutzer:{quote(other)}"
    assert found_whole(page_of_one) != found_whole(page_of_other)


def refused(contact):
    """The message by which a contact is refused, of one line."""
    with pytest.raises(ContactMissing) as caught:
        check_contact(contact)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "contact",
    [
        "name@163.com",
        "me@x.y.org",
        "me@yahoo.co.uk",
        "a@b.co1.org",
        "o'brien@host.org",
        "jürgen@host.org",
        "me@пример.рф",
        "a@b@host.org",
        "x" * 65 + "@host.org",
        "Me <me@host.org>",
        "me@ho st.org",
    ],
)
def test_addresses_that_wikimedia_would_not_find_whole_are_refused(contact):
    message = refused(contact)
    assert re.search(r"read only NAME@HOST\.ENDING.*; give User:Name", message)


@pytest.mark.parametrize("contact", ["me@", "@host.org", "me@localhost"])
def test_addresses_that_are_not_complete_are_refused(contact):
    assert "not a complete e-mail address: give your" in refused(contact)


@pytest.mark.parametrize("rest", [":8080/me", "/?user=me", "/people#me", "/wiki/User:Me?x"])
def test_pages_of_which_only_the_beginning_would_be_found_are_refused(rest):
    message = refused("https://host.org" + rest)
    assert re.search(r"only the beginning .* without a port, \? and #", message)


@pytest.mark.parametrize(
    "page",
    ["", "/", "/wiki/", "/wiki/User", "/wiki/User:_", "/wiki/Special:MyPage", "/w/x.php"],
)
def test_pages_of_wikipedia_that_are_no_users_own_are_refused(page):
    assert "not a user's own" in refused("https://en.wikipedia.org" + page)


@pytest.mark.parametrize(
    "contact",
    [
        "",
        "   ",
        "me",
        "me@example.com",
        "me@sub.example.org",
        "https://example.com/me",
        "a@b.org\r\nX-Evil: 1",
        "User:A\u2028B",
        "a@b.org (me)",
        "a@b.org\x1b[31m",
        "https://nodot",
        "https://me:secret@host.org/",
        "https://[::1]/me",
        "User: ",
        "User:_",
        "User:%20",
        "User:a%40b",
        "Benutzer:Someone",
        "ftp://someone.net",
        "x" * 300 + "@b.org",
        "https://host.org/" + "x" * 400,
        "User:" + "Ł" * 100,
    ],
)
def test_what_is_no_contact_is_refused_and_not_repeated(contact):
    message = refused(contact)
    if len(contact.strip()) > 5:
        assert contact not in message


@pytest.mark.parametrize(
    ("agent", "found"),
    [
        ("bot/1 (me@host.org; https://host.org/me)", "me@host.org"),
        ("bot/1 (https://host.org/me; [[User:Me]])", "https://host.org/me"),
        ("bot/1 (wikipedia:en; User:Me (too)) x/2", "Me (too)"),
        ("bot/1 ([[user:Me]])", "Me"),
        ("bot/1 (name@mail.host.org)", "name@mail.host"),
        ("bot/1 (User:Me)", None),
        ("bot/1 (android@111.0.5563.116)", None),
        ("bot/1 (me@host.org) " + "x" * 500, None),
    ],
)
def test_what_the_servers_find(agent, found):
    assert found_in(agent) == found


def test_the_user_agent_names_the_program_the_contact_and_the_library():
    library = f"aiohttp/{aiohttp.__version__}"
    assert user_agent("1.2", "a@b.org") == f"wikitopics/1.2 (a@b.org) {library}"
    assert user_agent("1.2", None) == f"wikitopics/1.2 {library}"
    assert "(User:%C5%81)" in user_agent("1", "User:Ł")
