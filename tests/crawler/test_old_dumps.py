"""Dumps that do not say what a page is: those of format 0.3, and of other tools."""

import pytest

from tests.crawler.dumps import collect, dump_source, ids, in_parts, pages_of, skips, write
from wikitopics.crawler.dumps.namespaces import has_namespace, project_names
from wikitopics.crawler.markup.wikitext import extract_wikitext, is_redirect
from wikitopics.crawler.page import SourceInfo

NAMESPACES = {
    "-2": "Media",
    "-1": "Spezial",
    "0": "",
    "1": "Diskussion",
    "2": "Benutzer",
    "3": "Benutzer Diskussion",
    "4": "Alt",
    "5": "Alt Diskussion",
    "6": "Datei",
    "10": "Vorlage",
    "14": "Kategorie",
    "100": "Portal",
}


def head(namespaces=NAMESPACES, language="de", case="first-letter"):
    """The head of a dump; without namespaces it has no list of them."""
    listed = ""
    if namespaces:
        names = [f'<namespace key="{key}">{name}</namespace>' for key, name in namespaces.items()]
        listed = f"<namespaces>{''.join(names)}</namespaces>"
    return (
        f'<mediawiki version="0.3" xml:lang="{language}"><siteinfo><sitename>Alt</sitename>'
        f"<base>http://alt.example.org/wiki/Haupt</base><case>{case}</case>{listed}</siteinfo>\n"
    )


