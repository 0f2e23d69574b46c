-- The tables of a session of 1.0.0.

CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, fingerprint TEXT, words TEXT);
CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, spec TEXT, topics INTEGER, scalars TEXT,
    arrays BLOB, topics_in_use INTEGER, updates INTEGER, rho REAL, log_likelihood REAL);
CREATE TABLE progress (id INTEGER PRIMARY KEY, articles INTEGER, tokens INTEGER, held_out INTEGER,
    crawled INTEGER, pending INTEGER, skipped INTEGER, minibatches INTEGER, pending_offset INTEGER,
    next_seq INTEGER, position TEXT, lap REAL, finished INTEGER, elapsed_seconds REAL, bytes_read INTEGER,
    committed_at REAL, renew_from INTEGER, skips TEXT, prequential TEXT);
CREATE TABLE pending (id INTEGER PRIMARY KEY, documents BLOB);
CREATE TABLE held_out (id INTEGER PRIMARY KEY, documents BLOB);
CREATE TABLE recent (first_seq INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
CREATE TABLE kept_counts (id INTEGER PRIMARY KEY, articles INTEGER, documents BLOB);
CREATE TABLE first_articles (id INTEGER PRIMARY KEY, documents BLOB, words TEXT, skips TEXT, unread INTEGER,
    position TEXT, lap REAL);
CREATE TABLE articles (seq INTEGER PRIMARY KEY, page_id INTEGER, title TEXT, revision_id INTEGER,
    words INTEGER, role INTEGER, topics BLOB, id TEXT);
CREATE TABLE blocks (first_seq INTEGER PRIMARY KEY, articles INTEGER, page_ids BLOB, titles BLOB);
CREATE TABLE proportions (model INTEGER, first_seq INTEGER, data BLOB, PRIMARY KEY (model, first_seq));
CREATE TABLE word_counts (id INTEGER PRIMARY KEY, arrays BLOB);
CREATE TABLE metrics (model INTEGER, articles INTEGER, tokens INTEGER, seconds REAL, metric TEXT,
    value REAL, PRIMARY KEY (model, metric, articles));
CREATE TABLE snapshots (model INTEGER, articles INTEGER, word_ids BLOB, probabilities BLOB, shares BLOB,
    PRIMARY KEY (model, articles));
CREATE TABLE topic_names (model INTEGER, topic INTEGER, name TEXT, alive INTEGER,
    PRIMARY KEY (model, topic));
CREATE TABLE given_names (model INTEGER, topic INTEGER, name TEXT, PRIMARY KEY (model, topic));
CREATE TABLE topic_events (id INTEGER PRIMARY KEY, model INTEGER, articles INTEGER, event TEXT,
    topic INTEGER, other INTEGER, name TEXT);
CREATE TABLE runs (id INTEGER PRIMARY KEY, started_at REAL, ended_at REAL, first_article INTEGER,
    reason TEXT);
CREATE TABLE events (id INTEGER PRIMARY KEY, at REAL, level TEXT, message TEXT);
CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, at REAL, pid INTEGER, state TEXT, activity TEXT);
CREATE TABLE flow (id INTEGER PRIMARY KEY, at REAL, crawl_rate REAL, train_rate REAL, queue INTEGER);
CREATE TABLE control (id INTEGER PRIMARY KEY, paused INTEGER, save INTEGER, stop INTEGER);
-- In articles.topics the numbers are little-endian, and here they are again, in order.
CREATE TABLE article_topics (model INTEGER, topic INTEGER, proportion INTEGER, seq INTEGER,
    PRIMARY KEY (model, topic, proportion, seq)) WITHOUT ROWID;
