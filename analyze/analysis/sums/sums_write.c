#include "analyze/analysis/sums/sums.h"

#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/write/json.h"
#include "analyze/write/zstdout.h"
#include "libcommon/mem.h"

#include <inttypes.h>

#define LEVEL      6
#define MAX_DIGITS 40 /* of a 128-bit number with a sign */

/* A document being written. */
struct writer {
    FILE *f;
    bool failed; /* out of memory */
};

static void put_key(struct writer *w, const char *key, bool is_first)
{
    fprintf(w->f, "%s\"%s\":", is_first ? "" : ",", key);
}

/* Writes a number. Most of a file is numbers, and printf would take half of the time. */
static void put_number(struct writer *w, char before, bool is_negative, unsigned __int128 value)
{
    char digits[MAX_DIGITS + 1];
    size_t at = sizeof digits;

    for (; value > UINT64_MAX; value /= 10)
        digits[--at] = (char)('0' + (int)(value % 10));
    uint64_t low = (uint64_t)value;
    do
        digits[--at] = (char)('0' + (int)(low % 10));
    while ((low /= 10) > 0);
    if (is_negative)
        digits[--at] = '-';
    digits[--at] = before;
    fwrite_unlocked(digits + at, 1, sizeof digits - at, w->f);
}

static void put_value(struct writer *w, char before, int64_t value)
{
    put_number(w, before, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_int(struct writer *w, const char *key, int64_t value)
{
    fprintf(w->f, ",\"%s\"", key);
    put_value(w, ':', value);
}

static void put_text(struct writer *w, const char *key, const char *value, bool is_first)
{
    put_key(w, key, is_first);
    w->failed |= !json_out_quoted(w->f, value);
}

static void put_values(struct writer *w, const char *key, const struct sums_values *v)
{
    const struct moments *m = &v->moments;
    if (v->n_buckets == 0)
        return;
    fprintf(w->f, ",\n\"%s\":{\"n\":%" PRId64, key, m->n);
    if (m->sum > 0) {
        put_int(w, "sum", (int64_t)m->sum);
        fputs(",\"squares\"", w->f);
        put_number(w, ':', false, m->squares + m->small_squares);
    }
    put_int(w, "min", v->min);
    put_int(w, "max", v->max);
    const int64_t *interval = (const int64_t *)v->interval;
    for (size_t i = 0; v->interval[0].n_e > 0 && i < SUMS_N_INTERVALS * 4; i++) {
        if (i == 0)
            put_key(w, "intervals", false);
        put_value(w, i == 0 ? '[' : ',', interval[i]);
    }
    fputs(v->interval[0].n_e > 0 ? "]" : "", w->f);
    put_key(w, "buckets", false);
    for (size_t i = 0; i < v->n_buckets; i++)
        put_value(w, i == 0 ? '[' : ',', v->bucket[i] - (i > 0 ? v->bucket[i - 1] : 0));
    fputs("],\"counts\":", w->f);
    for (size_t i = 0; i < v->n_buckets; i++)
        put_value(w, i == 0 ? '[' : ',', v->count[i]);
    fputs("]}", w->f);
}

static void put_column(struct writer *w, size_t column, const struct sums_part *p)
{
    bool is_used = false;
    for (size_t i = 0; i < p->n_seconds; i++)
        is_used |= *sums_cell(&p->seconds[i], column) != 0;
    if (!is_used)
        return;
    put_key(w, sums_columns[column], false);
    for (size_t i = 0; i < p->n_seconds; i++)
        put_value(w, i == 0 ? '[' : ',', *sums_cell(&p->seconds[i], column));
    fputc(']', w->f);
}

static void put_sums(struct writer *w, const struct sums_part *p)
{
    put_int(w, "n_requests", p->n_requests);
    put_int(w, "n_errors", p->n_errors);
    put_int(w, "n_bytes", p->n_bytes);
    put_int(w, "n_objects", p->n_objects);
    put_int(w, "start_ns", p->start_ns);
    put_int(w, "end_ns", p->end_ns);
    put_int(w, "rated_bytes", p->n_rated_bytes);
    put_int(w, "rated_ns", p->n_rated_ns);
    if (p->n_seconds > 0) {
        fprintf(w->f, ",\n\"seconds\":{\"first\":%" PRId64 ",\"n\":%zu", p->first_s, p->n_seconds);
        for (size_t column = 0; column < SUMS_N_COLUMNS; column++)
            put_column(w, column, p);
        fputc('}', w->f);
    }
    put_values(w, "duration_ns", &p->duration);
    put_values(w, "ttfb_ns", &p->ttfb);
    put_values(w, "rate", &p->rate);
}

static void put_parts(struct writer *w, const char *key, const struct sums_parts *parts,
                      bool is_size)
{
    fprintf(w->f, ",\n\"%s\":[", key);
    for (size_t i = 0; i < parts->n; i++) {
        fputs(i == 0 ? "{" : ",\n{", w->f);
        if (is_size)
            fprintf(w->f, "\"min_bytes\":%" PRId64, parts->v[i].min_bytes);
        else
            put_text(w, "name", parts->v[i].name, true);
        put_sums(w, &parts->v[i]);
        fputc('}', w->f);
    }
    fputc(']', w->f);
}

static void put_range(struct writer *w, int64_t n_threads, const struct sums_range *range)
{
    put_int(w, "n_threads", n_threads);
    put_int(w, "range_start_ns", range->start_ns);
    put_int(w, "range_end_ns", range->end_ns);
}

static void put_op(struct writer *w, const struct sums_op *op)
{
    fputs("{", w->f);
    put_text(w, "op", op->op, true);
    put_range(w, op->n_threads, &op->range);
    put_int(w, "min_bytes", op->min_bytes);
    put_int(w, "max_bytes", op->max_bytes);
    put_int(w, "first_objects", op->first_objects);
    put_sums(w, &op->all);
    put_values(w, "response_ns", &op->response);
    put_parts(w, "hosts", &op->hosts, false);
    put_parts(w, "clients", &op->clients, false);
    put_parts(w, "sizes", &op->sizes, true);
    fputs(",\n\"errors\":[", w->f);
    for (size_t i = 0; i < op->n_errors; i++) {
        fputs(i == 0 ? "{" : ",\n{", w->f);
        put_text(w, "message", op->errors[i].message, true);
        put_text(w, "host", op->errors[i].host, false);
        put_int(w, "n", op->errors[i].n);
        put_int(w, "first_ns", op->errors[i].first_ns);
        put_int(w, "last_ns", op->errors[i].last_ns);
        fputc('}', w->f);
    }
    fputs("]}", w->f);
}

bool sums_write(const struct sums *s, FILE *f, struct err *e)
{
    struct writer w = {.f = zstdout_open(f, LEVEL, e)};
    if (w.f == NULL)
        return false;
    fprintf(w.f, "%s,\"intended\":%s", SUMS_BEGINNING, s->has_intended ? "true" : "false");
    if (s->n_ops > 0)
        put_range(&w, s->n_threads, &s->range);
    for (size_t i = 0; i < s->said.n; i++) {
        fputs(i == 0 ? ",\n\"recorded\":[" : ",\n", w.f);
        w.failed |= !json_out_quoted(w.f, s->said.line[i]);
    }
    fputs(s->said.n > 0 ? "],\n\"operations\":[" : ",\n\"operations\":[", w.f);
    for (size_t i = 0; i < s->n_ops; i++) {
        fputs(i > 0 ? ",\n" : "\n", w.f);
        put_op(&w, &s->ops[i]);
    }
    fputs("]}\n", w.f);
    bool ok = fflush(w.f) == 0;
    ok = fclose(w.f) == 0 && ok;
    if (w.failed)
        return mem_none(e);
    return ok || ferror(f) || err_set(e, "the sums cannot be compressed");
}
