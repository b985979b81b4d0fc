#include "analyze/tools/profile/run.h"

#include "analyze/stats/stats.h"
#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#define MAX_SOURCES     4096
#define MAX_ENTRIES     100000
#define MAX_ARCHIVE     (INT64_C(1) << 30)
#define OUTLIER_FRAC    0.25
#define OUTLIER_N_NODES 3

#define SHARE_OF_ONE_OP 0.95 /* least share of one operation for a run to be of this operation */

static void free_sources(struct profile_sources *s)
{
    free(s->v);
    intern_fini(&s->texts);
    *s = (struct profile_sources){0};
}

/* ---- Finding profiles ---- */

/* Returns the length of a name without the ending of a profile; 0: it has none. */
static size_t stem_length(const char *name)
{
    static const char *const endings[] = {".pprof", ".pb.gz", ".pb", ".prof"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t k = strlen(endings[i]);
        if (n > k && strcmp(name + n - k, endings[i]) == 0)
            return n - k;
    }
    return 0;
}

/* Keeps a text as long as the sources. NULL: out of memory. */
static const char *keep(struct profile_sources *s, const char *text, size_t n)
{
    uint32_t id = intern_add(&s->texts, (struct slice){text, n});

    return id != INTERN_NONE ? s->texts.strings[id].p : NULL;
}

/* Adds a source, with node and kind from its name: "profile-NODE-KIND-before.pprof". The name is
 * never used as a path. */
static bool put_source(struct profile_sources *s, const char *path, const char *name,
                       uint64_t entry, struct err *e)
{
    size_t n = stem_length(name), kind, from = 0;

    if (s->n >= MAX_SOURCES)
        return err_set(e, "%s: more than %d profiles", path, MAX_SOURCES);
    if (!mem_more(&s->v, s->n, e))
        return false;
    struct profile_source *x = &s->v[s->n++];
    *x = (struct profile_source){
        .entry = entry, .path = keep(s, path, strlen(path)), .name = keep(s, name, strlen(name))};
    if (n > 7 && memcmp(name + n - 7, "-before", 7) == 0) {
        x->before = true;
        n -= 7;
    }
    for (kind = n; kind > 0 && name[kind - 1] != '-';)
        kind--;
    if (n > 8 && strncmp(name, "profile-", 8) == 0)
        from = kind > 8 ? 8 : kind;
    x->node = keep(s, name + from, kind > from ? kind - 1 - from : 0);
    x->kind = keep(s, name + kind, n - kind);
    if (x->path == NULL || x->name == NULL || x->node == NULL || x->kind == NULL)
        return mem_none(e);
    return true;
}

/* "ARCHIVE: ENTRY", or the path of a file. */
struct source_name {
    char s[512];
};

static struct source_name name_of(const struct profile_source *x)
{
    bool is_entry = x->entry != UINT64_MAX;
    struct source_name p;

    snprintf(p.s, sizeof p.s, "%s%s%s", x->path, is_entry ? ": " : "", is_entry ? x->name : "");
    return p;
}

static int by_node(const void *a, const void *b)
{
    const struct profile_source *x = a, *y = b;
    int order = strcmp(x->node, y->node);

    order = order != 0 ? order : strcmp(x->kind, y->kind);
    return order != 0 ? order : (int)x->before - (int)y->before;
}

/* Sorts the profiles of an archive or a folder, from `first` on. False: two are of one node, kind
 * and time, so one would count twice. */
static bool sort_sources(struct profile_sources *s, size_t first, struct err *e)
{
    struct profile_source *v = s->v + first;
    size_t n = s->n - first;

    if (n > 1)
        qsort(v, n, sizeof *v, by_node);
    for (size_t i = 1; i < n; i++)
        if (by_node(&v[i - 1], &v[i]) == 0)
            return err_set(e, "%s: the profile is there twice", name_of(&v[i]).s);
    return true;
}

static zip_t *open_archive(const char *path, struct err *e)
{
    int code = 0;
    zip_t *z = zip_open(path, ZIP_RDONLY, &code);

    if (z == NULL) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        err_set(e, "%s: %s", path, zip_error_strerror(&error));
        zip_error_fini(&error);
    }
    return z;
}

