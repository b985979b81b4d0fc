#include "analyze/page/html_data.h"

#include "analyze/write/html.h"
#include "analyze/write/json.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

#define MS_NS 1e6

/* Five digits are more than a chart shows. */
static void put_number(FILE *f, size_t i, double value)
{
    if (isnan(value))
        fputs(i > 0 ? ",null" : "null", f);
    else
        fprintf(f, "%s%.5g", i > 0 ? "," : "", value);
}

static double column(const struct plot_timeline *t, size_t i, int which)
{
    const struct series_row *r = &t->rows[i];

    switch (which) {
    case 0:
        return plot_timeline_rate(t, i);
    case 1:
        return r->p50_ns / 1e6;
    case 2:
        return r->p99_ns / 1e6;
    case 3:
        return (double)r->errors;
    default:
        return r->in_flight;
    }
}

/* Times are ms since 1970, which a script's numbers hold to the microsecond. */
static bool put_series(FILE *f, const struct plot_timeline *t)
{
    static const char *const names[] = {"throughput", "p50_ms", "p99_ms", "failed", "in_flight"};

    fputs("{\"op\":", f);
    bool ok = json_out_quoted(f, t->op);
    fprintf(f, ",\"unit\":\"%s\",\"start_ms\":%.3f,\"end_ms\":%.3f,\"bin_ms\":%.6g",
            t->has_bytes ? "bytes/s" : "objects/s", (double)t->start_ns / MS_NS,
            (double)t->end_ns / MS_NS, t->n > 0 ? (double)t->rows[0].duration_ns / MS_NS : 1);
    for (int k = 0; k < 5; k++) {
        fprintf(f, ",\"%s\":[", names[k]);
        for (size_t i = 0; i < t->n; i++)
            put_number(f, i, column(t, i, k));
        fputc(']', f);
    }
    fputc('}', f);
    return ok;
}

static bool put_course(FILE *f, const struct html_course *c)
{
    fputs(",\"course\":{\"series\":[", f);
    bool ok = put_series(f, &c->all);
    for (size_t k = 0; ok && k < c->n_ops; k++) {
        fputc(',', f);
        ok = put_series(f, &c->ops[k]);
    }
    fputs("]}}", f);
    return ok;
}

bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);

    if (memory == NULL)
        return mem_none(e);
    fputs(course != NULL ? "{\"analysis\":" : "", memory);
    bool ok =
        write(ctx, memory, e) && (course == NULL || put_course(memory, course) || mem_none(e));
    bool whole = !ferror(memory);
    /* Without memory for the last piece there is no text, and no error. */
    whole = fclose(memory) == 0 && text != NULL && whole;
    ok = ok && (whole || mem_none(e));
    if (ok) {
        fputs("<p class=\"tools\"><a href=\"#data\" hidden download=\"", f);
        html_text(f, name);
        fputs(".json\">Save the data of this page as JSON</a></p>\n"
              "<script type=\"application/json\" id=\"data\">",
              f);
        html_json(f, text, n);
        fputs("</script>\n", f);
    }
    free(text);
    return ok;
}
