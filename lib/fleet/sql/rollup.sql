-- Adds the recordings to hours and days that these do not have yet: all of it, or nothing.  After it rows of
-- recordings may go, and later those of hours:
--   DELETE FROM nodes WHERE t > 0 AND t < epoch(now()) - 14 * 86400 AND trace IN (SELECT trace FROM summed);
--   DELETE FROM hours WHERE t > 0 AND t < epoch(now()) - 90 * 86400;
BEGIN TRANSACTION;

CREATE OR REPLACE TEMP TABLE adding AS SELECT DISTINCT trace FROM nodes ANTI JOIN summed USING (trace);

CREATE OR REPLACE TEMP TABLE sums AS
SELECT t, service, version, process, thread, labels, source, metric, unit,
 path, parent, func, pfunc, depth, rl, prl,
 sum(n)::BIGINT AS n, sum(base)::BIGINT AS base, sum(cum)::BIGINT AS cum FROM (
 SELECT t // 3600 * 3600 AS t, service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc,
  depth, rl, prl, n, base, cum FROM nodes SEMI JOIN adding USING (trace)
 UNION ALL
 SELECT * FROM hours WHERE t IN (SELECT t // 3600 * 3600 FROM nodes SEMI JOIN adding USING (trace))
) AS x GROUP BY ALL;

DELETE FROM hours WHERE t IN (SELECT t FROM sums);

INSERT INTO hours SELECT * FROM sums;

CREATE OR REPLACE TEMP TABLE sums AS
SELECT t, service, version, process, thread, labels, source, metric, unit,
 path, parent, func, pfunc, depth, rl, prl,
 sum(n)::BIGINT AS n, sum(base)::BIGINT AS base, sum(cum)::BIGINT AS cum FROM (
 SELECT t // 86400 * 86400 AS t, service, version, process, thread, labels, source, metric, unit, path, parent, func, pfunc,
  depth, rl, prl, n, base, cum FROM nodes SEMI JOIN adding USING (trace)
 UNION ALL
 SELECT * FROM days WHERE t IN (SELECT t // 86400 * 86400 FROM nodes SEMI JOIN adding USING (trace))
) AS x GROUP BY ALL;

DELETE FROM days WHERE t IN (SELECT t FROM sums);

INSERT INTO days SELECT * FROM sums;

INSERT INTO summed SELECT trace FROM adding;

COMMIT;