/* The data of the entries take no more bytes than the archive has, unless they overlap. */
static bool add_archive(struct profile_sources *s, const char *path, uint64_t n_left, struct err *e)
{
    zip_t *z = open_archive(path, e);
    if (z == NULL)
        return false;
    zip_int64_t n = zip_get_num_entries(z, 0);
    bool ok = n <= MAX_ENTRIES || err_set(e, "%s: more than %d entries", path, MAX_ENTRIES);

    for (zip_int64_t i = 0; ok && i < n; i++) {
        const char *name = zip_get_name(z, (zip_uint64_t)i, 0);
        const char *slash = name != NULL ? strrchr(name, '/') : NULL;

        name = slash != NULL ? slash + 1 : name;
        if (name == NULL || stem_length(name) == 0)
            continue;
        struct zip_stat st = {0};
        ok = put_source(s, path, name, (uint64_t)i, e);
        if (ok && zip_stat_index(z, (zip_uint64_t)i, 0, &st) != 0)
            ok = err_set(e, "%s: %s: %s", path, name, zip_strerror(z));
        else if (ok && st.comp_size > n_left)
            ok = err_set(e, "%s: %s: overlaps other entries", path, name);
        n_left -= st.comp_size;
    }
    zip_discard(z);
    return ok;
}

