-- From 1.0.0 to 1.1.0. `big_endian` is a function of ours.
DROP TABLE article_topics;
ALTER TABLE models RENAME TO old_models;
CREATE TABLE models (id INTEGER PRIMARY KEY, topics_in_use INTEGER, updates INTEGER, rho REAL, scalars TEXT,
    arrays BLOB);
INSERT INTO models SELECT id, topics_in_use, updates, rho, scalars, arrays FROM old_models;
DROP TABLE old_models;
ALTER TABLE progress ADD COLUMN again INTEGER;
UPDATE progress SET again = 0;
ALTER TABLE topic_names ADD COLUMN lasting TEXT;
DELETE FROM metrics WHERE metric = 'perplexity';
UPDATE articles SET topics = big_endian(topics) WHERE topics IS NOT NULL;
DROP TABLE IF EXISTS _sqlite_migrations
