"""Templates, switches and readings of other languages in wikitext."""

import pytest

from wikitopics.crawler.markup.prose import names_in, read_data
from wikitopics.crawler.markup.templates import render_template
from wikitopics.crawler.markup.texts import page_links, prose
from wikitopics.crawler.markup.wikitext import extract_wikitext, wikitext_links
from wikitopics.crawler.page import Page, SourceInfo

SWITCHES = """
__NOTOC__ __notoc__ __NoToc__ __KEIN_INHALTSVERZEICHNIS__ __kein_inhaltsverzeichnis__ __SIN_TDC__ __АБВ_ГДЕ__
__БЕЗ_ОГЛ__ __обяз_огл__ __目次非表示__ ＿＿目次非表示＿＿ __無目錄__ __BEZ_SPISU__ __AUCUNSOMMAIRE__
__ΧΩΡΙΣΠΠ__ __İÇİNDEKİLERYOK__ __içindekileryok__ __بی\u200cفهرست__ __বিষয়বস্তুর_ছক__ __विषय_सूची_हीन__
__ไม่มีสารบัญ__ __HIDDENCAT__ __INDEX__ __DISAMBIG__ __NOFACTBOX__ __ללא_תוכן_עניינים__
"""


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        (
            "{{formatnum:12345}} {{FORMATNUM:1,5|R}} {{lc:Loud}} {{zahlenformat:7}}",
            "12345 1,5 Loud 7",
        ),
        ("{{val|5|ul=km}} {{val|5|u=kg}} {{val|9.1|e=-31|u=kg}}", "5 km 5 kg 9.1×10-31 kg"),
        (
            "{{frac|1|2}} {{frac|3|1|2}} {{height|m=1.8}} {{height|ft=6|in=1}}",
            "1⁄2 3 1⁄2 1.8 m 6 ft 1 in",
        ),
        ("{{ordinal|3}} {{em|kept}} {{convert|150|e6km|mi}}", "3 kept 150 kilometres"),
        (
            "{{Script/Hebrew|שלום}} {{transl|he|shalom}} {{transl|ar|ALA|salam}}",
            "שלום shalom salam",
        ),
        ("{{tlit|ar|salam}} {{native name|fr|Marne}} {{align|right|words}}", "salam Marne words"),
        ("{{zh|p=Dà Jiǎo|t=大角}} {{lit|horn}} {{US$|5}}", "大角 Dà Jiǎo horn US$5"),
        ("{{flagdeco|France}} {{citation|last=Rossi|first=Ada}} {{cn|date=May}}", ""),
        # French: centuries, titles, quotations, links to other languages' articles
        ("{{s-|XIX|e}}, {{s|V}}, {{-s|II}}", "XIXe siècle, Ve siècle, IIe siècle av. J.-C."),
        (
            "{{s2|XVIII|e|XIX|e}}, {{sap|XX|e}}, {{m-|III|e}}",
            "XVIIIe et XIXe siècles, XXe, IIIe millénaire",
        ),
        (
            "{{sp|XVIII|e|au|XIX|e}}; {{1er}} mai, {{1er juin}}; {{IIe siècle av. J.-C.}}",
            "XVIIIe au XIXe siècle; 1er mai, 1er juin; IIe siècle av. J.-C.",
        ),
        (
            "{{citation|du pain}} {{Mme|de Staël}} {{unité|1,2|e=9|km|h}} "
            "{{date|14|juillet|1789|en France}}",
            "du pain Mme de Staël 1,2×109 km 14 juillet 1789",
        ),
        (
            "{{lien|langue=en|trad=Thames|fr=Tamise}} {{lien|Tamise|lang=en}} {{langue|en|Bridge}}",
            "Tamise Tamise Bridge",
        ),
        # Spanish, Catalan, Italian, Portuguese, Romanian
        (
            "{{cita|la vida}} {{unidad|25|km}} {{siglo|XIX}} {{versalita|XX}}",
            "la vida 25 km siglo XIX XX",
        ),
        ("{{citació|l'aigua}} {{segle|XIX}}", "l'aigua segle XIX"),
        (
            "{{Citazione|la vita|autore}} {{sec|XIX}} {{M|25|ul=km}} {{TA|due parole}}",
            "la vita XIX secolo 25 km due parole",
        ),
        ("{{citação|o rio}} {{séc|XIX}} {{fmtn|25|km}}", "o rio século XIX 25 km"),
        ("{{citat|râul}} {{unitate|25|km}}", "râul 25 km"),
        # German; the name of a ship is not that of a language
        (
            "{{Zitat|Text=Die Würde}} {{Zitat-en|home}} {{enS|London}}",
            "Die Würde home englisch London",
        ),
        ('{{csS|Praha}} {{CSS|Alabama}} {{"|so}}', "tschechisch Praha CSS Alabama so"),
        # Dutch, Swedish, Danish, Norwegian, Finnish, Hungarian, Czech, Polish
        ("{{Citaat|tekst=de rivier}} {{språk|en|sea}} {{sprog|en|sea}}", "de rivier sea sea"),
        ("{{sitat|elven}} {{Sitaatti|joki}} {{k-en|river}}", "elven joki river"),
        (
            "{{idézet|folyó}} {{szám|12}} {{Citát|řeka}} {{Vjazyce2|en|river}}",
            "folyó 12 řeka river",
        ),
        ("{{cytat|treść=rzeka}} {{link-interwiki|Tamiza|Q=19686}}", "rzeka Tamiza"),
        # Russian, Ukrainian, Bulgarian, Serbian
        ("{{цитата|река}} {{нп5|Темза|Темзы|en|Thames}} {{s|5 км}}", "река Темзы 5 км"),
        ("{{нп|Темза||en|Thames}} {{lang-en|London}} {{langi|en|sea}}", "Темза London sea"),
        ("{{цитат|реката}} {{јез-енг|river}} {{comment|слово|hint}}", "реката river слово"),
        # Greek, Turkish, Arabic, Persian, Hebrew
        ("{{παράθεμα|το ποτάμι}} {{alıntı|nehir}} {{dil|en|river}}", "το ποτάμι nehir river"),
        ("{{اقتباس|النهر}} {{وإو|تر=Thames|لغ=en|عر=تايمز}} {{إنج|river}}", "النهر تايمز river"),
        ("{{نقل قول|رود}} {{به انگلیسی|river}} {{تبدیل|5|km}}", "رود river 5 kilometres"),
        ("{{ציטוט|תוכן=הנהר}} {{אנגלית|river}}", "הנהר river"),
        # Hindi, Bengali, Vietnamese, Indonesian, Esperanto
        ("{{उद्धरण|नदी}} {{উক্তি|নদী}} {{রূপান্তর|306|km2|sqmi}}", "नदी নদী 306 square kilometres"),
        ("{{trích dẫn|sông}} {{kutipan|sungai}} {{citaĵo|rivero}}", "sông sungai rivero"),
        # Japanese, Chinese, Korean
        (
            "{{仮リンク|水運|en|Thames}}は{{lang|en|London}}の{{ルビ|紫陽花|あじさい}}と{{読み仮名|山寺|やまでら}}。",
            "水運はLondonの紫陽花と山寺。",
        ),
        (
            "{{LangWithName|en|英語|sea}}、{{要出典範囲|文章|date=2015年}}、{{傍点|文=強調}}",
            "sea、文章、強調",
        ),
        (
            "{{link-en|泰晤士河|Thames}}和{{tsl|en|Tower|塔橋}}、{{le|倫敦塔|Tower|塔}}",
            "泰晤士河和塔橋、塔",
        ),
        ("{{llang|en|London}}은 {{임시링크|템스강|en|Thames}} {{인용문|강}}", "London은 템스강 강"),
        # Fandom
        (
            "{{H:title|hint|shown}} {{color|red|words}} {{w|Thames|river}} {{Ruby|Base|top}}",
            "shown words river Base",
        ),
        # Links that name the language first, arguments by their numbers, signs between letters
        ("{{ill|en|Sungai|River}} {{ill|War|pl|Wojna}} {{ill|oka|de|Oka}}", "Sungai War oka"),
        ("{{illm|zh-hans|本地|X}} {{ill|A|de|B|lt=C}} {{ilc|Rio||River}}", "本地 C Rio"),
        (
            "{{lang|2=sea|1=en}} {{tsl|en|3=塔}} {{quote|old|1=new}} {{lang|0=x|77=y|en|z}}",
            "sea 塔 new z",
        ),
        ("well{{hyphen}}known 5{{NNBSP}}km", "well-known 5 km"),
        ("{{Template:Nowrap|two words}} {{ NOWRAP | spaced }} {{un­known|x}}", "two words spaced"),
    ],
)
def test_templates_show_their_words(wikitext, shown):
    assert extract_wikitext(wikitext).split() == shown.split()


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("", "Ve siècle XIXe siècle 5 км"),
        ("fr", "Ve siècle XIXe siècle 5 км"),
        ("fr-CA", "Ve siècle XIXe siècle 5 км"),
        ("ru", "V XIX 5 км"),
    ],
)
def test_a_name_means_what_it_does_in_the_wikis_language(language, shown):
    text = "{{s|V}} {{lang|fr|{{s|XIX|e}}}} {{s|5 км}} {{s|[[A]]}}"
    info = SourceInfo("", None, language=language)
    page = Page(1, "", 0, text, "wikitext")
    assert prose(page, info).split() == [*shown.split(), "A"]
    assert page_links(page, info) == ["A"]


