"""Tables as programs, spreadsheets and people write them: rows are checked against the header."""

import bz2
import csv
import gzip
import io
import lzma
import random

import pytest

from tests.crawler.dumps import write
from tests.crawler.text_files import PACKERS, jsonl, read, read_pages, texts_of
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import Page
from wikitopics.crawler.texts.contents import Contents
from wikitopics.crawler.texts.documents import TextFiles

STRAY = "a quotation mark that is not closed, or not doubled"


def read_texts(path, **options):
    """(texts, number of skips by reason, messages) of a first reading of a file."""
    pages, skips, messages = read(path, **options)
    return texts_of(pages), skips, messages


def texts_alone(path, **options):
    return texts_of(read_pages(path, **options))


def rows(*lines):
    """A table of texts, written as they are, with numbers from 0 as ids."""
    return "id,text\n" + "".join(f"{number},{line}\n" for number, line in enumerate(lines))


def table_of(rows):
    """A table as Python's csv writes it."""
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    return table.getvalue()


def found_from(path, files, place):
    """What is read from a place on in a later run."""
    again = TextFiles([path])
    again.mark(files.mark())
    return list(again.read(place))


def test_quotation_marks_with_a_backslash(tmp_path):
    written = (
        r'"the \"old\", and the \"new\" one"',
        r'"\"begins, ends\""',
        r'"a path C:\"',
    )
    found, skips, messages = read_texts(write(tmp_path / "a.csv", rows(*written)))
    assert found == ['the "old", and the "new" one', '"begins, ends"', "a path C:\\"]
    assert not skips
    message = 'a.csv: 2 rows have quotation marks written as \\" (the first in line 2); '
    assert message in messages[0]
    over_lines = write(tmp_path / "b.csv", rows('"he said \\"yes\\"\nand, then, \\"no\\""', "next"))
    assert texts_alone(over_lines) == ['he said "yes"\nand, then, "no"', "next"]


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
    of_usual_cells = row.replace(", ", " ").replace("; ", " ").replace('"', "")
    path = write(tmp_path / "a.csv", f"{header}\n{row}\n{of_usual_cells}\n{row}\n")
    found, skips, messages = read_texts(path, by_id=False)
    first, _, third = found
    assert first == text
    assert third == text
    assert skips == {}
    (message,) = messages
    assert message.startswith(
        f"{path}: 2 rows have more cells than the table has columns (the first in line 2); "
    )
    assert "is read as part of the text" in message


def test_a_row_with_too_few_cells_is_told_and_empty_cells_beyond_the_header_are_nothing(tmp_path):
    path = write(tmp_path / "a.csv", "text,id,title,,\none,1,t\ntwo\nthree,3,t,,,,\nfour,4,t,x\n")
    pages, skips, messages = read(path)
    assert [(page.text, page.id) for page in pages] == [
        ("one", "1"),
        ("two", ""),
        ("three", "3"),
        ("four", "4"),
    ]
    assert not skips
    assert messages == [
        f"{path}: 1 row has fewer cells than the table has columns (line 3); "
        "the missing ones are taken to be empty"
    ]


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize(
    ("number", "row"),
    [(3, '"three'), (3, '"three" and more'), (9, '"nine'), (3, '"thr"ee" and "more'), (0, '"zero')],
)
def test_a_stray_quotation_mark_costs_no_row(tmp_path, ending, delimiter, number, row):
    lines = [f"text of {line}" for line in range(10)]
    lines[number] = row
    lines[7] = 'he said "no"'  # so that something seems to close it
    path = write(tmp_path / f"a{ending}", rows(*lines).replace(",", delimiter))
    found, skips, messages = read_texts(path)
    assert found == lines
    assert skips == {}
    line_of_file = number + 2
    assert messages == [f"{path}: 1 row has {STRAY} (line {line_of_file}); it is read as it stands"]


