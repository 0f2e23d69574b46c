-- From 1.1.0 to 1.2.0.
ALTER TABLE models ADD COLUMN meetings BLOB;
CREATE TABLE areas (model INTEGER PRIMARY KEY, of_topic BLOB, distances BLOB, places BLOB, names TEXT);
ALTER TABLE control ADD COLUMN hurry INTEGER;
UPDATE control SET hurry = 0
