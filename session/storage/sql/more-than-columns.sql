-- Computed columns, defaults, foreign keys, and indexes that restrict or compute something.
SELECT m.name FROM sqlite_master m, pragma_table_xinfo(m.name) c
WHERE m.type = 'table' AND (c.hidden OR c.dflt_value IS NOT NULL)
UNION ALL
SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) WHERE m.type = 'table'
UNION ALL
SELECT i.name FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
WHERE m.type = 'table' AND m.name <> '_sqlite_migrations' AND i.origin <> 'pk'
AND (i."unique" OR i.partial OR c.cid < 0)
