#include "analyze/render/json/documents.h"

#include "analyze/tools/archive/cells.h"

#include <math.h>

static void put_value(struct json_out *w, const struct column *c, const struct columns_value *v)
{
    const struct run_figure *x = &v->number;
    const char *name = columns_name(c);

    if (c->form == COLUMNS_TEXT) {
        JSON_PUT(w, name, v->text);
    } else if (c->form == COLUMNS_TIME) {
        json_put_time(w, name, v->time_ns);
    } else if (c->form == COLUMNS_FIGURE) {
        json_out_object(w, name);
        JSON_PUT_IF(w, "value", !(x->least < x->most), x->value);
        JSON_MEMBERS(w, x, lo, hi);
        if (x->least < x->most)
            json_put_pair(w, "bounds", x->least, x->most);
        JSON_PUT(w, "unit", metrics[c->metric].unit);
        json_out_end(w);
    } else if (x->value == trunc(x->value) && fabs(x->value) < 0x1p53) {
        JSON_PUT(w, name, (int64_t)x->value);
    } else {
        JSON_PUT(w, name, x->value);
    }
}

static void put_unread(struct json_out *w, const struct archive *a)
{
    JSON_OBJECTS(w, "unread", i, a->n_unread) {
        JSON_PUT(w, "path", a->unread[i].path);
        JSON_PUT(w, "why", a->unread[i].why);
    }
}

static void put_cells(struct json_out *w, const struct cells *c)
{
    JSON_OBJECTS(w, "rows", i, c->n_lines * c->n_systems) {
        const struct cells_line *line = &c->lines[i / c->n_systems];
        const struct cells_figure *x = &c->figures[i];

        for (const struct columns_order *by = c->how->by; by->column != NULL; by++) {
            const struct columns_value v = columns_get(line->cell, by->column);
            put_value(w, by->column, &v);
        }
        JSON_PUT(w, "label", c->systems[i % c->n_systems]);
        JSON_PUT(w, "metric", metrics[line->metric].name);
        JSON_PUT(w, "unit", metrics[line->metric].unit);
        JSON_PUT(w, "n_runs", (int64_t)x->n);
        JSON_MEMBERS(w, x, median, least, greatest);
        json_put_bool(w, "is_best", x == line->best);
        JSON_PUT(w, "differing", line->is_apart ? line->apart.what : NULL);
    }
}

static void put_rows(struct json_out *w, const struct columns_table *t)
{
    JSON_OBJECTS(w, "rows", k, t->n) {
        const struct archive_run *r = t->rows[k].run;

        JSON_PUT(w, "path", r->path);
        JSON_PUT(w, "source", run_sources[r->kept.source]);
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], &columns[i]);

            put_value(w, &columns[i], &v);
            const struct phrase with_unit = columns_unit_name(&columns[i]);
            if (with_unit.s[0] != '\0')
                JSON_PUT_IF(w, with_unit.s, !(v.number.least < v.number.most), v.number.value);
        }
        JSON_PUT(w, "of_response_time", t->rows[k].op->of_response);
        JSON_PUT(w, "has_problem", r->kept.has_problem);
        JSON_PUT(w, "finding_text", r->kept.finding);
    }
}

bool archive_table_json(const void *table, FILE *f, struct err *e)
{
    const struct columns_table *t = table;
    struct json_out w;

    json_out_begin(&w, f, t->cells != NULL ? "s3analyze/across/1" : "s3analyze/table/1");
    if (t->cells != NULL)
        put_cells(&w, t->cells);
    else
        put_rows(&w, t);
    put_unread(&w, t->archive);
    return json_out_finish(&w, e);
}

/* ---- Trends ---- */

static void put_settings(struct json_out *w, const struct run_kept *r)
{
    json_out_object(w, "settings");
    JSON_PUT(w, "source", run_sources[r->source]);
    JSON_OBJECTS(w, "operations", k, r->n_ops) {
        JSON_PUT(w, "op", r->ops[k].op);
        JSON_PUT(w, "of_response_time", r->ops[k].of_response);
        for (size_t i = RUN_CONCURRENCY; i <= RUN_SHARE; i++)
            JSON_PUT(w, run_setting_names[i].json, r->ops[k].setting[i]);
    }
    json_out_value(w, "options", r->options != NULL ? json_incref(r->options) : json_null());
    json_out_end(w);
}

static void put_shift(struct json_out *w, const struct trend_group *g, const struct trend_change *c,
                      const struct stats_change *x)
{
    const struct trend_series *s = &g->series[x->series];

    JSON_PUT(w, "op", s->op);
    JSON_PUT(w, "metric", metrics[s->metric].name);
    json_put_integer(w, "run", (int64_t)c->run + 1);
    json_put_time(w, "time", g->runs[c->run]->kept.start_ns);
    JSON_PUT(w, metrics[s->metric].kind == METRIC_DIFFERENCE ? "difference" : "ratio",
             metrics[s->metric].kind == METRIC_DIFFERENCE ? x->after - x->before
                                                          : exp(x->after - x->before));
    JSON_PUT(w, "p", x->p);
    JSON_PUT(w, "before", trend_value(g, x, x->before));
    JSON_PUT(w, "after", trend_value(g, x, x->after));
    JSON_PUT(w, "unit", metrics[s->metric].unit);
    JSON_PUT(w, "is_worse", trend_is_worse(g, x));
}

static void put_group(struct json_out *w, const struct trend_group *g)
{
    put_settings(w, &g->runs[0]->kept);
    JSON_OBJECTS(w, "runs", i, g->n) {
        json_put_integer(w, "run", (int64_t)i + 1);
        JSON_PUT(w, "path", g->runs[i]->path);
        json_put_time(w, "time", g->runs[i]->kept.start_ns);
        JSON_OBJECTS(w, "values", k, g->n_series) {
            JSON_PUT(w, "op", g->series[k].op);
            JSON_PUT(w, "metric", metrics[g->series[k].metric].name);
            JSON_PUT(w, "value", g->series[k].v[i]);
            JSON_PUT(w, "unit", metrics[g->series[k].metric].unit);
        }
    }
    json_put_bool(w, "enough_runs", g->n >= TREND_LEAST_RUNS);
    JSON_OBJECTS(w, "changes", i, g->n_changes) {
        const struct trend_change *c = &g->changes[i];

        put_shift(w, g, c, &c->v[0]);
        JSON_PUT(w, "sentence", (const char *)trend_says(g, c).s);
        JSON_OBJECTS(w, "also", k, c->n - 1)
            put_shift(w, g, c, &c->v[k + 1]);
    }
}

bool trend_json(const void *trend, FILE *f, struct err *e)
{
    const struct trend *t = trend;
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/trend/1");
    JSON_OBJECTS(&w, "groups", k, t->n)
        put_group(&w, &t->groups[k]);
    if (t->shows_last)
        JSON_PUT(&w, "check_last", (const char *)trend_answers(t).s);
    put_unread(&w, t->archive);
    return json_out_finish(&w, e);
}