def test_rows_between_a_stray_mark_and_one_that_seems_to_close_it_are_rows(tmp_path):
    written = ["one", '"two', "three", 'a screen of 27"', "five"]
    assert texts_alone(write(tmp_path / "a.csv", rows(*written))) == written
    with_ids_of_letters = 'id,text\nr0x,"a\nr1x,b\nr2x,c\nr3x,d 5"\nr4x,e\n'
    found = texts_alone(write(tmp_path / "b.csv", with_ids_of_letters))
    assert found == ['"a', "b", "c", 'd 5"', "e"]
    many = [f"words {number}" for number in range(200)]
    many[20] = '"stray'
    many[150] = 'five inches 5"'
    assert texts_alone(write(tmp_path / "c.csv", "\n".join(["text", *many]))) == many


@pytest.mark.parametrize(("header", "line"), [("text,more", '5","'), ("text,more,label", '5", "')])
def test_rows_that_each_seem_to_go_on_to_the_end_are_not_each_read_to_the_end(
    tmp_path, monkeypatch, header, line
):
    """On every line, a mark closes the cell of the line before, and another one begins a cell."""
    given_back = []
    put_back = Contents.put_back

    def counted(contents, lines):
        given_back.append(len(lines))
        put_back(contents, lines)

    monkeypatch.setattr(Contents, "put_back", counted)
    path = write(tmp_path / "a.csv", f"{header}\n" + f"{line}\n" * 500)
    assert texts_alone(path)[:400] == ['5"'] * 400
    assert max(given_back) < 100


PROSE = "a line of prose, with a comma"


@pytest.mark.parametrize("closing", ["", '"'])
@pytest.mark.parametrize(("n_rows", "closed_in"), [(3000, 2000), (30, 20)])
@pytest.mark.parametrize(
    ("header", "row"),
    [("id,text", "{number},{text}"), ("text,label", "{text},pos"), ("text", "{text}")],
)
def test_a_stray_mark_costs_no_row_where_commas_are_not_quoted(
    tmp_path,
    header,
    row,
    n_rows,
    closed_in,
    closing,
):
    if (header, n_rows, closing) == ("text", 30, '"'):
        pytest.skip("a text of a few lines looks the same")
    written = [PROSE] * n_rows
    written[5] = f'"{PROSE}'
    written[closed_in] = PROSE + closing
    lines = [row.format(number=number, text=text) for number, text in enumerate(written)]
    path = write(tmp_path / "a.csv", "\n".join([header, *lines]))
    found, skips, messages = read_texts(path)
    assert found == written
    assert skips == {}
    assert f"{path}: 1 row has {STRAY} (line 7); it is read as it stands" in messages


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
    assert read_texts(path) == ([text, "bake it"], {}, [])


def test_a_long_cell_of_a_table_with_one_column_is_a_cell(tmp_path):
    letter = "a letter\n\n" * 60
    path = write(tmp_path / "b.csv", f'text\nshort\n"{letter}"\nend\n')
    assert read_texts(path) == (["short", letter, "end"], {}, [])


def test_lines_with_tabs_are_rows_from_the_first_on(tmp_path):
    data = 'name\ttext\tlabel\nb7x\t"one\tpos\na3y\ttwo"\tpos\nc1z\t"\tpos\nd5w\tfour\tpos\ne9v\t"\tpos\n'
    found, skips, _ = read_texts(write(tmp_path / "a.tsv", data))
    assert found == ['"one', 'two"', '"', "four", '"']
    assert skips == {}
    valid = 'text\tlabel\n"one\ntwo"\tpos\nthree\tneg\n'
    assert read_texts(write(tmp_path / "b.tsv", valid)) == (["one\ntwo", "three"], {}, [])


