/* Repeats runs of s3load until a question is answered. s3analyze plan decides what runs next. This
 * file checks the command first, and then starts the runs. */
#include "loadgen/cmd/commands.h"

#include "libcommon/mem.h"
#include "libcommon/slo.h"
#include "loadgen/ranks/ranks.h"
#include "loadgen/run/bench.h"
#include "loadgen/util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORM                                                                                       \
    "write s3load repeat capacity|sweep|ab --dir DIR OPTION... -- COMMAND --host HOST OPTION..."
#define LINE_BYTES 8192
#define MAX_WORDS  1024 /* of a command */

/* s3analyze gets all options but --quiet as they are. */
struct repeat_given {
    const char *dir, *concurrent, *rate, *before, *after, *unused;
    struct cli_list several;
    bool quiet;
};

#define TEXT(n, arg, what) TEXT_IN(unused, n, arg, what)
#define TEXT_IN(field, n, arg, what)                                                               \
    {                                                                                              \
        n, CLI_STRING, offsetof(struct repeat_given, field), arg, .is = CLI_OTHER, .help = what    \
    }

static const struct cli_option table[] = {
    TEXT_IN(dir, "dir", "DIR", "where the runs are kept; a plan that is there goes on"),
    TEXT("max-runs", "N", "runs at most; of ab: on each side"),
    TEXT("seed", "N", "seed of random orders"),
    {"quiet", CLI_FLAG, offsetof(struct repeat_given, quiet), NULL, .is = CLI_OTHER,
     .help = "show only warnings of the runs", .letter = 'q'},
    {0},
};
static const struct cli_option capacity_table[] = {
    {"slo", CLI_STRINGS, offsetof(struct repeat_given, several), "TEXT", .is = CLI_OTHER,
     .help = SLO_HELP},
    TEXT("precision", "PCT", "how far apart the ends may be, in percent [5]"),
    TEXT("from", "N", "the first rate [100]"),
    {0},
};
static const struct cli_option sweep_table[] = {
    TEXT_IN(concurrent, "concurrent", "N,...", "requests in flight"),
    TEXT_IN(rate, "rate", "N,...", "or requests per second"),
    TEXT("runs", "N", "runs at each of them [3]"),
    {0},
};
static const struct cli_option ab_table[] = {
    TEXT_IN(before, "before", "ARGS",
            "options that only runs of this side get, as '--host a --tls'"),
    TEXT_IN(after, "after", "ARGS", "options that only runs of the other side get"),
    TEXT("gate", "METRIC:PCT,...", "how much worse it may be, as of s3analyze cmp"),
    {0},
};

static const struct cli_group groups[] = {
    {"All plans", NULL, table, 0},
    {"capacity", NULL, capacity_table, 0},
    {"sweep", NULL, sweep_table, 0},
    {"ab", NULL, ab_table, 0},
    {0},
};

/* ---- Signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t signalled;
static volatile sig_atomic_t child;

static void pass_on(int sent)
{
    signalled = sent;
    if (child > 0)
        kill(child, sent);
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = pass_on};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* Starts a child, unless a signal came before. Signals are blocked until pass_on knows the child;
 * one that comes meanwhile ends the child even before execv. If we are killed, the child gets a
 * SIGTERM: it would load beside the runs of the same command given again. */
static pid_t start_child(void)
{
    sigset_t ours, before;

    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&ours, signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before);
    pid_t us = getpid(), pid = signalled == 0 ? fork() : -1;
    child = pid;
    for (size_t i = 0; pid == 0 && i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != us))
        _exit(127);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* Returns the exit status of a child. */
static int end_of(pid_t pid)
{
    int status = 0;

    if (pid > 0)
        TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
    child = 0;
    return pid < 0 ? EXIT_FAILED : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs this program without output: the result is in its capture. Returns its exit status. */
static int run_self(char *const *words)
{
    pid_t pid = start_child();

    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, STDOUT_FILENO);
        execv("/proc/self/exe", words);
        _exit(127);
    }
    return end_of(pid);
}

/* ---- The runs ---- */

