#include "analyze/tools/archive/columns.h"

#include "analyze/tools/compare/words.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/slice.h"
#include "libcommon/suggest.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SETTING(kind) .is_setting = true, .setting = (kind)
#define FIGURE(which) .form = COLUMNS_FIGURE, .metric = (which)

/* clang-format off: one column a row. */
const struct column columns[] = {
    {"run", "Run", .form = COLUMNS_TEXT},
    {"start", "Start, UTC", .form = COLUMNS_TIME, .is_detail = true},
    [COLUMNS_OP] = {"op", "Op", .form = COLUMNS_TEXT},
    [COLUMNS_SIZE_OF] = {"size", "Size", .form = COLUMNS_SIZE, SETTING(RUN_OBJECT_SIZE),
                         .is_detail = true},
    {"threads", "Threads", .form = COLUMNS_COUNT, SETTING(RUN_CONCURRENCY), .is_detail = true},
    {"hosts", "Hosts", .form = COLUMNS_COUNT, SETTING(RUN_ENDPOINTS), .is_detail = true},
    {"requests", "Requests", .form = COLUMNS_COUNT, SETTING(RUN_OPERATIONS), .is_detail = true},
    {"errors", "Errors", .form = COLUMNS_COUNT},
    {FIGURE(RUN_THROUGHPUT)},
    {FIGURE(RUN_OBJECTS), .is_detail = true},
    {FIGURE(RUN_MEAN), .is_detail = true},
    {FIGURE(RUN_P50)},
    {FIGURE(RUN_P90), .is_detail = true},
    {FIGURE(RUN_P99)},
    {"finding", "Worst finding", .form = COLUMNS_TEXT},
    /* Not listed, but for --where, --sort and --by. */
    {"label", "Label", .form = COLUMNS_TEXT},
    [COLUMNS_LEVEL] = {"level", "Level", .form = COLUMNS_COUNT},
};
/* clang-format on */
#define N_KNOWN (sizeof columns / sizeof *columns)
const size_t n_columns = N_KNOWN - 2;

struct phrase columns_unit_name(const struct column *c)
{
    bool is_figure = c->form == COLUMNS_FIGURE;

    return is_figure && c->metric == RUN_OBJECTS ? phrase_format("%s", metrics[c->metric].unit)
           : is_figure || c->form == COLUMNS_SIZE
               ? phrase_format("%s_%s", columns_name(c),
                               is_figure ? metrics[c->metric].unit : "bytes")
               : (struct phrase){""};
}

static bool is_named(const struct column *c, const char *name)
{
    return strcmp(columns_name(c), name) == 0;
}

double columns_level(const struct columns_row *row)
{
    double rate = run_rate(&row->run->kept);

    return isnan(rate) ? row->op->setting[RUN_CONCURRENCY] : rate;
}

struct columns_value columns_get(const struct columns_row *row, const struct column *c)
{
    const struct run_kept_op *op = row->op;
    struct columns_value v = {.number = {NAN, NAN, NAN, NAN, NAN}, .is_mean = op->sizes_differ};

    if (is_named(c, "run")) {
        v.text = row->run->label.s;
    } else if (is_named(c, "op")) {
        v.text = op->op;
    } else if (is_named(c, "finding")) {
        v.text = row->run->kept.kind;
    } else if (is_named(c, "label")) {
        v.text = row->run->system.s;
    } else if (is_named(c, "level")) {
        v.number.value = columns_level(row);
    } else if (is_named(c, "start")) {
        v.time_ns = op->start_ns;
        v.number.value = (double)op->start_ns;
    } else if (is_named(c, "errors")) {
        v.number.value = (double)op->n_errors;
    } else if (c->is_setting) {
        v.number.value = op->setting[c->setting];
    } else {
        v.number = op->figure[c->metric];
    }
    return v;
}

