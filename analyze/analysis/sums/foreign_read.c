/* Reads the text of an aggregated capture (NAME.json.zst). Since 2025, the recorder of other
 * people's captures writes them in place of a row per request: sums, throughput by second, and
 * figures of 10-second groups. */
#include "analyze/analysis/sums/foreign_internal.h"
#include "analyze/analysis/sums/sums_internal.h"
#include "analyze/data/errnorm.h"
#include "analyze/read/jsonpull.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"
#include "libcommon/utf8.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION   2
#define MAX_FIRST_ERRORS 100 /* the recorder keeps 10 */

/* ---- Order ---- */

static int by_label(const void *a, const void *b)
{
    const struct foreign_second *x = a, *y = b;
    return int64_order(x->label_s, y->label_s);
}

/* Compares parts or operations: the name is the first member of both. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts n elements. Returns one that equals another; NULL: they all differ. */
static const void *sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 0)
        qsort(v, n, size, compare);
    for (char *x = v; n > 1; n--, x += size)
        if (compare(x, x + size) == 0)
            return x;
    return NULL;
}

static void sort_names(struct jsonpull *p, void *v, size_t n, size_t size)
{
    char *const *name = p->failed ? NULL : sort(v, n, size, by_name);

    if (name != NULL)
        jsonpull_fail(p, "'%.60s' twice", *name);
}

/* ---- Throughput ---- */

static void read_start(struct jsonpull *p, void *label_s)
{
    int64_t ns = jsonpull_time(p);

    if (ns == REQUEST_NO_TIME || ns % NS_PER_S != 0)
        jsonpull_fail(p, "a second that does not start on a whole second");
    *(int64_t *)label_s = ns / NS_PER_S;
}

static void read_second(struct jsonpull *p, void *second)
{
    struct foreign_second *s = second;
    struct jsonpull_field fields[] = {{"start", .read = read_start, .to = &s->label_s},
                                      {"bytes_per_sec", .amount = &s->bytes_per_s},
                                      {"obj_per_sec", .amount = &s->objects_per_s},
                                      {"errors", .count = &s->n_errors, .optional = true},
                                      {0}};

    jsonpull_fields(p, fields);
}

static void read_segmented(struct jsonpull *p, void *part)
{
    struct foreign_part *x = part;
    int64_t ms = 1000;
    struct jsonpull_field fields[] = {
        {"segment_duration_millis", .count = &ms},
        {"segments", JSONPULL_EACH(x->seconds, x->n_seconds, read_second), .nullable = true},
        {0}};

    jsonpull_fields(p, fields);
    x->has_window = true;
    if (ms != 1000)
        jsonpull_fail(p, "%lld: seconds (1000) are expected", (long long)ms);
    if (sort(x->seconds, x->n_seconds, sizeof *x->seconds, by_label) != NULL)
        jsonpull_fail(p, "the same second twice");
}

static void read_throughput(struct jsonpull *p, void *part)
{
    struct foreign_part *x = part;
    struct jsonpull_field fields[] = {
        {"bytes", .amount = &x->window_bytes},
        {"objects", .amount = &x->window_objects},
        {"errors", .count = &x->n_window_errors, .optional = true},
        {"segmented", .read = read_segmented, .to = x, .nullable = true, .optional = true},
        {0}};

    jsonpull_read(p, fields);
    if (x->has_window)
        jsonpull_need(p, fields);
}

/* ---- Hosts and clients of an entry ---- */

/* If its times are not given, the start is after the end. */
static void read_party(struct jsonpull *p, struct sums_part *party)
{
    struct jsonpull_field fields[] = {{"ops", .count = &party->n_requests},
                                      {"errors", .count = &party->n_errors},
                                      {"bytes", .whole = &party->n_bytes},
                                      {"objects", .whole = &party->n_objects},
                                      {"start_time", .time = &party->start_ns, .optional = true},
                                      {"end_time", .time = &party->end_ns, .optional = true},
                                      {0}};

    party->start_ns = party->end_ns = REQUEST_NO_TIME;
    jsonpull_fields(p, fields);
    if (party->start_ns == REQUEST_NO_TIME || party->end_ns == REQUEST_NO_TIME) {
        party->start_ns = INT64_MAX;
        party->end_ns = INT64_MIN;
    }
}

