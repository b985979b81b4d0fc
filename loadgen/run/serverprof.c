
#include "libcommon/mem.h"
#include "libcommon/units.h"
#include "loadgen/net/fetch.h"
#include "loadgen/run/bench.h"
#include "loadgen/s3/uri.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The shortest time with hardly a byte of an answer: a server asks its other nodes first. */
#define PATIENCE_S 60

#define SHOWN_MAX   20 /* errors of nodes */
#define ANSWER_MAX  (UINT64_C(1) << 20)
#define PROFILE_MAX (UINT64_C(64) << 20) /* of one node; profiles are kept in memory */
#define ARCHIVE_MAX (UINT64_C(4) << 30)

/* ---- Requests ---- */

/* Does not call team_poll: threads may not communicate with other ranks. */
static bool node_goes_on(void *ctx)
{
    struct bench *b = ctx;

    return atomic_load(&b->signals.n) <= atomic_load(&b->prof.n_signals) &&
           !atomic_load(&b->prof.ended);
}

/* Stops at a new signal. The signal that ended the load does not stop it: MinIO profiles until the
 * profiles are fetched. */
static bool goes_on(void *ctx)
{
    struct bench *b = ctx;

    team_poll(&b->team);
    return atomic_load(&b->signals.n) <= atomic_load(&b->prof.n_signals);
}

static struct fetch prepare(const struct bench *b, const char *url)
{
    const char *planted = getenv("S3LOAD_TEST_PATIENCE"); /* tests cannot wait for so long */
    long asked = (long)(b->o->net.request_timeout_ns / NS_PER_S);

    return (struct fetch){
        .method = "GET",
        .url = url,
        .headers = "",
        .style = &b->engine.conn_style,
        .patience_s = planted != NULL      ? strtol(planted, NULL, 10)
                      : asked > PATIENCE_S ? asked
                                           : PATIENCE_S,
        .goes_on = goes_on,
        .ctx = (void *)b,
    };
}

struct reply {
    int status;
    char *data; /* ends with a NUL; freed by the caller */
    size_t n;
};

/* Fetches into memory. False: no answer, and nothing to free. */
static bool fetch_text(struct fetch *f, uint64_t max_bytes, struct reply *a, struct err *e)
{
    *a = (struct reply){0};
    f->to = open_memstream(&a->data, &a->n);
    f->max_bytes = max_bytes;
    if (f->to == NULL)
        return mem_none(e);
    bool ok = fetch(f, &a->status, e);
    if (fclose(f->to) != 0 && ok)
        ok = mem_none(e);
    if (ok)
        return true;
    free(a->data);
    *a = (struct reply){0};
    return false;
}

/* ---- MinIO ---- */

/* Sends a request to the admin API of the first host. The answer goes to `to`; NULL: to *a. */
static bool ask(const struct bench *b, const char *method, const char *path, const char *query,
                FILE *to, struct reply *a, struct err *e)
{
    const struct engine *g = &b->engine;
    const struct host *h = &g->hosts.host[0];
    const char *host = h->named != NULL ? h->named : h->name;
    struct sigv4 signer = {0};
    struct strbuf headers = {0};
    char route[NAMES_ROUTE_MAX], where[96], *url = NULL, *header = NULL;
    unsigned version = 0;

    snprintf(where, sizeof where, "/minio/admin/%s/profiling/%s", b->prof.version, path);
    bool ok = name_in_header(host, g->op_style.tls, &header, e);
    const struct sigv4_request r = {.method = method,
                                    .host = header,
                                    .path = where,
                                    .query = query,
                                    .payload_hash = SIGV4_EMPTY_PAYLOAD,
                                    .time_s = engine_sign_ns(&g->host[0]) / NS_PER_S};
    ok = ok && mem_format(&url, e, "%s://%s%s%s%s", g->op_style.tls ? "https" : "http", host, where,
                          *query != '\0' ? "?" : "", query);
    if (ok && g->credentials != NULL)
        ok = credentials_update_signer(g->credentials, g->op_style.region, &signer, &version, e) &&
             sigv4_sign(&signer, &r, &headers, e);
    if (ok) {
        struct fetch f = prepare(b, url);
        f.method = method;
        f.headers = headers.s != NULL ? headers.s : "";
        f.route = !g->host[0].virtual_host && g->names != NULL && names_route(g->names, 0, route)
                      ? route
                      : NULL;
        f.to = to;
        f.max_bytes = ARCHIVE_MAX;
        ok = to != NULL ? fetch(&f, &a->status, e) : fetch_text(&f, ANSWER_MAX, a, e);
    }
    free(url);
    free(header);
    strbuf_fini(&headers);
    sigv4_fini(&signer);
    return ok;
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
    struct strbuf query = {0};
    struct reply a = {0};
    struct err e = {0};

    strbuf_puts(&query, "profilerType=");
    uri_encode(&query, b->o->serverprof, strlen(b->o->serverprof), false);
    b->prof.version = "v3";
    bool ok = !query.failed && ask(b, "POST", "start", query.s, NULL, &a, &e);
    if (ok && a.status == 426) {
        free(a.data);
        b->prof.version = "v4";
        ok = ask(b, "POST", "start", query.s, NULL, &a, &e);
    }
    /* If the answer was lost, MinIO may be profiling. */
    b->prof.profiling = !ok || a.status == 200;
    if (!ok)
        bench_say(b, "--serverprof: cannot start profiling: %s", e.msg);
    else if (a.status != 200)
        say_refused(b, a.status);
    else if (n_profiling(b, &a) == 0)
        bench_say(b, "--serverprof: no node says that it profiles");
    free(a.data);
    strbuf_fini(&query);
}