static const struct cli_command *const commands[] = {PROGRAMS_S3LOAD(PROGRAMS_ADDRESS) NULL};

/* The words after "--", and those before it, which are for s3analyze. */
struct repeated {
    const struct repeat_given *o;
    char **command, **plan;
    size_t n_command, n_plan;
    struct facts *facts;
};

/* Fills in the words of a run: those of the command, then those of a text. Returns how many. */
static size_t take_words(const struct repeated *x, char *text, char *words[static MAX_WORDS])
{
    size_t n = 0;

    words[n++] = "s3load";
    for (size_t i = 0; i < x->n_command; i++)
        words[n++] = x->command[i];
    for (char *word; n < MAX_WORDS - 1 && (word = strsep(&text, " ")) != NULL;)
        if (*word != '\0')
            words[n++] = word;
    words[n] = NULL;
    return n;
}

/* What s3analyze must know of the command, to say whether it suits the plan. Memory that is shared
 * with the children. */
struct facts {
    int64_t run_ns, n_requests; /* of a run; 0: no limit */
    char given[4096];           /* names of its options, with commas between */
};

static void tell(struct facts *to, const struct cli_args *run, const struct options *o)
{
    const char *name;

    to->run_ns = o->load.duration_ns;
    to->n_requests = o->load.n_requests;
    for (size_t i = 0, n = strlen(to->given); (name = cli_given_at(run, i)) != NULL; i++)
        if (n < sizeof to->given)
            n += (size_t)snprintf(to->given + n, sizeof to->given - n, ",%s", name);
}

/* Checks the command together with the options of one side, as s3load itself would. Returns an exit
 * status. A child does this, because the check splits the options in place, and takes the keys out
 * of the environment. */
static int check(const struct cli_args *args, const struct repeated *x, const char *with,
                 const char *side)
{
    const struct cli_command *const *c = commands;
    bool plain = side[strcspn(side, "\t\n\v\f\r")] == '\0';
    char *words[MAX_WORDS];
    struct cli_args run = {0};
    struct options o = {.failed = false};
    struct err e = {0};
    pid_t pid = start_child();

    if (pid < 0) {
        err_errno(&e, errno, "cannot start a child");
        return cli_failed(args, &e);
    }
    if (pid > 0)
        return end_of(pid);
    int n = (int)take_words(x, (char *)side, words);
    while (*c != NULL && (strcmp((*c)->name, words[1]) != 0 || (*c)->run != bench_main))
        c++;
    bool ok = (*c != NULL || err_set(&e, "after -- comes a command that loads a server")) &&
              (plain || err_set(&e, "options are separated by spaces")) &&
              (!options_hold_secret(commands, words + 1 + x->n_command) ||
               err_set(&e, "a key or password would stand in plan.json: give it in the "
                           "environment (S3LOAD_SECRET_KEY) or in a profile (--profile)"));
    if (ok) {
        o = *(const struct options *)(*c)->defaults;
        ok = cli_parse(*c, n - 1, words + 1, &run, &o, &e);
        run.argc = n;
        run.argv = words;
        o.show.slo = x->o->several.n > 0 ? x->o->several : o.show.slo;
    }
    ok = ok && (run.help_topic == NULL || err_set(&e, "--help is not for the runs")) &&
         bench_complete(&run, &o, &e);
    if (ok)
        tell(x->facts, &run, &o);
    _exit(ok                          ? EXIT_DONE
          : run.no_memory || o.failed ? cli_failed(args, &e)
                                      : cli_wrong_usage(args, "%s%s", with, e.msg));
}

/* ---- The loop ---- */

static int no_tick(void *ctx)
{
    (void)ctx;
    return 10;
}

static bool is_quiet(const char *word)
{
    return strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0;
}

/* Runs s3analyze, and takes the first line that it writes to one of our streams. Returns its exit
 * status; -1: it could not run. */
