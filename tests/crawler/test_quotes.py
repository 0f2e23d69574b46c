"""Apostrophes beside bold and italics, as MediaWiki reads a line."""

import random
import re

import pytest

from wikitopics.crawler.markup.wikitext import extract_wikitext, wikitext_links


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("The ''Endeavour'''s hull was new.", "The Endeavour's hull was new."),
        ("L'''Aurora'' è un film.", "L'Aurora è un film."),
        ("Nell'''Iliade'' Omero parla di Achille.", "Nell'Iliade Omero parla di Achille."),
        ("''Foo''''bar'' and ''''four", "Foo'bar and 'four"),
        ("''''''six'''''' and ''''''''eight'''''''' ", "'six' and '''eight'''"),
        ("'''''five''' and'' two", "five and two"),
        # Both odd: a word of one letter is preferred, then the first longer one, then the first
        # space.
        ("dell'''Ade e l'''Iliade'' '''x", "dellAde e l'Iliade x"),
        ("'''vers''' dall'''Iliade''", "'vers dallIliade"),
        ("Dans l'''Iliade'' et l'''''Odyssée''", "Dans lIliade et lOdyssée"),
        ("allo '''x''' d'''Ulisse''", "allo x d'Ulisse"),
        ("si '''x y''' ''z ''' t", "si x y' z t"),
        ("a ''b'' c '''d", "a b c d"),
        ("one ''' two ''three", "one ' two three"),
        ("* L'''Aurora''", "L'Aurora"),
        ("* dell'''Ade", "dellAde"),
        ("dell'''Ade ''x\n* L'''Aurora '''è dell'''Ade''", "dell'Ade x\nL'Aurora è dellAde"),
        ("== L'''Aurora'' ==\ntext", "L'Aurora\ntext"),
        ("''unclosed\nnext '''line", "unclosed\nnext line"),
        ("''a'' [[b|''c'''s d]] '''e'''", "a c's d e"),
        ("[[A|L'''Aurora'']] ''x'' '''y'''", "L'Aurora x y"),
        ("[[d''o munno]] ''[[A'''B]]''", "d''o munno A'''B"),  # a title has no marks
        # What is left out between apostrophes keeps them apart; only a comment does not.
        (
            "a ''{{unknown}}'' b ''<ref>note</ref>'' c ''[[File:A.jpg]]'' d ''{{x|{{y}}}}'' e",
            "a b c d e",
        ),
        ("a ''[[File:A.jpg{{!}}thumb]]'' b", "a b"),
        ("''{{unknown}}''\ntext", "text"),
        ("l'<nowiki/>''Iliade'' e l'<nowiki />''Odissea''", "l'Iliade e l'Odissea"),
        (
            "l{{'}}''Iliade'' e l<nowiki>'</nowiki>''Odissea''; ''Foo''{{'s}}",
            "l'Iliade e l'Odissea; Foo's",
        ),
        ("a ''<!-- -->'' b", "a ' b"),
    ],
)
def test_apostrophes_stay_and_marks_go(wikitext, shown):
    assert extract_wikitext(wikitext).split() == shown.split()


def shown_by_the_rule(line):
    """The words that MediaWiki shows of a line: its rule written down slowly, run by run."""
    runs = [[match.start(), match.end()] for match in re.finditer("'{2,}", line)]
    kept = [""] * len(runs)
    marks = []
    for number, (start, end) in enumerate(runs):
        length = end - start
        if length == 4:
            kept[number] = "'"
            marks.append(3)
        elif length > 5:
            kept[number] = "'" * (length - 5)
            marks.append(5)
        else:
            marks.append(length)
    italics = marks.count(2) + marks.count(5)
    bolds = marks.count(3) + marks.count(5)
    if italics % 2 == 1 and bolds % 2 == 1:
        one_letter = longer = space = None
        for number, mark in enumerate(marks):
            if mark != 3:
                continue
            begin = runs[number - 1][1] if number else 0
            before = (line[begin : runs[number][0]] + kept[number]).encode()
            last = before[-1:]
            last_but_one = before[-2:-1] if len(before) > 1 else last
            if last == b" ":
                space = number if space is None else space
            elif last_but_one == b" ":
                one_letter = number if one_letter is None else one_letter
            else:
                longer = number if longer is None else longer
        for number in (one_letter, longer, space):
            if number is not None:
                kept[number] += "'"
                break
    words = ""
    position = 0
    for number, (start, end) in enumerate(runs):
        words += line[position:start] + kept[number]
        position = end
    return words + line[position:]


def test_random_lines_are_read_by_the_rule():
    chance = random.Random(73)
    for _ in range(20_000):
        pieces = chance.choices(
            ["'", "''", "'''", "''''", "''''''", "a", "bc", "é", " ", " ", "д "], k=9
        )
        line = "x" + "".join(pieces)
        assert extract_wikitext(line).split() == shown_by_the_rule(line).split(), line


def test_links_are_found_beside_any_quotes():
    text = "L'''[[Iliad|Iliade'']] '''''[[A]]'''' ''''''[[B|''b'']]\n== ''[[C]]''' ==\n[[D]]"
    assert wikitext_links(text) == ["Iliad", "A", "B", "C", "D"]


@pytest.mark.parametrize("bomb", ["'''a ", "''''", "''a'''b ", "'" * 7 + " "])
def test_a_line_of_quotes_is_read_in_linear_time(bomb):
    assert isinstance(extract_wikitext(bomb * 100_000), str)
