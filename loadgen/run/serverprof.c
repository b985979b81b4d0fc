
#include "libcommon/mem.h"
#include "libcommon/units.h"
#include "loadgen/run/bench.h"
#include "loadgen/s3/uri.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A request may take this long at least: a server asks its other nodes first, and profiles are
 * large. */
#define LEAST_NS (60 * NS_PER_S)

#define TICK_MS     100
#define SHOWN_MAX   20 /* errors of nodes */
#define ANSWER_MAX  (UINT64_C(1) << 20)
#define PROFILE_MAX (UINT64_C(64) << 20) /* of one node; profiles are kept in memory */
#define ARCHIVE_MAX (UINT64_C(4) << 30)

/* ---- Requests ---- */

/* Breaks a request off at a new signal. The signal that ended the load is none: MinIO profiles
 * until the profiles are fetched. */
static int tick(void *ctx)
{
    struct serverprof_node *node = ctx;
    struct bench *b = node->bench;
    bool ended = node->loading && atomic_load(&b->prof.ended);

    /* Threads may not communicate with other ranks. */
    if (!node->loading)
        team_poll(&b->team);
    if (ended || atomic_load(&b->signals.n) > atomic_load(&b->prof.n_signals))
        crew_stop(&node->control.crew, ENGINE_ABORT);
    return TICK_MS;
}

/* Makes what requests to a server of its own need. Call fini_node in any case. */
static bool init_node(struct bench *b, struct serverprof_node *node, const char *host, bool tls,
                      bool signs, struct err *e)
{
    const struct engine *g = &b->engine;

    node->bench = b;
    node->engine = (struct engine){
        .op_style = {.bucket = "",
                     .region = g->op_style.region,
                     .tls = tls,
                     .lookup = S3OP_LOOKUP_PATH},
        .conn_style = {.no_proxy = g->conn_style.no_proxy,
                       .insecure = g->conn_style.insecure,
                       .cacert = g->conn_style.cacert,
                       .connect_timeout_ns = g->conn_style.connect_timeout_ns},
        .n_ranks = 1,
        .offset_ns = g->offset_ns,
        .request_timeout_ns =
            int64_max(LEAST_NS, g->request_timeout_ns) + b->prof.seconds * NS_PER_S,
        .n_descriptors = SIZE_MAX,
        .event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
    };
    if (signs)
        memcpy(node->engine.keys, g->keys, sizeof g->keys);
    memcpy(node->engine.client, g->client, sizeof g->client);
    return (node->engine.event >= 0 || err_errno(e, errno, "cannot make an eventfd")) &&
           engine_init(&node->engine, host, HOSTS_WEIGHED, e) &&
           control_init(&node->control, &node->engine, tick, node, e);
}

static void fini_node(struct serverprof_node *node)
{
    if (node->bench == NULL)
        return;
    control_fini(&node->control);
    engine_fini(&node->engine);
    close(node->engine.event);
}

/* Sends a request without retries. The body goes to `to`. *status: that of a complete answer; 0:
 * there is none. False: *e says why the answer cannot be used. */
static bool fetch(struct serverprof_node *node, struct s3op op, FILE *to, int *status,
                  struct err *e)
{
    struct worker_result r;

    op.to = to;
    atomic_store(&node->engine.stop, ENGINE_RUN);
    bool ok = control_run(&node->control, &op, &r, e);
    *status = r.cut ? 0 : r.status;
    return ok;
}

struct reply {
    int status;
    char *data; /* ends with a NUL; freed by the caller */
    size_t n;
};

/* Does the same, and keeps the body in memory. */
static bool fetch_text(struct serverprof_node *node, struct s3op op, struct reply *a, struct err *e)
{
    *a = (struct reply){0};
    FILE *to = open_memstream(&a->data, &a->n);
    if (to == NULL)
        return mem_none(e);
    bool ok = fetch(node, op, to, &a->status, e);
    return (fclose(to) == 0 || mem_none(e)) && ok;
}

/* ---- MinIO ---- */