def test_every_declared_template_shows_something():
    _, *entries = read_data("templates.txt").split(" → ")
    lines = "\n".join(entries).split("\n")
    entries = [entry for line in lines for entry in line.split(";") if line and "{" not in line]
    names = [entry.partition("@")[0].strip() for entry in entries]
    assert len(names) > 800
    named = "|".join(f"{name}=7" for name in ("m", "ft", "文", "p"))
    for name in names:
        template = name.replace("*", "en")
        begin = template if name.endswith(":") else f"{template}|"
        fillings = ("XX|e|au|XX|e", "XX|e|XX|e", "20|e")
        assert any(render_template(f"{begin}{filling}|{named}").strip() for filling in fillings), (
            name
        )


def test_a_list_or_table_out_of_a_template_begins_a_line():
    assert extract_wikitext("A {{(!}} class=x") == "A"
    assert extract_wikitext("A {{(!}} class=x\n{{!}} cell\n{{!)}} B").split() == ["A", "B"]
    assert extract_wikitext("A {{quote|* one\n* two}}").split() == ["A", "one", "two"]
    assert extract_wikitext("A {{lc:# one}}").split("\n") == ["A", "one"]
    assert extract_wikitext("A {{plainlist|; term\n: words}}").split() == ["A", "term", "words"]
    assert extract_wikitext("the {{nowrap|#1 song}} of {{lang|en|: sea}}") == "the #1 song of : sea"


