"""Tables as programs, spreadsheets and people write them: rows are checked against the header."""

import bz2
import csv
import gzip
import io
import json
import lzma
import random

import pytest

from tests.crawler.dumps import write
from tests.crawler.test_text_files import PACKERS, jsonl, read
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import Page
from wikitopics.crawler.texts.files import TextFiles

STRAY = "a quotation mark that is not closed, or not doubled"


def texts(path, **options):
    """(texts of the documents, skips by reason, what was told) of a first reading."""
    pages, skips, told = read(path, **options)
    return [page.text for page in pages], skips, told


def rows(*lines):
    return "id,text\n" + "".join(f"{number},{line}\n" for number, line in enumerate(lines))


def test_quotation_marks_with_a_backslash(tmp_path):
    written = (
        r'"the \"old\", and the \"new\" one"',
        r'"\"begins, ends\""',
        r'"a path C:\"',
    )
    found, skips, told = texts(write(tmp_path / "a.csv", rows(*written)))
    assert found == ['the "old", and the "new" one', '"begins, ends"', "a path C:\\"]
    assert not skips
    assert 'a.csv: 2 rows have quotation marks written as \\" (the first in line 2); ' in told[0]
    over_lines = write(tmp_path / "b.csv", rows('"he said \\"yes\\"\nand, then, \\"no\\""', "next"))
    assert texts(over_lines)[0] == ['he said "yes"\nand, then, "no"', "next"]


@pytest.mark.parametrize(
    ("header", "row", "text"),
    [
        ("id,text", "1,one, two, three", "one, two, three"),
        ("id;text", "1;one; two, three", "one; two, three"),
        ("text,label", "one, two, three,x", "one, two, three"),
        ("id,text,title", "1,one, two,t", "one, two"),
        ("id,text", '1,"one, two", three', "one, two, three"),
    ],
)
def test_a_row_with_too_many_cells_keeps_all_of_its_text(tmp_path, header, row, text):
    usual = row.replace(", ", " ").replace("; ", " ").replace('"', "")
    path = write(tmp_path / "a.csv", f"{header}\n{row}\n{usual}\n{row}\n")
    found, skips, (told,) = texts(path, by_id=False)
    assert ([*found[::2]], skips) == ([text] * 2, {})
    assert told.startswith(
        f"{path}: 2 rows have more cells than the table has columns (the first in line 2); "
    )
    assert "is read as part of the text" in told


def test_a_row_with_too_few_cells_is_told_and_empty_cells_beyond_the_header_are_nothing(tmp_path):
    path = write(tmp_path / "a.csv", "text,id,title,,\none,1,t\ntwo\nthree,3,t,,,,\nfour,4,t,x\n")
    pages, skips, told = read(path)
    assert [(p.text, p.id) for p in pages] == [
        ("one", "1"),
        ("two", ""),
        ("three", "3"),
        ("four", "4"),
    ]
    assert not skips
    what = f"{path}: 1 row has fewer cells than the table has columns (line 3); "
    assert told == [f"{what}the missing ones are taken to be empty"]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize(
    ("number", "row"),
    [(3, '"three'), (3, '"three" and more'), (9, '"nine'), (3, '"thr"ee" and "more'), (0, '"zero')],
)
def test_a_stray_quotation_mark_costs_no_row(tmp_path, ending, number, row):
    lines = [f"text of {n}" for n in range(10)]
    lines[number] = row
    lines[7] = 'he said "no"'  # so that something seems to close it
    data = rows(*lines)
    if ending == ".tsv":
        data = data.replace(",", "\t")
    path = write(tmp_path / f"a{ending}", data)
    found, skips, told = texts(path)
    assert (found, skips) == (lines, {})
    assert told == [f"{path}: 1 row has {STRAY} (line {number + 2}); it is read as it stands"]


def test_rows_between_a_stray_mark_and_one_that_seems_to_close_it_are_rows(tmp_path):
    written = ["one", '"two', "three", 'a screen of 27"', "five"]
    assert texts(write(tmp_path / "a.csv", rows(*written)))[0] == written
    short = ['"a', "b", "c", 'd 5"', "e"]
    named = "".join(f"r{number}x,{line}\n" for number, line in enumerate(short))
    assert texts(write(tmp_path / "b.csv", f"id,text\n{named}"))[0] == short
    many = [f"words {n}" for n in range(200)]
    many[20] = '"stray'
    many[150] = 'five inches 5"'
    assert texts(write(tmp_path / "c.csv", "\n".join(["text", *many])))[0] == many