/* Makes a request to the admin API. `where` gets its path. */
static struct s3op admin(const struct bench *b, enum s3op_kind kind, const char *path,
                         char where[static 96])
{
    snprintf(where, 96, "/minio/admin/%s/profiling/%s", b->prof.version, path);
    return (struct s3op){.kind = kind, .path = where, .max_bytes = ARCHIVE_MAX};
}

static void say_refused(const struct bench *b, int status)
{
    bench_say(b, "--serverprof: %s %s (HTTP %d); the run goes on without profiles",
              b->engine.hosts.host[0].name,
              status == 401 || status == 403 ? "refuses: the keys need the right admin:Profiling"
                                             : "has no admin API of MinIO that can be used",
              status);
}

/* Prints which nodes do not profile, or some of them. Returns how many do. */
static size_t n_profiling(const struct bench *b, const struct reply *a)
{
    json_t *nodes = json_loadb(a->data, a->n, 0, NULL);
    const json_t *node;
    size_t i, n_ok = 0, n_bad = 0;

    json_array_foreach(nodes, i, node) {
        const char *name = json_string_value(json_object_get(node, "nodeName"));
        const char *error = json_string_value(json_object_get(node, "error"));
        bool ok = json_is_true(json_object_get(node, "success"));

        n_ok += ok;
        if (!ok && ++n_bad <= SHOWN_MAX)
            bench_say(b, "--serverprof: node %s: %s", name != NULL ? name : "?",
                      error != NULL && *error != '\0' ? error : "profiling failed");
    }
    if (n_bad > SHOWN_MAX)
        bench_say(b, "--serverprof: %zu further nodes do not profile", n_bad - SHOWN_MAX);
    json_decref(nodes);
    return n_ok;
}

/* Starts profiling with v3 of the API, and with v4 if the server says that v3 is too old. */
static void begin_minio(struct bench *b)
{
    const struct host *h = &b->engine.hosts.host[0];
    struct serverprof_node *node = b->prof.node;
    struct strbuf query = {0};
    struct reply a = {0};
    struct err e = {0};
    char where[96];

    strbuf_puts(&query, "profilerType=");
    uri_encode(&query, b->o->serverprof, strlen(b->o->serverprof), false);
    bool ok = (!query.failed || mem_none(&e)) &&
              init_node(b, node, h->named != NULL ? h->named : h->name, b->o->net.tls, true, &e);
    bool sent = ok;
    for (b->prof.version = "v3"; sent; b->prof.version = "v4") {
        struct s3op op = admin(b, S3OP_FETCH_POST, "start", where);
        op.query = query.s;
        op.max_bytes = ANSWER_MAX;
        free(a.data);
        err_clear(&e);
        ok = fetch_text(node, op, &a, &e);
        if (a.status != 426 || strcmp(b->prof.version, "v4") == 0)
            break;
    }
    /* If the answer was lost, MinIO may be profiling. */
    b->prof.profiling = sent && (ok || a.status < 300);
    if (ok && n_profiling(b, &a) == 0)
        bench_say(b, "--serverprof: no node says that it profiles");
    else if (!ok && a.status >= 300)
        say_refused(b, a.status);
    else if (!ok)
        bench_say(b, "--serverprof: cannot start profiling: %s", e.msg);
    free(a.data);
    strbuf_fini(&query);
}

/* ---- Servers with /debug/pprof/ ---- */

/* Fetches one profile, and keeps it as profile-HOST:PORT-TYPE.pprof. */
static void fetch_profile(struct serverprof_node *node, const char *path, const char *query,
                          const char *type, struct err *e)
{
    struct bench *b = node->bench;
    struct serverprof *p = &b->prof;
    const char *host = strstr(node->url, "://") + 3;
    char where[600], name[320];
    struct reply a;

    snprintf(where, sizeof where, "%s/debug/pprof/%s", host + strcspn(host, "/"), path);
    snprintf(name, sizeof name, "profile-%.*s-%s.pprof", (int)strcspn(host, "/"), host, type);
    const struct s3op op = {
        .kind = S3OP_FETCH, .path = where, .query = query, .max_bytes = PROFILE_MAX};
    if (!fetch_text(node, op, &a, e)) {
        free(a.data);
        return;
    }
    pthread_mutex_lock(&p->lock);
    zip_source_t *source = zip_source_buffer(p->zip, a.data, a.n, true); /* frees the data */
    if (source == NULL)
        free(a.data);
    if (source == NULL || zip_file_add(p->zip, name, source, ZIP_FL_ENC_UTF_8) < 0) {
        zip_source_free(source);
        err_set(e, "%s", zip_strerror(p->zip));
    }
    pthread_mutex_unlock(&p->lock);
}

