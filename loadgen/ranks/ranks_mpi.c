/* Uses only functions of MPI-3, which Open MPI and MPICH both have. Tests and sleeps instead of
 * waiting in MPI, because both libraries keep a CPU busy while they wait. */
#include "loadgen/ranks/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG 1

/* MPI_Abort may take this long. */
#define ABORT_S 5

_Static_assert(sizeof(MPI_Request) <= sizeof((struct ranks_call){0}.request), "room for it");

const char ranks_program[] = "s3load-mpi";

const struct cli_option ranks_options[] = {
    {"hosts-per-rank", CLI_FLAG, offsetof(struct ranks_settings, hosts_per_rank), NULL,
     .is = CLI_SETTING, .help = "give each rank its share of the servers"},
    {"keep-parts", CLI_FLAG, offsetof(struct ranks_settings, keep_parts), NULL, .is = CLI_OTHER,
     .help = "also keep the capture of each rank"},
    {"progress", CLI_FLAG, offsetof(struct ranks_settings, progress), NULL, .is = CLI_OTHER,
     .help = "show progress, though launchers hide the terminal"},
    {"rank-timeout", CLI_DURATION, offsetof(struct ranks_settings, timeout_ns), "DUR",
     .is = CLI_OTHER, .help = "end if a rank is silent for this long", .min = 1e9, .max = 86400e9},
    {0},
};

bool ranks_open(struct err *e)
{
    sigset_t set;
    int level = 0;

    /* Block these signals: they would end the process if a thread of MPI got one. */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return err_set(e, "MPI cannot be started");
    if (level < MPI_THREAD_FUNNELED) {
        MPI_Finalize();
        return err_set(e, "this MPI allows no threads (MPI_THREAD_FUNNELED)");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return true;
}

void ranks_close(void)
{
    MPI_Finalize();
}

_Noreturn void ranks_abort(int status)
{
    sigset_t set;

    /* The launcher may not answer, so do not wait for it. */
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(ABORT_S);
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

int ranks_rank(void)
{
    int rank = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_size(void)
{
    int size = 1;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/* Keeps MPI's handle of the call. */
static bool begin(struct ranks_call *c, int result, const MPI_Request *request)
{
    *c = (struct ranks_call){.begun = result == MPI_SUCCESS};
    memcpy(c->request, request, sizeof *request);
    return c->begun;
}

static void add(struct ranks_figures *to, const struct ranks_figures *from)
{
    for (size_t k = 0; k < RANKS_N_SUMS; k++)
        to->sum[k] = (int64_t)((uint64_t)to->sum[k] + (uint64_t)from->sum[k]);
    for (size_t k = 0; k < RANKS_N_MAXES; k++)
        if (from->max[k] > to->max[k])
            to->max[k] = from->max[k];
    for (size_t k = 0; k < AUTOTERM_N_ENDS; k++) {
        to->amount[k].bytes += from->amount[k].bytes;
        to->amount[k].n_objects += from->amount[k].n_objects;
        to->amount[k].object_frac += from->amount[k].object_frac;
    }
}

/* Combines *n elements of struct ranks_figures, which may be unaligned. MPI calls it. */
static void join(void *in, void *inout, int *n, MPI_Datatype *type)
{
    struct ranks_figures from;
    struct ranks_figures to;

    (void)type;
    for (size_t at = 0; at < (size_t)*n * sizeof to; at += sizeof to) {
        memcpy(&from, (char *)in + at, sizeof from);
        memcpy(&to, (char *)inout + at, sizeof to);
        add(&to, &from);
        memcpy((char *)inout + at, &to, sizeof to);
    }
}

bool ranks_join(struct ranks_call *c, const struct ranks_figures *mine, struct ranks_figures *all)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request request = MPI_REQUEST_NULL;

    /* MPI keeps the type and the operation until the call is over. */
    if (MPI_Type_contiguous((int)sizeof *mine, MPI_BYTE, &type) != MPI_SUCCESS ||
        MPI_Type_commit(&type) != MPI_SUCCESS || MPI_Op_create(join, 1, &op) != MPI_SUCCESS)
        return false;
    int result = MPI_Iallreduce(mine, all, 1, type, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return begin(c, result, &request);
}

bool ranks_pass(struct ranks_call *c, bool sends, int other, void *data, size_t n)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (n > INT_MAX)
        return false;
    int result = sends ? MPI_Isend(data, (int)n, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request)
                       : MPI_Irecv(data, (int)n, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &request);
    return begin(c, result, &request);
}

bool ranks_done(struct ranks_call *c)
{
    MPI_Request request;
    MPI_Status status = {0};
    int done = 0;
    int count = 0;

    if (!c->begun)
        return true;
    memcpy(&request, c->request, sizeof request);
    c->failed = MPI_Test(&request, &done, &status) != MPI_SUCCESS;
    memcpy(c->request, &request, sizeof request);
    c->begun = !done && !c->failed;
    if (!c->begun && !c->failed && MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS)
        c->n = (size_t)count;
    return !c->begun;
}