static int first_line(char *const *words, int stream, char line[static LINE_BYTES])
{
    FILE *said = tmpfile();
    int ours = fcntl(stream, F_DUPFD_CLOEXEC, 0), status = -1;

    if (said != NULL && dup2(fileno(said), stream) >= 0)
        status = sibling_run(words, STDOUT_FILENO, no_tick, NULL);
    dup2(ours, stream);
    close(ours);
    line[0] = '\0';
    if (said != NULL && fseek(said, 0, SEEK_SET) == 0 && fgets(line, LINE_BYTES, said) != NULL)
        line[strcspn(line, "\n")] = '\0';
    if (said != NULL)
        fclose(said);
    return status;
}

/* Makes the plan from all words between the command's name and "--", but for --quiet. s3analyze
 * checks them: what it says of wrong ones is said as our own. Returns an exit status. */
static int begin(const struct cli_args *args, const struct repeated *x, struct err *e)
{
    static const char name[] = "s3analyze: ";
    char line[LINE_BYTES] = "", run_ns[32], n_requests[32];
    char *shown = options_redacted(commands, (int)x->n_command, x->command);
    char *words[MAX_WORDS + 12] = {
        "s3analyze",        "plan", "--begin",        "--command", shown,
        "--run-duration",   run_ns, "--run-requests", n_requests,  "--given",
        x->facts->given + 1};
    size_t n = x->facts->given[0] != '\0' ? 11 : 9;

    snprintf(run_ns, sizeof run_ns, "%" PRId64 "ns", x->facts->run_ns);
    snprintf(n_requests, sizeof n_requests, "%" PRId64, x->facts->n_requests);
    for (size_t i = 0; i < x->n_plan; i++)
        if (!is_quiet(x->plan[i]))
            words[n++] = x->plan[i];
    int status = shown != NULL ? first_line(words, STDERR_FILENO, line) : -1;
    free(shown);
    const char *what = line + (strncmp(line, name, sizeof name - 1) == 0 ? sizeof name - 1 : 0);
    if (status == EXIT_DONE || status == EXIT_USAGE)
        return status == EXIT_DONE ? status : cli_wrong_usage(args, "%s", what);
    err_set(e, "%s", *what != '\0' ? what : "s3analyze could not make the plan");
    return EXIT_FAILED;
}

/* Asks s3analyze for the next run; an empty line: the plan is decided. Sets *broken: whether
 * the last run failed, so that the next one is likely to fail, too. */
static bool ask(const struct repeated *x, char line[static LINE_BYTES], bool *broken, struct err *e)
{
    char *words[] = {"s3analyze", "plan", "--next", "--", (char *)x->o->dir, NULL};
    int status = first_line(words, STDOUT_FILENO, line);

    *broken = status == EXIT_UNDECIDED;
    return *broken || status == EXIT_DONE || err_set(e, "s3analyze could not say what is next");
}

/* Runs the command with the options of a line, "NAME OPTION...". */
static int run_line(const struct repeated *x, char *line, struct err *e)
{
    char path[4096 + 64];
    char *words[MAX_WORDS + 8];
    const char *name = strsep(&line, " ");
    size_t n = take_words(x, line, words);

    if ((size_t)snprintf(path, sizeof path, "%s/%s", x->o->dir, name) >= sizeof path)
        return err_set(e, "the folder's name is too long"), EXIT_FAILED;
    if (!x->o->quiet)
        bench_show_command(stderr, name, words + 1 + x->n_command);
    words[n++] = "--benchdata";
    words[n++] = path;
    words[n++] = "--json"; /* no report of each run */
    words[n++] = x->o->quiet ? "--quiet" : NULL;
    words[n] = NULL;
    return run_self(words);
}

