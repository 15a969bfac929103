-- What the views of every engine are made of; sql.c makes the statements.  No alias is the name of a column of
-- the same SELECT: ClickHouse would take it for the column. Joins are ANY for ClickHouse before 20, which has no
-- default; the right side has one row for each key.

--@ tree of_metric of_service of_version
-- The tree of all recordings: "# metric ..." and these rows are what "arcprof report --tree" reads.
SELECT path, up AS parent, ns AS n, self AS base, name, kind, module FROM (
 SELECT path, parent AS up, func, sum(n) AS ns, sum(base) AS self FROM nodes
 WHERE metric = {of_metric:String} AND service LIKE {of_service:String} AND version LIKE {of_version:String}
 GROUP BY path, up, func
) AS q ANY LEFT JOIN (SELECT func, max(name) AS name, max(kind) AS kind, max(module) AS module FROM names GROUP BY func) AS f USING (func)
ORDER BY path

--@ xprof of_metric of_service of_version
-- The flat profile: cum counts a recursion once, cum_recursive has its further levels.
SELECT name, ns AS n, self AS base, total AS cum, deeper AS cum_recursive, kind, module FROM (
 SELECT func, sum(n) AS ns, sum(base) AS self, sum(CASE WHEN rl = 1 THEN cum ELSE 0 END) AS total,
  sum(CASE WHEN rl > 1 THEN cum ELSE 0 END) AS deeper FROM nodes
 WHERE metric = {of_metric:String} AND service LIKE {of_service:String} AND version LIKE {of_version:String}
 GROUP BY func
) AS q ANY LEFT JOIN (SELECT func, max(name) AS name, max(kind) AS kind, max(module) AS module FROM names GROUP BY func) AS f USING (func)
ORDER BY self DESC, name

--@ stanza of_function of_metric of_service of_version
-- A function between its callers and its callees; those of recursions have an r.
SELECT what, CASE WHEN func = 0 THEN '[outermost]' ELSE name END AS function, ns AS n, self AS base, total AS cum FROM (
 SELECT CASE WHEN rl > 1 THEN 'rParent' ELSE 'Parent' END AS what, pfunc AS func, sum(n) AS ns, sum(base) AS self, sum(cum) AS total
 FROM (SELECT rl, pfunc, n, base, cum FROM nodes WHERE metric = {of_metric:String} AND service LIKE {of_service:String}
  AND version LIKE {of_version:String} AND func IN (SELECT func FROM names WHERE name = {of_function:String})) AS a
 GROUP BY what, func
 UNION ALL
 SELECT CASE WHEN rl > 1 THEN 'rSelf' ELSE 'Self' END AS what, func, sum(n) AS ns, sum(base) AS self, sum(cum) AS total
 FROM (SELECT rl, func, n, base, cum FROM nodes WHERE metric = {of_metric:String} AND service LIKE {of_service:String}
  AND version LIKE {of_version:String} AND func IN (SELECT func FROM names WHERE name = {of_function:String})) AS b
 GROUP BY what, func
 UNION ALL
 SELECT CASE WHEN prl > 1 THEN 'rChild' ELSE 'Child' END AS what, func, sum(n) AS ns, sum(base) AS self, sum(cum) AS total
 FROM (SELECT prl, func, n, base, cum FROM nodes WHERE metric = {of_metric:String} AND service LIKE {of_service:String}
  AND version LIKE {of_version:String} AND pfunc IN (SELECT func FROM names WHERE name = {of_function:String})) AS c
 GROUP BY what, func
) AS q ANY LEFT JOIN (SELECT func, max(name) AS name FROM names GROUP BY func) AS f USING (func)
ORDER BY what, total DESC, function

--@ diff a b of_metric of_service
-- Functions by how much more of all versions b have of them than versions a; shares are of base, from 0 to 1.
SELECT name, share_a, share_b, share_b - share_a AS difference FROM (
 SELECT func, of_a / whole_a AS share_a, of_b / whole_b AS share_b FROM (
  SELECT 1 AS one, func, sum(CASE WHEN version LIKE {a:String} THEN base ELSE 0 END) AS of_a,
   sum(CASE WHEN version LIKE {b:String} THEN base ELSE 0 END) AS of_b FROM nodes
  WHERE metric = {of_metric:String} AND service LIKE {of_service:String} GROUP BY func) AS x
 ANY LEFT JOIN (
  SELECT 1 AS one, sum(CASE WHEN version LIKE {a:String} THEN base ELSE 0 END) AS whole_a,
   sum(CASE WHEN version LIKE {b:String} THEN base ELSE 0 END) AS whole_b FROM nodes
  WHERE metric = {of_metric:String} AND service LIKE {of_service:String}) AS y USING (one)
) AS q ANY LEFT JOIN (SELECT func, max(name) AS name FROM names GROUP BY func) AS f USING (func)
ORDER BY difference DESC, name

--@ growth of_metric of_service
-- Functions by how their share of base grows in a day: the slope of the line through the days that have them.
SELECT name, slope, days FROM (
 SELECT func, count(*) AS days,
  (count(*) * sum(day * share) - sum(day) * sum(share)) / (count(*) * sum(day * day) - sum(day) * sum(day)) AS slope FROM (
  SELECT func, day, self / whole AS share FROM (
   SELECT func, floor(t / 86400.0) AS day, sum(base) AS self FROM nodes
   WHERE metric = {of_metric:String} AND service LIKE {of_service:String} GROUP BY func, day) AS a
  ANY LEFT JOIN (
   SELECT floor(t / 86400.0) AS day, sum(base) AS whole FROM nodes
   WHERE metric = {of_metric:String} AND service LIKE {of_service:String} GROUP BY day) AS b USING (day)) AS c
 GROUP BY func HAVING count(*) > 2
) AS q ANY LEFT JOIN (SELECT func, max(name) AS name FROM names GROUP BY func) AS f USING (func)
ORDER BY slope DESC, name

--@ collisions
-- Numbers of contexts that two have: none are to be expected below some thousand million contexts.
SELECT path, count(*) AS contexts FROM (SELECT DISTINCT path, parent, func FROM nodes) AS x
GROUP BY path HAVING count(*) > 1
