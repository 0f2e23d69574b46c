"""What a request means for a session, as far as can be told before anything is opened."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from wikitopics.crawler.source import PageKind, SourceKind
from wikitopics.crawler.texts.kinds import BEFORE, TEXTS
from wikitopics.option import flag
from wikitopics.session import sources
from wikitopics.session.config import with_contact
from wikitopics.session.errors import BadUsage, MissingKind
from wikitopics.session.options import KEEP_ARTICLES, VOCAB
from wikitopics.session.paths import DEFAULT_SESSION, session_name
from wikitopics.session.request import (
    TrainRequest,
    added_texts,
    check_resumable,
    load_vocabulary,
    new_settings,
)
from wikitopics.session.settings import Settings
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary, segmenters
from wikitopics.vocab.rules import BY_DICTIONARY, Rule


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train, determined before anything is opened."""

    path: Path
    request: TrainRequest
    settings: Settings
    """The settings of the existing session, or those known so far of a new one."""
    is_new: bool
    kind: SourceKind
    vocabulary: Vocabulary | Rule
    """The vocabulary; only a rule if the session has yet to build one."""
    adds: bool = False
    """Whether the source has texts that the session has not read before."""
    remark: str = ""
    """A message about the vocabulary; "" if there is none."""


def resolve(path: Path, request: TrainRequest) -> Plan:
    """What the request means for the session at ``path``: a new one is created, an existing one
    resumed.

    Raises for every error that can be found before the source is contacted.
    """
    request.cluster_address()  # raises if the address is wrong
    is_new = not os.path.exists(path)
    if is_new:
        kind = request.kind()
        settings, vocabulary = new_settings(request, kind)
        plan = Plan(path, request, settings, is_new, kind, vocabulary)
    else:
        with SessionReader(path) as reader:
            plan = _resumed(reader, request)
    rule = plan.vocabulary if isinstance(plan.vocabulary, Rule) else plan.vocabulary.rule
    remark = _remark_on_versions(rule) if isinstance(plan.kind, PageKind) else ""
    with_users_contact = with_contact(request, plan.kind, plan.settings.source_options)
    return replace(plan, request=with_users_contact, remark=remark)


def _resumed(reader: SessionReader, request: TrainRequest) -> Plan:
    """What the request means for an existing session, without the contact and the remark."""
    settings = reader.settings()
    if settings.source not in sources.names():
        raise MissingKind("kind of source", settings.source)
    kind = sources.load(settings.source)
    sources.check_identity(kind, settings.source_options)
    requested = None
    if VOCAB in request:
        requested = load_vocabulary(request[VOCAB], of_texts=isinstance(kind, PageKind))
    progress = reader.progress()
    # A finished session may not have read its whole source: it is also finished once it has read as
    # many articles as --articles says. `lap` is the share that has been read.
    has_read_all = progress.finished and progress.lap == 1
    added = added_texts(request, settings) if has_read_all else None
    adds = added is not None
    if added is not None:
        if settings[KEEP_ARTICLES] != "all":
            raise BadUsage(
                f"{TEXTS.flag}: this session did not record which documents it has read "
                f"({flag(KEEP_ARTICLES.name)} {settings[KEEP_ARTICLES]}), so none can be added"
            )
        options = {**added, BEFORE: reader.last_page_id()}
        settings = replace(settings, source_options=options)
        # The last page id comes from the session file, which may be damaged.
        sources.check_identity(kind, settings.source_options)
    try:
        check_resumable(request, settings, requested, adds=adds)
    except BadUsage as error:
        if session_name(reader.path) != DEFAULT_SESSION:
            raise
        held = f"session {DEFAULT_SESSION} holds {reader.holdings()}"
        told = f"{held} (`--session NAME` makes another)"
        raise BadUsage(f"{told}. {error}") from None
    vocabulary: Vocabulary | Rule
    vocabulary = Rule.parse(settings.rule) if settings.building else reader.counter()
    return Plan(
        reader.path,
        request,
        settings,
        is_new=False,
        kind=kind,
        vocabulary=vocabulary,
        adds=adds,
    )


def _remark_on_versions(rule: Rule) -> str:
    """A message if the words of a vocabulary were separated by versions other than those installed;
    otherwise "". Raises `UnseparatedWords`."""
    now = segmenters.versions(rule.language) if rule.number == BY_DICTIONARY else ""
    if rule.versions in ("", now):
        return ""
    return (
        f"the words of this vocabulary were separated by {rule.versions}, but those of articles "
        f"are now separated by {now}, so a few are counted differently; install the former to "
        "prevent that"
    )


def asked_language(plan: Plan) -> str | None:
    """The language that was asked for, if the source has to state the same one; None if it may
    state any.

    A server may: whoever chooses a wiki of another host knows the wiki's language better than the
    wiki's own settings do, which often say English.
    """
    return None if plan.kind.asks_server else plan.kind.language(plan.request.asked(plan.kind))