static void read_parties(struct jsonpull *p, void *parts)
{
    struct sums_parts *to = parts;
    const char *key;

    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        struct sums_part *party = JSONPULL_MORE(p, &to->v, &to->n);
        if (party != NULL && jsonpull_check(p, mem_text(&party->name, key, p->e)))
            read_party(p, party);
    }
    sort_names(p, to->v, to->n, sizeof *to->v);
}

/* ---- Groups ---- */

static void read_ttfb(struct jsonpull *p, void *group)
{
    struct request_group *g = group;
    struct jsonpull_field fields[] = {{"average_millis", .amount = &g->ttfb_mean_ms},
                                      {"fastest_millis", .amount = &g->ttfb_min_ms},
                                      {"slowest_millis", .amount = &g->ttfb_max_ms},
                                      {"median_millis", .amount = &g->ttfb_p50_ms},
                                      {"p90_millis", .amount = &g->ttfb_p90_ms},
                                      {"p99_millis", .amount = &g->ttfb_p99_ms},
                                      {0}};

    jsonpull_fields(p, fields);
    g->has_ttfb = true;
}

/* What a group is while it is read: of which kinds it has requests, and whether it has any. */
struct group {
    struct request_group *g;
    int n_kinds;
    bool is_full;
};

/* Reads the requests of a group, all of which have to be there unless it is marked as skipped. */
static void read_kind(struct jsonpull *p, struct group *x, struct jsonpull_field *fields,
                      const bool *skipped)
{
    jsonpull_read(p, fields);
    if (!*skipped)
        jsonpull_need(p, fields);
    x->is_full = !*skipped;
    x->n_kinds++;
}

/* Reads requests of one size. */
static void read_single(struct jsonpull *p, void *group)
{
    struct group *x = group;
    struct request_group *g = x->g;
    bool skipped = false;
    struct jsonpull_field fields[] = {
        {"dur_avg_millis", .amount = &g->mean_ms},
        {"std_dev_millis", .amount = &g->stddev_ms},
        {"fastest_millis", .amount = &g->min_ms},
        {"slowest_millis", .amount = &g->max_ms},
        {"dur_median_millis", .amount = &g->p50_ms},
        {"dur_90_millis", .amount = &g->p90_ms},
        {"dur_99_millis", .amount = &g->p99_ms},
        {"requests", .count = &g->n_requests},
        {"obj_size", .count = &g->object_bytes},
        {"skipped", .flag = &skipped, .optional = true},
        {"first_byte", .read = read_ttfb, .to = g, .nullable = true, .optional = true},
        {0}};

    read_kind(p, x, fields, &skipped);
}

static void read_class(struct jsonpull *p, void *class)
{
    struct request_class *c = class;
    struct jsonpull_field fields[] = {{"min_size", .count = &c->min_bytes},
                                      {"max_size", .count = &c->max_bytes},
                                      {"requests", .count = &c->n_requests},
                                      {"avg_duration_millis", .amount = &c->mean_ms},
                                      {"bps_fastest", .amount = &c->fastest_bytes_per_s},
                                      {"bps_slowest", .amount = &c->slowest_bytes_per_s},
                                      {0}};

    jsonpull_fields(p, fields);
}

static void read_multi(struct jsonpull *p, void *group)
{
    struct group *x = group;
    struct request_group *g = x->g;
    bool skipped = false;
    struct jsonpull_field fields[] = {
        {"requests", .count = &g->n_requests},
        {"by_size", JSONPULL_EACH(g->classes, g->n_classes, read_class), .nullable = true},
        {"skipped", .flag = &skipped, .optional = true},
        {0}};

    g->is_multi = true;
    read_kind(p, x, fields, &skipped);
}