def test_cells_of_several_lines_stay_cells(tmp_path):
    poem = "Roses are red,\nViolets are blue,\nSugar is sweet,\nAnd so are you"
    speech = 'He said:\n"yes, of course"\nand left'
    long = "x\n" * 300
    table = table_of([("id", "text"), (1, poem), (2, speech), (3, long), (4, "end")])
    found, _, messages = read_texts(write(tmp_path / "a.csv", table))
    assert found == [poem, speech, long, "end"]
    assert messages == []
    not_doubled = rows('"first line\nthe "second" one\nthird"', "next")
    found, _, messages = read_texts(write(tmp_path / "b.csv", not_doubled))
    assert found == ['first line\nthe "second" one\nthird', "next"]
    assert STRAY in messages[0]
    cut_off = write(tmp_path / "c.csv", rows("one", '"begins here\nand, so, on\nto the end'))
    assert texts_alone(cut_off) == ["one", '"begins here\nand, so, on\nto the end']


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
    records = []
    for number in range(12):
        record = {name: " ".join(chance.choices(WORDS, k=4)) for name in columns}
        record["id"] = str(number)
        records.append(record)
    table = io.StringIO(newline="")
    writer = csv.DictWriter(
        table,
        columns,
        delimiter=delimiter,
        quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        lineterminator=chance.choice(["\n", "\r\n"]),
    )
    writer.writeheader()
    writer.writerows(records)
    found, _, messages = read_texts(write(tmp_path / "a.csv", table.getvalue()))
    assert found == [record["text"] for record in records if record["text"].strip()]
    assert messages == []


@pytest.mark.parametrize("seed", range(40))
def test_however_mangled_a_table_is_reading_resumes_at_any_row(tmp_path, seed):
    mangled = "".join(random.Random(seed).choices('ab",;\n\r\\ \t1|', k=200))
    path = write(tmp_path / "a.csv", f"id,text\n{mangled}\n1,some text\n")
    files = TextFiles([path])
    list(files.first_reading())
    found = list(files.read())
    for number, (_, place) in enumerate(found, start=1):
        assert found_from(path, files, place) == found[number:]


@pytest.mark.parametrize("before", ["\r\n\r\n", ",,,\n", "sep=,\n", '"sep=,"\r\n\n', "SEP=,\r\n"])
def test_what_may_stand_above_the_header(tmp_path, before):
    assert texts_alone(write(tmp_path / "a.csv", before + rows("one", "two"))) == ["one", "two"]


def test_a_header_below_other_lines_is_told_of(tmp_path):
    path = write(tmp_path / "a.csv", "# of 2024, by me\n\nid;text\n1;one\n")
    message = f"{path}: the header is in line 3: delete the lines above it"
    with pytest.raises(BadSource, match=message):
        read(path)
    reviews = write(tmp_path / "b.csv", "Reviews,,\nid,review,text\n1,one,two\n")
    with pytest.raises(BadSource, match="the header is in line 2: delete the lines above it"):
        read(reviews, column="review")
    with pytest.raises(BadSource, match="there is no column 'other'"):
        read(reviews, column="other")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.csv", "sep=;\r\nid;text\r\n1;one, two\r\n", "one, two"),
        ("b.csv", "sep=^\nid^text\n1^one; two\n", "one; two"),
        ("c.csv", "id|text\n1|one, two\n", "one, two"),
        ("d.tsv", "id;text\n1;one, two\n", "one, two"),
        ("e.csv", 'id, "text"\n1, "one, two"\n', "one, two"),
        ("f.csv", '"text", id\n "one, two", 1\n', "one, two"),
    ],
)
def test_the_delimiter_is_named_in_a_first_line_or_seen_in_the_header(tmp_path, name, data, text):
    found, _, messages = read_texts(write(tmp_path / name, data))
    assert found == [text]
    assert messages == []


def test_names_of_columns_may_be_in_other_letters(tmp_path):
    (page,) = read_pages(write(tmp_path / "a.csv", "Title,TEXT,ID\nt,one,7\n"))
    assert (page.text, page.title, page.id) == ("one", "t", "7")
    (page,) = read_pages(write(tmp_path / "b.csv", "Text,text\nno,yes\n"))
    assert page.text == "yes"


