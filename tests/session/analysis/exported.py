"""What a format makes of rows."""

import dataclasses

from wikitopics.session.analysis.exports import TABLES, ExportRequest, batched
from wikitopics.session.analysis.formats import format_of


def written(form, columns, rows):
    """What a format makes of these rows."""
    table = dataclasses.replace(
        TABLES["words"], columns=columns, batches=batched(lambda request: rows)
    )
    return b"".join(format_of(table, form).stream(table, ExportRequest(None, [])))
