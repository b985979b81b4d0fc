-- The figures of s3analyze from the table `requests`, on DuckDB and on Spark. read-duckdb.sql or
-- read-spark.sql makes the table and the functions. Definitions: docs/how-the-numbers-are-made.md.
-- Times are nanoseconds since 1970, intervals are half-open. What several views need is a table, as
-- Spark would compute a view again for each.

-- These decide which range counts: are operations mixed, did anything fail, are there several clients, is it
-- an open loop?
CREATE OR REPLACE TEMP VIEW capture_kind AS
SELECT coalesce(max(CASE WHEN first_ns < before_ns THEN 1 ELSE 0 END), 0) = 1 AS mixed,
       (SELECT count(*) FROM requests WHERE failed) > 0 AS has_errors,
       (SELECT count(DISTINCT client) FROM requests) > 1 AS many_clients,
       (SELECT count(intended_ns) FROM requests) > 0 AS open_loop
FROM (SELECT first_ns, max(last_ns) OVER (ORDER BY first_ns, last_ns
                                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
      FROM (SELECT op, min(start_ns) AS first_ns, max(end_ns) AS last_ns FROM requests GROUP BY op) AS o) AS b;

-- The range in which all threads of the whole capture were active. Of an open loop it is the single range: from
-- the second start to the last end before the last start.
CREATE OR REPLACE TEMP VIEW capture_range AS
SELECT CASE WHEN open_loop THEN second_start_ns ELSE from_ns END AS from_ns,
       CASE WHEN open_loop THEN last_end_ns ELSE to_ns END AS to_ns
FROM (SELECT max(first_end_ns) AS from_ns, min(last_start_ns) AS to_ns
      FROM (SELECT min(end_ns) AS first_end_ns, max(start_ns) AS last_start_ns FROM requests GROUP BY thread) AS t) AS a
CROSS JOIN (SELECT coalesce(min(CASE WHEN start_ns > s0 THEN start_ns END), max(s1)) AS second_start_ns,
                   coalesce(max(CASE WHEN end_ns < s1 THEN end_ns END), min(s0)) AS last_end_ns
            FROM requests CROSS JOIN (SELECT min(start_ns) AS s0, max(start_ns) AS s1 FROM requests) AS c) AS s
CROSS JOIN capture_kind;

-- The range of each client, from its second start to its last end but one, and the range that all have in
-- common.
CREATE OR REPLACE TEMP VIEW client_range AS
SELECT max(from_ns) AS from_ns, min(to_ns) AS to_ns
FROM (SELECT r.client, coalesce(min(CASE WHEN start_ns > s0 THEN start_ns END), max(s1)) AS from_ns,
             coalesce(max(CASE WHEN end_ns < s1 THEN end_ns END), min(s0)) AS to_ns
      FROM requests AS r
      JOIN (SELECT client, min(start_ns) AS s0, max(start_ns) AS s1 FROM requests GROUP BY client) AS c
      ON r.client = c.client
      GROUP BY r.client) AS single;

-- The requests that are analysed: of a mixed capture those in its range; if requests failed, those in the
-- time in which all clients ran.
DROP TABLE IF EXISTS kept;
CREATE TABLE kept AS
SELECT r.*, r.end_ns - r.start_ns AS duration_ns, k.mixed OR k.has_errors OR k.open_loop AS single_range
FROM requests AS r CROSS JOIN capture_kind AS k CROSS JOIN capture_range AS a CROSS JOIN client_range AS c
WHERE CASE WHEN k.has_errors AND k.many_clients THEN r.start_ns >= c.from_ns AND r.end_ns <= c.to_ns
           WHEN k.mixed AND NOT k.has_errors THEN r.start_ns >= a.from_ns AND r.end_ns <= a.to_ns
           ELSE true END;

-- The active range of each operation: of all its requests (for segments), of the successful ones (for
-- totals and request statistics), and of the successful ones of each host.
CREATE OR REPLACE TEMP VIEW members AS
SELECT 'all' AS part, '' AS part_host, k.* FROM kept AS k
UNION ALL SELECT 'ok', '', k.* FROM kept AS k WHERE NOT failed
UNION ALL SELECT 'host', host, k.* FROM kept AS k WHERE NOT failed;

DROP TABLE IF EXISTS active_range;
CREATE TABLE active_range AS
WITH edge AS (
    SELECT part, part_host, op, min(start_ns) AS s0, max(start_ns) AS s1
    FROM members GROUP BY part, part_host, op
), single AS (
    SELECT m.part, m.part_host, m.op, coalesce(min(CASE WHEN start_ns > s0 THEN start_ns END), max(s1)) AS from_ns,
           coalesce(max(CASE WHEN end_ns < s1 THEN end_ns END), min(s0)) AS to_ns
    FROM members AS m JOIN edge AS e ON m.part = e.part AND m.part_host = e.part_host AND m.op = e.op
    WHERE m.single_range OR m.part = 'host' GROUP BY m.part, m.part_host, m.op
), by_thread AS (
    SELECT part, part_host, op, min(end_ns) AS first_end_ns, max(start_ns) AS last_start_ns
    FROM members WHERE NOT single_range AND part <> 'host' GROUP BY part, part_host, op, thread
)
SELECT * FROM single
UNION ALL
SELECT part, part_host, op, max(first_end_ns), min(last_start_ns) FROM by_thread GROUP BY part, part_host, op;

-- Totals of each operation (scope ok) and of each of its hosts (scope host): bytes in the active range less its
-- last nanosecond. A request at the edge counts with its share.
CREATE OR REPLACE TEMP VIEW throughput AS
SELECT op, part AS scope, part_host AS host, min(from_ns) AS from_ns, min(length_ns) AS duration_ns,
       sum(whole) AS full_ops, sum(1 - whole) AS partial_ops, sum(bytes_in) AS n_bytes,
       CAST(sum(bytes_in) AS DOUBLE) / (min(length_ns) / 1e9) AS bytes_per_s
FROM (SELECT m.op, m.part, m.part_host, r.from_ns, r.to_ns - 1 - r.from_ns AS length_ns,
             CASE WHEN m.start_ns >= r.from_ns AND m.end_ns < r.to_ns - 1 THEN 1 ELSE 0 END AS whole,
             CASE WHEN m.start_ns >= r.from_ns AND m.end_ns < r.to_ns - 1 THEN m.bytes
                  ELSE first_bytes(m.bytes, least(m.end_ns, r.to_ns - 1) - m.start_ns, m.duration_ns) -
                       first_bytes(m.bytes, greatest(r.from_ns - m.start_ns, 0), m.duration_ns) END AS bytes_in
      FROM members AS m JOIN active_range AS r
      ON m.part = r.part AND m.part_host = r.part_host AND m.op = r.op
      WHERE m.part <> 'all' AND r.to_ns - r.from_ns > 1 AND m.start_ns < r.to_ns - 1 AND m.end_ns >= r.from_ns) AS t
GROUP BY op, part, part_host;

CREATE OR REPLACE TEMP VIEW operations AS
SELECT op, count(*) AS n_requests, sum(CASE WHEN failed THEN 1 ELSE 0 END) AS n_errors,
       sum(CASE WHEN failed THEN 0 ELSE bytes END) AS n_bytes, count(DISTINCT thread) AS concurrency,
       count(DISTINCT host) AS n_hosts, count(DISTINCT client) AS n_clients,
       min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM kept GROUP BY op;

-- Whole segments from the start of the active range of all requests. Their length is the shortest that gives
-- at most 400 segments in the operation's whole time.
CREATE OR REPLACE TEMP VIEW segment_grid AS
SELECT o.op, r.from_ns, r.to_ns, min(l.length_ns) AS length_ns
FROM operations AS o JOIN active_range AS r ON r.op = o.op AND r.part = 'all'
JOIN (SELECT CAST(length_s AS BIGINT) * 1000000000 AS length_ns
      FROM (VALUES (1), (5), (15), (60), (300), (900), (3600), (10800)) AS v(length_s)) AS l
ON int_div(o.end_ns - o.start_ns, l.length_ns) <= 400 OR l.length_ns = 10800000000000
GROUP BY o.op, r.from_ns, r.to_ns;

DROP TABLE IF EXISTS segment_bounds;
CREATE TABLE segment_bounds AS
SELECT op, k, from_ns + k * length_ns AS from_ns, from_ns + (k + 1) * length_ns AS to_ns, length_ns
FROM segment_grid CROSS JOIN (SELECT CAST(k AS BIGINT) AS k FROM range(0, 4000) AS t(k)) AS n
WHERE from_ns + k * length_ns < to_ns - length_ns;

-- Bytes of each segment are exact: the shares of a request add up to its size.
CREATE OR REPLACE TEMP VIEW segments AS
SELECT op, k, min(from_ns) AS from_ns, sum(bytes_in) AS bytes,
       sum(CASE WHEN NOT failed AND started AND ended THEN 1 ELSE 0 END) AS full_ops,
       sum(CASE WHEN started AND ended THEN 0 ELSE 1 END) AS partial_ops,
       sum(CASE WHEN started AND (NOT failed OR NOT ended) THEN 1 ELSE 0 END) AS ops_started,
       sum(CASE WHEN ended AND (NOT failed OR NOT started) THEN 1 ELSE 0 END) AS ops_ended,
       sum(CASE WHEN failed AND ended THEN 1 ELSE 0 END) AS errors
FROM (SELECT s.op, s.k, s.from_ns, r.failed, r.start_ns >= s.from_ns AS started, r.end_ns < s.to_ns AS ended,
             CASE WHEN r.failed THEN 0
                  WHEN r.start_ns >= s.from_ns AND r.end_ns < s.to_ns THEN r.bytes
                  ELSE first_bytes(r.bytes, least(r.end_ns, s.to_ns) - r.start_ns, r.duration_ns) -
                       first_bytes(r.bytes, greatest(s.from_ns - r.start_ns, 0), r.duration_ns) END AS bytes_in
      FROM segment_bounds AS s JOIN kept AS r
      ON r.op = s.op AND r.start_ns < s.to_ns AND r.end_ns >= s.from_ns) AS t
GROUP BY op, k;

-- The successful requests within the active range, for the statistics of requests.
DROP TABLE IF EXISTS considered;
CREATE TABLE considered AS
SELECT k.* FROM kept AS k JOIN active_range AS r ON r.op = k.op AND r.part = 'ok'
WHERE NOT k.failed AND k.start_ns >= r.from_ns AND k.end_ns <= r.to_ns;

-- A quantile is a measured value: of n sorted values the one with index round(n * p), counted from 0.
CREATE OR REPLACE TEMP VIEW request_statistics AS
SELECT op, scope, host, min(n) AS n, sum(duration_ns) / CAST(min(n) AS DOUBLE) AS mean_ns,
       min(CASE WHEN i = least(int_div(2 * n * 50 + 100, 200), n - 1) THEN duration_ns END) AS p50_ns,
       min(CASE WHEN i = least(int_div(2 * n * 90 + 100, 200), n - 1) THEN duration_ns END) AS p90_ns,
       min(CASE WHEN i = least(int_div(2 * n * 99 + 100, 200), n - 1) THEN duration_ns END) AS p99_ns,
       min(duration_ns) AS fastest_ns, max(duration_ns) AS slowest_ns
FROM (SELECT op, scope, host, duration_ns, count(*) OVER (PARTITION BY op, scope, host) AS n,
             row_number() OVER (PARTITION BY op, scope, host ORDER BY duration_ns) - 1 AS i
      FROM (SELECT op, 'ok' AS scope, '' AS host, duration_ns FROM considered
            UNION ALL SELECT op, 'host', host, duration_ns FROM considered) AS c) AS t
GROUP BY op, scope, host;

-- Classes of sizes in tenfold steps. Neighbours are joined from below until each has a twentieth of the requests.
CREATE OR REPLACE TEMP VIEW size_edges AS
SELECT k, edge, lead(edge) OVER (ORDER BY k) AS next_edge
FROM (VALUES (0, 0), (1, 1), (2, 10), (3, 100), (4, 1024), (5, 10240), (6, 102400), (7, 1048576),
             (8, 10485760), (9, 104857600), (10, 1073741824), (11, 10737418240), (12, 107374182400),
             (13, 1099511627776)) AS v(k, edge);

DROP TABLE IF EXISTS size_buckets;
CREATE TABLE size_buckets AS
WITH RECURSIVE sized AS (
    SELECT c.op, e.k, count(*) AS n FROM considered AS c
    JOIN size_edges AS e ON c.bytes >= e.edge AND (e.next_edge IS NULL OR c.bytes < e.next_edge)
    GROUP BY c.op, e.k
), span AS (
    SELECT op, min(k) AS low, max(k) AS high, greatest(int_div(sum(n), 20), 1) AS least_n
    FROM sized GROUP BY op
), filled AS (
    SELECT s.op, e.k, s.low, s.high, CAST(s.least_n AS BIGINT) AS least_n, coalesce(z.n, 0) AS n FROM span AS s
    JOIN size_edges AS e ON e.k BETWEEN s.low AND s.high
    LEFT JOIN sized AS z ON z.op = s.op AND z.k = e.k
), walk (op, k, bucket, joined) AS (
    SELECT op, k, 0, n FROM filled WHERE k = low
    UNION ALL
    SELECT f.op, f.k, CASE WHEN w.joined >= f.least_n THEN w.bucket + 1 ELSE w.bucket END,
           CASE WHEN w.joined >= f.least_n THEN 0 ELSE w.joined END + f.n
    FROM walk AS w JOIN filled AS f ON f.op = w.op AND f.k = w.k + 1
), whole AS (
    SELECT w.op, max(CASE WHEN w.joined >= f.least_n THEN w.bucket END) AS last_bucket
    FROM walk AS w JOIN filled AS f ON f.op = w.op AND f.k = w.k GROUP BY w.op
)
SELECT w.op, w.k, least(w.bucket, l.last_bucket) AS bucket, e.edge, e.next_edge,
       min(e.edge) OVER (PARTITION BY w.op, least(w.bucket, l.last_bucket)) AS min_bytes
FROM walk AS w JOIN whole AS l ON l.op = w.op JOIN size_edges AS e ON e.k = w.k;

-- Only requests with bytes and a duration have a rate. Highest first.
CREATE OR REPLACE TEMP VIEW size_statistics AS
SELECT op, bucket, min(min_bytes) AS min_bytes, count(*) AS n, count(*) - max(n_rated) AS n_unrated,
       sum(bytes) / CAST(count(*) AS DOUBLE) AS mean_bytes, sum(duration_ns) / CAST(count(*) AS DOUBLE) AS mean_ns,
       min(CASE WHEN i = least(int_div(2 * n_rated * 50 + 100, 200), n_rated - 1) THEN rate END) AS p50_bytes_per_s,
       min(CASE WHEN i = least(int_div(2 * n_rated * 90 + 100, 200), n_rated - 1) THEN rate END) AS p90_bytes_per_s,
       min(CASE WHEN i = least(int_div(2 * n_rated * 99 + 100, 200), n_rated - 1) THEN rate END) AS p99_bytes_per_s,
       max(rate) AS fastest_bytes_per_s, min(rate) AS slowest_bytes_per_s
FROM (SELECT c.op, b.bucket, b.min_bytes, c.bytes, c.duration_ns, c.rate,
             count(c.rate) OVER (PARTITION BY c.op, b.bucket) AS n_rated,
             row_number() OVER (PARTITION BY c.op, b.bucket ORDER BY c.rate DESC NULLS LAST) - 1 AS i
      FROM (SELECT op, bytes, duration_ns, CASE WHEN bytes > 0 AND duration_ns > 0
                                                THEN CAST(bytes AS DOUBLE) / (duration_ns / 1e9) END AS rate
            FROM considered) AS c
      JOIN size_buckets AS b
      ON b.op = c.op AND c.bytes >= b.edge AND (b.next_edge IS NULL OR c.bytes < b.next_edge)) AS t
GROUP BY op, bucket;
