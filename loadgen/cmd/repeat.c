/* Repeats runs of s3load until a question is answered. s3analyze plan decides what runs next. This
 * file checks the command first, and then starts the runs. */
#include "loadgen/cmd/commands.h"

#include "libcommon/mem.h"
#include "libcommon/slo.h"
#include "libcommon/visible.h"

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
#define PATH_BYTES (4096 + 64)
#define LAST_BYTES 1024 /* that a hook wrote before it failed are shown */

/* s3analyze gets all options as they are, but for those of own_table. */
struct repeat_given {
    const char *dir, *before, *after, *unused, *before_run, *after_run;
    struct cli_list several;
    int64_t hook_ns;
    bool quiet;
};

static const struct repeat_given defaults = {.hook_ns = 600 * NS_PER_S};

#define TEXT(n, arg, what) TEXT_IN(unused, n, arg, what)
#define TEXT_IN(field, n, arg, what)                                                               \
    {                                                                                              \
        n, CLI_STRING, offsetof(struct repeat_given, field), arg, .is = CLI_OTHER, .help = what    \
    }

static const struct cli_option table[] = {
    TEXT_IN(dir, "dir", "DIR", "where the runs are; a plan that is there goes on"),
    TEXT("max-runs", "N", "runs at most; of ab: on each side"),
    TEXT("seed", "N", "seed of random orders"),
    {0},
};
static const struct cli_option own_table[] = {
    TEXT_IN(before_run, "before-run", "CMD",
            "shell command before each run, with RUN, SIDE, LEVEL and CAPTURE in its environment"),
    TEXT_IN(after_run, "after-run", "CMD", "the same after each run"),
    {"hook-timeout", CLI_DURATION, offsetof(struct repeat_given, hook_ns), "DUR", .is = CLI_OTHER,
     .help = "how long such a command may take", .min = NS_PER_S, .max = 1e9 * NS_PER_S},
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
    TEXT("concurrent", "N,...", "requests in flight"),
    TEXT("rate", "N,...", "or requests per second"),
    TEXT("runs", "N", "runs at each of them [3]"),
    {0},
};
static const struct cli_option ab_table[] = {
    TEXT_IN(before, "before", "ARGS", "options of this side's runs: '--host a --tls'"),
    TEXT_IN(after, "after", "ARGS", "options of the other side's runs"),
    TEXT("gate", "METRIC:PCT,...", "how much worse it may be, as of s3analyze cmp"),
    {0},
};

static const struct cli_group groups[] = {
    {"All plans", NULL, table, 0},
    {"All plans", NULL, own_table, 0},
    {"capacity", NULL, capacity_table, 0},
    {"sweep", NULL, sweep_table, 0},
    {"ab", NULL, ab_table, 0},
    {0},
};

/* ---- Signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
static volatile sig_atomic_t signalled;
static volatile sig_atomic_t too_late; /* a hook took too long */
static volatile sig_atomic_t child;