struct columns_text columns_show(const struct column *c, const struct columns_value *v, bool brief)
{
    const struct run_figure *x = &v->number;
    struct columns_text t = {"-"};
    double spread_frac = fmax(x->hi / x->value - 1, 1 - x->lo / x->value);

    if (c->form == COLUMNS_TEXT) {
        snprintf(t.s, sizeof t.s, "%s", v->text != NULL ? v->text : "");
        /* The finding is a name such as "slow-host". */
        for (char *x = t.s; *x != '\0' && is_named(c, "finding"); x++)
            *x = *x == '-' ? ' ' : *x;
    } else if (isnan(x->value)) {
        return t;
    } else if (c->form == COLUMNS_TIME) {
        /* "2026-11-21 05:41" */
        snprintf(t.s, sizeof t.s, "%.16s", rfc3339_format(v->time_ns).s);
        t.s[10] = ' ';
    } else if (c->form == COLUMNS_COUNT) {
        snprintf(t.s, sizeof t.s, "%s",
                 x->value == trunc(x->value) ? units_count((int64_t)x->value).s
                                             : units_format("%.6g", x->value).s);
    } else if (c->form == COLUMNS_SIZE) {
        snprintf(t.s, sizeof t.s, "%s%s", v->is_mean ? "about " : "", units_size(x->value).s);
    } else if (x->least < x->most) {
        snprintf(t.s, sizeof t.s, "%s", units_bounds(x->least, x->most).s);
    } else {
        bool has_limits = isfinite(spread_frac) && x->value > 0;
        snprintf(t.s, sizeof t.s, "%s%s",
                 brief && (!has_limits || spread_frac > COLUMNS_WIDE_FRAC) ? "~" : "",
                 has_limits && !brief ? compare_words_figure(c->metric, x->value, spread_frac).s
                                      : metrics[c->metric].text(x->value).s);
    }
    return t;
}

/* ---- --where ---- */

static const struct column *find(const char *name, size_t n)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (slice_is((struct slice){name, n}, columns_name(&columns[i])))
            return &columns[i];
    return NULL;
}

static bool no_column(const char *option, const char *text, struct err *e)
{
    char names[256] = "";

    for (size_t i = 0; i < N_KNOWN; i++)
        suggest_list(names, sizeof names, columns_name(&columns[i]));
    return err_set(e, "%s %s: the columns are %s", option, text, names);
}

/* Parses a day, "2026-03-14", or a moment of it. */
static bool parse_time(const char *text, double *value, struct err *e)
{
    char moment[64];
    int64_t ns;

    snprintf(moment, sizeof moment, strlen(text) == 10 ? "%.40sT00:00:00Z" : "%.40s", text);
    if (!rfc3339_parse(moment, strlen(moment), &ns))
        return err_set(e, "expected a time such as 2026-03-14 or 2026-03-14T02:00:00Z");
    *value = (double)ns;
    return true;
}

static bool parse_value(const struct column *c, const char *text, double *value, struct err *e)
{
    int64_t bytes = 0;

    switch (c->form) {
    case COLUMNS_TIME:
        return parse_time(text, value, e);
    case COLUMNS_FIGURE:
        return slo_parse_limit(metrics[c->metric].limit, text, value, e);
    case COLUMNS_SIZE:
        if (!units_parse_size(text, &bytes, e))
            return false;
        *value = (double)bytes;
        return true;
    default:
        return units_parse_double(text, value, e);
    }
}

bool columns_parse_test(const char *text, struct columns_test *out, struct err *e)
{
    size_t n = strcspn(text, "=<>!");
    const char *sign = text + n, *value;
    struct err why = {0};

    *out = (struct columns_test){.column = find(text, n)};
    if (out->column == NULL)
        return no_column("--where", text, e);
    out->negated = *sign == '!';
    out->order = *sign == '<' ? -1 : *sign == '>';
    out->equal = *sign == '=' || (*sign != '\0' && sign[1] == '=');
    if (*sign == '\0' || (out->negated && !out->equal))
        return err_set(e, "--where %s: write COLUMN=VALUE, or one of != < <= > >=", text);
    value = sign + (*sign == '=' ? 1 + (sign[1] == '=') : 1 + out->equal);
    out->text = value;
    if (out->column->form == COLUMNS_TEXT)
        return out->order == 0 ||
               err_set(e, "--where %s: a text is compared by = or !=, with a pattern", text);
    return parse_value(out->column, value, &out->value, &why) ||
           err_set(e, "--where %s: %s", text, why.msg);
}