static int repeat(const struct repeated *x, struct err *e)
{
    char line[LINE_BYTES], last[LINE_BYTES] = "";
    char *words[] = {"s3analyze", "plan", "--", (char *)x->o->dir, NULL};
    int status = EXIT_DONE;
    bool broken = false;

    catch_signals();
    for (;;) {
        if (!ask(x, line, &broken, e) || signalled != 0)
            return EXIT_FAILED;
        if (line[0] == '\0')
            return sibling_run(words, STDOUT_FILENO, no_tick, NULL);
        /* This run failed before it recorded anything; it would fail again. */
        if (strcmp(line, last) == 0)
            return err_set(e, "this run left no capture: %s", line), status;
        /* s3analyze said why. A server that is gone, or ends at this load, would do so for ever. */
        if (last[0] != '\0' && broken)
            return err_set(e, "the plan stops here; the same command goes on with it"), EXIT_FAILED;
        strcpy(last, line);
        status = run_line(x, line, e);
        if (signalled != 0 || status >= 128 || e->msg[0] != '\0' || status == EXIT_USAGE)
            return status;
    }
}

static int run(const struct cli_args *args, void *options)
{
    struct repeated x = {.o = options,
                         .facts = mmap(NULL, sizeof *x.facts, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    struct err e = {0};
    int at = 2;

    while (at < args->argc && strcmp(args->argv[at], "--") != 0)
        at++;
    if (at + 1 >= args->argc || args->argc > MAX_WORDS / 2 ||
        args->n_operands < (size_t)(args->argc - at))
        return cli_wrong_usage(args, FORM);
    if (x.o->dir == NULL)
        return cli_wrong_usage(args, "--dir DIR is missing: the folder for the captures");
    if (ranks_size() > 1)
        return cli_wrong_usage(args, "repeat runs alone: start s3load, not s3load-mpi");
    x.plan = args->argv + 2;
    x.n_plan = (size_t)at - 2;
    x.command = args->argv + at + 1;
    x.n_command = (size_t)(args->argc - at - 1);
    if (x.facts == MAP_FAILED)
        mem_none(&e);
    if (x.facts == MAP_FAILED || !sibling_is_there("repeat", &e))
        return cli_failed(args, &e);
    const char *before = x.o->before, *after = x.o->after;
    int status = check(args, &x, before ? "with --before: " : "", before ? before : "");
    if (status == EXIT_DONE && after != NULL)
        status = check(args, &x, "with --after: ", after);
    if (status == EXIT_DONE)
        status = begin(args, &x, &e);
    if (status == EXIT_USAGE)
        return status;
    if (status == EXIT_DONE)
        status = repeat(&x, &e);
    /* After a signal, report the signal and not the failure that it caused: Ctrl-C ends s3analyze,
     * too. */
    if (signalled != 0)
        return 128 + signalled;
    return e.msg[0] != '\0' ? (cli_failed(args, &e), status > 0 ? status : EXIT_FAILED) : status;
}

static const struct cli_exit exits[] = {
    {"1, 3", "ab: after is worse than the gate allows; capacity: no rate is low enough; any plan: "
             "undecided"},
    {0},
};

const struct cli_command cmd_repeat = {
    .name = "repeat",
    .summary = "run again and again until a question is answered",
    .text =
        "Starts runs of s3load, each an ordinary capture in --dir, until s3analyze plan has the "
        "answer. capacity: the highest --rate at which the --slo assertions are met, as an "
        "interval. sweep: throughput and latency against --concurrent or --rate. ab: whether "
        "--after is worse than --before by more than --gate allows.\n\n"
        "An interrupted plan goes on when the same command is given again. s3analyze plan DIR "
        "shows at any time what was found.",
    .operands = "capacity|sweep|ab -- COMMAND OPTION...",
    .unknown = FORM,
    .min_operands = 1,
    .max_operands = CLI_ANY_NUMBER,
    .groups = groups,
    .examples =
        (const struct cli_example[]){
            {"s3load repeat capacity --dir cap --slo 'p99<20ms' -- get --duration 30s",
             "the rate that keeps p99 below 20 ms: at most 25 runs, often 10"},
            {"s3load repeat sweep --dir load --concurrent 1,4,16,64 -- get --duration 30s",
             "3 runs at each number of requests in flight: 12 runs"},
            {"s3load repeat ab --dir ab --before '--host a' --after '--host b' -- get",
             "is b slower than a? 4 to 25 runs of each"},
            {0}},
    .options_size = sizeof(struct repeat_given),
    .exits = exits,
    .run = run,
};
