"""Pieces of wikitext and of HTML, of which texts are put together, or that are repeated very often
to see that they are read in linear time."""

SENTENCES = (
    "Literature in Azerbaijani was formed in the 14th century, and among its poets was Hasanoglu "
    "(1250). It has been written in three alphabets, as the country's rulers wished."
)

_MARKS = r"""
{{ }} [[ ]] {| |} | \n|- \n! <ref> </ref> <ref\tname="a"> <ref/> <!-- --> '' ''' ''''' = \n==a==\n [ ] {{{ }}}
[[File:a|thumb| [[a|b]] {{lang|fr| {{convert|1|km}} <math> </math> <nowiki> </nowiki> <table> </table> -{ }-
[http://a\tb] &#x41; &bogus; &#99999999999; http://x __TOC__ \x00 \n \n\n * # : ; <br> <b </b> a é 語 &amp; \t
#REDIRECT
"""
WIKITEXT = [
    one.replace(r"\n", "\n").replace(r"\t", "\t").replace(r"\x00", "\x00") for one in _MARKS.split()
]
"""Pieces of which texts are put together."""
_BOMBS = (
    '{{~[[~}}~{|\n~\n{|~\n|~<ref>~<ref name="a">x~<b '
    'a="~<!--~<~<table>~{{a|~[[a|~[[File:~{{lang|a|~'
    "{{{~a{{b}}~{{[[~{{ [[ }}~[[ {{ ]] }}~\n{|{{\n|}~[http://a ~{|role=presentation\n|\n* a\n~"
    "{|class=\n* a\n|}\n~{|role=~&#9~'''~'''a\n~== a ==\n~==\n~&amp~\x00a:~\n   ~</ref  "
    "~<nowiki>~__A~http://~-{~-{a;~-{zh:a;~-{A;A|~{{ ~{{!}}~{{{!}}\n~\n{{!}}~{{!}}}\n"
)
WIKITEXT_BOMBS = _BOMBS.split("~")
"""Each is repeated."""

_TAGS = """
<div> </div> <p> </p> <b> </b> <i> </i> <table> <tr> <td> </table> <ul> <li> </ul> <h2> </h2> <!-- --> &amp;
<a\thref=" "> <span\tclass="reference"> </span> &#0; &#x110000; & < > " <br/> <style> </style> <script>
</script> <math> <svg> <h2>Notes</h2> <!DOCTYPE <?xml ?> <![CDATA[ ]]> é 語 word <select> <option> <form>
<frameset> <body> <html> <head> <title>
"""
HTML = [tag.replace("\t", " ") for tag in _TAGS.split()] + ["\x00", "\n", " ", "\x02", "\x027x"]
"""Pieces of which pages are put together."""
DEEP_HTML = [
    "<div>",
    "<b></i>",
    "<span></div>",
    "<ul><li>",
    "<font><p>",
    "<b>",
    "<sup class='reference'>",
]
"""Each is repeated, and opens elements within elements."""
_FLAT = '<p>|<table>|<a |<a href="|<!--|&|<a\n|<!NewPP|<div class="|</p>|<br>|<table><ul><li>|<|<?'
FLAT_HTML = _FLAT.split("|")
"""Each is repeated."""
