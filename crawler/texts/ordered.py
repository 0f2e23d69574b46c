"""The user's own documents: JSON lines, tables, or plain texts, in the order of the files.

Such files are often sorted, by date or by subject: the documents to hold out are chosen by `FileSource`.
"""

from collections.abc import Sequence

from wikitopics.crawler.file_source import FileSource
from wikitopics.crawler.texts.files import TextFiles


class TextsSource(FileSource):
    """The documents of ``paths``; ``column`` is the text column of tables.

    Raises `BadSource` at once for paths from which no documents can be read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        column: str | None = None,
        *,
        held_out: int | None = None,
        resuming: bool = False,
    ) -> None:
        super().__init__("texts", held_out=held_out, resuming=resuming)
        self.files: TextFiles = TextFiles(paths, column, self.tell, lambda: self.closed)

    def look(self) -> None:
        """List the files. Raises BadSource for a folder without texts; other errors appear as the files
        are read."""
        _ = self.files.count