PROSE = "a line of prose, with a comma"


@pytest.mark.parametrize("closing", ["", '"'])
@pytest.mark.parametrize(("number", "last"), [(3000, 2000), (30, 20)])
@pytest.mark.parametrize(
    ("header", "before", "after"),
    [("id,text", "{},", ""), ("text,label", "", ",pos"), ("text", "", "")],
)
def test_a_stray_mark_costs_no_row_where_commas_are_not_quoted(
    tmp_path,
    header,
    before,
    after,
    number,
    last,
    closing,
):
    if (header, number, closing) == ("text", 30, '"'):
        pytest.skip("a text of a few lines looks the same")
    found = [PROSE] * number
    found[5] = f'"{PROSE}'
    found[last] = PROSE + closing
    lines = [header] + [f"{before.format(n)}{one}{after}" for n, one in enumerate(found)]
    path = write(tmp_path / "a.csv", "\n".join(lines))
    read_, skips, told = texts(path)
    assert (read_, skips) == (found, {})
    assert f"{path}: 1 row has {STRAY} (line 7); it is read as it stands" in told


@pytest.mark.parametrize(
    ("header", "begin", "text"),
    [
        ("name,text", "Soup", "Take:\nsalt, a pinch\npepper, a pinch\nwater, a lot"),
        ("id,text", "1", "a table:\n1,2\n3,4\n5,6"),
        ("id,text", "1", "paragraph\n\n" * 60),
        (
            "name,text",
            "log",
            "it says:\nerror,no disk,left\nwarning,no fan,there\nnote,all is,well",
        ),
    ],
)
def test_a_cell_whose_lines_look_like_rows_only_at_first_sight_is_a_cell(
    tmp_path,
    header,
    begin,
    text,
):
    path = write(tmp_path / "a.csv", f'{header}\n{begin},"{text}"\nCake,bake it\n')
    assert texts(path) == ([text, "bake it"], {}, [])
    letter = "a letter\n\n" * 60
    alone = write(tmp_path / "b.csv", f'text\nshort\n"{letter}"\nend\n')
    assert texts(alone) == (["short", letter, "end"], {}, [])


def test_lines_with_tabs_are_rows_from_the_first_on(tmp_path):
    written = [("b7x", '"one'), ("a3y", 'two"'), ("c1z", '"'), ("d5w", "four"), ("e9v", '"')]
    data = "".join(f"{name}\t{text}\tpos\n" for name, text in written)
    found, skips, _ = texts(write(tmp_path / "a.tsv", f"name\ttext\tlabel\n{data}"))
    assert (found, skips) == ([text for _, text in written], {})
    valid = 'text\tlabel\n"one\ntwo"\tpos\nthree\tneg\n'
    assert texts(write(tmp_path / "b.tsv", valid)) == (["one\ntwo", "three"], {}, [])


def test_cells_of_several_lines_stay_cells(tmp_path):
    poem = "Roses are red,\nViolets are blue,\nSugar is sweet,\nAnd so are you"
    speech = 'He said:\n"yes, of course"\nand left'
    table = io.StringIO(newline="")
    csv.writer(table).writerows(
        [("id", "text"), (1, poem), (2, speech), (3, "x\n" * 300), (4, "end")]
    )
    found, _, told = texts(write(tmp_path / "a.csv", table.getvalue()))
    assert (found, told) == ([poem, speech, "x\n" * 300, "end"], [])
    not_doubled = rows('"first line\nthe "second" one\nthird"', "next")
    found, _, told = texts(write(tmp_path / "b.csv", not_doubled))
    assert found == ['first line\nthe "second" one\nthird', "next"]
    assert STRAY in told[0]
    cut_off = write(tmp_path / "c.csv", rows("one", '"begins here\nand, so, on\nto the end'))
    assert texts(cut_off)[0] == ["one", '"begins here\nand, so, on\nto the end']


WORDS = [
    "river",
    'he said "hi"',
    "a, b",
    "x\ny",
    "back\\slash",
    "\\",
    'it"s',
    "2019,5",
    '"',
    ",",
    "\n\n",
    "'q'",
]


