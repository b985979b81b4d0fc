#include "analyze/render/json/documents.h"

#include <math.h>

static void put_scope(struct json_out *w, const struct finding *f)
{
    if (!json_out_open(w, "scope", f->scope != SCOPE_SYSTEM))
        return;
    if (f->scope == SCOPE_THREAD)
        JSON_PUT(w, "thread", f->thread);
    else
        JSON_PUT(w, f->scope == SCOPE_HOST ? "host" : "client", f->party);
    if (f->client != NULL)
        JSON_PUT(w, "client", f->client);
    if (f->n_others > 0) {
        json_out_array(w, f->scope == SCOPE_HOST ? "hosts" : "clients");
        JSON_PUT(w, NULL, f->party);
        for (size_t i = 0; i < f->n_others; i++)
            JSON_PUT(w, NULL, f->others[i]);
        json_out_end(w);
    }
    json_out_end(w);
}

static void put_evidence(struct json_out *w, const struct finding *f)
{
    json_out_object(w, "evidence");
    for (size_t i = 0; i < f->n_figures; i++)
        JSON_PUT(w, f->figures[i].name, f->figures[i].value);
    json_out_end(w);
}

static void put_finding(struct json_out *w, const struct finding *f)
{
    JSON_PUT(w, "kind", f->kind->name);
    JSON_PUT(w, "severity", f->severity == FINDING_PROBLEM ? "problem" : "notice");
    JSON_PUT(w, "op", f->op);
    put_scope(w, f);
    if (f->has_start)
        json_put_time(w, "start", f->start_ns);
    if (f->has_end)
        json_put_time(w, "end", f->end_ns);
    if (!isnan(f->ratio))
        JSON_PUT(w, "ratio", f->ratio);
    if (f->period_ns > 0)
        JSON_PUT(w, "period_ns", f->period_ns);
    JSON_PUT(w, "lost_frac", f->lost_frac);
    put_evidence(w, f);
    JSON_PUT(w, "sentence", f->sentence);
    JSON_ARRAY(w, "because", i, f->n_because)
        JSON_PUT(w, NULL, f->because[i]);
}

void findings_json_put(struct json_out *w, const struct findings *all)
{
    JSON_OBJECTS(w, "findings", i, all->n)
        put_finding(w, &all->v[i]);
}

void json_capture_dropped(struct json_out *w, const struct recfile_info *info)
{
    json_out_array(w, "dropped");
    for (int i = 0; i < N_DROPS; i++) {
        if (info->n_dropped[i] == 0)
            continue;
        json_out_object(w, NULL);
        JSON_PUT(w, "why", recfile_drop_names[i]);
        JSON_PUT(w, "n", info->n_dropped[i]);
        JSON_PUT(w, "first", info->first_drop[i]);
        json_out_end(w);
    }
    json_out_end(w);
}
