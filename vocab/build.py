"""Build a vocabulary from documents: the words that tell subjects apart."""

import heapq
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from wikitopics.vocab.rules import Rule
from wikitopics.vocab.vocabulary import BadDocuments, Vocabulary

# English words that say nothing about a subject; an English vocabulary leaves them out.
#
# Only words of three letters and more are listed, as shorter ones never enter a vocabulary.

_GRAMMAR = """
the and but nor yet for not any all both each few more most other some such than then that this these those
there here where when why how what which who whom whose while whereas whether because since until unless
although though however therefore thus hence moreover furthermore nevertheless nonetheless otherwise instead
she her hers herself him his himself its itself they them their theirs themselves you your yours yourself
yourselves our ours ourselves myself one ones oneself someone somebody something anyone anybody anything
everyone everybody everything nobody nothing none
are was were been being have has had having does did doing done can could may might must shall should will
would cannot ought
about above across after against along alongside among amongst around away back before behind below
beneath beside besides between beyond despite down during except from inside into like near off onto out
outside over past per since through throughout till toward towards under underneath unlike until upon via
with within without
also again almost already always anyway apart aside even ever every everywhere far hardly indeed just largely
likewise maybe merely mostly much mainly nearly neither never now nowhere often once only perhaps pretty quite
rather really same simply sometimes somewhat somewhere soon still too twice usually very well yes either else
ever further furthermore generally especially particularly relatively respectively similarly typically
don doesn didn isn aren wasn weren hasn haven hadn won couldn wouldn shouldn mustn needn ain mightn let lets
"""

_NUMBERS_AND_DATES = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands
million millions billion first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
half dozen january february march april june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday
day days week weeks weekly month months monthly year years yearly decade decades date dates today yesterday
tomorrow time times early earlier earliest late later latest mid ago
"""

_VAGUE = """
able according actually addition additional additionally afterwards allow allowed allows alone alongside
another appear appeared appears approximately available became become becomes becoming began begin beginning
begins begun believed best better big bring brought called came cause caused certain close come comes coming
common commonly complete completed completely consider considered consist consisted consisting consists
contain contained containing contains continue continued continues current currently describe described
describes despite different due easily end ended ending ends entire entirely etc eventually exactly example
examples fact feature featured features final finally find finds follow followed following follows form formed
former formerly forms found full fully gave get gets getting give given gives giving goes going gone good got
great greater greatest group held high higher highest hold holding holds important include included includes
including initial initially involved involving keep kept kind knew know known knows large larger largest last
lasted latter lead leading least leave leaving led left less list listed lists located long longer longest
look looked lot low lower lowest made main make makes making many mean means meant mention mentioned met
minor major move moved multiple name named namely names need needed needs new newer newly next notable notably
noted number numbers numerous obtain obtained occur occurred occurs old older original originally overall own
owned part partially particular partly parts place placed places plus point possible possibly present
presently previous previously primarily primary prior probably provide provided provides providing put ran
range ranging recent recently refer referred refers regarded related remain remained remaining remains result
resulted resulting results return returned right run running said saw say saying says see seem seemed seems
seen sent set sets setting several short shortly show showed showing shown shows side significant
significantly similar simple single size slightly small smaller smallest special specific specifically start
started starting starts stated subsequent subsequently suggest suggested take taken takes taking tell term
termed terms thing things think thought together told took top total toward tried try turn turned turning
type types typical use used useful uses using usual various want wanted way ways went whole wide widely
work worked working works
"""

_ENCYCLOPEDIA = """
article articles biography bibliography caption category categories citation citations cite cited
coord disambiguation external footnote footnotes gallery infobox isbn issn link links oclc doi pdf
reference references retrieved section sections stub thumb url website wiki wikipedia wikimedia
wiktionary wikisource wikitable sortable colspan rowspan align valign bgcolor cellpadding cellspacing nowrap
nowiki onlyinclude noinclude includeonly notoc toc defaultsort formatnum div span http
https www com org html htm php png jpg jpeg svg gif amp nbsp quot ndash mdash refs utc
"""

ENGLISH: frozenset[str] = frozenset(
    word for text in (_GRAMMAR, _NUMBERS_AND_DATES, _VAGUE, _ENCYCLOPEDIA) for word in text.split()
)


SIZE = 8000
MIN_LETTERS = 3
_MAX_OCCURRENCES = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A vocabulary and how it was built."""

    vocabulary: Vocabulary
    """In alphabetical order (by code point)."""
    documents: int
    """The number of documents read that hold at least one word."""
    distinct_words: int
    """The number of distinct words counted; the rarest may have been dropped on the way."""


