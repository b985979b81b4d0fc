#include "loadgen/run/bench_setup.h"

#include "loadgen/ranks/parts.h"
#include "loadgen/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Open beside connections: standard streams, the capture, those of epoll and events. */
#define OTHER_DESCRIPTORS 16

/* Prefixes of workers have four hexadecimal digits. */
#define MAX_DIRS 65536

static bool is_there(const char *path, struct err *e)
{
    return err_set(e, "'%s' is there already, and captures are not overwritten", path);
}

/* Makes a new file: none is ever overwritten, neither by a part nor by what is made of all. */
static bool open_capture(struct bench *b, struct err *e)
{
    if (b->o->stress)
        return true;
    if (b->out.to_stdout) {
        strcpy(b->out.part, "standard output");
        b->out.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return b->out.fd >= 0 || err_errno(e, errno, "cannot write standard output");
    }
    if (b->team.size > 1)
        parts_name(b->out.path, b->team.rank, b->out.part, sizeof b->out.part);
    else
        strcpy(b->out.part, b->out.path);
    if (b->team.rank == 0 && access(b->out.path, F_OK) == 0)
        return is_there(b->out.path, e);
    b->out.fd = open(b->out.part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (b->out.fd < 0 && errno == EEXIST)
        return is_there(b->out.part, e);
    if (b->out.fd < 0)
        return err_errno(e, errno, "cannot make '%s'", b->out.part);
    /* The name too is to outlive a power cut; where folders cannot be synced, nothing is lost. */
    char *slash = strrchr(b->out.part, '/');
    char folder[sizeof b->out.part] = ".";
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - b->out.part + 1), b->out.part);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    return true;
}

static bool init_engine(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct engine *g = &b->engine;

    if (o->encrypt && !ssec_init(&b->ssec, e))
        return false;
    g->op_style = (struct s3op_style){
        .bucket = o->bucket,
        .region = o->region,
        .tls = o->tls,
        .lookup = (enum s3op_lookup)o->lookup,
        .sign_payload = !o->tls && !o->no_payload_hash,
        .md5 = o->md5,
        .checksum = (enum checksum_kind)o->checksum,
        .storage_class = o->storage_class,
        .sse_s3 = o->sse_s3,
        .sse_c_key = o->encrypt ? b->ssec.key : NULL,
        .sse_c_key_md5 = o->encrypt ? b->ssec.key_md5 : NULL,
        .object_lock = b->kind->object_lock,
    };
    g->conn_style = (struct conn_style){
        .tls = o->tls,
        .no_proxy = o->no_proxy,
        .connect_timeout_ns = o->connect_timeout_ns,
    };
    g->resolve_host = o->resolve_host;
    g->insecure = o->insecure;
    g->cacert = o->cacert;
    const char *const key[PROFILE_N_KEYS] = {o->access_key, o->secret_key, o->session_token};
    if (!o->anonymous) {
        if (!credentials_init(&b->credentials, key, o->keys_of_profile ? o->profile : NULL,
                              o->credential_process, e))
            return false;
        g->credentials = &b->credentials;
    }
    if (b->team.size > 1)
        snprintf(g->client, sizeof g->client, "%.64s-%d", b->host, b->team.rank);
    else
        snprintf(g->client, sizeof g->client, "%s", b->o->run_id);
    g->seed = (uint64_t)o->seed;
    g->rank = (unsigned)b->team.rank;
    g->n_ranks = (unsigned)b->team.size;
    g->deals_hosts = o->ranks.hosts_per_rank;
    g->offset_ns = clock_offset_ns();
    g->request_timeout_ns = o->request_timeout_ns;
    return engine_init(g, o->hosts, (enum hosts_select)o->host_select, e);
}

/* A worker that connects has its socket, libcurl's means to wake itself up, and a copy of the
 * socket. */
#define CONNECTING_DESCRIPTORS 4

