-- Reads a capture into the table `requests`, with DuckDB 1.3 or later. A variable names the file:
--     SET VARIABLE capture = 'run.csv.zst';
-- Then analysis.sql makes views of it. Captures of g0 have commas: delim = ',' below.

-- RFC 3339 to nanoseconds since 1970: TIMESTAMP has only microseconds, and TIMESTAMP_NS accepts no offset.
CREATE OR REPLACE TEMP MACRO to_ns(t) AS
    CAST(epoch(CAST(regexp_replace(t, '\.[0-9]+', '') AS TIMESTAMPTZ)) AS BIGINT) * 1000000000 +
    CAST(rpad(regexp_extract(t, '\.([0-9]{1,9})', 1), 9, '0') AS BIGINT);
CREATE OR REPLACE TEMP MACRO int_div(a, b) AS a // b;
-- The bytes of the first x_ns of a request: a product of 64 bits by 64 bits needs 128.
CREATE OR REPLACE TEMP MACRO first_bytes(bytes, x_ns, length_ns) AS
    CAST(CAST(bytes AS HUGEINT) * x_ns // length_ns AS BIGINT);
CREATE OR REPLACE TEMP MACRO exact_sum(x) AS sum(CAST(x AS HUGEINT));

-- All columns are read as text, so that no digit of a time is lost. A first row names all columns, and is then
-- dropped: a column that an old generation lacks is NULL. A header line that comes again begins another capture,
-- whose threads are other threads.
DROP TABLE IF EXISTS requests;
CREATE TABLE requests AS
SELECT CAST(thread AS BIGINT) + section * 4294967296 AS thread, op, CAST(bytes AS BIGINT) AS bytes,
       coalesce(CAST(n_objects AS BIGINT), 1) AS n_objects,
       coalesce(endpoint, '') AS host, coalesce(client_id, '') AS client, coalesce(file, '') AS file,
       coalesce(error, '') <> '' AS failed,
       to_ns("start") AS start_ns, to_ns("end") AS end_ns,
       CASE WHEN coalesce(last_byte, '') <> '' THEN to_ns("end") - to_ns(last_byte)
            WHEN coalesce(first_byte, '') <> '' THEN to_ns(first_byte) - to_ns("start") END AS ttfb_ns,
       CASE WHEN coalesce(intended, '') <> '' THEN to_ns(intended) END AS intended_ns
FROM (SELECT NULL AS n_objects, NULL AS endpoint, NULL AS client_id, NULL AS last_byte, NULL AS first_byte,
             NULL AS intended
      UNION ALL BY NAME
      SELECT *, count(*) FILTER (op = 'op') OVER (ROWS UNBOUNDED PRECEDING) AS section
      FROM read_csv(getvariable('capture'), delim = '\t', quote = '"', escape = '"', comment = '#',
                    header = true, all_varchar = true))
WHERE op IS NOT NULL AND op <> 'op';