static bool add_folder(struct profile_sources *s, const char *path, struct err *e)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    bool ok = n >= 0 || err_errno(e, errno, "%s", path);

    for (int i = 0; i < n; i++) {
        char *file = NULL;
        if (ok && stem_length(names[i]->d_name) > 0)
            ok = mem_format(&file, e, "%s/%s", path, names[i]->d_name) &&
                 put_source(s, file, names[i]->d_name, UINT64_MAX, e);
        free(file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return ok;
}

/* Adds the profiles of a file, an archive or a folder. */
static bool add_sources(struct profile_sources *s, const char *path, struct err *e)
{
    struct stat st;
    unsigned char magic[4] = "";
    size_t n_before = s->n;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(e, errno, "%s", path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool has_magic = S_ISREG(st.st_mode) && pread(fd, magic, 4, 0) == 4;
    close(fd);
    bool ok;
    if (S_ISDIR(st.st_mode))
        ok = add_folder(s, path, e);
    else if (!S_ISREG(st.st_mode))
        ok = err_set(e, "%s: neither a file nor a folder", path);
    else if (has_magic && magic[0] == 'P' && magic[1] == 'K' && (magic[2] == 3 || magic[2] == 5))
        ok = (st.st_size <= MAX_ARCHIVE || err_set(e, "%s: larger than 1 GiB", path)) &&
             add_archive(s, path, (uint64_t)st.st_size, e);
    else
        ok = put_source(s, path, "", UINT64_MAX, e);
    if (ok && s->n == n_before)
        ok = err_set(e, "%s: no profile in it (NAME.pprof)", path);
    return ok && sort_sources(s, n_before, e);
}

/* ---- Choosing profiles ---- */

/* Whether a source is of a kind. Go and MinIO have different names for some kinds. A file that was
 * named matches any kind. */
static bool is_kind(const struct profile_source *x, const char *kind)
{
    const char *other = strcmp(kind, "heap") == 0           ? "mem"
                        : strcmp(kind, "mem") == 0          ? "heap"
                        : strcmp(kind, "goroutine") == 0    ? "goroutines"
                        : strcmp(kind, "threadcreate") == 0 ? "threads"
                                                            : kind;

    return *x->kind == '\0' || strcmp(x->kind, kind) == 0 || strcmp(x->kind, other) == 0;
}

/* Returns the only kind there is, else "cpu". */
static const char *usual_kind(const struct profile_sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_kind(&s->v[i], "cpu") || strcmp(s->v[i].kind, s->v[0].kind) != 0)
            return "cpu";
    return s->v[0].kind;
}

static bool none_is_left(const struct profile_sources *all, const char *kind, bool before,
                         struct err *e)
{
    char known[512] = "";

    for (size_t i = 0; i < all->n; i++) {
        bool is_listed = all->v[i].before != before;
        for (size_t k = 0; k < i; k++)
            is_listed |= all->v[k].before == before && strcmp(all->v[k].kind, all->v[i].kind) == 0;
        if (!is_listed)
            suggest_list(known, sizeof known, all->v[i].kind);
    }
    if (*known == '\0')
        return err_set(e, "%s: no profile in it is from %sthe load", all->v[0].path,
                       before ? "before " : "");
    return err_set(e, "%s: no profile of %s%s; there is %s", all->v[0].path, kind,
                   before ? " from before the load" : "", known);
}

/* Keeps the profiles of one kind; NULL: "cpu", or the only kind there is. From archives and folders
 * it keeps only those taken before the load, or only those taken during it. */
static bool keep_sources(struct profile_sources *s, const char *kind, bool before, struct err *e)
{
    size_t n = 0;

    if (kind == NULL)
        kind = usual_kind(s);
    for (size_t i = 0; i < s->n; i++) {
        const struct profile_source *x = &s->v[i];
        if (is_kind(x, kind) && (*x->kind == '\0' || x->before == before))
            s->v[n++] = *x;
    }
    if (n == 0)
        return none_is_left(s, kind, before, e);
    s->n = n;
    return true;
}

/* ---- Reading ---- */

/* Reads the file, up to one byte more than a profile may have. */
static bool read_file(const struct profile_source *x, unsigned char *to, size_t *n, struct err *e)
{
    FILE *f = fopen(x->path, "re");

    *n = f != NULL ? fread(to, 1, PROFILE_MAX_BYTES + 1, f) : 0;
    bool ok = (f != NULL && !ferror(f)) || err_errno(e, errno, "reading it");
    if (f != NULL)
        fclose(f);
    return ok;
}

/* Reads an entry of an archive; libzip compares its checksum at the end. */
static bool read_entry(zip_t *z, const struct profile_source *x, unsigned char *to, size_t *n,
                       struct err *e)
{
    zip_file_t *file = zip_fopen_index(z, x->entry, 0);
    zip_int64_t got = file != NULL ? 1 : -1;

    for (*n = 0; got > 0 && *n <= PROFILE_MAX_BYTES; *n += got > 0 ? (size_t)got : 0)
        got = zip_fread(file, to + *n, PROFILE_MAX_BYTES + 1 - *n);
    if (got < 0)
        err_set(e, "%s", file != NULL ? zip_file_strerror(file) : zip_strerror(z));
    if (file != NULL)
        zip_fclose(file);
    return got >= 0;
}

static bool read_source(struct profile_source *x, zip_t *z, struct profile *p, bool is_base,
                        struct err *e)
{
    unsigned char *bytes;
    size_t n;
    int64_t duration_ns = p->duration_ns;

    if (!mem_new(&bytes, (size_t)PROFILE_MAX_BYTES + 1, e))
        return false;
    bool ok = z != NULL ? read_entry(z, x, bytes, &n, e) : read_file(x, bytes, &n, e);
    int64_t before[PROFILE_MAX_TYPES];
    memcpy(before, p->sums, sizeof before);
    ok = ok && profile_add(p, bytes, n, is_base, e);
    free(bytes);
    if (!ok)
        return false;
    size_t type = profile_type_index(p, NULL, e);
    if (type == SIZE_MAX)
        return false;
    x->total = p->sums[type] - before[type];
    if (strcmp(p->types[type].unit, "nanoseconds") == 0 && p->duration_ns > duration_ns)
        x->busy_cpus = (double)x->total / (double)(p->duration_ns - duration_ns);
    return true;
}

/* Reads all sources and adds them to p. */
static bool read_sources(struct profile_sources *s, struct profile *p, bool is_base, struct err *e)
{
    zip_t *z = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < s->n; i++) {
        struct profile_source *x = &s->v[i];
        struct err why = {0};

        if (z != NULL && x->path != s->v[i - 1].path) {
            zip_discard(z);
            z = NULL;
        }
        if (z == NULL && x->entry != UINT64_MAX && (z = open_archive(x->path, e)) == NULL)
            return false;
        ok = read_source(x, z, p, is_base, &why);
        if (!ok && p->line > 0)
            err_set(e, "%s:%zu: %s", name_of(x).s, p->line, why.msg);
        else if (!ok)
            err_set(e, "%s: %s", name_of(x).s, why.msg);
    }
    if (z != NULL)
        zip_discard(z);
    return ok;
}

void profile_run_free(struct profile_run *r)
{
    profile_free(&r->p);
    free_sources(&r->sources);
    free_sources(&r->base);
}

static bool find_sources(struct profile_sources *to, const char *const *paths, size_t n,
                         const char *kind, bool before, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!add_sources(to, paths[i], e))
            return false;
    return keep_sources(to, kind, before, e);
}

