"""What a dump states of its wiki."""

from dataclasses import replace

from wikitopics.crawler.dumps import BASE
from wikitopics.crawler.dumps.namespaces import project_names
from wikitopics.crawler.page import SourceInfo

_FILES = "6"
_CATEGORIES = "14"
"""The keys of namespaces."""
_MOST_NAMES = 1000
"""The most names of namespaces; a dump has about 30."""


class Facts:
    """What is known of a wiki: what its dump states replaces what was ``known``."""

    def __init__(self, known: SourceInfo) -> None:
        self.info = known
        self._names: dict[tuple[str, str], None] = {}
        """(key, name) of the namespaces, in the dump's order."""
        self._site = ""
        """The name of the wiki."""

    def note_language(self, code: str) -> None:
        """Note the code of the language."""
        self.info = replace(self.info, language=code)

    def note_site(self, name: str) -> None:
        """Note the name of the wiki."""
        self._site = name

    def note_base(self, address: str) -> None:
        """Note the address of the main page."""
        self.info = replace(self.info, identity={BASE: address})

    def note_case(self, rule: str) -> None:
        """Note the rule for the first letter of titles; before format 0.5, only the header has
        one."""
        if rule:
            self.info = replace(self.info, keeps_case=rule == "case-sensitive")

    @property
    def may_have_more_names(self) -> bool:
        """Whether there are not too many names of namespaces yet."""
        return len(self._names) < _MOST_NAMES

    def name_namespace(self, key: str, name: str) -> None:
        """Add a name of the namespace with this key."""
        self._names[key, name] = None
        self.info = replace(
            self.info,
            file_names=self._names_of(_FILES) or self.info.file_names,
            category_names=self._names_of(_CATEGORIES) or self.info.category_names,
            namespaces=tuple(name for _, name in self._names),
        )

    def _names_of(self, wanted: str) -> tuple[str, ...]:
        """The names of the namespace with this key so far."""
        return tuple(name for key, name in self._names if key == wanted)

    def note_first_page(self) -> None:
        """Add what follows from the header as a whole."""
        if not self._names and self._site:
            self.info = replace(self.info, namespaces=project_names(self._site, self.info.language))