/* A hook has a process group of its own, other children have not. */
static void pass_on(int sent)
{
    bool late = sent == SIGALRM;

    *(late ? &too_late : &signalled) = sent;
    if (child > 0 && kill(-child, late ? SIGKILL : sent) != 0)
        kill(child, late ? SIGKILL : sent);
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
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
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

/* Returns how many words from this one on are an option of own_table. */
static size_t n_own(const char *word)
{
    const char *name = word + strspn(word, "-");
    size_t n = strcspn(name, "=");

    for (const struct cli_option *k = own_table; name != word && k->type != CLI_NONE; k++)
        if ((n == 1 && *name == k->letter) || (strlen(k->name) == n && !memcmp(k->name, name, n)))
            return k->type == CLI_FLAG || name[n] == '=' ? 1 : 2;
    return 0;
}

/* Runs s3analyze. What it writes to a stream goes to `to`. Returns its exit status. */
static int run_sibling(char *const *words, int stream, int to)
{
    pid_t pid = start_child();

    if (pid == 0 && dup2(to, stream) >= 0)
        sibling_become(words);
    if (pid == 0)
        _exit(127);
    return end_of(pid);
}

/* Runs s3analyze, and takes the first line that it writes to a stream. Returns its exit status. */
static int first_line(char *const *words, int stream, char line[static LINE_BYTES])
{
    FILE *said = tmpfile();
    int status = said != NULL ? run_sibling(words, stream, fileno(said)) : EXIT_FAILED;

    line[0] = '\0';
    if (said != NULL && fseek(said, 0, SEEK_SET) == 0 && fgets(line, LINE_BYTES, said) != NULL)
        line[strcspn(line, "\n")] = '\0';
    if (said != NULL)
        fclose(said);
    return status;
}

/* Makes the plan from the words between the command's name and "--". s3analyze checks them: what it
 * says of wrong ones is said as our own. Returns an exit status. */
static int begin(const struct cli_args *args, const struct repeated *x, struct err *e)
{
    static const char name[] = "s3analyze: ";
    char line[LINE_BYTES] = "", run_ns[32], n_requests[32];
    char *shown = options_redacted(commands, x->command);
    char *words[MAX_WORDS + 12] = {
        "s3analyze",        "plan", "--begin",        "--command", shown,
        "--run-duration",   run_ns, "--run-requests", n_requests,  "--given",
        x->facts->given + 1};
    size_t n = x->facts->given[0] != '\0' ? 11 : 9;

    snprintf(run_ns, sizeof run_ns, "%" PRId64 "ns", x->facts->run_ns);
    snprintf(n_requests, sizeof n_requests, "%" PRId64, x->facts->n_requests);
    for (size_t i = 0, n_skipped; i < x->n_plan; i += n_skipped) {
        n_skipped = n_own(x->plan[i]);
        if (n_skipped == 0)
            words[n++] = x->plan[i++];
    }
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

/* Runs the command with more options; its capture goes to `path`. */
static int run_one(const struct repeated *x, char *path, char *options)
{
    char *words[MAX_WORDS + 8];
    size_t n = take_words(x, options, words);

    if (!x->o->quiet)
        bench_show_command(stderr, strrchr(path, '/') + 1, words + 1 + x->n_command);
    words[n++] = "--benchdata";
    words[n++] = path;
    words[n++] = "--json"; /* no report of each run */
    words[n++] = x->o->quiet ? "--quiet" : NULL;
    words[n] = NULL;
    pid_t pid = start_child();
    if (pid == 0) {
        /* The result is in the capture. */
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            dup2(null, STDOUT_FILENO);
        execv("/proc/self/exe", words);
        _exit(127);
    }
    return end_of(pid);
}

/* ---- Hooks ---- */

/* Becomes a hook of a run, "run-NUMBER-WHAT", in a session of its own: it can ask nobody at a
 * terminal, and all that it starts gets the signals that we pass on. */
static void become_hook(const struct repeated *x, const char *command, const char *run, int log)
{
    char *what, *dir = NULL, *capture;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    char number[32];

    snprintf(number, sizeof number, "%lu", strtoul(run + strcspn(run, "-") + 1, &what, 10));
    what += *what == '-';
    bool ab = strcmp(what, "before") == 0 || strcmp(what, "after") == 0;
    setsid();
    sibling_drop_secrets();
    if (chdir(x->o->dir) == 0 && (dir = getcwd(NULL, 0)) != NULL &&
        asprintf(&capture, "%s/%s.csv.zst", dir, run) > 0 && setenv("RUN", number, 1) == 0 &&
        setenv("SIDE", ab ? what : "", 1) == 0 && setenv("LEVEL", ab ? "" : what, 1) == 0 &&
        setenv("CAPTURE", capture, 1) == 0 && dup2(null, STDIN_FILENO) >= 0 &&
        dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

/* Shows the last lines of a file, but none that was there when it had n bytes. */
static void show_end(FILE *f, long n)
{
    char line[LAST_BYTES];

    fseek(f, 0, SEEK_END);
    bool all = ftell(f) - n < LAST_BYTES;
    fseek(f, all ? n : -LAST_BYTES, all ? SEEK_SET : SEEK_END);
    for (bool whole = all; fgets(line, sizeof line, f) != NULL; whole = true) {
        line[strcspn(line, "\n")] = '\0';
        if (whole)
            visible_line(stderr, "%s", line);
    }
}

/* Runs the command of an option before or after a run. False: it failed, or a signal came. */
static bool run_hook(const struct repeated *x, const char *option, const char *command,
                     const char *path, struct err *e)
{
    char log_path[PATH_BYTES + 8], how[32];

    if (command == NULL)
        return true;
    snprintf(log_path, sizeof log_path, "%s.log", path);
    FILE *log = fopen(log_path, "a+e");
    if (log == NULL || fseek(log, 0, SEEK_END) != 0)
        return err_errno(e, errno, "cannot write '%s'", log_path);
    const char *run = strrchr(path, '/') + 1;
    if (!x->o->quiet)
        visible_line(stderr, "%s: --%s", run, option);
    long n = ftell(log);
    pid_t pid = start_child();
    if (pid == 0)
        become_hook(x, command, run, fileno(log));
    too_late = false;
    alarm((unsigned)(x->o->hook_ns / NS_PER_S));
    int status = end_of(pid);
    alarm(0);
    bool ok = status == 0 && signalled == 0;
    if (!ok && pid > 0)
        kill(-pid, SIGKILL); /* what the shell has left */
    if (!ok && signalled == 0) {
        snprintf(how, sizeof how, "failed (status %d)", status);
        show_end(log, n);
        err_set(e, "--%s %s%s. Its output is in %s. The same command goes on with the plan", option,
                too_late ? "took longer than " : how,
                too_late ? units_duration(x->o->hook_ns).s : "", log_path);
    }
    fclose(log);
    return ok;
}

static int repeat(const struct repeated *x, struct err *e)
{
    char line[LINE_BYTES], last[LINE_BYTES] = "", path[PATH_BYTES];
    char *words[] = {"s3analyze", "plan", "--", (char *)x->o->dir, NULL};
    int status = EXIT_DONE;
    bool broken = false;

    catch_signals();
    for (;;) {
        if (!ask(x, line, &broken, e) || signalled != 0)
            return EXIT_FAILED;
        if (line[0] == '\0')
            return run_sibling(words, STDOUT_FILENO, STDOUT_FILENO);
        /* This run failed before it recorded anything; it would fail again. */
        if (strcmp(line, last) == 0)
            return err_set(e, "this run left no capture: %s", line), status;
        /* s3analyze said why. A server that is gone, or ends at this load, would do so for ever. */
        if (last[0] != '\0' && broken)
            return err_set(e, "the plan stops here; the same command goes on with it"), EXIT_FAILED;
        strcpy(last, line);
        char *options = line;
        const char *name = strsep(&options, " ");
        if (snprintf(path, sizeof path, "%s/%s", x->o->dir, name) >= (int)sizeof path)
            return err_set(e, "the folder's name is too long"), EXIT_FAILED;
        if (!run_hook(x, "before-run", x->o->before_run, path, e))
            return EXIT_FAILED;
        status = run_one(x, path, options);
        if (signalled == 0 && !run_hook(x, "after-run", x->o->after_run, path, e))
            return EXIT_FAILED;
        if (signalled != 0 || status >= 128 || status == EXIT_USAGE)
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
        "shows at any time what was found.\n\n"
        "--before-run and --after-run are run by sh in DIR. RUN is the number of the run, SIDE is "
        "before or after (ab), LEVEL the rate or concurrency (capacity, sweep), CAPTURE the file "
        "of the run. What they print is in run-N-WHAT.log beside that. Variables that may hold "
        "secrets are taken out of the environment. A command that fails ends the plan.",
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
            {"s3load repeat sweep --dir cold --rate 50 --before-run 'flush $RUN' -- get",
             "runs that all begin with cold caches"},
            {0}},
    .options_size = sizeof(struct repeat_given),
    .defaults = &defaults,
    .exits = exits,
    .run = run,
};