static bool meets(const struct columns_row *row, const struct columns_test *t)
{
    struct columns_value v = columns_get(row, t->column);

    if (t->column->form == COLUMNS_TEXT)
        return (fnmatch(t->text, v.text != NULL ? v.text : "", 0) == 0) != t->negated;
    double x = v.number.value;
    if (isnan(x))
        return false;
    bool met = (t->equal && x == t->value) || (t->order < 0 && x < t->value) ||
               (t->order > 0 && x > t->value);
    return met != t->negated;
}

/* ---- --sort ---- */

bool columns_parse_order(const char *option, const char *text, struct columns_order *out,
                         struct err *e)
{
    const char *name = text + (*text == '-');

    *out = (struct columns_order){find(name, strlen(name)), *text == '-'};
    return out->column != NULL || no_column(option, text, e);
}

int columns_compare(const struct columns_row *a, const struct columns_row *b,
                    struct columns_order by)
{
    struct columns_value v = columns_get(a, by.column), w = columns_get(b, by.column);
    double p = v.number.value, q = w.number.value;
    int order = by.column->form == COLUMNS_TEXT
                    ? strcmp(v.text != NULL ? v.text : "", w.text != NULL ? w.text : "")
                    : (p > q) - (p < q);

    if (isnan(p) != isnan(q))
        return isnan(p) ? 1 : -1;
    return by.falls ? -order : order;
}

int columns_compare_all(const void *a, const void *b, void *orders)
{
    const struct columns_row *x = a, *y = b;
    int order = 0;

    for (const struct columns_order *o = orders; order == 0 && o->column != NULL; o++)
        order = columns_compare(x, y, *o);
    return order != 0         ? order
           : x->run != y->run ? (x->run > y->run) - (x->run < y->run)
                              : (x->op > y->op) - (x->op < y->op);
}

/* Whether a line is asked for that prepared a benchmark or cleaned up after it: a condition is on
 * the operation, or the run has no benchmark. */
static bool wants_beside(const struct run_kept *run, const struct columns_test *tests,
                         size_t n_tests)
{
    bool wants = true;

    for (size_t k = 0; k < run->n_ops; k++)
        wants &= run->ops[k].is_beside;
    for (size_t i = 0; i < n_tests; i++)
        wants |= is_named(tests[i].column, "op");
    return wants;
}

bool columns_select(struct columns_table *t, const struct columns_test *tests, size_t n_tests,
                    struct columns_order order, struct err *e)
{
    const struct archive *a = t->archive;
    size_t n_all = 0;

    for (size_t i = 0; i < a->n; i++)
        n_all += a->runs[i].kept.n_ops;
    if (!mem_new(&t->rows, n_all, e))
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const bool beside = wants_beside(&a->runs[i].kept, tests, n_tests);

        for (size_t k = 0; k < a->runs[i].kept.n_ops; k++) {
            const struct columns_row row = {&a->runs[i], &a->runs[i].kept.ops[k], 0};
            size_t met = 0;

            if (row.op->is_beside && !beside)
                continue;

            while (met < n_tests && meets(&row, &tests[met]))
                met++;
            if (met == n_tests)
                t->rows[t->n++] = row;
        }
    }
    if (order.column != NULL)
        qsort_r(t->rows, t->n, sizeof *t->rows, columns_compare_all,
                (struct columns_order[]){order, {.column = NULL}});
    return true;
}