def test_of_two_columns_with_one_name_the_first_that_is_not_empty_is_read(tmp_path):
    path = write(tmp_path / "c.csv", "id,text,text\n1,,one\n2,two,\n3,three,three\n4,four,other\n")
    found, skips, messages = read_texts(path)
    assert found == ["one", "two", "three", "four"]
    assert skips == {}
    assert messages == [
        f"{path}: 1 row has texts in several columns of that name (line 5); "
        "the first is read, the others are not"
    ]


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    ("name", "header", "record"),
    [
        ("a.csv", "id,text\r\n", "{number},{text}\r\n"),
        ("a.jsonl", "", '{{"id": {number}, "text": "{text}"}}\r\n'),
        ("a.txt", "", "{text}\r\n\r\n"),
    ],
    ids=["csv", "jsonl", "txt"],
)
def test_other_encodings_of_unicode(tmp_path, packed, encoding, name, header, record):
    if (encoding, name) == ("utf-32", "a.txt"):
        pytest.skip("like all others")
    texts = ["café au lait", "крот", "河谷 valley", "four"] * 30
    records = [record.format(number=number, text=text) for number, text in enumerate(texts)]
    data = (header + "".join(records)).encode(encoding)
    path = write(tmp_path / f"{name}{packed}", PACKERS[packed](data))
    files = TextFiles([path])
    pages = [page for page, _ in files.first_reading()]
    assert [page.text.strip() for page in pages] == texts
    found = list(files.read())
    _, place = found[50]
    assert found_from(path, files, place) == found[51:]
    write(tmp_path / "docs" / "a.txt", "крот café".encode(encoding))
    assert texts_alone(str(tmp_path / "docs")) == ["крот café"]


def test_a_file_that_only_holds_zeros_is_not_text(tmp_path):
    for data in (b"one\n\ntwo\0\n\n", b"a\0\0b\0\0"):
        pages, skips, _ = read(write(tmp_path / "a.txt", b"one\n\n" + data))
        assert skips == {"not UTF-8": 1}
        assert pages[0].text.strip() == "one"


def test_carriage_returns(tmp_path):
    path = write(tmp_path / "a.csv", rows("one\rtwo", "three", '"four\rfive"'))
    assert read_texts(path) == (["one two", "three", "four\rfive"], {}, [])


def test_files_whose_lines_end_with_carriage_returns(tmp_path):
    table = write(tmp_path / "b.csv", 'id,text\r0,one\r1,"two\nlines"\r2,three\r')
    assert texts_alone(table) == ["one", "two\nlines", "three"]
    files = TextFiles([table])
    list(files.first_reading())
    (_, place_behind_first), *others = files.read()
    assert found_from(table, files, place_behind_first) == others
    json_lines = write(tmp_path / "c.jsonl", '{"text": "x"}\r{"text": "y"}\r')
    assert texts_alone(json_lines) == ["x", "y"]
    plain = write(tmp_path / "d.txt", "one\r\rtwo\r")
    assert texts_alone(plain) == ["one\n", "two\n"]


WITHOUT_HEADER = "7,one, and,more\n8,two\n9,three\n10,four\n"


def test_columns_of_a_table_without_a_header_are_named_by_number(tmp_path):
    path = write(tmp_path / "a.csv", WITHOUT_HEADER)
    found, _, messages = read_texts(path, header=False, column="2")
    assert found == ["one, and,more", "two", "three", "four"]
    assert "1 row has more cells" in messages[0]
    pages = read_pages(path, header=False, column="2", id="1")
    assert [page.id for page in pages] == ["7", "8", "9", "10"]


def test_which_column_of_a_table_without_a_header_is_asked_for(tmp_path):
    path = write(tmp_path / "a.csv", WITHOUT_HEADER)
    which_column = (
        r"which column holds the text\? Without a header, give its number with --text-column: 1 "
        r"\(7\), 2 "
    )
    with pytest.raises(BadSource, match=which_column):
        read(path, header=False)
    no_such_column = r"there is no column 'text'\. Without a header, give its number"
    with pytest.raises(BadSource, match=no_such_column):
        read(path, header=False, column="text")
    with pytest.raises(BadSource, match="or give --no-header if it has no header"):
        read(path)