/* ---- Servers with /debug/pprof/ ---- */

/* Fetches one profile, and keeps it as profile-HOST:PORT-TYPE.pprof. A thread fetches that of CPU
 * time while the load runs (while_loading). */
static void fetch_profile(struct serverprof_node *node, const char *path, const char *type,
                          bool while_loading, struct err *e)
{
    struct bench *b = node->bench;
    struct serverprof *p = &b->prof;
    const char *host = strstr(node->url, "://") + 3;
    char url[700], name[320];
    struct reply a;

    snprintf(url, sizeof url, "%s/debug/pprof/%s", node->url, path);
    struct fetch f = prepare(b, url);
    if (while_loading) {
        f.goes_on = node_goes_on;
        f.patience_s += p->seconds;
    }
    snprintf(name, sizeof name, "profile-%.*s-%s.pprof", (int)strcspn(host, "/"), host, type);
    if (!fetch_text(&f, PROFILE_MAX, &a, e))
        return;
    if (a.status != 200) {
        err_set(e, "HTTP %d: %.*s", a.status, (int)strcspn(a.data, "\r\n"), a.data);
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
            fetch_profile(&p->node[i], types[k][0], type, false, &e);
            p->node[i].failed = e.msg[0] != '\0';
            if (p->node[i].failed)
                bench_say(p->node[i].bench, "--serverprof-url: %s: %s; the run goes on without",
                          p->node[i].url, e.msg);
        }
}

static void *fetch_cpu(void *user)
{
    struct serverprof_node *node = user;
    char path[64];
    struct err e = {0};

    snprintf(path, sizeof path, "profile?seconds=%ld", node->bench->prof.seconds);
    fetch_profile(node, path, "cpu", true, &e);
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
    if (!mem_cleared(&p->node, SERVERPROF_MAX_URLS, e))
        return false;
    for (const char *at = o->serverprof_url; *at != '\0' && p->n_nodes < SERVERPROF_MAX_URLS;) {
        struct serverprof_node *node = &p->node[p->n_nodes++];
        size_t n = strcspn(at, ",");

        node->bench = b;
        snprintf(node->url, sizeof node->url, "%.*s", (int)n, at);
        char *tail = strstr(node->url, "/debug/pprof");
        node->url[tail != NULL ? (size_t)(tail - node->url) : strlen(node->url)] = '\0';
        for (n = strlen(node->url); n > 0 && node->url[n - 1] == '/';)
            node->url[--n] = '\0';
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
    if (!mem_format(&b->prof.part, e, "%s.%s", b->out.profiles, b->o->run_id))
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
    struct reply a = {0};
    size_t n = 0;

    if (f == NULL)
        return err_errno(e, errno, "cannot write '%s'", path);
    bool ok = ask(b, "GET", "download", "", f, &a, e);
    if (fclose(f) != 0 && ok)
        ok = err_errno(e, errno, "cannot write '%s'", path);
    if (ok && a.status != 200)
        ok = err_set(e, "HTTP %d", a.status);
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
    free(p->node);
    free(p->part);
    *p = (struct serverprof){0};
    return true;
}