@dataclass(frozen=True, slots=True)
class VocabularyRecipe:
    """The usual settings for texts in one language."""

    rule: Rule
    stop_words: Collection[str]
    """Stop words, which are left out."""
    max_share: float
    """Words in more than this share of the documents are left out too."""

    @classmethod
    def of_language(cls, code: str | None) -> "VocabularyRecipe":
        """For the language of this code, such as "de"; None: texts that may be English.

        Without a list of stop words, the frequent words themselves must go: 0.1 removes most of a language's
        function words.
        """
        if code is None or code.partition("-")[0] == "en":
            return cls(Rule.of_language("en"), ENGLISH, 0.2)
        return cls.without_list(Rule.of_language(code))

    @classmethod
    def without_list(cls, rule: Rule) -> "VocabularyRecipe":
        """For texts in a language without a known list of stop words."""
        return cls(rule, frozenset(), 0.1)


def build_vocabulary(
    documents: Iterable[str], recipe: VocabularyRecipe, *, size: int = SIZE, max_candidates: int = 2_000_000
) -> Built:
    """The ``size`` best words of these documents: `best_words` of their counts."""
    counted = (Counter(recipe.rule.words(document)) for document in documents)
    return best_words(counted, recipe, size=size, max_candidates=max_candidates)


def best_words(
    documents: Iterable[Mapping[bytes, int]],
    recipe: VocabularyRecipe,
    *,
    size: int = SIZE,
    max_candidates: int = 2_000_000,
) -> Built:
    """The ``size`` best words, without those that say nothing about a subject. A document maps words to their
    counts.

    A word's score is its number of occurrences, where the first in a document counts half and those after the
    fifth count nothing. A subject's own words recur within an article (theorem, reactor), words of style
    rarely do (abruptly, thoroughly), and no single article can lift a word. Ties go to the word that comes
    first in the alphabet, so the result does not depend on the order of the documents.

    Words are left out if they have fewer than three letters (a letter that stands for a syllable counts
    twice), if the recipe leaves them out, or if they occur in fewer than two documents or fewer than one in
    2,500.

    Memory is bounded by ``max_candidates`` distinct words: whenever there are more, the rarest are dropped,
    and a dropped word starts again from zero (lossy counting). This affects only words far below those kept.

    Raises BadDocuments if fewer than two words remain.
    """
    frequency: Counter[bytes] = Counter()
    repeats: Counter[bytes] = Counter()
    count = 0
    floor = 0
    for found in documents:
        if not found:
            continue
        count += 1
        frequency.update(found.keys())
        repeats.update({word: min(n, _MAX_OCCURRENCES) - 1 for word, n in found.items() if n > 1})
        while len(frequency) > max_candidates:
            floor += 1
            frequency = Counter({word: n for word, n in frequency.items() if n > floor})
            repeats = Counter({word: n for word, n in repeats.items() if word in frequency})
    min_documents = max(2, -(-count // 2500))
    max_documents = max(int(recipe.max_share * count), min_documents)
    scores = (
        (-(n / 2 + repeats[word]), word.decode("utf-8"))
        for word, n in frequency.items()
        if min_documents <= n <= max_documents
    )
    kept = heapq.nsmallest(size, ((score, word) for score, word in scores if _says_something(word, recipe)))
    # A possessive's possessive and the like leave what no vocabulary can hold.
    words = sorted(word for _, word in kept if recipe.rule.is_word(word))
    if len(words) < 2:
        word = "link" if recipe.rule.of_titles else "word"
        raise BadDocuments(
            f"too little text: {count:,} {'document' if count == 1 else 'documents'}, "
            f"{'one' if words else 'no'} usable {word}, and at least two are needed. A usable {word} occurs "
            "in several documents, but not in most. About 10,000 documents give a good vocabulary"
        )
    return Built(Vocabulary.from_words(words, recipe.rule), count, len(frequency))


def _says_something(word: str, recipe: VocabularyRecipe) -> bool:
    """Whether a word is long enough, and neither a stop word nor made of them, as "don't" is; or a title."""
    if recipe.rule.of_titles:
        return True
    if len(word) > recipe.rule.longest or _letters(word) < MIN_LETTERS:
        return False
    stop_words = recipe.stop_words
    return not stop_words or any(
        _letters(part) >= MIN_LETTERS and part not in stop_words for part in word.split("'")
    )


def _letters(word: str) -> int:
    """How many letters a word has; one that stands for a syllable, as in Korean, Amharic or Hindi, is two."""
    return len(word) + sum(
        unicodedata.category(char) == "Lo" and unicodedata.bidirectional(char) == "L" for char in word
    )