static void say_without(const struct serverprof_node *node, const struct err *why)
{
    bench_say(node->bench, "--serverprof-url: %s: %s; the run goes on without", node->url,
              why->msg);
}

/* Fetches the profiles that count from the server's start. The difference of two is that of the
 * run. */
static void fetch_counts(struct serverprof *p, const char *when)
{
    static const char *const types[][2] = {{"heap", "mem"}, {"block", "block"}, {"mutex", "mutex"}};

    for (size_t i = 0; i < p->n_nodes; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types && !p->node[i].failed; k++) {
            struct err e = {0};
            char type[32];

            snprintf(type, sizeof type, "%s%s", types[k][1], when);
            fetch_profile(&p->node[i], types[k][0], NULL, type, &e);
            p->node[i].failed = e.msg[0] != '\0';
            if (p->node[i].failed)
                say_without(&p->node[i], &e);
        }
}

static void *fetch_cpu(void *user)
{
    struct serverprof_node *node = user;
    char query[64];
    struct err e = {0};

    node->loading = true;
    snprintf(query, sizeof query, "seconds=%ld", node->bench->prof.seconds);
    fetch_profile(node, "profile", query, "cpu", &e);
    node->loading = false;
    if (e.msg[0] != '\0' && atomic_load(&node->bench->prof.ended))
        bench_say(node->bench,
                  "--serverprof-url: %s: the run ended before the CPU profile of %ld s", node->url,
                  node->bench->prof.seconds);
    else if (e.msg[0] != '\0')
        bench_say(node->bench, "--serverprof-url: %s: %s", node->url, e.msg);
    return NULL;
}

