-- Reads a capture into the table `requests`, with Spark 4.1 or later (older versions read no zstd and have no
-- WITH RECURSIVE). A substitution variable names the file:
--     SET capture = run.csv.zst;
-- Then analysis.sql makes views of it. Captures of g0 have commas: sep ',' below.

-- RFC 3339 to nanoseconds since 1970: a TIMESTAMP has only microseconds.
CREATE OR REPLACE TEMPORARY FUNCTION to_ns(t STRING) RETURNS BIGINT RETURN
    unix_seconds(CAST(regexp_replace(t, '[.][0-9]+', '') AS TIMESTAMP)) * 1000000000 +
    CAST(rpad(regexp_extract(t, '[.]([0-9]{1,9})', 1), 9, '0') AS BIGINT);
CREATE OR REPLACE TEMPORARY FUNCTION int_div(a BIGINT, b BIGINT) RETURNS BIGINT RETURN a div b;
-- The bytes of the first x_ns of a request: a product of 64 bits by 64 bits needs 128, or 38 digits.
CREATE OR REPLACE TEMPORARY FUNCTION first_bytes(bytes BIGINT, x_ns BIGINT, length_ns BIGINT)
    RETURNS BIGINT RETURN CAST(bytes AS DECIMAL(19, 0)) * CAST(x_ns AS DECIMAL(19, 0)) div length_ns;

-- The names in the first line tell where columns are, as order and number differ by generation. A column that
-- a generation lacks is NULL. A header line that comes again begins another capture, whose threads are other
-- threads: `line` grows in the order of the file.
CREATE OR REPLACE TEMPORARY VIEW lines (
    c0 STRING, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING,
    c9 STRING, c10 STRING, c11 STRING, c12 STRING, c13 STRING, c14 STRING, c15 STRING, c16 STRING
) USING csv OPTIONS (path '${capture}', sep '\t', quote '"', escape '"', comment '#', header 'false');

CREATE OR REPLACE TEMPORARY VIEW cells AS
SELECT monotonically_increasing_id() AS line, array(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16) AS cell FROM lines;

DROP TABLE IF EXISTS requests;
CREATE TABLE requests AS
SELECT CAST(r['thread'] AS BIGINT) + section * 4294967296 AS thread, r['op'] AS op,
       CAST(r['bytes'] AS BIGINT) AS bytes,
       coalesce(CAST(r['n_objects'] AS BIGINT), 1) AS n_objects,
       coalesce(r['endpoint'], '') AS host, coalesce(r['client_id'], '') AS client,
       coalesce(r['file'], '') AS file, coalesce(r['error'], '') <> '' AS failed,
       to_ns(r['start']) AS start_ns, to_ns(r['end']) AS end_ns,
       CASE WHEN coalesce(r['last_byte'], '') <> '' THEN to_ns(r['end']) - to_ns(r['last_byte'])
            WHEN coalesce(r['first_byte'], '') <> '' THEN to_ns(r['first_byte']) - to_ns(r['start'])
       END AS ttfb_ns,
       CASE WHEN coalesce(r['intended'], '') <> '' THEN to_ns(r['intended']) END AS intended_ns
FROM (SELECT map_from_arrays(name, slice(cell, 1, size(name))) AS r,
             CAST(size(filter(headers, h -> h < line)) - 1 AS BIGINT) AS section
      FROM cells CROSS JOIN (SELECT collect_list(line) AS headers FROM cells WHERE cell[0] = 'idx')
           CROSS JOIN (SELECT filter(cell, x -> x IS NOT NULL) AS name FROM cells WHERE cell[0] = 'idx' LIMIT 1)
      WHERE cell[0] <> 'idx');
