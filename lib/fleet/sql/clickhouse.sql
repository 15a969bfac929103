-- The tables of "arcprof export --table", for ClickHouse 18.16 and later: "arcprof fleet create" makes them.
-- By hand, clients of servers before 19 take --allow_experimental_low_cardinality_type=1.
CREATE TABLE IF NOT EXISTS nodes (
 t UInt32, trace Int64,
 service LowCardinality(String), version LowCardinality(String), host LowCardinality(String),
 process LowCardinality(String), thread LowCardinality(String), labels LowCardinality(String),
 pid UInt32, tid UInt32,
 source LowCardinality(String), metric LowCardinality(String), unit LowCardinality(String),
 path Int64, parent Int64, func Int64, pfunc Int64, depth UInt32, rl UInt32, prl UInt32,
 n Int64, base Int64, cum Int64
) ENGINE = MergeTree PARTITION BY intDiv(t, 604800) ORDER BY (service, metric, path, t, trace, tid);

CREATE TABLE IF NOT EXISTS names (
 func Int64, kind LowCardinality(String), name String, module String, detail String
) ENGINE = ReplacingMergeTree ORDER BY (func, kind, name, module, detail);

-- The same, added up for each hour and each day (UTC), whose start t is: as nodes, without trace, host, pid and
-- tid.  The server fills them.  "arcprof fleet prune" drops partitions of all three (prune.c has their lengths).
CREATE TABLE IF NOT EXISTS hours (
 t UInt32, service LowCardinality(String), version LowCardinality(String),
 process LowCardinality(String), thread LowCardinality(String), labels LowCardinality(String),
 source LowCardinality(String), metric LowCardinality(String), unit LowCardinality(String),
 path Int64, parent Int64, func Int64, pfunc Int64, depth UInt32, rl UInt32, prl UInt32,
 n Int64, base Int64, cum Int64
) ENGINE = SummingMergeTree((n, base, cum)) PARTITION BY intDiv(t, 604800)
 ORDER BY (service, metric, path, version, t, process, thread, labels, source, unit, parent, func, pfunc, depth,
  rl, prl);

CREATE MATERIALIZED VIEW IF NOT EXISTS hours_of_nodes TO hours AS
SELECT toUInt32(intDiv(t, 3600) * 3600) AS t, service, version, process, thread, labels, source, metric, unit,
 path, parent, func, pfunc, depth, rl, prl, sum(n) AS n, sum(base) AS base, sum(cum) AS cum
FROM nodes
GROUP BY t, service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc, depth, rl,
 prl;

CREATE TABLE IF NOT EXISTS days AS hours
 ENGINE = SummingMergeTree((n, base, cum)) PARTITION BY intDiv(t, 2419200)
 ORDER BY (service, metric, path, version, t, process, thread, labels, source, unit, parent, func, pfunc, depth,
  rl, prl);

CREATE MATERIALIZED VIEW IF NOT EXISTS days_of_nodes TO days AS
SELECT toUInt32(intDiv(t, 86400) * 86400) AS t, service, version, process, thread, labels, source, metric, unit,
 path, parent, func, pfunc, depth, rl, prl, sum(n) AS n, sum(base) AS base, sum(cum) AS cum
FROM nodes
GROUP BY t, service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc, depth, rl,
 prl;