static bool begin_urls(struct bench *b, struct err *e)
{
    struct serverprof *p = &b->prof;
    const struct options *o = b->o;
    bool open_end = o->load.autoterm || o->load.duration_ns == 0;
    int64_t ns = open_end ? o->load.autoterm_dur_ns : o->load.duration_ns;

    pthread_mutex_init(&p->lock, NULL);
    p->zip = zip_open(p->part, ZIP_CREATE | ZIP_EXCL, NULL);
    if (p->zip == NULL)
        return err_set(e, "cannot make a file beside '%s'", b->out.profiles);
    p->seconds = ns >= NS_PER_S ? (long)(ns / NS_PER_S) : 1;
    for (const char *at = o->serverprof_url; *at != '\0' && p->n_nodes < SERVERPROF_MAX_URLS;) {
        struct serverprof_node *node = &p->node[p->n_nodes++];
        size_t n = strcspn(at, ",");
        char host[sizeof node->url];
        struct err why = {0};

        snprintf(node->url, sizeof node->url, "%.*s", (int)n, at);
        char *tail = strstr(node->url, "/debug/pprof");
        node->url[tail != NULL ? (size_t)(tail - node->url) : strlen(node->url)] = '\0';
        for (n = strlen(node->url); n > 0 && node->url[n - 1] == '/';)
            node->url[--n] = '\0';
        snprintf(host, sizeof host, "%s", strstr(node->url, "://") + 3);
        host[strcspn(host, "/")] = '\0';
        node->failed = !init_node(b, node, host, node->url[4] == 's', false, &why);
        if (node->failed)
            say_without(node, &why);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    fetch_counts(p, "-before");
    return true;
}

/* ---- Stages of a run ---- */

bool serverprof_begin(struct bench *b, struct err *e)
{
    if (b->team.rank > 0 || b->out.profiles[0] == '\0')
        return true;
    if (!mem_format(&b->prof.part, e, "%s.%s", b->out.profiles, b->o->run_id) ||
        !mem_cleared(&b->prof.node, SERVERPROF_MAX_URLS, e))
        return false;
    if (b->o->serverprof != NULL)
        begin_minio(b);
    return b->o->serverprof_url == NULL || begin_urls(b, e);
}

void serverprof_load(struct bench *b)
{
    atomic_store(&b->prof.n_signals, 1);
    for (size_t i = 0; i < b->prof.n_nodes; i++) {
        struct serverprof_node *node = &b->prof.node[i];
        node->started = !node->failed && pthread_create(&node->thread, NULL, fetch_cpu, node) == 0;
        if (!node->failed && !node->started)
            bench_say(b, "--serverprof-url: %s: no CPU profile: cannot start a thread", node->url);
    }
}

void serverprof_loaded(struct bench *b)
{
    if (b->summary.bench_ns < b->prof.seconds * NS_PER_S)
        atomic_store(&b->prof.ended, true);
}

static bool fetch_archive(struct bench *b, const char *path, struct err *e)
{
    FILE *f = fopen(path, "wxe");
    char where[96];
    int status;
    size_t n = 0;

    if (f == NULL)
        return err_errno(e, errno, "cannot write '%s'", path);
    bool ok = fetch(b->prof.node, admin(b, S3OP_FETCH, "download", where), f, &status, e);
    if (fclose(f) != 0 && ok)
        ok = err_errno(e, errno, "cannot write '%s'", path);
    if (!ok)
        return false;
    zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
    if (zip == NULL)
        return err_set(e, "the answer is no archive, or is cut");
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); i++)
        n += strstr(zip_get_name(zip, (zip_uint64_t)i, 0), ".pprof") != NULL;
    zip_discard(zip);
    return n > 0 || err_set(e, "the archive holds no profile");
}

static bool close_archive(struct bench *b, const char *path, struct err *e)
{
    if (zip_close(b->prof.zip) != 0)
        return err_set(e, "cannot write '%s': %s", path, zip_strerror(b->prof.zip));
    b->prof.zip = NULL;
    return true;
}

/* Makes the file under another name, and links it to its final name once it is complete. */
static bool save(struct bench *b, struct err *e)
{
    const char *part = b->prof.part;
    bool ok = b->prof.profiling ? fetch_archive(b, part, e) : close_archive(b, part, e);
    int fd = open(part, O_RDONLY | O_CLOEXEC);

    if (ok && (fd < 0 || fsync(fd) != 0 || link(part, b->out.profiles) != 0))
        ok = err_errno(e, errno, "cannot make '%s'", b->out.profiles);
    if (fd >= 0)
        close(fd);
    unlink(part);
    return ok;
}

bool serverprof_end(struct bench *b, struct err *e)
{
    struct serverprof *p = &b->prof;
    struct err why = {0};

    (void)e;
    atomic_store(&p->n_signals, atomic_load(&b->signals.n));
    if (b->summary.bench_ns == 0)
        atomic_store(&p->ended, true);
    for (size_t i = 0; i < p->n_nodes; i++)
        if (p->node[i].started)
            pthread_join(p->node[i].thread, NULL);
    if (p->n_nodes > 0)
        fetch_counts(p, "");
    if (p->profiling || (p->zip != NULL && zip_get_num_entries(p->zip, 0) > 0)) {
        bool ok = save(b, &why);
        if (!ok)
            bench_say(b, "%s: no profiles: %s", p->profiling ? "--serverprof" : "--serverprof-url",
                      why.msg);
        else if (!b->o->show.quiet)
            bench_say_of_all(b, "profiles of the servers: %s", b->out.profiles);
    }
    zip_discard(p->zip);
    for (size_t i = 0; i < p->n_nodes + (b->o->serverprof != NULL && p->node != NULL); i++)
        fini_node(&p->node[i]);
    free(p->node);
    free(p->part);
    *p = (struct serverprof){0};
    return true;
}
