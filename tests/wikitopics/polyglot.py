"""A wiki on loopback in many languages: short articles about water, music and the sky, made for the tests."""

import random
from urllib.parse import quote

from aiohttp import web

from benchmarks.served import serving
from tests.corpora import synthetic_corpus
from tests.wiki import FaultyApi, make_app
from wikitopics.crawler.embedded.corpus import SampleArticles

SUBJECTS = {
    "de": (
        "Fluss Meer Brücke Schiff Regen Fisch Insel Welle Ufer Boot Hochwasser Hafen",
        "Lied Trommel Geige Konzert Melodie Chor Oper Rhythmus Flöte Orchester Sänger Tanz",
        "Stern Mond Sonne Planet Komet Fernrohr Licht Himmel Galaxie Umlaufbahn Finsternis Astronom",
    ),
    "fr": (
        "rivière plage pont navire pluie poisson l'île vague rive bateau crue d'étang",
        "chanson tambour violon concert mélodie chœur l'opéra rythme flûte l'orchestre chanteur danse",
        "l'étoile lune soleil planète comète télescope lumière ciel galaxie l'orbite l'éclipse d'astronome",
    ),
    "tr": (
        "nehir deniz köprü gemi yağmur BALIK dalga kıyı tekne liman IRMAK İSKELE",
        "şarkı davul keman konser ezgi koro opera ritim flüt orkestra şarkıcı dans",
        "yıldız dolunay güneş gezegen teleskop IŞIK gökyüzü galaksi yörünge tutulma astronom ufuk",
    ),
    "uk": (
        "річка море міст корабель дощ риба острів хвиля берег човен повінь м’яч",
        "пісня барабан скрипка концерт мелодія хор опера ритм флейта оркестр співак п'єса",
        "зоря місяць сонце планета комета телескоп світло небо галактика орбіта затемнення сузірʼя",
    ),
    "hi": (
        "नदी समुद्र पुल जहाज़ वर्षा मछली द्वीप लहर किनारा नाव बाढ़ झील",
        "गीत ढोल वायलिन संगीत धुन गायक राग ताल बाँसुरी वाद्य नृत्य सितार",
        "तारा चंद्रमा सूर्य ग्रह धूमकेतु दूरबीन प्रकाश आकाश आकाशगंगा कक्षा ग्रहण खगोल",
    ),
    "ar": (
        "نَهْر بَحْر جِسْر سَفِينَة مَطَر سَمَكَة جَزِيرَة مَوْجَة شَاطِئ قَارِب فَيَضَان مِينَاء",
        "أُغْنِيَة طَبْل كَمَان حَفْلَة لَحْن مُطْرِب أوبرا إِيقَاع نَاي أوركسترا عُود رَقْص",
        "نَجْم قَمَر شَمْس كَوْكَب مُذَنَّب مِنْظَار ضَوْء سَمَاء مَجَرَّة مَدَار كُسُوف فَلَك",
    ),
    "fa": (
        "رودخانه دریا کشتی باران ماهی جزیره موج ساحل قایق سیل\u200cبند آب\u200cراه بندر",
        "ترانه طبل ویولن کنسرت آهنگ خواننده اپرا ریتم نی\u200cنواز هم\u200cخوانی رقص سنتور",
        "ستاره خورشید سیاره دنباله\u200cدار تلسکوپ نور آسمان کهکشان مدار ماه\u200cگرفتگی اخترشناس افق",
    ),
}
"""By language: the words of three subjects, as they are written in texts."""
UNSPACED_SUBJECTS = {
    "ja": (
        "河川 海洋 船舶 魚類 洪水 港湾",
        "太鼓 合唱 音楽 オペラ フルート ダンス",
        "恒星 太陽 惑星 彗星 望遠鏡 銀河",
    ),
    "zh": (
        "河流 海洋 船舶 鱼类 岛屿 洪水",
        "歌曲 合唱团 歌剧 长笛 舞蹈 小提琴",
        "恒星 太阳 行星 彗星 望远镜 银河系",
    ),
    "th": (
        "แม่น้ำ ทะเล สะพาน เรือ ปลา คลื่น",
        "เพลง กลอง ไวโอลิน คอนเสิร์ต ขลุ่ย นักร้อง",
        "ดาวฤกษ์ ดวงจันทร์ ดวงอาทิตย์ ดาวเคราะห์ ดาวหาง อวกาศ",
    ),
}
"""The same, for languages whose words are separated by other packages."""


