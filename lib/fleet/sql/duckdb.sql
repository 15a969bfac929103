-- The tables of "arcprof export --table", for DuckDB.
CREATE TABLE IF NOT EXISTS nodes (
 t BIGINT, trace BIGINT, service VARCHAR, version VARCHAR, host VARCHAR, process VARCHAR, thread VARCHAR,
 labels VARCHAR, pid BIGINT, tid BIGINT, source VARCHAR, metric VARCHAR, unit VARCHAR,
 path BIGINT, parent BIGINT, func BIGINT, pfunc BIGINT, depth BIGINT, rl BIGINT, prl BIGINT,
 n BIGINT, base BIGINT, cum BIGINT
);

CREATE TABLE IF NOT EXISTS names (
 func BIGINT, kind VARCHAR, name VARCHAR, module VARCHAR, detail VARCHAR,
 PRIMARY KEY (func, kind, name, module, detail)
);

-- The same, added up for each hour and each day (UTC), whose start t is: as nodes, without trace, host, pid and
-- tid.  "arcprof export --roll-up duckdb" fills them; summed has the recordings that they have.
CREATE TABLE IF NOT EXISTS hours (
 t BIGINT, service VARCHAR, version VARCHAR, process VARCHAR, thread VARCHAR, labels VARCHAR,
 source VARCHAR, metric VARCHAR, unit VARCHAR,
 path BIGINT, parent BIGINT, func BIGINT, pfunc BIGINT, depth BIGINT, rl BIGINT, prl BIGINT,
 n BIGINT, base BIGINT, cum BIGINT
);

CREATE TABLE IF NOT EXISTS days (
 t BIGINT, service VARCHAR, version VARCHAR, process VARCHAR, thread VARCHAR, labels VARCHAR,
 source VARCHAR, metric VARCHAR, unit VARCHAR,
 path BIGINT, parent BIGINT, func BIGINT, pfunc BIGINT, depth BIGINT, rl BIGINT, prl BIGINT,
 n BIGINT, base BIGINT, cum BIGINT
);

CREATE TABLE IF NOT EXISTS summed (trace BIGINT PRIMARY KEY);

-- To fill the first two:
--   INSERT INTO nodes SELECT * FROM read_csv('nodes.tsv.gz', delim = '\t', quote = '', escape = '', header = true, all_varchar = true, nullstr = '\N');
--   INSERT OR IGNORE INTO names SELECT * FROM read_csv('names.tsv.gz', delim = '\t', quote = '', escape = '', header = true, all_varchar = true, nullstr = '\N');