@pytest.mark.parametrize("seed", range(40))
def test_what_csv_writes_is_read_back_and_resumed_anywhere(tmp_path, seed):
    chance = random.Random(seed)
    delimiter = chance.choice(",;\t|")
    columns = ["id", "text", *chance.sample(["title", "label"], chance.randint(0, 2))]
    chance.shuffle(columns)
    written = []
    for number in range(12):
        row = [" ".join(chance.choices(WORDS, k=4)) for _ in columns]
        row[columns.index("id")] = str(number)
        written.append(row)
    table = io.StringIO(newline="")
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(
        table,
        delimiter=delimiter,
        quoting=quoting,
        lineterminator=chance.choice(["\n", "\r\n"]),
    )
    writer.writerows([columns, *written])
    path = write(tmp_path / "a.csv", table.getvalue())
    found, _, told = texts(path)
    place = columns.index("text")
    assert (found, told) == ([row[place] for row in written if row[place].strip()], [])


@pytest.mark.parametrize("seed", range(40))
def test_however_mangled_a_table_is_reading_resumes_at_any_row(tmp_path, seed):
    chance = random.Random(seed)
    data = "id,text\n" + "".join(chance.choices('ab",;\n\r\\ \t1|', k=200)) + "\n1,some text\n"
    files = TextFiles([write(tmp_path / "a.csv", data)])
    list(files.first_reading())
    found = list(files.read())
    for number, (_, place) in enumerate(found, start=1):
        again = TextFiles([str(tmp_path / "a.csv")])
        again.mark(files.mark())
        assert list(again.read(place)) == found[number:]


@pytest.mark.parametrize("before", ["\r\n\r\n", ",,,\n", "sep=,\n", '"sep=,"\r\n\n', "SEP=,\r\n"])
def test_what_may_stand_above_the_header(tmp_path, before):
    assert texts(write(tmp_path / "a.csv", before + rows("one", "two")))[0] == ["one", "two"]


def test_a_header_below_other_lines_is_told_of(tmp_path):
    path = write(tmp_path / "a.csv", "# of 2024, by me\n\nid;text\n1;one\n")
    with pytest.raises(
        BadSource, match=f"{path}: the header is in line 3: delete the lines above it"
    ):
        read(path)
    reviews = write(tmp_path / "b.csv", "Reviews,,\nid,review,text\n1,one,two\n")
    with pytest.raises(BadSource, match="the header is in line 2: delete the lines above it"):
        read(reviews, column="review")
    with pytest.raises(BadSource, match="there is no column 'other'"):
        read(reviews, column="other")


def test_a_first_line_names_the_delimiter(tmp_path):
    assert texts(write(tmp_path / "a.csv", "sep=;\r\nid;text\r\n1;one, two\r\n"))[::2] == (
        ["one, two"],
        [],
    )
    assert texts(write(tmp_path / "b.csv", "sep=^\nid^text\n1^one; two\n"))[::2] == (
        ["one; two"],
        [],
    )
    assert texts(write(tmp_path / "c.csv", "id|text\n1|one, two\n"))[::2] == (["one, two"], [])
    assert texts(write(tmp_path / "d.tsv", "id;text\n1;one, two\n"))[::2] == (["one, two"], [])
    assert texts(write(tmp_path / "e.csv", 'id, "text"\n1, "one, two"\n'))[::2] == (
        ["one, two"],
        [],
    )


