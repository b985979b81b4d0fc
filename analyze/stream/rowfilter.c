#include "analyze/stream/rowfilter.h"

#include "analyze/data/filter.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

static int64_t resolve(const struct load_time *t, int64_t run_start_ns)
{
    return t->is_relative ? int64_add_clamped(run_start_ns, t->ns) : t->ns;
}

void rowfilter_init(struct rowfilter *f, const struct load_filter *filter, int64_t run_start_ns)
{
    *f = (struct rowfilter){
        .ops = &filter->ops,
        .sizes = &filter->sizes,
        .hosts = {.kind = "host", .wanted = filter->host},
        .clients = {.kind = "client", .wanted = filter->client},
        .from_ns = filter->from.given ? resolve(&filter->from, run_start_ns) : INT64_MIN,
        .to_ns = filter->to.given ? resolve(&filter->to, run_start_ns) : INT64_MAX,
    };
}

static void names_fini(struct rowfilter_names *names)
{
    intern_fini(&names->seen);
    free(names->is_meant);
}

void rowfilter_fini(struct rowfilter *f)
{
    intern_fini(&f->seen_ops);
    names_fini(&f->hosts);
    names_fini(&f->clients);
}

/* Decides whether the filter means a new name. */
static bool judge(struct rowfilter_names *names, uint32_t id, struct err *e)
{
    const char *name = names->seen.strings[id].p;

    if (!mem_room(&names->is_meant, names->seen.cap, e))
        return false;
    bool is_exact = strcmp(name, names->wanted) == 0;
    /* An exact name goes before a glob, but rows that match the glob may have been kept already. */
    if (is_exact && names->has_others)
        return err_set(
            e,
            "\"%s\" is the name of a %s, and as a pattern it stands for others: put a \\ "
            "before each [ * ?",
            name, names->kind);
    names->is_meant[id] =
        is_exact || (!names->has_exact && filter_name_matches(names->wanted, name));
    names->has_exact |= is_exact;
    names->has_others |= names->is_meant[id] && !is_exact;
    return true;
}

static inline bool is_meant(struct rowfilter_names *names, struct slice name, bool *meant,
                            struct err *e)
{
    *meant = true;
    if (!names->wanted)
        return true;
    size_t n = names->seen.n;
    uint32_t id = intern_add(&names->seen, name);
    if (id == INTERN_NONE)
        return mem_none(e);
    if (id == n && !judge(names, id, e))
        return false;
    *meant = names->is_meant[id];
    return true;
}

bool rowfilter_row(struct rowfilter *f, const struct record *r, bool *keep, struct err *e)
{
    bool host, client, op = true;

    if (!is_meant(&f->hosts, r->endpoint, &host, e) ||
        !is_meant(&f->clients, r->client, &client, e))
        return false;
    if (f->ops->n) {
        uint32_t id = intern_add(&f->seen_ops, r->op);
        if (id == INTERN_NONE)
            return mem_none(e);
        op = filter_op_matches(f->ops->v, f->ops->n, f->seen_ops.strings[id].p);
    }
    *keep = host && client && op && filter_size_matches(f->sizes, r->bytes);
    f->has_rows = true;
    f->has_size |= *keep;
    *keep = *keep && r->start_ns >= f->from_ns && r->start_ns < f->to_ns;
    return true;
}

static bool check_names(const struct rowfilter_names *names, struct err *e)
{
    for (size_t i = 0; i < names->seen.n; i++)
        if (names->is_meant[i])
            return true;
    return names->seen.n == 0 ||
           filter_list_known(filter_interned(&names->seen), names->kind, names->wanted, e);
}

bool rowfilter_check(const struct rowfilter *f, struct err *e)
{
    if (f->seen_ops.n > 0 &&
        !filter_ops_known(filter_interned(&f->seen_ops), f->ops->v, f->ops->n, e))
        return false;
    if (!check_names(&f->hosts, e) || !check_names(&f->clients, e))
        return false;
    if (f->sizes->given && f->has_rows && !f->has_size)
        return err_set(e, "no requests of %s (--size)", filter_sizes_text(f->sizes).s);
    return true;
}