/* Reads a group. False: it is empty (no request in its ten seconds), or reading failed. */
static bool read_group(struct jsonpull *p, struct request_group *g)
{
    struct group x = {.g = g};
    struct jsonpull_field fields[] = {
        {"start_time", .time = &g->start_ns},
        {"single_sized_requests", .read = read_single, .to = &x, .nullable = true,
         .optional = true},
        {"multi_sized_requests", .read = read_multi, .to = &x, .nullable = true, .optional = true},
        {0}};

    jsonpull_fields(p, fields);
    if (x.n_kinds != 1)
        jsonpull_fail(p, "a group with %s of requests",
                      x.n_kinds == 0 ? "no kind" : "more than one kind");
    return x.is_full && g->n_requests > 0 && !p->failed;
}

static void read_groups_of(struct jsonpull *p, struct foreign_part *x)
{
    struct request_group *g;

    if (jsonpull_null(p))
        return;
    jsonpull_array(p);
    while ((g = JSONPULL_NEXT(p, &x->groups, &x->n_groups)) != NULL) {
        g->client = (uint32_t)(x->n_group_clients - 1);
        if (!read_group(p, g)) {
            free(g->classes);
            x->n_groups--;
            x->n_empty_groups++;
        }
    }
}

static void read_groups(struct jsonpull *p, void *part)
{
    struct foreign_part *x = part;
    const char *key;

    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        char **client = JSONPULL_MORE(p, &x->group_clients, &x->n_group_clients);
        if (client != NULL && jsonpull_check(p, mem_text(client, key, p->e)))
            read_groups_of(p, x);
    }
}

/* ---- Entries ---- */

/* The file has the first messages, but neither times nor hosts of these requests. */
static void read_errors(struct jsonpull *p, void *sums_op)
{
    struct sums_op *op = sums_op;
    char message[ERRNORM_MAX_BYTES + 1];
    const struct slice no_key = {"", 0};

    jsonpull_array(p);
    while (jsonpull_item(p)) {
        const char *said = jsonpull_string(p);
        struct sums_error *x = said != NULL && op->n_errors < MAX_FIRST_ERRORS
                                   ? JSONPULL_MORE(p, &op->errors, &op->n_errors)
                                   : NULL;

        if (x == NULL)
            continue;
        x->n = 1;
        message[errnorm_message((struct slice){said, strlen(said)}, no_key, message)] = '\0';
        jsonpull_check(p, mem_text(&x->message, message, p->e) && mem_text(&x->host, "", p->e));
    }
}

/* Counts an array of names. */
static void count_names(struct jsonpull *p, void *n)
{
    jsonpull_array(p);
    for (*(size_t *)n = 0; jsonpull_item(p); ++*(size_t *)n)
        jsonpull_string(p);
}

static void check_entry(struct jsonpull *p, const struct sums_part *x)
{
    if (x->start_ns == REQUEST_NO_TIME || x->end_ns == REQUEST_NO_TIME)
        jsonpull_fail(p, "no time of start or end");
    else if (x->end_ns < x->start_ns)
        jsonpull_fail(p, "it ends before it starts");
    else if (x->n_errors > x->n_requests)
        jsonpull_fail(p, "more errors (%lld) than requests (%lld)", (long long)x->n_errors,
                      (long long)x->n_requests);
}

/* A value that may be absent, or null. */
#define OPTIONAL(reader, into) .read = (reader), .to = (into), .nullable = true, .optional = true

/* is_whole: read parties, groups and errors, too. */
static void read_entry(struct jsonpull *p, struct sums_op *op, const char *name, bool is_whole)
{
    if (!jsonpull_check(p, mem_text(&op->op, name, p->e) && mem_cleared(&op->foreign, 1, p->e)))
        return;
    struct sums_part *x = &op->all;
    size_t n_hosts;
    struct jsonpull_field fields[] = {
        {"total_requests", .count = &x->n_requests},
        {"total_errors", .count = &x->n_errors},
        {"total_bytes", .count = &x->n_bytes},
        {"total_objects", .count = &x->n_objects},
        {"concurrency", .count = &op->n_threads},
        {"start_time", .time = &x->start_ns},
        {"end_time", .time = &x->end_ns},
        {"throughput", .read = read_throughput, .to = op->foreign},
        {"hosts", OPTIONAL(count_names, &n_hosts)},
        {"clients", OPTIONAL(count_names, &op->foreign->n_client_names)},
        {"throughput_by_host", OPTIONAL(read_parties, &op->hosts)},
        {"throughput_by_client", OPTIONAL(read_parties, &op->clients)},
        {"requests_by_client", OPTIONAL(read_groups, op->foreign)},
        {"first_errors", OPTIONAL(read_errors, op)},
        {0}};

    if (!is_whole)
        fields[10] = (struct jsonpull_field){0};
    jsonpull_fields(p, fields);
    check_entry(p, x);
}