def test_a_table_without_a_header_may_have_one_column_or_another_delimiter(tmp_path):
    of_one_column = write(tmp_path / "b.csv", "\none\ntwo\n")
    assert texts_alone(of_one_column, header=False) == ["one", "two"]
    named = write(tmp_path / "c.csv", "sep=;\n1;one, two\n2;three, four\n")
    assert texts_alone(named, header=False, column="2") == ["one, two", "three, four"]
    guessed = write(tmp_path / "d.csv", "1;one, two\n2;three\n3;four, five, six\n")
    found = texts_alone(guessed, header=False, column="2")
    assert found == ["one, two", "three", "four, five, six"]


def test_a_table_without_a_header_is_read_from_a_place_on(tmp_path):
    files = TextFiles([write(tmp_path / "a.csv", WITHOUT_HEADER)], "2", header=False)
    list(files.first_reading())
    behind_two_rows = len("7,one, and,more\n8,two\n")
    place = {"offset": behind_two_rows, "line": 2, "number": 2}
    assert [page.text for page, _ in files.read(place)] == ["three", "four"]


def test_the_width_of_a_table_without_a_header(tmp_path):
    over_lines = '1,"one, two\nand, so, on"\n2,"three, four\n\nand, so, on"\n'
    path = write(tmp_path / "a.csv", over_lines)
    found, skips, messages = read_texts(path, header=False, column="2")
    assert found == ["one, two\nand, so, on", "three, four\n\nand, so, on"]
    assert skips == {}
    assert messages == []
    prose = ["one", "two, with a comma", "three", "four"]
    path = write(tmp_path / "b.csv", "\n".join(prose))
    assert texts_alone(path, header=False, column="1") == prose
    assert texts_alone(path, header=False) == prose


def test_ids_that_are_blank_are_none(tmp_path):
    table = write(tmp_path / "a.csv", "id,text\n ,one\n ,two\n,three\n")
    assert read_texts(table) == (["one", "two", "three"], {}, [])
    data = jsonl({"id": " ", "text": "one"}, {"id": " ", "text": "two"})
    assert read_texts(write(tmp_path / "a.jsonl", data)) == (["one", "two"], {}, [])


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
    path = write(tmp_path / "a.jsonl", data)
    assert read_texts(path) == (["one", "two", "three"], {}, [])


def test_control_characters_in_json_are_text(tmp_path):
    data = '{"text": "one\ttwo"}\n{"text": "three\0four"}\n'
    path = write(tmp_path / "a.jsonl", data)
    assert read_texts(path) == (["one\ttwo", "three\0four"], {}, [])


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
    records = [{"id": value, "title": value, "text": "words"} for value in ids]
    pages, skips, messages = read(write(tmp_path / "a.jsonl", jsonl(*records)))
    as_text = [
        "1.0",
        "4.5",
        "123456789012345678901234567890",
        "true",
        '{"$oid": "5f"}',
        '["a", 1]',
        "x",
    ]
    assert [page.id for page in pages] == [*as_text, "", ""]
    assert [page.title for page in pages] == [*as_text, "a.jsonl:8", "a.jsonl:9"]
    assert skips == {}
    assert messages == []


def test_if_most_documents_repeat_an_id_the_option_for_another_column_is_named(tmp_path):
    path = write(tmp_path / "a.csv", "id,text\n" + "same,words\n" * 20)
    _, _, messages = read(path)
    assert messages[-1] == (
        "a.csv: 19 of 20 documents repeat an id and are skipped; name another column or key with "
        "--id-column"
    )


def test_documents_may_be_told_apart_without_their_ids(tmp_path):
    table = write(tmp_path / "a.csv", "id,text\n" + "same,words\n" * 20)
    pages, skips, messages = read(table, by_id=False)
    assert len(pages) == 20
    assert skips == {}
    assert messages == []
    of_too_long_an_id = {"id": "i" * 5000, "text": "x"}
    lines = write(tmp_path / "a.jsonl", jsonl(*[of_too_long_an_id] * 3))
    found = TextFiles([lines], by_id=False).first_reading()
    assert all(isinstance(page_or_reason, Page) for page_or_reason, _ in found)
