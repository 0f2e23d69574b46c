"""Articles out of `pages-articles` dumps: XML, plain or compressed, one or many files, or standard input.

A dump is ordered by age: the articles to hold out are chosen by `FileSource`.
"""

from collections.abc import Sequence
from dataclasses import replace

from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.file_source import FileSource
from wikitopics.crawler.source import SourceInfo


class DumpSource(FileSource):
    """The articles of dump files: namespace 0, no redirects, no disambiguation pages.

    Raises `BadSource` at once for missing files.
    """

    def __init__(self, paths: Sequence[str], *, held_out: int | None = None, resuming: bool = False) -> None:
        super().__init__("dump", held_out=held_out, resuming=resuming)
        self.files: DumpFiles = DumpFiles(paths, self.tell, lambda: self.closed)

    def info(self, articles: int | None) -> SourceInfo:
        return replace(self.files.info, articles=articles)