/* Whether `s` can be the name of an operation: not empty, and without control characters, which a
 * report would print. */
static bool is_op(const char *s)
{
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++)
        if ((unsigned char)*s < ' ' || *s == 127 || utf8_is_nul(s) ||
            (s[0] == '\xC2' && (unsigned char)s[1] < 0xA0))
            return false;
    return true;
}

static void read_entries(struct jsonpull *p, struct sums_op **v, size_t *n, bool are_ops)
{
    const char *key;

    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        if (are_ops && !is_op(key))
            jsonpull_fail(p, "not the name of an operation");
        struct sums_op *op = JSONPULL_MORE(p, v, n);
        if (op != NULL)
            read_entry(p, op, key, are_ops);
    }
    sort_names(p, *v, *n, sizeof **v);
}

/* ---- The file ---- */

static void read_version(struct jsonpull *p, void *unused)
{
    double v = jsonpull_amount(p);

    (void)unused;
    if (!p->failed && v != FORMAT_VERSION)
        jsonpull_fail(p, "%.15g: an aggregate of a version that is not known (%d is)", v,
                      FORMAT_VERSION);
}

static void read_total(struct jsonpull *p, void *total)
{
    read_entry(p, total, "", true);
}

static void read_ops(struct jsonpull *p, void *sums)
{
    struct sums *s = sums;

    read_entries(p, &s->ops, &s->n_ops, true);
}

static void read_hosts(struct jsonpull *p, void *foreign)
{
    struct foreign *f = foreign;

    read_entries(p, &f->hosts, &f->n_hosts, false);
}

static void read_clients(struct jsonpull *p, void *foreign)
{
    struct foreign *f = foreign;

    read_entries(p, &f->clients, &f->n_clients, false);
}

static bool read_file(struct jsonpull *p, struct sums *s, bool *has_version)
{
    struct foreign *f = s->foreign;
    struct jsonpull_field fields[] = {{"v", .read = read_version},
                                      {"commandline", .text = &f->command},
                                      {"total", .read = read_total, .to = &f->all},
                                      {"by_op_type", .read = read_ops, .to = s},
                                      {"by_host", OPTIONAL(read_hosts, f)},
                                      {"by_client", OPTIONAL(read_clients, f)},
                                      {"warp_version", .text = &f->version, .optional = true},
                                      {0}};

    jsonpull_read(p, fields);
    *has_version = fields[0].seen;
    jsonpull_need(p, fields);
    return jsonpull_end(p);
}

bool foreign_read(struct sums *s, const char *path, struct err *e)
{
    struct aggbytes bytes;
    struct jsonpull p;

    if (!aggbytes_open(&bytes, path, e)) {
        aggbytes_close(&bytes);
        return false;
    }
    struct err why = {0};
    bool has_version = true;
    bool ok = jsonpull_init(&p, bytes.source.path, aggbytes_more, &bytes, &why) &&
              read_file(&p, s, &has_version);
    /* JSON of another kind fails at a random key: the message says first what the file is not. */
    size_t n = strlen(bytes.source.path);
    if (!ok && !has_version && strncmp(why.msg, bytes.source.path, n) == 0)
        err_set(
            e,
            "%s: this is JSON, but neither an aggregated capture nor sums: it is no recording that "
            "s3analyze reads (%.300s)",
            bytes.source.path, why.msg + n + 2);
    else if (!ok)
        err_set(e, "%s", why.msg);
    jsonpull_fini(&p);
    aggbytes_close(&bytes);
    return ok;
}
