/* gen: writes a synthetic g4 capture to standard output, for benchmarks and tests. The same options
 * give the same bytes.
 *
 * It simulates workers that run one request at a time with log-normal durations. So rows look and
 * compress like recorded ones, and their figures agree with each other. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define RUN_START_NS   1795239958000000000 /* 2026-11-21T05:45:58Z */
#define TAU            6.283185307179586
#define DURATION_SIGMA 0.6                   /* of log(duration): p99 is four times the median */
#define KEY_STRIDE     11400714785074694791u /* a prime: visits every key */
#define MAX_ROW_BYTES  1024
#define OUT_BYTES      (1u << 20)

struct options {
    uint64_t n_rows, seed, n_threads, n_hosts, n_clients, n_keys;
    uint64_t frame_bytes; /* text per zstd frame; 0: one frame */
    uint64_t size_lo_bytes, size_hi_bytes;
    uint64_t median_us;
    int level;
    double error_frac;
    bool mixed, align, completion, plain;
};

enum op { OP_GET, OP_PUT, OP_DELETE, OP_STAT, N_OPS };
static const char *const op_names[N_OPS] = {"GET", "PUT", "DELETE", "STAT"};
static const unsigned op_shares_pct[N_OPS] = {45, 15, 10, 30};

struct worker {
    int64_t start_ns, end_ns;
    uint32_t thread;
    enum op op;
};

struct gen {
    const struct options *options;
    uint64_t random; /* state of splitmix64 */
    uint64_t n_done;
    struct worker *heap; /* min-heap by key_ns */
    char minute[24];     /* text of the last minute formatted, "2026-11-21T05:46:" */
    int64_t minute_number;
};

struct writer {
    ZSTD_CCtx *zstd; /* NULL: plain text */
    char *out;
    uint64_t frame_bytes, n_in_frame;
    bool align;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "gen: %s: %s\n", what, why);
    exit(1);
}

/* ---- Output ---- */

static void write_out(const void *p, size_t n)
{
    if (fwrite(p, 1, n, stdout) != n)
        die("standard output", strerror(errno));
}

static void compress(struct writer *w, const char *p, size_t n, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {p, n, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {w->out, OUT_BYTES, 0};
        left = ZSTD_compressStream2(w->zstd, &out, &in, end);
        if (ZSTD_isError(left))
            die("zstd", ZSTD_getErrorName(left));
        write_out(w->out, out.pos);
    } while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

static void end_frame(struct writer *w)
{
    compress(w, "", 0, ZSTD_e_end);
    w->n_in_frame = 0;
}

/* Writes one row or comment, in frames of frame_bytes. */
static void put(struct writer *w, const char *p, size_t n)
{
    if (!w->zstd) {
        write_out(p, n);
        return;
    }
    if (w->align && w->n_in_frame > 0 && w->n_in_frame + n > w->frame_bytes)
        end_frame(w);
    while (n > 0) {
        size_t room = w->align ? n : (size_t)(w->frame_bytes - w->n_in_frame);
        size_t k = n < room ? n : room;
        compress(w, p, k, ZSTD_e_continue);
        w->n_in_frame += k;
        p += k;
        n -= k;
        if (!w->align && w->n_in_frame == w->frame_bytes)
            end_frame(w);
    }
}

static void writer_init(struct writer *w, const struct options *o)
{
    *w = (struct writer){
        .frame_bytes = o->frame_bytes ? o->frame_bytes : UINT64_MAX,
        .align = o->align,
    };
    if (o->plain)
        return;
    w->zstd = ZSTD_createCCtx();
    w->out = malloc(OUT_BYTES);
    if (!w->zstd || !w->out)
        die("zstd", "out of memory");
    size_t status = ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, o->level);
    if (!ZSTD_isError(status))
        status = ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
    if (ZSTD_isError(status))
        die("zstd", ZSTD_getErrorName(status));
}

static void writer_finish(struct writer *w)
{
    if (w->zstd && w->n_in_frame > 0)
        end_frame(w);
    ZSTD_freeCCtx(w->zstd);
    free(w->out);
    if (fclose(stdout) != 0)
        die("standard output", strerror(errno));
}

/* ---- Random numbers ---- */

