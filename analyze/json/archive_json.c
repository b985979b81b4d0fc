#include "analyze/json/documents.h"

static void put_value(struct json_out *w, const struct column *c, const struct columns_value *v)
{
    const struct archive_figure *x = &v->number;

    if (c->form == COLUMNS_TEXT) {
        JSON_PUT(w, c->name, v->text);
    } else if (c->form == COLUMNS_TIME) {
        json_put_time(w, c->name, v->time_ns);
    } else if (c->form == COLUMNS_FIGURE) {
        json_out_object(w, c->name);
        JSON_MEMBERS(w, x, value, lo, hi);
        JSON_PUT(w, "unit", metrics[c->metric].unit);
        json_out_end(w);
    } else if (x->value == (double)(int64_t)x->value) {
        JSON_PUT(w, c->name, (int64_t)x->value);
    } else {
        JSON_PUT(w, c->name, x->value);
    }
}

static void put_unread(struct json_out *w, const struct archive *a)
{
    JSON_OBJECTS(w, "unread", i, a->n_unread) {
        JSON_PUT(w, "path", a->unread[i].path);
        JSON_PUT(w, "why", a->unread[i].why);
    }
}

bool archive_table_json(const struct archive_table *t, FILE *f, struct err *e)
{
    struct json_out w;

    json_out_begin(&w, f, "s3analyze/table/1");
    JSON_OBJECTS(&w, "rows", k, t->n) {
        const struct archive_run *r = t->rows[k].run;

        JSON_PUT(&w, "path", r->path);
        JSON_PUT(&w, "source", r->source);
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v;

            columns_get(&t->rows[k], &columns[i], &v);
            put_value(&w, &columns[i], &v);
        }
        JSON_PUT(&w, "has_problem", r->has_problem);
        JSON_PUT(&w, "finding_text", r->finding);
    }
    put_unread(&w, t->archive);
    return json_out_finish(&w, e);
}