def page(number, title, text="Ein Fluss im Tal.", ns=None):
    """A page that says in which namespace it is only if it is given."""
    namespace = "" if ns is None else f"<ns>{ns}</ns>"
    return (
        f"<page><title>{title}</title>{namespace}<id>{number}</id><revision><id>{number}</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def pages_with(titles):
    """Pages with these titles, numbered from 1."""
    return [page(number, title) for number, title in enumerate(titles, 1)]


async def articles(tmp_path, head_of_dump, pages):
    """The titles of pages that are articles, read in order; read in parts, they are the same."""
    data = (head_of_dump + "".join(pages) + "</mediawiki>\n").encode()
    path = write(tmp_path / "old.xml", data)
    info, batches = await collect(dump_source([path], held_out=0))
    titles = [found.title for found in pages_of(batches)]
    assert info.articles == len(titles)
    assert not skips(batches)
    found_in_parts, skipped_in_parts, messages = in_parts(tmp_path, data, 300, info=info)
    assert found_in_parts == ids(batches)
    assert skipped_in_parts == []
    assert messages == []
    return titles


IS_ARTICLE = {
    "Zug": True,
    "Foo: Bar": True,
    "Foo:Bar": True,
    ":Zug": True,
    "Talkshow": True,
    "Alt": True,
    "Altona: ein Stadtteil": True,
    "Diskussion:Zug": False,
    "diskussion:Zug": False,
    "Benutzer:Anna": False,
    "Benutzerin:Anna": False,
    "Benutzer Diskussion:Anna": False,
    "Benutzer_Diskussion:Anna": False,
    "benutzer  diskussion : Anna": False,
    "Alt:Impressum": False,
    "Alt Diskussion:Impressum": False,
    "Datei:A.jpg": False,
    "Bild:A.jpg": False,
    "Image:A.jpg": False,
    "Talk:Zug": False,
    "User:Anna": False,
    "User talk:Anna": False,
    "Project:X": False,
    "MediaWiki:Monobook.css": False,
    "Template:Box": False,
    "Vorlage:Box": False,
    "Kategorie:Fach": False,
    "Hilfe:Seite": False,
    "Portal:Bahn": False,
}


@pytest.mark.parametrize("case", ["first-letter", "case-sensitive"])
async def test_a_title_tells_the_namespace_where_the_dump_does_not(tmp_path, case):
    found = await articles(tmp_path, head(case=case), pages_with(IS_ARTICLE))
    assert found == [title for title, is_article in IS_ARTICLE.items() if is_article]


async def test_what_the_dump_states_of_a_page_counts_more_than_its_title(tmp_path):
    pages = [
        page(1, "Talk:One", ns=0),
        page(2, "Two", ns=1),
        page(3, "Talk:Three"),
        page(4, "Four"),
        page(5, "Talk:Five", ns=""),
    ]
    assert await articles(tmp_path, head(), pages) == ["Talk:One", "Four"]


@pytest.mark.parametrize(
    ("language", "namespaces", "others"),
    [
        (
            "de",
            ["Benutzer:A", "Vorlage:A", "Alt:A", "Alt Diskussion:A", "User:A", "Bild:A"],
            ["Modèle:A", "Portal:A"],
        ),
        ("de-formal", ["Benutzer:A", "Kategorie:A"], ["Usuario:A"]),
        ("bar", ["Nutza:A", "Vorlage:A"], ["Modèle:A"]),
        ("fr", ["Discussion:A", "Discussion Alt:A", "Modèle:A"], ["Vorlage:A"]),
        ("tr", ["Kullanıcı:A", "Şablon:A", "ŞABLON:A"], []),
        ("az", ["İstifadəçi:A", "istifadəçi:A"], []),
        ("zh-tw", ["模板:A", "使用者:A"], []),
        ("ja", ["ノート:A", "利用者:A"], []),
        ("", ["Talk:A", "Alt:A", "Alt talk:A"], ["Benutzer:A"]),
        ("qqq-none", ["Talk:A"], ["Benutzer:A"]),
    ],
)
async def test_without_a_list_the_names_of_the_language_count(
    tmp_path,
    language,
    namespaces,
    others,
):
    pages = pages_with([*namespaces, *others, "Zug"])
    assert await articles(tmp_path, head({}, language), pages) == [*others, "Zug"]


REDIRECTS = [
    "#REDIRECT [[A]]",
    "#redirect[[A]]",
    "  #Redirect : [[A]]",
    "#REDIRECT to nowhere",
    "#WEITERLEITUNG [[A]]",
    "#weiterleitung:[[A#b|c]]",
    "\n#Weiterleitung\n[[A]]",
    "#REDIRECTION [[A]]",
    "#YÖNLENDİR [[A]]",
    "#yönlendir [[A]]",
    "#перенаправление [[A]]",
    "#ПЕРЕНАПРАВЛЕННЯ [[A]]",
    "#転送 [[A]]",
    "＃リダイレクト [[A]]",
    "#重定向 [[A]]",
    "#넘겨주기 [[A]]",
    "#تحويل [[A]]",
    "#הפניה [[A]]",
]
NO_REDIRECTS = [
    "",
    "# [[A]]",
    "#Weiterleitung",
    "# one\n# two",
    "#stirb [[A]]",
    "Weiterleitung [[A]]",
    "Zug #REDIRECT [[A]]",
]


async def test_a_magic_word_tells_a_redirect_in_any_language(tmp_path):
    redirects = []
    for number, text in enumerate(REDIRECTS, 1):
        redirects.append(page(number, f"Redirect {number}", text))
    others = []
    for number, text in enumerate(filter(None, NO_REDIRECTS), 101):
        others.append(page(number, f"Article {number}", text))
    found = await articles(tmp_path, head(), redirects + others)
    assert found == [f"Article {number}" for number in range(101, 101 + len(others))]


@pytest.mark.parametrize("text", REDIRECTS)
def test_what_is_recognised_as_a_redirect_has_no_prose(text):
    assert is_redirect(text)
    assert not extract_wikitext(text)


@pytest.mark.parametrize("text", NO_REDIRECTS)
def test_what_only_looks_like_a_redirect_is_none(text):
    assert not is_redirect(text)


@pytest.mark.parametrize(("case", "keeps"), [("case-sensitive", True), ("first-letter", False)])
async def test_the_case_of_titles_is_known_from_the_header(tmp_path, case, keeps):
    data = (head(case=case) + page(1, "zug") + "</mediawiki>").encode()
    path = write(tmp_path / "old.xml", data)
    info, _ = await collect(dump_source([path], held_out=0))
    assert info.keeps_case == keeps


def test_a_title_has_a_namespace_of_the_source_before_its_colon_in_any_case():
    info = SourceInfo("", None, namespaces=("User_talk:", "Gadget"), language="en")
    assert has_namespace("gadget:x", info)
    assert not has_namespace("Gadgets:x", info)
    assert not has_namespace("no colon", info)


def test_the_namespaces_of_the_project_are_named_after_the_site():
    assert project_names("", "de") == ()
    assert {"Alt", "Alt diskussion"} <= set(project_names("Alt", "de"))
