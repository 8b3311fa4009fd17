-- Half a second of SQL in memory: 200,000 rows and an index, then strings, more indices and updates.
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, number INTEGER);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
    INSERT INTO t
    SELECT i, printf('name-%08x', i * 2654435761 % 4294967296), i * 7919 % 200003 FROM n;
CREATE INDEX by_name ON t (name);
CREATE TABLE g AS
    SELECT number % 20000 AS part, group_concat(name) AS names FROM t GROUP BY part;
CREATE INDEX by_names ON g (names);
UPDATE t SET name = name || '-' || number WHERE number % 2 = 0;
SELECT count(*), sum(length(t.name)) FROM t JOIN g ON part = number % 20000;
