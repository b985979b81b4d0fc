#include "analyze/render/page/html_internal.h"

#include "analyze/write/html.h"
#include "analyze/write/json.h"
#include "libcommon/mem.h"

#include <math.h>

#define MS_NS 1e6

/* Writes a number with five digits, which are more than a chart shows. */
static void put_number(FILE *f, size_t i, double value)
{
    if (isnan(value))
        fputs(i > 0 ? ",null" : "null", f);
    else
        fprintf(f, "%s%.5g", i > 0 ? "," : "", value);
}

static const struct {
    const char *name;
    double unit;
} columns[] = {[PLOT_THROUGHPUT] = {"throughput", 1},
               [PLOT_P50] = {"p50_ms", MS_NS},
               [PLOT_P99] = {"p99_ms", MS_NS},
               [PLOT_FAILED] = {"failed", 1},
               [PLOT_IN_FLIGHT] = {"in_flight", 1},
               [PLOT_SERVICE_P50] = {"service_p50_ms", MS_NS},
               [PLOT_SERVICE_P99] = {"service_p99_ms", MS_NS}};

const char *html_data_column(enum plot_course what)
{
    return columns[what].name;
}

/* Writes a series. Times are ms since 1970, which a script's numbers keep to the microsecond. */
static bool put_series(FILE *f, const struct plot_timeline *t)
{
    fputs("{\"op\":", f);
    bool ok = json_out_quoted(f, t->op);
    fprintf(f, ",\"unit\":\"%s\",\"start_ms\":%.3f,\"end_ms\":%.3f,\"bin_ms\":%.6g",
            t->has_bytes ? "bytes/s" : "objects/s", (double)t->start_ns / MS_NS,
            (double)t->end_ns / MS_NS, t->n > 0 ? (double)t->rows[0].duration_ns / MS_NS : 1);
    for (size_t k = 0; k < (t->is_open ? PLOT_N_COURSE : PLOT_SERVICE_P50); k++) {
        fprintf(f, ",\"%s\":[", columns[k].name);
        for (size_t i = 0; i < t->n; i++)
            put_number(f, i, plot_timeline_value(t, (enum plot_course)k, i) / columns[k].unit);
        fputc(']', f);
    }
    fputc('}', f);
    return ok;
}

static bool put_course(FILE *f, const struct html_course *c)
{
    bool ok = true;

    for (int fine = 0; fine <= 1; fine++) {
        fputs(fine ? "],\"fine\":[" : ",\"course\":{\"series\":[", f);
        for (size_t k = 0; ok && k < c->a->n_operations + 1; k++) {
            const struct plot_timeline *t = fine     ? (c->fine != NULL ? &c->fine[k] : NULL)
                                            : k == 0 ? &c->all
                                                     : &c->ops[k - 1];

            if (k > 0 && !c->shown[k - 1])
                continue;
            fputs(k > 0 ? "," : "", f);
            if (fine && (t == NULL || t->n == 0))
                fputs("null", f);
            else
                ok = put_series(f, t);
        }
    }
    fputs("]}}", f);
    return ok;
}

bool html_data(FILE *f, const char *name, bool (*write)(const void *ctx, FILE *f, struct err *e),
               const void *ctx, const struct html_course *course, struct err *e)
{
    html_within(f, "<p class=\"tools\"><a href=\"#data\" hidden download=\"", name,
                ".json\">Save the data of this page as JSON</a></p>\n"
                "<script type=\"application/json\" id=\"data\">");
    FILE *json = html_json_open(f, e);
    if (json == NULL)
        return false;
    fputs(course != NULL ? "{\"analysis\":" : "", json);
    bool ok = write(ctx, json, e) && (course == NULL || put_course(json, course) || mem_none(e));
    ok = (fclose(json) == 0 || mem_none(e)) && ok;
    fputs("</script>\n", f);
    return ok;
}
