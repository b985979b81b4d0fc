#include "libcommon/mem.h"
#include "loadgen/run/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define SHOWN_MAX   20 /* errors of nodes */
#define ANSWER_MAX  (UINT64_C(1) << 20)
#define ARCHIVE_MAX (UINT64_C(4) << 30)

/* Sends a request to the admin API, without retries. The body goes to `to`. *status: that of a
 * complete answer; 0: there is none. A signal breaks it off; one that came before does not, as
 * MinIO profiles until the profiles are fetched. False: *e says why the answer cannot be used. */
static bool ask(struct bench *b, enum s3op_kind kind, const char *what, const char *query, FILE *to,
                int *status, struct err *e)
{
    struct control *c = &b->control;
    char path[96];

    snprintf(path, sizeof path, "/minio/admin/%s/profiling/%s", b->prof.version, what);
    const struct s3op op = {
        .kind = kind,
        .path = path,
        .query = query,
        .to = to,
        .max_bytes = kind == S3OP_FETCH ? ARCHIVE_MAX : ANSWER_MAX,
    };
    b->prof.n_signals = atomic_load(&b->signals.n);
    b->prof.asking = true;
    atomic_store(&b->engine.stop, ENGINE_RUN);
    c->give_up_ns = 0;
    bool ok = control_run(c, &op, e);
    c->give_up_ns = b->o->net.give_up_ns;
    c->failing_since_ns = 0;
    b->prof.asking = false;
    *status = c->result.cut ? 0 : c->result.status;
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
static size_t n_profiling(const struct bench *b, const char *data, size_t n)
{
    json_t *nodes = json_loadb(data, n, 0, NULL);
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

bool serverprof_begin(struct bench *b, struct err *e)
{
    struct strbuf query = {0};
    struct err why = {0};
    char *data = NULL;
    size_t n = 0;
    int status = 0;

    if (b->out.profiles[0] == '\0')
        return true;
    strbuf_puts(&query, "profilerType=");
    uri_encode(&query, b->o->serverprof, strlen(b->o->serverprof), false);
    FILE *to = query.failed ? NULL : open_memstream(&data, &n);
    if (to == NULL) {
        strbuf_fini(&query);
        return mem_none(e);
    }
    b->prof.version = "v3";
    bool ok = ask(b, S3OP_FETCH_POST, "start", query.s, to, &status, &why);
    if (status == 426) {
        b->prof.version = "v4";
        err_clear(&why);
        rewind(to);
        ok = ask(b, S3OP_FETCH_POST, "start", query.s, to, &status, &why);
    }
    strbuf_fini(&query);
    if (fclose(to) != 0)
        ok = mem_none(&why);
    /* If the answer was lost, MinIO may be profiling. */
    b->prof.profiling = ok || status < 300;
    if (ok && n_profiling(b, data, n) == 0)
        bench_say(b, "--serverprof: no node says that it profiles");
    else if (!ok && status >= 300)
        say_refused(b, status);
    else if (!ok)
        bench_say(b, "--serverprof: cannot start profiling: %s", why.msg);
    free(data);
    return true;
}

static bool fetch_archive(struct bench *b, const char *path, struct err *e)
{
    FILE *f = fopen(path, "wxe");
    int status;
    size_t n = 0;

    if (f == NULL)
        return err_errno(e, errno, "cannot write '%s'", path);
    bool ok = ask(b, S3OP_FETCH, "download", NULL, f, &status, e);
    if ((fflush(f) != 0 || fsync(fileno(f)) != 0) && ok)
        ok = err_errno(e, errno, "cannot write '%s'", path);
    fclose(f);
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

/* The file gets its final name once it is complete. */
bool serverprof_end(struct bench *b, struct err *e)
{
    char part[sizeof b->out.profiles + OPTIONS_ID_LENGTH + 2];
    struct err why = {0};

    (void)e;
    if (!b->prof.profiling)
        return true;
    snprintf(part, sizeof part, "%s.%s", b->out.profiles, b->o->run_id);
    bool ok = fetch_archive(b, part, &why) &&
              (link(part, b->out.profiles) == 0 ||
               err_errno(&why, errno, "cannot make '%s'", b->out.profiles));
    unlink(part);
    if (!ok)
        bench_say(b, "--serverprof: no profiles: %s", why.msg);
    else if (!b->o->show.quiet)
        bench_say_of_all(b, "profiles of the servers: %s", b->out.profiles);
    return true;
}