@pytest.mark.parametrize("switch", SWITCHES.split())
def test_switches_are_no_words_in_any_language(switch):
    text = f"one {switch} two{switch}{switch}\n{switch}== three ==\nfour"
    assert extract_wikitext(text).split() == ["one", "two", "three", "four"]


def test_other_names_between_underscores_are_words():
    text = "the method __init__ of __main__.py, __index__ and __my_name__, __9__, a__b __c"
    shown = "the method init of main .py, index and my_name , 9 , a b c"
    assert extract_wikitext(text).split() == shown.split()
    assert extract_wikitext("x __a__TOC__ y____NOTOC____").split() == ["x", "a", "y"]


@pytest.mark.parametrize("bomb", ["__", "__A", "＿＿目", "__a_", "__NOTOC__", "_"])
def test_any_number_of_underscores_is_read_in_linear_time(bomb):
    assert isinstance(extract_wikitext(bomb * 100_000), str)


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("<ruby>山<rt>やま</rt>寺<rt>でら</rt></ruby>へ登る。", "山寺へ登る。"),
        (
            "<ruby><rb>紫陽花</rb><rp>（</rp><rt>あじさい</rt><rp>）</rp></ruby>が咲く。",
            "紫陽花が咲く。",
        ),
        ("<ruby>北京<rp>(</rp><rt>Běijīng</rt><rp>)</rp></ruby>下雪了。", "北京下雪了。"),
        ("<ruby>[[北京]]<RT lang=zh>[[Běi]]jīng<rt>two</RUBY>下", "北京下"),
        (
            "<ruby><rb>旧</rb><rb>金</rb><rt>jiù</rt><rt>jīn</rt><rtc><rt>San "
            "Francisco</rt></rtc></ruby>山",
            "旧金山",
        ),
        ("<ruby>漢<rp>(<rt>kan<rp>)<rb>字<rp>(<rt>ji<rp>)</ruby>。", "漢字。"),
        ("a <rt>b\n\nnext paragraph", "a\nnext paragraph"),
        ("a <rt>never closed", "a never closed"),
    ],
)
def test_readings_above_words_are_left_out(wikitext, shown):
    assert extract_wikitext(wikitext).split() == shown.split()


def test_links_in_templates_and_ruby_count_as_their_words_do():
    text = (
        "<ruby>[[A]]<rt>[[B]]</rt></ruby> {{Citation bloc|[[C]]}} {{le|[[D]]|E}} {{nosuch|[[F]]}}"
    )
    assert wikitext_links(text) == ["A", "C", "D"]


def test_the_lists_are_tidy():
    switches = names_in(read_data("switches.txt"))
    assert len(switches) > 1_000
    assert all(name and "__" not in name and name == name.strip("_ ") for name in switches)