class Polyglot(FaultyApi):
    """A wiki in one language. Each article has four of its subject's words, so that none is frequent."""

    def __init__(self, language, size):
        super().__init__(SampleArticles(synthetic_corpus(20), size))
        self.language = language
        self.subjects = [subject.split() for subject in (SUBJECTS | UNSPACED_SUBJECTS)[language]]

    def wikitext(self, index):
        chosen = random.Random(index).sample(self.subjects[index % 3], 3)
        if self.language in UNSPACED_SUBJECTS:  # three of six words would be frequent
            chosen = [chosen[0]] * 3
        return f"== 1 ==\n'''{chosen[0]}''': {chosen[1]}, [[{chosen[2]}|{chosen[0]}]] «{chosen[1]}» (1984)."


TITLES = {
    "en": (
        "World War II;Battle of Britain;Winston Churchill;Paris, Texas;D-Day;Cold War;Berlin Wall;NATO",
        "Electric guitar;The Beatles;Rock and roll;Abbey Road;Jazz;Bass drum;Vinyl record;AC/DC",
        "Solar System;Milky Way;Halley's Comet;Sun;Moon;Hubble Space Telescope;Red giant;Kepler's laws",
    ),
    "zh": (
        "河流;海洋;桥梁;船舶;降雨;鱼类;岛屿;波浪",
        "歌曲;小提琴;音乐会;合唱团;歌剧;长笛;管弦乐团;舞蹈",
        "恒星;月球;太阳;行星;彗星;望远镜;银河系;日食",
    ),
    "ja": (
        "川;海;橋;船舶;雨;魚類;島;洪水",
        "歌;太鼓;ヴァイオリン;コンサート;合唱;オペラ;フルート;ダンス",
        "恒星;月;太陽;惑星;彗星;望遠鏡;銀河;日食",
    ),
    "th": (
        "แม่น้ำ;ทะเล;สะพาน;เรือ;ฝน;ปลา;เกาะ;คลื่น",
        "เพลง;กลอง;ไวโอลิน;คอนเสิร์ต;อุปรากร;ขลุ่ย;วงดุริยางค์;นาฏศิลป์",
        "ดาวฤกษ์;ดวงจันทร์;ดวงอาทิตย์;ดาวเคราะห์;ดาวหาง;กล้องโทรทรรศน์;ทางช้างเผือก;อุปราคา",
    ),
}
"""By language: the titles of articles about three subjects."""


def linked(language, index):
    """The titles that an article links to: two of its subject's eight, in turn, so that none is frequent."""
    titles, turn = TITLES[language][index % 3].split(";"), index // 3
    return [titles[turn % 8], titles[(turn + 1 + turn // 8 % 7) % 8]]


class Linked(FaultyApi):
    """A wiki of which the links count: all its prose is the same but for them."""

    def __init__(self, language, size):
        super().__init__(SampleArticles(synthetic_corpus(20), size))
        self.language = language
        self.writer = self

    def wikitext(self, index):
        shown = linked(self.language, index)
        text = "".join(f"[[{t}#x|{t}]]。[[{t.replace(' ', '_')}]] [[Talk:{t}]] " for t in shown)
        return f"<ref>[[Portal]]</ref>'''1''' {text}[[File:A.jpg|[[Caption]]]]"

    def html(self, article):
        titles = [quote(title.replace(" ", "_")) for title in linked(self.language, article.index)]
        text = "".join(f'<a href="/wiki/{t}#x">x</a>。<a href="/wiki/{t}">x</a> ' for t in titles)
        notes = '<sup class="reference"><a href="/wiki/Portal">1</a></sup>'
        return f'<p>1 {text}<a href="/wiki/Talk:A">x</a>{notes}</p>'


def polyglot(language, size=400, asked=None, kind=Polyglot):
    """The address of such a wiki, which runs in a thread; ``asked`` gets every request's query."""

    @web.middleware
    async def note(request, handler):
        if asked is not None:
            asked.append(dict(request.query))
        return await handler(request)

    app = make_app(kind(language, size))
    app.middlewares.append(note)
    return serving(app)