bool profile_run_read(struct profile_run *r, const struct profile_wanted *w, struct err *e)
{
    bool has_base = w->n_base > 0, own_base = !has_base && w->is_diff;

    if (!find_sources(&r->sources, w->paths, w->n_paths, w->kind, false, e) ||
        (has_base && !find_sources(&r->base, w->base, w->n_base, w->kind, false, e)) ||
        (own_base && !find_sources(&r->base, w->paths, w->n_paths, w->kind, true, e)))
        return false;
    return read_sources(&r->sources, &r->p, false, e) && read_sources(&r->base, &r->p, true, e);
}

/* Counts the requests of one operation. */
static void count_table(struct cost_load *load, const struct table *t, struct profile_window w)
{
    for (size_t i = 0; i < t->n; i++) {
        int64_t end_ns = table_end(t, i);
        if (w.end_ns > w.start_ns && (end_ns < w.start_ns || end_ns > w.end_ns))
            continue;
        load->n++;
        load->n_bytes += table_failed(t, i) ? 0 : (double)packed_get(&t->bytes, i);
    }
}

void profile_run_count(struct profile_run *r, const struct dataset *d, bool base)
{
    struct cost_load *load = &r->loads[base];
    uint64_t most = 0;

    *load = (struct cost_load){0};
    for (size_t i = 0; i < d->n_tables; i++) {
        uint64_t before = load->n;
        count_table(load, &d->tables[i], r->p.windows[base]);
        if (load->n - before > most) {
            most = load->n - before;
            snprintf(load->op, sizeof load->op, "%s", d->ops.v[d->tables[i].op]);
        }
    }
    if ((double)most < SHARE_OF_ONE_OP * (double)load->n)
        *load->op = '\0';
}

char *profile_beside(const char *path, const char *from, const char *to)
{
    size_t n = strlen(path), n_from = strlen(from);
    char *name = NULL;

    if (n <= n_from || strcmp(path + n - n_from, from) != 0 ||
        !mem_format(&name, NULL, "%.*s%s", (int)(n - n_from), path, to))
        return NULL;
    if (access(name, R_OK) == 0)
        return name;
    free(name);
    return NULL;
}

/* ---- What is said of them ---- */

/* Returns the outlier among three or more nodes: the one whose total is furthest from their median,
 * by at least a quarter of it. NULL: none. *ratio: its total over the median. */
static const struct profile_source *outlier(const struct profile_sources *s, double *ratio)
{
    const struct profile_source *worst = NULL;
    double *totals;

    if (s->n < OUTLIER_N_NODES || !mem_new(&totals, s->n, NULL))
        return NULL;
    for (size_t i = 0; i < s->n; i++)
        totals[i] = (double)s->v[i].total;
    double median = stats_sort_median(totals, s->n);
    free(totals);
    for (size_t i = 0; median > 0 && i < s->n; i++) {
        double distance = fabs((double)s->v[i].total - median);
        if (distance >= OUTLIER_FRAC * median &&
            (worst == NULL || distance > fabs((double)worst->total - median)))
            worst = &s->v[i];
    }
    *ratio = worst != NULL ? (double)worst->total / median : 1;
    return worst;
}

void profile_run_nodes(struct sheet *s, const struct profile_run *r)
{
    size_t type = profile_type_index(&r->p, NULL, NULL);
    const char *unit = r->p.types[type].unit;

    sheet_table(s, "lllrr", "Profiles");
    SHEET_HEADINGS(s, "Node", "File", "Kind", r->p.types[type].name, "Busy CPUs");
    for (size_t i = 0; i < r->sources.n; i++) {
        const struct profile_source *x = &r->sources.v[i];
        const char *slash = strrchr(x->path, '/');

        SHEET_ROW(s, TEXT_PLAIN, x->node, slash != NULL ? slash + 1 : x->path, x->kind,
                  profile_format(x->total, unit, "auto").s);
        if (x->busy_cpus > 0)
            sheet_cell(s, "%.2f", x->busy_cpus);
        else
            sheet_cell(s, "%s", "");
    }
    profile_run_odd(s, r);
}

void profile_run_odd(struct sheet *s, const struct profile_run *r)
{
    size_t type = profile_type_index(&r->p, NULL, NULL);
    double ratio;
    const struct profile_source *odd = outlier(&r->sources, &ratio);

    if (odd != NULL)
        sheet_line(s, TEXT_WARNING, "%s stands out: %s of %s, %.2f times the median of the nodes",
                   *odd->node != '\0' ? odd->node : odd->path,
                   profile_format(odd->total, r->p.types[type].unit, "auto").s,
                   r->p.types[type].name, ratio);
}