/* Raises the limit of descriptors as far as we may. False: it cannot be enough. *idle_max: what it
 * leaves for idle connections, all in all. */
static bool raise_descriptor_limit(const struct options *o, size_t *idle_max, struct err *e)
{
    rlim_t needed = (rlim_t)o->n_workers + OTHER_DESCRIPTORS;
    struct rlimit limit;

    *idle_max = SIZE_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = before;
    rlim_t busy = (rlim_t)o->n_workers * CONNECTING_DESCRIPTORS + OTHER_DESCRIPTORS;
    *idle_max = limit.rlim_cur > busy ? limit.rlim_cur - busy : 0;
    return limit.rlim_cur >= needed ||
           err_set(e,
                   "--concurrent %lld needs %llu open files at least, and the system allows %llu "
                   "(ulimit -n)",
                   (long long)o->n_workers, (unsigned long long)needed,
                   (unsigned long long)limit.rlim_cur);
}

/* The capture's sums, NAME.sums.zst of NAME.csv.zst, must have somewhere to go, and something to
 * come from. */
static bool name_sums(struct bench *b, struct err *e)
{
    int n = (int)(strlen(b->out.path) - strlen(PARTS_SUFFIX));

    if ((!b->o->aggregate && !b->o->aggregate_only) || b->team.rank > 0)
        return true;
    if (b->o->stress || b->out.to_stdout)
        return err_set(e, "--aggregate needs a capture in a file, to write its sums beside it");
    snprintf(b->out.sums, sizeof b->out.sums, "%.*s.sums.zst", n, b->out.path);
    return access(b->out.sums, F_OK) != 0 || is_there(b->out.sums, e);
}

/* Refuses what several ranks cannot do. */
static bool check_ranks(const struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    int64_t n = b->team.size;

    if (b->out.to_stdout)
        return err_set(e, "--benchdata -: what several ranks record is put together in a file");
    if (o->n_workers * n > MAX_DIRS)
        return err_set(e, "--concurrent %lld of %lld ranks: more than %d in all",
                       (long long)o->n_workers, (long long)n, MAX_DIRS);
    if (b->kind->prepares && !o->list_existing && o->n_objects < n)
        return err_set(e, "--objects %lld is less than one for each of %lld ranks",
                       (long long)o->n_objects, (long long)n);
    return true;
}

static bool run_sweep(void *ctx, const struct phase *p, struct err *e)
{
    struct bench *b = ctx;

    err_clear(&b->error);
    b->cleaning = true;
    b->phase = *p;
    bool ok = bench_run_phase(b, e);
    b->cleaning = false;
    return ok;
}

bool bench_set_up(struct bench *b, struct err *e)
{
    b->out.fd = -1;
    b->engine.event = -1;
    b->out.path = (char *)b->o->path;
    b->out.to_stdout = strcmp(b->out.path, "-") == 0;
    if (b->team.size > 1 && !check_ranks(b, e))
        return false;
    if (!name_sums(b, e))
        return false;
    if (b->out.to_stdout && !b->o->stress && isatty(STDOUT_FILENO))
        return err_set(e, "--benchdata -: a capture is not written to a terminal");
    if (!raise_descriptor_limit(b->o, &b->engine.idle_max, e))
        return false;
    b->n_loops = crew_n_loops((unsigned)b->o->n_workers, (unsigned)b->o->n_threads);
    b->engine.idle_max /= b->n_loops;
    b->engine.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (b->engine.event < 0)
        return err_errno(e, errno, "cannot make an eventfd");
    if (gethostname(b->host, sizeof b->host - 1) != 0)
        return err_errno(e, errno, "cannot get the name of this machine");
    /* Open MPI makes a terminal of standard output alone, wherever that goes. */
    if (!b->o->ranks.progress && !isatty(STDERR_FILENO))
        setenv("NO_COLOR", "1", 1);
    b->screen.enabled =
        !b->o->quiet && b->team.rank == 0 && (b->o->ranks.progress || isatty(STDERR_FILENO));
    if (!init_engine(b, e) || !control_init(&b->control, &b->engine, team_tick, &b->team, e) ||
        !signals_init(&b->signals, &b->control.crew, e))
        return false;
    b->control.give_up_ns = b->o->give_up_ns;
    b->summary = (struct summary){
        .command = b->args.command->name,
        .o = b->o,
        .host = b->host,
        .start_ns = clock_now_ns() + b->engine.offset_ns,
        .team = &b->team,
    };
    b->sweep = (struct sweep){&b->work, run_sweep, b, .n_most = UINT64_MAX};
    return work_init(&b->work, b->kind, b->o, &b->engine, e);
}