def test_names_of_columns_in_other_letters_and_twice(tmp_path):
    (page,) = read(write(tmp_path / "a.csv", "Title,TEXT,ID\nt,one,7\n"))[0]
    assert (page.text, page.title, page.id) == ("one", "t", "7")
    (page,) = read(write(tmp_path / "b.csv", "Text,text\nno,yes\n"))[0]
    assert page.text == "yes"
    twice = write(tmp_path / "c.csv", "id,text,text\n1,,one\n2,two,\n3,three,three\n4,four,other\n")
    found, skips, told = texts(twice)
    assert (found, skips) == (["one", "two", "three", "four"], {})
    what = f"{twice}: 1 row has texts in several columns of that name (line 5); "
    assert told == [f"{what}the first is read, the others are not"]


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    ("name", "begin"), [("a.csv", "id,text\r\n"), ("a.jsonl", ""), ("a.txt", "")]
)
def test_other_encodings_of_unicode(tmp_path, packed, encoding, name, begin):
    if (encoding, name) == ("utf-32", "a.txt"):
        pytest.skip("like all others")
    words = ["café au lait", "крот", "河谷 valley", "four"] * 30
    each = {
        "a.csv": "{0},{1}\r\n",
        "a.jsonl": '{{"id": {0}, "text": "{1}"}}\r\n',
        "a.txt": "{1}\r\n\r\n",
    }[name]
    data = begin + "".join(each.format(number, word) for number, word in enumerate(words))
    path = write(tmp_path / f"{name}{packed}", PACKERS[packed](data.encode(encoding)))
    files = TextFiles([path])
    pages = [page for page, _ in files.first_reading()]
    assert [page.text.strip() for page in pages] == words
    found = list(files.read())
    again = TextFiles([path])
    again.mark(files.mark())
    _, place = found[50]
    assert list(again.read(place)) == found[51:]
    write(tmp_path / "docs" / "a.txt", "крот café".encode(encoding))
    assert texts(str(tmp_path / "docs"))[0] == ["крот café"]


def test_a_file_that_only_holds_zeros_is_not_text(tmp_path):
    for data in (b"one\n\ntwo\0\n\n", b"a\0\0b\0\0"):
        pages, skips, _ = read(write(tmp_path / "a.txt", b"one\n\n" + data))
        assert skips == {"not UTF-8": 1}
        assert pages[0].text.strip() == "one"


def test_carriage_returns(tmp_path):
    found, skips, told = texts(write(tmp_path / "a.csv", rows("one\rtwo", "three", '"four\rfive"')))
    assert (found, skips, told) == (["one two", "three", "four\rfive"], {}, [])
    old = rows("one", '"two\nlines"', "three").replace("\n", "\r").replace("two\r", "two\n")
    path = write(tmp_path / "b.csv", old)
    assert texts(path)[0] == ["one", "two\nlines", "three"]
    files = TextFiles([path])
    list(files.first_reading())
    found = list(files.read())
    again = TextFiles([path])
    again.mark(files.mark())
    _, place = found[0]
    assert list(again.read(place)) == found[1:]
    old_lines = jsonl({"text": "x"}, {"text": "y"}).replace(b"\n", b"\r")
    assert texts(write(tmp_path / "c.jsonl", old_lines))[0] == ["x", "y"]
    assert texts(write(tmp_path / "d.txt", "one\r\rtwo\r"))[0] == ["one\n", "two\n"]


def test_tables_without_a_header(tmp_path):
    path = write(tmp_path / "a.csv", "7,one, and,more\n8,two\n9,three\n10,four\n")
    found, _, told = texts(path, header=False, column="2")
    assert found == ["one, and,more", "two", "three", "four"]
    assert "1 row has more cells" in told[0]
    pages = read(path, header=False, column="2", id="1")[0]
    assert [page.id for page in pages] == ["7", "8", "9", "10"]
    says = (
        r"which column holds the text\? Without a header, give its number with --text-column: 1 "
        r"\(7\), 2 "
    )
    with pytest.raises(BadSource, match=says):
        read(path, header=False)
    with pytest.raises(
        BadSource, match=r"there is no column 'text'\. Without a header, give its number"
    ):
        read(path, header=False, column="text")
    with pytest.raises(BadSource, match="or give --no-header if it has no header"):
        read(path)
    alone = write(tmp_path / "b.csv", "\none\ntwo\n")
    assert texts(alone, header=False)[0] == ["one", "two"]
    semicolons = write(tmp_path / "c.csv", "sep=;\n1;one, two\n2;three, four\n")
    assert texts(semicolons, header=False, column="2")[0] == ["one, two", "three, four"]
    guessed = write(tmp_path / "d.csv", "1;one, two\n2;three\n3;four, five, six\n")
    assert texts(guessed, header=False, column="2")[0] == ["one, two", "three", "four, five, six"]
    files = TextFiles([path], "2", header=False)
    list(files.first_reading())
    assert [page.text for page, _ in files.read({"offset": 23, "line": 2, "number": 2})] == [
        "three",
        "four",
    ]