/* The last step of splitmix64: a bijection whose results look random. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t random_u64(struct gen *g)
{
    return mix(g->random += 0x9e3779b97f4a7c15);
}

/* Returns a number in 0 .. n - 1; the bias of 2^-64 * n does not matter here. */
static uint64_t random_below(struct gen *g, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random_u64(g) * n) >> 64);
}

/* Returns a number in (0, 1). */
static double random_frac(struct gen *g)
{
    return ((double)(random_u64(g) >> 11) + 0.5) * 0x1p-53;
}

static double random_normal(struct gen *g)
{
    double radius = sqrt(-2 * log(random_frac(g)));
    return radius * cos(TAU * random_frac(g));
}

/* ---- Text of fields ---- */

static char *put_text(char *p, const char *text)
{
    size_t n = strlen(text);
    memcpy(p, text, n);
    return p + n;
}

static char *put_number(char *p, uint64_t x)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + x % 10);
    while ((x /= 10) > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

/* Writes a time as recorders do: RFC 3339 in UTC, without zeros at the end of the fraction. */
static char *put_time(struct gen *g, char *p, int64_t ns)
{
    int64_t second = ns / 1000000000;
    if (second / 60 != g->minute_number) {
        time_t t = (time_t)second;
        struct tm tm;
        if (!gmtime_r(&t, &tm) ||
            strftime(g->minute, sizeof g->minute, "%Y-%m-%dT%H:%M:", &tm) == 0)
            die("time", "out of range");
        g->minute_number = second / 60;
    }
    p = put_text(p, g->minute);
    *p++ = (char)('0' + second % 60 / 10);
    *p++ = (char)('0' + second % 10);
    uint32_t fraction = (uint32_t)(ns % 1000000000);
    if (fraction > 0) {
        *p = '.';
        for (int i = 9; i > 0; i--, fraction /= 10)
            p[i] = (char)('0' + fraction % 10);
        p += 10;
        while (p[-1] == '0')
            p--;
    }
    *p++ = 'Z';
    return p;
}

static char *put_letters(char *p, uint64_t x, int n)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789()";
    for (int i = 0; i < n; i++, x >>= 6)
        *p++ = alphabet[x & 63];
    return p;
}

/* Writes the name of object k. Eleven of its letters are a bijection of k, so all names differ. */
static char *put_key(char *p, uint64_t k)
{
    p = put_letters(p, mix(k % 64 + 1), 8);
    *p++ = '/';
    p = put_number(p, k / 64 + 1);
    *p++ = '.';
    p = put_letters(p, mix(k + 1), 11);
    p = put_letters(p, mix(~k), 5);
    return put_text(p, ".rnd");
}

static char *put_host(char *p, uint64_t host)
{
    if (host < 100) {
        p = put_text(p, "127.0.0.1:");
        return put_number(p, 9001 + host);
    }
    p = put_text(p, "10.0.");
    p = put_number(p, host >> 8);
    *p++ = '.';
    p = put_number(p, host & 255);
    return put_text(p, ":9000");
}

static char *put_error(struct gen *g, char *p, uint64_t host, uint64_t key)
{
    if (random_below(g, 4) > 0)
        return put_text(p, "The specified key does not exist.");
    p = put_text(p, "\"Get \"\"http://");
    p = put_host(p, host);
    p = put_text(p, "/bucket/");
    p = put_key(p, key);
    p = put_text(p, "\"\": dial tcp ");
    p = put_host(p, host);
    return put_text(p, ": connect: connection refused\"");
}

/* ---- Requests ---- */

static enum op random_op(struct gen *g)
{
    if (!g->options->mixed)
        return OP_GET;
    uint64_t x = random_below(g, 100);
    enum op op = OP_GET;
    while (x >= op_shares_pct[op])
        x -= op_shares_pct[op++];
    return op;
}

/* Returns every key once, in scattered order, and then random keys. */
static uint64_t random_key(struct gen *g)
{
    uint64_t n = g->options->n_keys;
    if (g->n_done >= n)
        return random_below(g, n);
    return (uint64_t)((unsigned __int128)g->n_done * KEY_STRIDE % n);
}

/* Returns a size with a log-uniform distribution. */
static uint64_t random_size(struct gen *g)
{
    const struct options *o = g->options;
    if (o->size_lo_bytes == o->size_hi_bytes)
        return o->size_lo_bytes;
    double lo = log((double)o->size_lo_bytes + 1), hi = log((double)o->size_hi_bytes + 1);
    return (uint64_t)exp(lo + (hi - lo) * random_frac(g)) - 1;
}

