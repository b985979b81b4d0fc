#include "analyze/read/recfile_internal.h"

#include "libcommon/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rowtext_add(struct rowtext *t, const char *s, size_t n)
{
    if (!mem_fit(&t->s, &t->cap, t->n + n + ROWINDEX_PADDING, NULL))
        return false;
    memcpy(t->s + t->n, s, n);
    t->n += n;
    memset(t->s + t->n, 0, ROWINDEX_PADDING);
    return true;
}

void rowtext_fini(struct rowtext *t)
{
    free(t->s);
    memset(t, 0, sizeof *t);
}

/* ---- Failing and dropping ---- */

bool recstate_fail(struct recunit *u, const char *why)
{
    u->failed = true;
    return err_set(&u->error, "%s", why);
}

bool recstate_fail_at(struct recunit *u, uint64_t line, const char *why)
{
    if (!u->failed) {
        u->error_has_line = true;
        u->error_line = line;
    }
    return recstate_fail(u, why);
}

bool recstate_fail_damaged(struct recunit *u, uint64_t line, const char *why)
{
    struct err e = {0};

    err_set(&e, "%s (%s)", why,
            u->has_layout || u->n_headers > 0 ? "--salvage skips and counts what is damaged"
                                              : RECSTATE_NOTHING_READ);
    return recstate_fail_at(u, line, e.msg);
}

bool recstate_drop(struct reader *r, struct recunit *u, enum recfile_drop what, uint64_t line,
                   const char *why)
{
    if (!r->options->salvage)
        return recstate_fail_damaged(u, line, why);
    if (u->n_dropped[what]++ == 0) {
        u->drop_line[what] = line;
        snprintf(u->drop_why[what], sizeof u->drop_why[what], "%s", why);
    }
    return true;
}

/* ---- What the unit holds ---- */

bool recstate_add_sink(struct reader *r, struct recunit *u)
{
    if (!mem_more(&u->sinks, u->n_sinks, NULL) || !mem_more(&u->layouts, u->n_sinks, NULL))
        return recstate_fail(u, "out of memory");
    u->layouts[u->n_sinks] = u->end_layout;
    u->sinks[u->n_sinks] = NULL;
    if (r->sink->unit_new && !(u->sinks[u->n_sinks] = r->sink->unit_new(r->sink->ctx, &u->error)))
        return recstate_fail(u, "out of memory");
    u->n_sinks++;
    return true;
}

bool recstate_commit_sink(struct reader *r, struct recunit *u, size_t i)
{
    r->info->n_done_bytes = u->position;
    return r->sink->unit_new == NULL ||
           r->sink->unit_commit(r->sink->ctx, u->sinks[i], r->input, &u->error) ||
           recstate_fail(u, "out of memory");
}

bool recstate_publish_layout(struct reader *r, struct recunit *u,
                             const struct recfile_layout *layout)
{
    pthread_mutex_lock(&r->lock);
    r->layout = *layout;
    r->has_layout = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return !r->sink->header || r->sink->header(r->sink->ctx, layout, &u->error) ||
           recstate_fail(u, "out of memory");
}

bool recstate_emit_comment(struct reader *r, struct recunit *u, const char *line, size_t n)
{
    return r->sink->comment == NULL ||
           r->sink->comment(r->sink->ctx, (struct slice){line, n}, &u->error) ||
           recstate_fail(u, "out of memory");
}

void recstate_add_counts(struct reader *r, const struct recunit *u)
{
    struct recfile_info *info = r->info;

    info->n_rows += u->n_rows;
    info->n_text_bytes += u->n_text_bytes;
    info->n_frames += u->n_frames;
    info->n_skippable_frames += u->n_skippable;
    info->n_unverified += u->n_unverified;
    info->n_headers += u->n_headers;
    info->has_intended |= u->has_intended;
    for (int i = 0; i < N_DROPS; i++) {
        if (u->n_dropped[i] && info->n_dropped[i] == 0)
            snprintf(info->first_drop[i], sizeof info->first_drop[i], "%s:%llu: %s", r->source.path,
                     (unsigned long long)u->drop_line[i], u->drop_why[i]);
        info->n_dropped[i] += u->n_dropped[i];
    }
}

void recstate_fini(struct reader *r, struct recunit *u)
{
    for (size_t i = 0; i < u->n_sinks && r->sink->unit_new; i++)
        r->sink->unit_free(r->sink->ctx, u->sinks[i]);
    free(u->sinks);
    free(u->layouts);
    for (size_t i = 0; i < UNIT_MAX_COMMENTS; i++)
        rowtext_fini(&u->comments[i]);
    rowtext_fini(&u->first_line);
    rowtext_fini(&u->seam.carry);
}
