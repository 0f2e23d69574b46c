-- From 1.2.0 to today's format. In 1.2.0, coherence was measured in the held-out articles.
CREATE TABLE reference (id INTEGER PRIMARY KEY, documents BLOB);
ALTER TABLE snapshots RENAME TO old_snapshots;
CREATE TABLE snapshots (model INTEGER, articles INTEGER, word_ids BLOB, probabilities BLOB, shares BLOB,
    shown_ids BLOB, shown_probabilities BLOB, found BLOB, PRIMARY KEY (model, articles));
INSERT INTO snapshots SELECT model, articles, word_ids, probabilities, shares, NULL, NULL, NULL FROM old_snapshots;
DROP TABLE old_snapshots;
CREATE TABLE told_topics (model INTEGER, topic INTEGER, name TEXT, alive INTEGER,
    PRIMARY KEY (model, topic));
INSERT INTO told_topics SELECT model, topic, ifnull(lasting, name), alive FROM topic_names;
DROP TABLE topic_names;
ALTER TABLE progress ADD COLUMN stale INTEGER;
UPDATE progress SET stale = 0;
ALTER TABLE control ADD COLUMN lay_out INTEGER;
UPDATE control SET lay_out = 0;
CREATE TABLE layouts (model INTEGER, articles INTEGER, landmarks INTEGER, proportions BLOB, topics BLOB,
    places BLOB, PRIMARY KEY (model, articles));
CREATE TABLE places (model INTEGER, first_seq INTEGER, layout INTEGER, data BLOB, PRIMARY KEY (model, first_seq));
CREATE TABLE snippets (first_seq INTEGER PRIMARY KEY, articles INTEGER, data BLOB);
UPDATE metrics SET metric = 'npmi_held_out' WHERE metric = 'npmi'
