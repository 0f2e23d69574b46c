-- The columns of all tables.
SELECT m.name, c.cid, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, pragma_table_xinfo(m.name) c
WHERE m.type = 'table'
