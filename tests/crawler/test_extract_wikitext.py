import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawler.markup import SENTENCES, WIKITEXT, WIKITEXT_BOMBS
from tests.real_text import needs_corpus
from wikitopics.crawler.markup.wikitext import extract_wikitext

NO_PROSE = re.compile(
    r"\n==+ *(?:See also|References|Notes|Further|External|Bibliography|Sources|Footnotes|Works)",
    re.I,
)

WHOLE = "cooperate super wide join mark left line"


@pytest.mark.parametrize(
    ("wikitext", "prose"),
    [
        ("plain words", "plain words"),
        ("", ""),
        ("'''Bold''' and ''italic'' and '''''both'''''", "Bold and italic and both"),
        ("dit l'''Odyssée'' et '''gras'''", "dit l'Odyssée et gras"),
        ("'''Apple'''s", "Apples"),
        ("''''four'''' and ''''''''eight'''''''' of ''them''", "'four' and '''eight''' of them"),
        ("[[Paris]], [[Paris|the city]], [[bus]]es, [[a#b|]]", "Paris, the city, buses, a#b"),
        ("[[Mercury (planet)|]]", "Mercury"),
        ("[[File:A.jpg|thumb|135px|A [[nested]] caption]]after", "after"),
        ("x[[image:A.jpg|left|upright=1.2|frame]]y", "xy"),
        ("a[[Category:Birds]][[fr:Oiseau]][[zh-min-nan:Chiau]]", "a"),
        ("[[:Category:Birds]] [[:File:A.jpg]] [[wikt:bird|bird]]", "Birds A.jpg bird"),
        ("[[Alien: Covenant]] and [[Mission: Impossible|it]]", "Alien: Covenant and it"),
        ("a<ref>note</ref>b<ref name=x />c<ref name='y'>{{cite web|url=http://x}}</ref>d", "abcd"),
        ("a<!-- hidden [[x]] -->b<!-- never closed", "ab"),
        ("H<sub>2</sub>O <b>is</b> <span style='x'>wet</span><br/>new", "H2O is wet\nnew"),
        (
            "x<math>\\frac{a}{b}</math>y<gallery>\nA.jpg|c\n</gallery>z<nowiki>[[n]]</nowiki>",
            "xyz n ",
        ),
        ("<pre>code</pre><source lang=c>int</source><syntaxhighlight>x</syntaxhighlight>t", "t"),
        ("{{Infobox person\n| name = A\n| data = {{nested|{{deep}}}}\n}}\n'''A''' was", "A was"),
        ("before\n{|\n! head\n|-\n| cell {{x}}\n{|\n| inner\n|}\n|}\nafter", "before\nafter"),
        ("a<table><tr><td>x<table>y</table></td></tr></table>b", "a\nb"),
        ("== Life ==\ntext\n=== Early ===\nmore", "Life\ntext\nEarly\nmore"),
        ("== Empty ==\n{|\n|}\n== Deep ==\n=== Deeper ===\nx\n== Last ==", "Deep\nDeeper\nx"),
        ("* one\n*# two\n:: three\n; four\n----\nfive", "one\ntwo\nthree\nfour\nfive"),
        (
            "[http://example.org the site] [https://x.y] http://bare.example/z?q=1 end",
            " the site end",
        ),
        ("R&amp;D&nbsp;caf&eacute; &lt;ref&gt;", "R&D café  ref "),
        ("__NOTOC__text__FORCETOC__", " text "),
        ("dry {{nosuch|wet}} {{Convert}} {{convert|x}}", "dry x"),
        (
            "{{lang|fr|''bonjour''}} {{lang-de|Hallo}} {{transl|ar|ALA|salam}}",
            "bonjour Hallo salam",
        ),
        ("{{convert|5|km|mi}} {{Convert|3|to|5|acre}}", "5 kilometres 3 to 5 acres"),
        ("{{cvt|7|ft|in|abbr=on}}", "7 ft"),
        ("{{nihongo|'''Castle'''|城|shiro}}", "Castle 城 shiro"),
        ("{{nowrap|one {{small|two}}}} {{abbr|UN|United Nations}}", "one two UN"),
        ("{{quote|text=To be|author=S}} {{quote|1=or not}}", "To be or not"),
        ("{{HMS|Victory}} {{ship|USS|Maine}}", "HMS Victory USS Maine"),
        ("{{sclass|Kaiser|battleship}}", "Kaiser-class battleship"),
        ("{{color|red|words}} {{flag|France}} {{ill|Anna|de|Anna X}}", "words France Anna"),
        ("x{{snd}}y{{'s}} {{citation needed|date=May}}z", "x – y's z"),
        (
            "a [[Foo{{!}}bar]] {{nowrap|[[Foo{{!}}bar]]}} [[File:a.jpg{{!}}thumb{{!}}words]]b",
            "a bar bar b",
        ),
        (
            "x\n{{{!}} class=wikitable\n{{!-}}\n{{!}} colspan=2 {{!}} cell {{!!}} b\n{{!}}}\nafter",
            "x\nafter",
        ),
        ("x\n{{(!}} class=wikitable\n{{!+}} cap\n{{ ! }} cell\n{{!)}}\nafter", "x\nafter"),
        ("x\n{| class=wikitable\n{{!}} cell\n|}\nafter", "x\nafter"),
        ("{{nowrap|one {{!}} two}} {{nosuch|{{(!}}\n{{!}} y\n{{!)}}}}z", "one two z"),
        ("a{{pipe}}b{{((}}c{{))}}d [http://x.y/?z{{=}}1 e{{=}}f]", "a b c d e=f"),
        (
            "co&shy;operate su\u00adper wi\u200bde j\u2060oin \ufeffmark &#8206;left&#x200F; "
            "li<wbr>ne",
            WHOLE,
        ),
        ("می\u200cخواهم क्\u200dष {{zwnj}}", "می\u200cخواهم क्\u200dष \u200c"),
        ("ไทย\u200bภาษา x\u200bไทย wi\u200bde", "ไทย ภาษา x ไทย wide"),
        ("o\u202ane t\u202dwo th\u2062ree f\u2067our", "one two three four"),
        ("-{zh-hans:简体;zh-hant:繁體}- -{zh-hant:繁體;zh-hans:简体;}- -{both}-", "简体 简体 both"),
        ("-{zh-cn:[[a|b]];zh-tw:c}- -{A|zh-tw:x;zh-cn:y}- -{中文=>zh-cn:字;}-", "b y 字"),
        (
            "-{H|zh-cn:a;zh-tw:b}-x-{T|title}--{R|as: it is}- -{zh-hans;zh-hant|some}-",
            "xas: it is some",
        ),
        ("-{Note: the system}- -{at 3:2; so: it goes}-", "Note: the system at 3:2; so: it goes"),
        ("-{zh-hans:a;zh-hant:-{zh-hans:c;zh-hant:d}-}- x", "a x"),
        ("Text.\n== \u200eSee al\u00adso ==\u200e\n* one\n== A ==\nx", "Text.\nA\nx"),
        ("a [[\u200eCategory:Foo]][[\u200eFile:x.jpg|thumb|words]]b", "a b"),
        ("5 -{{convert|5|km}} x -{ y -{4 x}-", "5 -5 kilometres x - y 4 x"),
        ("#REDIRECT [[Elsewhere]]", ""),
        ("!Kung people", "!Kung people"),
        ('{|class="multicol"\n|+ cap\n|-\n|valign=top|\n* one\n|\ntwo\n| 3\n|}', "one two 3"),
        ("{{lang|fr|[[a|b|c]]}} {{lang|fr|d [[e|f}} g", "b c d e f g"),
        ("{{lang|fr|a\x01b}}", "a b"),
        ("{|\n! head\n|-valign=top\n|\n* one\n# two\ncell\n| other\n|}", "one two"),
        ('{|class="wikitable"\n|-\n|\n* note\n|}\nafter', "after"),
        ('{|role=presentation\n|\n* one\n{|class="wikitable"\n|\n* note\n|}\n|}', "one"),
    ],
)
def test_markup_becomes_prose(wikitext, prose):
    assert extract_wikitext(wikitext).split() == prose.split()


