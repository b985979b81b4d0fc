#include "libcommon/slo.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE 65536 /* bytes of @FILE */

static const char *const expected = "expected FIGURE<LIMIT with p50, p99.9, p(99.9), ttfb.p99, "
                                    "mean, errors, throughput or rate, then "
                                    "<, <=, > or >=";

/* ---- Parts of a text ---- */

/* Cuts off the text before the first of the characters `ends`, and that character. Returns the
 * text, trimmed. */
static struct slice take(struct slice *from, const char *ends)
{
    struct slice p = {from->p, 0};

    while (p.n < from->n && strchr(ends, p.p[p.n]) == NULL)
        p.n++;
    *from = slice_from(*from, p.n < from->n ? p.n + 1 : p.n);
    return slice_trim(p);
}

/* ---- An assertion ---- */

/* Parses "99.9" or "(99.9)". */
static bool parse_percentile(struct slice number, uint32_t *ppm)
{
    int64_t value;

    if (number.n > 2 && *number.p == '(' && number.p[number.n - 1] == ')')
        number = (struct slice){number.p + 1, number.n - 2};
    /* One percent is 10^4 ppm. */
    if (!slice_decimal(number, 4, &value) || value <= 0 || value >= SLO_PPM)
        return false;
    *ppm = (uint32_t)value;
    return true;
}

static bool parse_time(const char *text, double *limit, struct err *why)
{
    int64_t ns = 0;
    bool ok = units_parse_duration(text, false, &ns, why);

    *limit = (double)ns;
    return ok;
}

static bool parse_share(const char *text, double *limit, struct err *why)
{
    if (!units_parse_pct(text, limit, why))
        return false;
    *limit /= 100;
    return (*limit >= 0 && *limit <= 1) || err_set(why, "expected 0 %% to 100 %%");
}

/* The name of each figure, of percentiles what is before their number, and how limits are parsed.
 */
static const struct {
    const char *name;
    bool (*parse)(const char *text, double *limit, struct err *why);
} figures[] = {[SLO_TIME] = {"p", parse_time},
               [SLO_TTFB] = {"ttfb.p", parse_time},
               [SLO_ERRORS] = {"errors", parse_share},
               [SLO_THROUGHPUT] = {"throughput", units_parse_byte_rate},
               [SLO_RATE] = {"rate", units_parse_rate},
               [SLO_MEAN] = {"mean", parse_time}};

bool slo_parse_limit(enum slo_figure figure, const char *text, double *limit, struct err *why)
{
    return figures[figure].parse(text, limit, why);
}

static bool parse_figure(struct slo_assertion *a, struct slice name)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const char *known = figures[i].name;

        a->figure = (enum slo_figure)i;
        if (i > SLO_TTFB ? slice_is(name, known)
                         : slice_begins(name, known) &&
                               parse_percentile(slice_from(name, strlen(known)), &a->ppm))
            return true;
    }
    return false;
}

/* Parses "p99<50ms"; `op` may be empty. On failure *a is filled in part. */
static bool parse_assertion(struct slo_assertion *a, struct slice op, struct slice text,
                            struct err *e)
{
    struct err why = {0};

    if (!mem_format(&a->op, e, "%.*s", (int)op.n, op.p) ||
        !mem_format(&a->text, e, "%.*s", (int)text.n, text.p))
        return false;
    struct slice rest = slice_of(a->text), name = take(&rest, "<>");
    if (rest.n == 0 || !parse_figure(a, name))
        return err_set(e, "--slo '%.100s': %s", a->text, expected);
    a->is_least = rest.p[-1] == '>';
    a->or_equal = *rest.p == '=';
    /* The limit is the rest of a->text, so it ends with a NUL. */
    const char *limit = slice_trim(slice_from(rest, a->or_equal)).p;
    if (strpbrk(limit, ";=<>") != NULL)
        return err_set(
            e,
            "--slo '%.100s': separate assertions by commas; compare with <, <=, > or >=", a->text);
    return slo_parse_limit(a->figure, limit, &a->limit, &why) ||
           err_set(e, "--slo '%.100s': %s", a->text, why.msg);
}

/* Parses "rate>10, GET: p99<50ms, errors<0.1%". An operation holds until the next one is named. */
static bool parse_line(struct slo_list *l, struct slice line, struct err *e)
{
    struct slice op = {line.p, 0};

    do {
        struct slice text = take(&line, ",");

        if (memchr(text.p, ':', text.n) != NULL) {
            op = take(&text, ":");
            if (op.n == 0)
                return err_set(e, "--slo: no operation stands before the colon");
        }
        if (l->n == SLO_MOST)
            return err_set(e, "--slo: more than %d assertions", SLO_MOST);
        if (!mem_more(&l->v, l->n, e))
            return false;
        l->v[l->n] = (struct slo_assertion){0};
        if (!parse_assertion(&l->v[l->n++], op, slice_trim(text), e))
            return false;
    } while (line.n > 0);
    return true;
}

static bool read_file(struct slo_list *l, const char *path, struct err *e)
{
    struct err why = {0};
    char *text = secret_read_file(path, MAX_FILE, &why);
    size_t n_before = l->n, number = 0;
    bool ok = text != NULL || err_set(e, "--slo: %s", why.msg);

    for (struct slice rest = slice_of(ok ? text : ""); ok && rest.n > 0;) {
        struct slice line = take(&rest, "\n");

        number++;
        err_clear(&why);
        if (line.n > 0 && *line.p != '#' && !parse_line(l, line, &why))
            ok = err_set(e, "%s:%zu: %s", path, number, why.msg);
    }
    secret_free(text);
    return ok && (l->n > n_before || err_set(e, "--slo: %s holds no assertion", path));
}

bool slo_parse(struct slo_list *l, const struct cli_list *texts, struct err *e)
{
    bool ok = true;

    *l = (struct slo_list){0};
    for (size_t i = 0; ok && i < texts->n; i++) {
        const char *text = texts->v[i];

        ok = *text == '@' ? read_file(l, text + 1, e) : parse_line(l, slice_of(text), e);
    }
    return ok;
}

void slo_free(struct slo_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].op);
        free(l->v[i].text);
    }
    free(l->v);
    *l = (struct slo_list){0};
}