bool bench_make_crew(struct bench *b, struct err *e)
{
    if (!crew_init(&b->crew, &b->engine, b->recorder, b->n_loops, 0, (unsigned)b->o->n_workers, e))
        return false;
    atomic_store(&b->signals.crew, &b->crew);
    return true;
}

bool bench_start_recording(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct strbuf comment = {0};

    if (!open_capture(b, e))
        return false;
    b->summary.capture = b->out.fd >= 0 ? b->out.part : NULL;
    const struct recorder_options options = {
        .fd = b->out.fd,
        .name = b->out.part,
        .intended = o->rate > 0,
        .n_loops = b->n_loops,
        .autoterm = o->autoterm,
        .autoterm_dur_ns = o->autoterm_dur_ns,
        .autoterm_pct = o->autoterm_pct,
        .autoterm_together = b->team.size > 1,
        .offset_ns = b->engine.offset_ns,
        .event = b->engine.event,
    };
    b->recorder = recorder_open(&options, e);
    if (b->recorder == NULL)
        return false;
    if (options.autoterm_together && o->autoterm)
        b->team.vote =
            (struct vote){b->recorder, o->autoterm_dur_ns, o->autoterm_pct, .error = &b->error};
    summary_put_start(&comment, &b->summary, &b->control, b->args.command);
    bool ok =
        comment.failed ? err_set(e, "out of memory") : recorder_start(b->recorder, comment.s, e);
    strbuf_fini(&comment);
    return ok && bench_make_crew(b, e);
}

bool bench_close_capture(struct bench *b, struct err *e)
{
    struct strbuf comment = {0};

    if (b->recorder == NULL)
        return true;
    /* Cleaning has no rows, and no writer would take them. */
    crew_end_recording(&b->crew);
    b->summary.n_resent = (uint64_t)crew_counts(&b->crew).n_resent;
    b->summary.clock_change_ns = clock_offset_ns() - b->engine.offset_ns;
    summary_put_end(&comment, &b->summary, &b->control, &b->crew);
    bool ok =
        comment.failed ? err_set(e, "out of memory") : recorder_close(b->recorder, comment.s, e);
    strbuf_fini(&comment);
    /* Without its first frame it says nothing. */
    struct stat st;
    if (!ok && b->out.fd >= 0 && !b->out.to_stdout && fstat(b->out.fd, &st) == 0 &&
        st.st_size == 0) {
        unlink(b->out.part);
        b->summary.capture = NULL;
    }
    if (b->out.fd >= 0 && close(b->out.fd) != 0 && ok)
        ok = err_errno(e, errno, "cannot write '%s'", b->out.part);
    b->out.fd = -1;
    return ok;
}

void bench_tear_down(struct bench *b)
{
    signals_fini(&b->signals);
    recorder_free(b->recorder);
    crew_fini(&b->crew);
    sweep_fini(&b->sweep);
    work_fini(&b->work);
    control_fini(&b->control);
    if (b->engine.credentials != NULL)
        credentials_fini(&b->credentials);
    engine_fini(&b->engine);
    ssec_fini(&b->ssec);
    if (b->out.fd >= 0)
        close(b->out.fd);
    if (b->engine.event >= 0)
        close(b->engine.event);
}
