#include "loadgen/util/util.h"

#include "libcommon/slice.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether a variable may hold a secret: by its name, or a password in a URL. */
static bool is_secret(const char *variable)
{
    static const char *const parts[] = {"KEY", "SECRET", "TOKEN", "PASS"};
    size_t n = strcspn(variable, "=");

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *at = strcasestr(variable, parts[i]);
        if (at != NULL && at < variable + n)
            return true;
    }
    return slice_userinfo(variable + n).n > 0;
}

void sibling_drop_secrets(void)
{
    char **last = environ;

    for (char **from = environ; *from != NULL; from++)
        if (!is_secret(*from))
            *last++ = *from;
    *last = NULL;
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

void sibling_become(char *const *words)
{
    char path[4096];
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sibling_drop_secrets();
    if (find(path, sizeof path))
        execv(path, words);
    _exit(127);
}

int sibling_run(char *const *words, int to, int (*tick)(void *ctx), void *ctx)
{
    int status = 0;
    pid_t ended = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (to == SIBLING_NOWHERE)
            to = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (to >= 0 && to != STDOUT_FILENO)
            dup2(to, STDOUT_FILENO);
        sibling_become(words);
    }
    if (child < 0)
        return -1;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0)
        clock_sleep_ns(tick(ctx) * NS_PER_MS);
    bool ran = ended == child && WIFEXITED(status) && WEXITSTATUS(status) != 127;
    return ran ? WEXITSTATUS(status) : -1;
}
