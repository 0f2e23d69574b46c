"""English words that say nothing about a subject; an English vocabulary leaves them out.

Only words of three letters and more are listed, as shorter ones never enter a vocabulary.
"""

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