static void worker_begin(struct gen *g, struct worker *w, int64_t now_ns)
{
    double ns = (double)g->options->median_us * 1e3 * exp(DURATION_SIGMA * random_normal(g));
    w->op = random_op(g);
    w->start_ns = now_ns + 5000 + (int64_t)random_below(g, 50000);
    w->end_ns = w->start_ns + 1000 + (int64_t)ns;
}

static size_t format_row(struct gen *g, const struct worker *w, char *row)
{
    const struct options *o = g->options;
    char *p = row;
    uint64_t host = random_below(g, o->n_hosts), key = random_key(g);
    uint64_t size = w->op == OP_GET || w->op == OP_PUT ? random_size(g) : 0;
    bool failed = o->error_frac > 0 && random_frac(g) < o->error_frac;
    double share = random_frac(g); /* of the duration, to or from the first or last byte */
    int64_t duration_ns = w->end_ns - w->start_ns;

    p = put_number(p, g->n_done);
    *p++ = '\t';
    p = put_number(p, w->thread);
    *p++ = '\t';
    p = put_text(p, op_names[w->op]);
    *p++ = '\t';
    p = put_letters(p, mix(w->thread % o->n_clients + 1), 4);
    p = put_text(p, "\t1\t");
    p = put_number(p, size);
    p = put_text(p, "\thttp://");
    p = put_host(p, host);
    *p++ = '\t';
    p = put_key(p, key);
    *p++ = '\t';
    if (failed)
        p = put_error(g, p, host, key);
    *p++ = '\t';
    p = put_time(g, p, w->start_ns);
    *p++ = '\t';
    if (w->op == OP_GET && !failed)
        p = put_time(g, p, w->end_ns - (int64_t)((double)duration_ns * share / 4));
    *p++ = '\t';
    if (w->op == OP_PUT && !failed)
        p = put_time(g, p, w->start_ns + (int64_t)((double)duration_ns * share / 2));
    *p++ = '\t';
    p = put_time(g, p, w->end_ns);
    *p++ = '\t';
    /* Recorders measure the duration with another clock. */
    p = put_number(p, (uint64_t)duration_ns + random_below(g, 100));
    p = put_text(p, "\t0\n");
    return (size_t)(p - row);
}

static int64_t key_ns(const struct gen *g, const struct worker *w)
{
    return g->options->completion ? w->end_ns : w->start_ns;
}

/* Moves worker i of the heap down to its position. */
static void heap_sift(struct gen *g, size_t i)
{
    size_t n = g->options->n_threads;
    struct worker w = g->heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && key_ns(g, &g->heap[child + 1]) < key_ns(g, &g->heap[child]))
            child++;
        if (key_ns(g, &w) <= key_ns(g, &g->heap[child]))
            break;
        g->heap[i] = g->heap[child];
    }
    g->heap[i] = w;
}

static void write_capture(const struct options *o)
{
    static const char header[] =
        "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\t"
        "start\tfirst_byte\tlast_byte\tend\tduration_ns\tcat\n";
    struct gen g = {.options = o, .random = o->seed, .minute_number = -1};
    struct writer w;
    char row[MAX_ROW_BYTES];

    g.heap = calloc(o->n_threads, sizeof *g.heap);
    if (!g.heap)
        die("workers", "out of memory");
    for (size_t i = 0; i < o->n_threads; i++) {
        g.heap[i].thread = (uint32_t)i;
        worker_begin(&g, &g.heap[i], RUN_START_NS);
    }
    for (size_t i = o->n_threads; i-- > 0;)
        heap_sift(&g, i);

    writer_init(&w, o);
    put(&w, header, sizeof header - 1);
    for (; g.n_done < o->n_rows; g.n_done++) {
        put(&w, row, format_row(&g, &g.heap[0], row));
        worker_begin(&g, &g.heap[0], g.heap[0].end_ns);
        heap_sift(&g, 0);
    }
    int n = snprintf(row, sizeof row, "# gen --rows=%" PRIu64 " --seed=%" PRIu64 "\n", o->n_rows,
                     o->seed);
    put(&w, row, (size_t)n);
    writer_finish(&w);
    free(g.heap);
}

