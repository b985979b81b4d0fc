#include "analyze/report/findings_json.h"

#include <math.h>

static json_t *scope(struct json_out *w, const struct finding *f)
{
    json_t *o = json_object();
    switch (f->scope) {
    case SCOPE_HOST:
        json_out_set(w, o, "host", json_out_text(f->party));
        return o;
    case SCOPE_CLIENT:
        json_out_set(w, o, "client", json_out_text(f->party));
        return o;
    case SCOPE_THREAD:
        json_out_set_int(w, o, "thread", f->thread);
        return o;
    case SCOPE_SYSTEM:
        break;
    }
    json_decref(o);
    return json_null();
}

static json_t *finding(struct json_out *w, const struct finding *f)
{
    json_t *o = json_object(), *evidence = json_object(), *because = json_array();
    json_out_set(w, o, "kind", json_out_text(f->kind));
    json_out_set(w, o, "severity",
                 json_out_text(f->severity == FINDING_PROBLEM ? "problem" : "notice"));
    json_out_set(w, o, "op", json_out_text(f->op));
    json_out_set(w, o, "scope", scope(w, f));
    if (f->has_start)
        json_out_set(w, o, "start", json_out_time(f->start_ns));
    if (f->has_end)
        json_out_set(w, o, "end", json_out_time(f->end_ns));
    if (!isnan(f->ratio))
        json_out_set_real(w, o, "ratio", f->ratio);
    if (f->period_ns > 0)
        json_out_set_int(w, o, "period_ns", f->period_ns);
    json_out_set_real(w, o, "lost_frac", f->lost_frac);
    json_out_set(w, o, "evidence", evidence);
    for (size_t i = 0; i < f->n_figures; i++)
        json_out_set_real(w, evidence, f->figures[i].name, f->figures[i].value);
    json_out_set(w, o, "sentence", json_out_text(f->sentence));
    json_out_set(w, o, "because", because);
    for (size_t i = 0; i < f->n_because; i++)
        json_out_append(w, because, json_integer((json_int_t)f->because[i]));
    return o;
}

void findings_json_put(struct json_out *w, const struct findings *all)
{
    json_out_array(w, "findings");
    for (size_t i = 0; i < all->n; i++)
        json_out_value(w, NULL, finding(w, &all->v[i]));
    json_out_end(w);
}