@pytest.mark.parametrize("heading", ["See also", "NOTES and References", "'''Notes'''"])
def test_sections_that_are_no_prose_are_left_out(heading):
    text = f"lead\n== Life ==\nkept\n=={heading}==\ngone\n=== Sub ===\ngone too\n== After ==\nback"
    assert extract_wikitext(text) == "lead\nLife\nkept\nAfter\nback"


def test_a_skipped_section_ends_at_the_next_of_its_level_unless_it_may_be_a_subject():
    text = "== A ==\none\n=== Notes ===\ngone\n=== B ===\ntwo\n== See also ==\ngone\n= C =\nthree"
    assert extract_wikitext(text) == "A\none\nB\ntwo\nC\nthree"
    text = (
        "lead\n== Literature ==\nThe first novels were Persian.\n== References ==\nThe first notes."
    )
    assert extract_wikitext(text) == "lead\nLiterature\nThe first novels were Persian."


CITATIONS = [
    "* Smith, John (1999). The long history of the novel and of those who read it. London: A "
    "Press.",
    "Smith, J. (1999). The long history of the novel and of those who read it, as told by them.",
    "The long history of the novel and of those who read it, as told by them. ISBN 0-123-45678-9.",
    "The long history of the novel and of those who read it, as told by them, p. 12.",
    "Weheliye, Alexander. Phonographies: Grooves in Sonic Modernity. Duke University Press, "
    "Durham, NC.",
    "The British Library",
]


@pytest.mark.parametrize(
    "heading", ["Literature", "Литература", "Quellen", "Bibliography", "Notes", "Referinţe"]
)
def test_such_a_section_is_left_out_only_where_it_holds_no_prose(heading):
    lists = "\n".join(CITATIONS)
    gone = f"lead\n== {heading} ==\n{lists}\n=== Sub ===\n{lists}\n== C ==\nD"
    assert extract_wikitext(gone) == "lead\nC\nD"
    kept = f"lead\n{heading}\n{SENTENCES}\nPoets\n{SENTENCES}\nC\nD"
    mixed = f"lead\n== {heading} ==\n{SENTENCES}\n{lists}\n=== Poets ===\n{SENTENCES}\n== C ==\nD"
    assert extract_wikitext(mixed) == kept


