#include "loadgen/util/util.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool may_pass(const char *variable)
{
    static const char *const names[] = {
        "PATH=",     "HOME=",   "LANG=", "LANGUAGE=",     "TERM=",         "COLUMNS=",      "TZ=",
        "NO_COLOR=", "TMPDIR=", "LC_",   "ASAN_OPTIONS=", "TSAN_OPTIONS=", "UBSAN_OPTIONS="};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool find(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);

    if (n <= 0)
        return false;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + sizeof "s3analyze" > size)
        return false;
    strcpy(slash + 1, "s3analyze");
    return access(path, X_OK) == 0;
}

bool sibling_is_there(const char *what, struct err *e)
{
    char path[4096];

    return find(path, sizeof path) ||
           err_set(e, "%s needs s3analyze beside s3load: install the package s3analyze", what);
}

int sibling_run(char *const *words, int to, int (*tick)(void *ctx), void *ctx)
{
    char path[4096];
    int status = 0;
    pid_t ended = 0;

    if (!find(path, sizeof path))
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        if (to == SIBLING_NOWHERE)
            to = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (to >= 0 && to != STDOUT_FILENO)
            dup2(to, STDOUT_FILENO);
        char **last = environ;
        for (char **from = environ; *from != NULL; from++)
            if (may_pass(*from))
                *last++ = *from;
        *last = NULL;
        execv(path, words);
        _exit(127);
    }
    if (child < 0)
        return -1;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0)
        clock_sleep_ns(tick(ctx) * NS_PER_MS);
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
