-- The tables of a session.

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, fingerprint TEXT, words TEXT);
-- id: the model's place in settings.models. The models' first replicas have the next ids, then their second
-- ones, and so on. What is large comes last, so that the rest is read without it.
-- meetings: how often its topics meet in documents, by which they are grouped.
CREATE TABLE models (id INTEGER PRIMARY KEY, topics_in_use INTEGER, updates INTEGER, rho REAL, scalars TEXT,
    arrays BLOB, meetings BLOB);
-- skips: JSON, the number of skipped articles by reason. renew_from: where the newest articles must still
-- be inferred again; negative during the last reading. prequential: how the newest minibatches were predicted, if a model has a half-life.
-- again: how many of the articles had been trained before, in an earlier pass. stale: whether the topics
-- of all articles so far must be inferred again, since the topics have started over.
CREATE TABLE progress (id INTEGER PRIMARY KEY, articles INTEGER, tokens INTEGER, held_out INTEGER,
    crawled INTEGER, pending INTEGER, skipped INTEGER, minibatches INTEGER, pending_offset INTEGER,
    next_seq INTEGER, position TEXT, lap REAL, finished INTEGER, elapsed_seconds REAL, bytes_read INTEGER,
    committed_at REAL, renew_from INTEGER, skips TEXT, prequential TEXT, again INTEGER,
    stale INTEGER);
-- Word counts of articles crawled but not yet trained, one row per stretch of the crawl.
CREATE TABLE pending (id INTEGER PRIMARY KEY, documents BLOB);
CREATE TABLE held_out (id INTEGER PRIMARY KEY, documents BLOB);
-- The first articles trained, in which the words of topics are counted together.
CREATE TABLE reference (id INTEGER PRIMARY KEY, documents BLOB);
-- The newest trained articles again, to be inferred again with what the models learn later.
CREATE TABLE recent (first_seq INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
-- With --keep-counts, or several passes: all held-out articles, then the trained ones, in the order of the
-- stream. id: the number of the first article.
CREATE TABLE kept_counts (id INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
-- Until the session has a vocabulary, the counts of all words of its first articles, one row per stretch of
-- the crawl. words: the words that the documents' word ids number, one per line. skips, position and lap as
-- in progress, for and after this stretch. unread: pages that could not be counted.
CREATE TABLE first_articles (id INTEGER PRIMARY KEY, documents BLOB, words TEXT, skips TEXT, unread INTEGER,
    position TEXT, lap REAL);
-- role: index into ROLES. topics: each model's largest topic, as two big-endian uint16 (topic,
-- ten-thousandths), which sort as bytes. id: a document's id in its own collection; null if the source has no
-- such ids.
CREATE TABLE articles (seq INTEGER PRIMARY KEY, page_id INTEGER, title TEXT, revision_id INTEGER,
    words INTEGER, role INTEGER, topics BLOB, id TEXT);
-- One row per minibatch, with `--keep-articles all`: the numbers of its articles are first_seq and on.
CREATE TABLE blocks (first_seq INTEGER PRIMARY KEY, articles INTEGER, page_ids BLOB, titles BLOB);
-- The first characters of the user's own documents, some articles a row: their numbers are first_seq and on.
-- data: the snippets, one a line, compressed by zlib.
CREATE TABLE snippets (first_seq INTEGER PRIMARY KEY, articles INTEGER, data BLOB);
CREATE TABLE proportions (model INTEGER, first_seq INTEGER, data BLOB, PRIMARY KEY (model, first_seq));
-- How often each word was trained on.
CREATE TABLE word_counts (id INTEGER PRIMARY KEY, arrays BLOB);
-- Measured values, without those that follow from others.
CREATE TABLE metrics (model INTEGER, articles INTEGER, tokens INTEGER, seconds REAL, metric TEXT,
    value REAL, PRIMARY KEY (model, metric, articles));
-- word_ids: of each topic's most probable words. shown_ids: of its words as they are shown; null in a snapshot
-- of an earlier version. found: the part of the replicas that have each topic, null without replicas.
CREATE TABLE snapshots (model INTEGER, articles INTEGER, word_ids BLOB, probabilities BLOB, shares BLOB,
    shown_ids BLOB, shown_probabilities BLOB, found BLOB, PRIMARY KEY (model, articles));
-- What events have told of each topic. alive: born and not dead. name: the last one told.
CREATE TABLE told_topics (model INTEGER, topic INTEGER, name TEXT, alive INTEGER,
    PRIMARY KEY (model, topic));
-- The areas of each model's topics, as of the newest snapshot. names: JSON, by area.
CREATE TABLE areas (model INTEGER PRIMARY KEY, of_topic BLOB, distances BLOB, places BLOB, names TEXT);
-- The landmarks of each model's map of articles, chosen after this many trained articles. topics: the places of
-- the model's topics then. places: those of the landmarks; null until they are laid out. The newest layout with
-- places is in force; an older one is kept only until then.
CREATE TABLE layouts (model INTEGER, articles INTEGER, landmarks INTEGER, proportions BLOB, topics BLOB,
    places BLOB, PRIMARY KEY (model, articles));
-- The places of the articles of a block among the landmarks of the layout of this many articles. They follow
-- from the layout and from the stored proportions; they are kept so that they need not be computed again.
CREATE TABLE places (model INTEGER, first_seq INTEGER, layout INTEGER, data BLOB, PRIMARY KEY (model, first_seq));
CREATE TABLE given_names (model INTEGER, topic INTEGER, name TEXT, PRIMARY KEY (model, topic));
CREATE TABLE topic_events (id INTEGER PRIMARY KEY, model INTEGER, articles INTEGER, event TEXT,
    topic INTEGER, other INTEGER, name TEXT);
CREATE TABLE runs (id INTEGER PRIMARY KEY, started_at REAL, ended_at REAL, first_article INTEGER,
    reason TEXT);
CREATE TABLE events (id INTEGER PRIMARY KEY, at REAL, level TEXT, message TEXT);
CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, at REAL, pid INTEGER, state TEXT, activity TEXT);
CREATE TABLE flow (id INTEGER PRIMARY KEY, at REAL, crawl_rate REAL, train_rate REAL, queue INTEGER);
CREATE TABLE control (id INTEGER PRIMARY KEY, paused INTEGER, save INTEGER, stop INTEGER, hurry INTEGER,
    lay_out INTEGER);
