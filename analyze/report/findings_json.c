#include "analyze/report/findings_json.h"

#include <math.h>

static void put_scope(struct json_out *w, const struct finding *f)
{
    if (!json_out_open(w, "scope", f->scope != SCOPE_SYSTEM))
        return;
    if (f->scope == SCOPE_THREAD)
        JSON_PUT(w, "thread", f->thread);
    else
        JSON_PUT(w, f->scope == SCOPE_HOST ? "host" : "client", f->party);
    json_out_end(w);
}

static void put_finding(struct json_out *w, const struct finding *f)
{
    JSON_PUT(w, "kind", f->kind);
    JSON_PUT(w, "severity", f->severity == FINDING_PROBLEM ? "problem" : "notice");
    JSON_PUT(w, "op", f->op);
    put_scope(w, f);
    if (f->has_start)
        json_out_value(w, "start", json_out_time(f->start_ns));
    if (f->has_end)
        json_out_value(w, "end", json_out_time(f->end_ns));
    if (!isnan(f->ratio))
        JSON_PUT(w, "ratio", f->ratio);
    if (f->period_ns > 0)
        JSON_PUT(w, "period_ns", f->period_ns);
    JSON_PUT(w, "lost_frac", f->lost_frac);
    json_out_object(w, "evidence");
    for (size_t i = 0; i < f->n_figures; i++)
        JSON_PUT(w, f->figures[i].name, f->figures[i].value);
    json_out_end(w);
    JSON_PUT(w, "sentence", f->sentence);
    JSON_ARRAY(w, "because", i, f->n_because)
        JSON_PUT(w, NULL, f->because[i]);
}

void findings_json_put(struct json_out *w, const struct findings *all)
{
    JSON_OBJECTS(w, "findings", i, all->n)
        put_finding(w, &all->v[i]);
}