@pytest.mark.parametrize(
    "heading",
    [
        "See also",
        "See  also",
        "See&nbsp;also\u00a0:",
        "Weblinks",
        "Див. також",
        "Εξωτερικοί σύνδεσμοι",
        "বহিঃসংযোগ",
        "बाह्य दुवे",
        "Dış bağlantılar",
        "Ayrıca bakınız",
        "Související články",
        "같이 보기",
        "انظر أيضًا",
        "انظر أيضاً",
        "Vezi și",
        "Vezi şi",
        "קישורים חיצוניים",
    ],
)
def test_sections_of_links_are_left_out_whatever_they_hold(heading):
    assert extract_wikitext(f"lead\n== {heading} ==\n{SENTENCES}") == "lead"


@pytest.mark.parametrize(
    "reference", ["&#" + "9" * 5000 + ";", "&#" + "9" * 1_000_000, "&#x" + "f" * 100_000]
)
def test_a_character_reference_may_have_any_number_of_digits(reference):
    assert len(extract_wikitext(f"one {reference} two").split()) in (2, 3)


def test_lone_surrogates_are_no_words_and_a_wiki_has_names_of_its_own():
    assert extract_wikitext("one \ud800 two \udcff").encode().split() == [b"one", b"two"]
    text = "a[[Fitxer:X.jpg|miniatura|peu]][[Categoria d'art:Y]]b"
    assert extract_wikitext(text, file_names=["Fitxer"], category_names=["Categoria d'art"]) == "ab"


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        ("{{Infobox\n| a = b\n| c = d\n\nProse here.", "Prose here."),
        ("{|\n| cell\n|-\n| other\n\nProse here.", "Prose here."),
        ("[[File:A.jpg|thumb|20px|caption\nProse here.", "Prose here."),
        ("[[unclosed link. Prose here.", "Prose here."),
        ("}} ]] |} </ref> Prose here.", "Prose here."),
        ("<ref>never closed. Prose here.", "Prose here."),
        ("{{a [[b }} c ]] Prose here.", "Prose here."),
        ("{|\n| {{flag|x\n|}\nProse here.", "Prose here."),
        ("{{nowrap|[[File:A.jpg|thumb|20px}}\nProse here.", "Prose here."),
        ("{{" * 80 + "}}" * 80 + "Prose here.", "Prose here."),
    ],
)
def test_broken_markup_costs_no_prose(broken, kept):
    text = extract_wikitext(broken)
    assert text.endswith(kept)
    assert not set("{}[]|<>") & set(text)
    assert not {"cell", "20px", "thumb"} & set(text.split())


@given(st.lists(st.sampled_from(WIKITEXT), max_size=60).map("".join) | st.text())
def test_any_text_gives_text_without_markup(text):
    assert not set("{}[]|<>\x00") & set(extract_wikitext(text))


@given(st.binary())
def test_any_bytes_give_text(data):
    assert isinstance(extract_wikitext(data.decode("utf-8", "surrogateescape")), str)


@pytest.mark.parametrize("bomb", WIKITEXT_BOMBS)
def test_half_a_megabyte_of_one_mark_is_read_in_linear_time(bomb):
    # A quadratic pass would take minutes and meet the test run's own limit.
    assert isinstance(extract_wikitext(bomb * (500_000 // len(bomb))), str)


def test_words_kept_through_many_levels_are_not_copied_without_bound():
    assert (
        len(extract_wikitext(("{{nowrap|" * 59 + "word " * 20 + "}}" * 59) * 500).split()) == 10_000
    )


@needs_corpus
def test_no_markup_survives_in_real_articles(articles):
    marks = [
        "{{",
        "}}",
        "[[",
        "]]",
        "|",
        "<ref",
        "Category:",
        "px",
        "''",
        "==",
        "rowspan",
        "colspan",
    ]
    for article in articles:
        text = extract_wikitext(article["text"])
        assert [mark for mark in marks if mark in text] == [], article["title"]
        assert text.strip(), article["title"]


@needs_corpus
def test_no_prose_is_lost_beside_a_general_parser(articles):
    """The words of plain paragraphs, parsed one by one, are in our text of the whole article."""
    parser = pytest.importorskip("mwparserfromhell", reason="it has no wheel for this Python")
    total = lost = 0
    for article in articles:
        ours = Counter(extract_wikitext(article["text"]).split())
        for paragraph in NO_PROSE.split(article["text"])[0].split("\n"):
            if len(paragraph) < 200 or set(paragraph) & set("<{}|=*#:;!&") or "//" in paragraph:
                continue
            words = Counter(parser.parse(paragraph).strip_code().split())
            total += sum(words.values())
            lost += sum((words - ours).values())
    assert total > 50_000
    # What is left are paragraphs within comments and side boxes.
    assert lost < 0.005 * total