def test_the_width_of_a_table_without_a_header(tmp_path):
    over_lines = '1,"one, two\nand, so, on"\n2,"three, four\n\nand, so, on"\n'
    found, skips, told = texts(write(tmp_path / "a.csv", over_lines), header=False, column="2")
    assert (found, skips, told) == (["one, two\nand, so, on", "three, four\n\nand, so, on"], {}, [])
    prose = ["one", "two, with a comma", "three", "four"]
    assert texts(write(tmp_path / "b.csv", "\n".join(prose)), header=False, column="1")[0] == prose
    assert texts(write(tmp_path / "b.csv", "\n".join(prose)), header=False)[0] == prose


def test_ids_that_are_blank_are_none(tmp_path):
    table = write(tmp_path / "a.csv", "id,text\n ,one\n ,two\n,three\n")
    lines = write(
        tmp_path / "a.jsonl", jsonl({"id": " ", "text": "one"}, {"id": " ", "text": "two"})
    )
    assert texts(table) == (["one", "two", "three"], {}, [])
    assert texts(lines) == (["one", "two"], {}, [])


@pytest.mark.parametrize(
    "data",
    [
        '{"text": "one"},\n{"text": "two"},\n{"text": "three"}\n',
        '[{"text": "one"},\n{"text": "two"},\n{"text": "three"}]\n',
        '[\r\n  {"text": "one"},\r\n  {"text": "two"}\r\n, {"text": "three"}\r\n]',
        '\x1e{"text": "one"}\n\x1e{"text": "two"}\n\ufeff{"text": "three"}\n',
        '\ufeff\ufeff{"text": "one"}\n\xa0\n{"text": "two"}\n'
        + " " * 500
        + '\n{"text": "three"}\n',
        '{"text": "one", "n": ' + "9" * 5000 + '}\n{"text": "two", "n": NaN}\n{"text": "three"}\n',
    ],
)
def test_json_lines_as_programs_write_them(tmp_path, data):
    assert texts(write(tmp_path / "a.jsonl", data)) == (["one", "two", "three"], {}, [])


def test_control_characters_in_json_are_text(tmp_path):
    data = '{"text": "one\ttwo"}\n{"text": "three\0four"}\n'
    assert texts(write(tmp_path / "a.jsonl", data)) == (["one\ttwo", "three\0four"], {}, [])


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".txt"])
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (gzip.compress(b"text\none\n"), r"a gzip file: its name must end with \.gz"),
        (bz2.compress(b"text\none\n"), r"a bzip2 file: its name must end with \.bz2"),
        (lzma.compress(b"text\none\n"), r"an xz file: its name must end with \.xz"),
        (
            b"PK\x03\x04\x14\0\0\0",
            "a ZIP archive: unpack it, or if it is a spreadsheet, save that as CSV",
        ),
    ],
    ids=["gzip", "bzip2", "xz", "zip"],
)
def test_what_is_no_text_whatever_its_name_is_called_what_it_is(tmp_path, ending, data, what):
    path = write(tmp_path / f"a{ending}", data)
    with pytest.raises(BadSource, match=f"{path}: {what}"):
        read(path)


def test_ids_and_titles_of_any_json_type_are_text(tmp_path):
    ids = [
        1.0,
        4.5,
        123456789012345678901234567890,
        True,
        {"$oid": "5f"},
        ["a", 1],
        "x",
        None,
        float("nan"),
    ]
    data = "".join(json.dumps({"id": one, "title": one, "text": "words"}) + "\n" for one in ids)
    pages, skips, told = read(write(tmp_path / "a.jsonl", data))
    named = [
        "1.0",
        "4.5",
        "123456789012345678901234567890",
        "true",
        '{"$oid": "5f"}',
        '["a", 1]',
        "x",
    ]
    assert ([page.id for page in pages], skips, told) == ([*named, "", ""], {}, [])
    assert [page.title for page in pages] == [*named, "a.jsonl:8", "a.jsonl:9"]


def test_most_documents_that_repeat_an_id_are_told_of_the_option(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\n" + "same,words\n" * 20)
    told = read(path)[2]
    says = (
        "a.csv: 19 of 20 documents repeat an id and are skipped; name another column or key with "
        "--id-column"
    )
    assert told[-1] == says
    pages, skips, told = read(path, by_id=False)
    assert (len(pages), skips, told) == (20, {}, [])
    lines = write(tmp_path / "a.jsonl", jsonl(*[{"id": "i" * 5000, "text": "x"}] * 3))
    assert all(
        isinstance(page, Page) for page, _ in TextFiles([lines], by_id=False).first_reading()
    )
