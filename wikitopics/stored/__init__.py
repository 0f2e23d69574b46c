"""Sessions as Python objects: their topics, documents and measurements as plain values."""

from wikitopics.session.analysis.areas import Area as Area
from wikitopics.session.analysis.described import Topic as Topic
from wikitopics.session.analysis.listing import Article as Article
from wikitopics.stored.session import Measurement as Measurement
from wikitopics.stored.session import StoredSession as StoredSession
from wikitopics.stored.session import delete as delete
from wikitopics.stored.session import open as open
from wikitopics.stored.session import sessions as sessions
from wikitopics.stored.topics import TopicThen as TopicThen
