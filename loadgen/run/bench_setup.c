#include "loadgen/run/bench.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* File descriptors other than connections: standard streams, the capture, epoll, events. */
#define OTHER_DESCRIPTORS 16

/* The names of workers' folders have four hexadecimal digits. */
#define MAX_DIRS 65536

static bool init_engine(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct engine *g = &b->engine;

    g->op_style = (struct s3op_style){
        .bucket = o->bucket,
        .region = o->region,
        .tls = o->net.tls,
        .lookup = (enum s3op_lookup)o->net.lookup,
        .sign_payload = !o->net.tls && !o->data.no_payload_hash,
        .md5 = o->data.md5,
        .checksum = (enum checksum_kind)o->data.checksum,
        .storage_class = o->storage_class,
        .sse_s3 = o->data.sse_s3,
        .object_lock = b->kind->object_lock,
    };
    if (o->data.encrypt && !s3op_make_key(&g->op_style, e))
        return false;
    g->conn_style = (struct conn_style){
        .no_proxy = o->net.no_proxy,
        .insecure = o->net.insecure,
        .cacert = o->cacert,
        .connect_timeout_ns = o->net.connect_timeout_ns,
    };
    g->resolve_host = o->net.resolve_host;
    g->keys[0] = o->access_key;
    g->keys[1] = o->secret_key;
    g->keys[2] = o->session_token;
    if (b->team.size > 1)
        snprintf(g->client, sizeof g->client, "%.64s-%d", b->host, b->team.rank);
    else
        snprintf(g->client, sizeof g->client, "%s", b->o->run_id);
    g->seed = (uint64_t)o->load.seed;
    g->rank = (unsigned)b->team.rank;
    g->n_ranks = (unsigned)b->team.size;
    g->deals_hosts = o->ranks.hosts_per_rank;
    g->offset_ns = clock_offset_ns();
    g->request_timeout_ns = o->net.request_timeout_ns;
    return engine_init(g, o->hosts, (enum hosts_select)o->net.host_select, e);
}

/* Raises the limit of file descriptors as far as allowed. *n: how many connections may take. False:
 * the limit is too low. */
static bool raise_descriptor_limit(const struct options *o, size_t *n, struct err *e)
{
    rlim_t needed = (rlim_t)o->load.n_workers + OTHER_DESCRIPTORS;
    struct rlimit limit;

    *n = SIZE_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = before;
    if (limit.rlim_cur < needed)
        return err_set(e,
                       "--concurrent %lld needs %llu open files at least, and the system allows "
                       "%llu (ulimit -n)",
                       (long long)o->load.n_workers, (unsigned long long)needed,
                       (unsigned long long)limit.rlim_cur);
    *n = limit.rlim_cur - OTHER_DESCRIPTORS;
    return true;
}

/* Refuses options that do not work with several ranks. */
static bool check_ranks(const struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    int64_t n = b->team.size;

    if (n == 1)
        return true;
    if (o->load.n_workers * n > MAX_DIRS)
        return err_set(e, "--concurrent %lld of %lld ranks: more than %d in all",
                       (long long)o->load.n_workers, (long long)n, MAX_DIRS);
    if (b->kind->prepares && !o->data.list_existing && o->data.n_objects < n)
        return err_set(e, "--objects %lld is less than one for each of %lld ranks",
                       (long long)o->data.n_objects, (long long)n);
    return true;
}

static bool run_sweep(void *ctx, const struct phase *p, struct err *e)
{
    return bench_run_phase(ctx, BENCH_CLEANING, p, e);
}

bool bench_set_up(struct bench *b, struct err *e)
{
    b->engine.event = b->out.fd = -1;
    b->cleans = options_to_clean(b->o);
    if (b->cleans == NULL)
        return mem_none(e);
    if (!bench_name_outputs(b, e) || !check_ranks(b, e) ||
        !raise_descriptor_limit(b->o, &b->engine.n_descriptors, e))
        return false;
    b->n_loops = crew_n_loops((unsigned)b->o->load.n_workers, (unsigned)b->o->load.n_threads);
    b->engine.n_descriptors /= b->n_loops;
    b->engine.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (b->engine.event < 0)
        return err_errno(e, errno, "cannot make an eventfd");
    if (gethostname(b->host, sizeof b->host - 1) != 0)
        return err_errno(e, errno, "cannot get the name of this machine");
    /* Open MPI gives its ranks a terminal as standard output, wherever the output goes. So look at
     * standard error. */
    if (!b->o->ranks.progress && !isatty(STDERR_FILENO))
        setenv("NO_COLOR", "1", 1);
    b->screen.enabled =
        !b->o->show.quiet && b->team.rank == 0 && (b->o->ranks.progress || isatty(STDERR_FILENO));
    if (!init_engine(b, e) || !control_init(&b->control, &b->engine, bench_tick, b, e) ||
        !signals_init(&b->signals, &b->control.crew, e))
        return false;
    b->control.give_up_ns = b->o->net.give_up_ns;
    b->summary.start_ns = clock_now_ns() + b->engine.offset_ns;
    b->sweep = (struct sweep){&b->work, run_sweep, b, .n_most = UINT64_MAX};
    machine_init(&b->machine, &b->engine);
    return work_init(&b->work, b->kind, b->o, &b->engine, e);
}

bool bench_make_crew(struct bench *b, struct err *e)
{
    /* This stage runs only if all ranks have opened their parts. */
    b->has_parts = b->team.size > 1;
    if (!crew_init(&b->crew, &b->engine, b->recorder, b->n_loops, 0, (unsigned)b->o->load.n_workers,
                   e))
        return false;
    atomic_store(&b->signals.crew, &b->crew);
    return true;
}

void bench_tear_down(struct bench *b)
{
    signals_fini(&b->signals);
    machine_fini(&b->machine);
    recorder_free(b->recorder);
    crew_fini(&b->crew);
    sweep_fini(&b->sweep);
    work_fini(&b->work);
    crew_fini(&b->control.crew);
    engine_fini(&b->engine);
    secret_free(b->engine.op_style.sse_c_key);
    free(b->cleans);
    if (b->out.fd >= 0)
        close(b->out.fd);
    if (b->engine.event >= 0)
        close(b->engine.event);
}