/* ---- Options ---- */

static const char usage[] = "gen [OPTION]... >CAPTURE\n"
                            "  --rows N          requests (1000000)\n"
                            "  --seed N          other numbers, other capture (1)\n"
                            "  --threads N       workers (64)\n"
                            "  --hosts N         endpoints (4)\n"
                            "  --clients N       client ids, at most as many as threads (1)\n"
                            "  --keys N          distinct object names (2500)\n"
                            "  --ops mixed|get   (mixed)\n"
                            "  --sizes LO[-HI]   bytes of an object, log-uniform (65536)\n"
                            "  --median US       median duration in microseconds (3000)\n"
                            "  --errors FRAC     share of failed requests (0)\n"
                            "  --completion      rows ordered by end, not by start\n"
                            "  --frames BYTES    text of a zstd frame; 0: one frame (0)\n"
                            "  --align           frames end where rows end\n"
                            "  --level N         of compression (3)\n"
                            "  --plain           not compressed\n";

static uint64_t parse_number(const char *text, const char **end)
{
    char *stop;
    errno = 0;
    uint64_t x = strtoull(text, &stop, 10);
    if (errno != 0 || stop == text || *text == '-' || (!end && *stop))
        die(text, "not a number");
    if (end)
        *end = stop;
    return x;
}

static void parse_sizes(struct options *o, const char *text)
{
    const char *end;
    o->size_lo_bytes = o->size_hi_bytes = parse_number(text, &end);
    if (*end == '-')
        o->size_hi_bytes = parse_number(end + 1, NULL);
    else if (*end)
        die(text, "not a size or a range of sizes");
    if (o->size_hi_bytes < o->size_lo_bytes)
        die(text, "the range is empty");
}

static void parse_options(struct options *o, int argc, char **argv)
{
    static const struct option table[] = {
        {"rows", 1, NULL, 'n'},
        {"seed", 1, NULL, 'n'},
        {"threads", 1, NULL, 'n'},
        {"hosts", 1, NULL, 'n'},
        {"clients", 1, NULL, 'n'},
        {"keys", 1, NULL, 'n'},
        {"median", 1, NULL, 'n'},
        {"frames", 1, NULL, 'n'},
        {"ops", 1, NULL, 'o'},
        {"sizes", 1, NULL, 's'},
        {"errors", 1, NULL, 'e'},
        {"level", 1, NULL, 'l'},
        {"align", 0, NULL, 'a'},
        {"plain", 0, NULL, 'p'},
        {"completion", 0, NULL, 'c'},
        {"help", 0, NULL, 'h'},
        {0},
    };
    uint64_t *const numbers[] = {&o->n_rows,    &o->seed,   &o->n_threads, &o->n_hosts,
                                 &o->n_clients, &o->n_keys, &o->median_us, &o->frame_bytes};
    *o = (struct options){
        .n_rows = 1000000,
        .seed = 1,
        .n_threads = 64,
        .n_hosts = 4,
        .n_clients = 1,
        .n_keys = 2500,
        .size_lo_bytes = 65536,
        .size_hi_bytes = 65536,
        .median_us = 3000,
        .level = 3,
        .mixed = true,
    };
    for (int c, i; (c = getopt_long(argc, argv, "", table, &i)) != -1;) {
        if (c == 'n')
            *numbers[i] = parse_number(optarg, NULL);
        else if (c == 'o')
            o->mixed = strcmp(optarg, "get") != 0;
        else if (c == 's')
            parse_sizes(o, optarg);
        else if (c == 'e')
            o->error_frac = strtod(optarg, NULL);
        else if (c == 'l')
            o->level = (int)parse_number(optarg, NULL);
        else if (c == 'a')
            o->align = true;
        else if (c == 'p')
            o->plain = true;
        else if (c == 'c')
            o->completion = true;
        else {
            fputs(usage, c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
    if (optind < argc || o->n_threads == 0 || o->n_threads > UINT32_MAX || o->n_hosts == 0 ||
        o->n_hosts > 65536 || o->n_clients == 0 || o->n_clients > o->n_threads || o->n_keys == 0) {
        fputs(usage, stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    parse_options(&options, argc, argv);
    write_capture(&options);
    return 0;
}
