#include "analyze/write/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct unfinished *first;
    const char *program;
    sigset_t signals;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

void unfinished_lock(void)
{
    pthread_mutex_lock(&list.lock);
}

void unfinished_unlock(void)
{
    pthread_mutex_unlock(&list.lock);
}

void unfinished_add(struct unfinished *u, const char *path, pid_t pid)
{
    *u = (struct unfinished){.path = path, .pid = pid, .next = list.first};
    list.first = u;
}

void unfinished_drop(struct unfinished *u)
{
    unfinished_lock();
    for (struct unfinished **at = &list.first; *at != NULL; at = &(*at)->next)
        if (*at == u) {
            *at = u->next;
            break;
        }
    unfinished_unlock();
}

int unfinished_wait(struct unfinished *u)
{
    siginfo_t ended;
    int status = 0;

    /* Once the child is reaped, another process may get its pid. A signal kills listed pids, so the
     * pid is taken from the list first. */
    TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)u->pid, &ended, WEXITED | WNOWAIT));
    unfinished_lock();
    pid_t pid = u->pid;
    u->pid = 0;
    unfinished_unlock();
    TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
    return status;
}

/* ---- When a signal comes ---- */

static void remove_folder(const char *path)
{
    const struct dirent *entry;
    DIR *dir = opendir(path);

    if (dir != NULL) {
        while ((entry = readdir(dir)) != NULL)
            unlinkat(dirfd(dir), entry->d_name, 0); /* "." and ".." stay */
        closedir(dir);
    }
    rmdir(path);
}

/* Kills the children and removes the files on the list. Returns whether there were any. */
static bool remove_all(void)
{
    /* First the children: they could create their files again. */
    for (const struct unfinished *u = list.first; u != NULL; u = u->next)
        if (u->pid > 0 && kill(u->pid, SIGKILL) == 0)
            waitpid(u->pid, NULL, 0);
    for (const struct unfinished *u = list.first; u != NULL; u = u->next)
        if (unlink(u->path) != 0 && (errno == EISDIR || errno == EPERM))
            remove_folder(u->path);
    return list.first != NULL;
}

static void *watch(void *unused)
{
    sigset_t one;
    int caught;

    (void)unused;
    while (sigwait(&list.signals, &caught) != 0)
        continue;
    unfinished_lock(); /* for good: no thread can create or finish a file any more */
    if (remove_all())
        fprintf(stderr, "%s%s: stopped by SIG%s: unfinished output is removed\n",
                isatty(STDERR_FILENO) ? "\n" : "", list.program, sigabbrev_np(caught));
    /* End by the signal, so that the shell or make sees the cause. */
    signal(caught, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, caught);
    raise(caught);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    return NULL;
}

void unfinished_watch(const char *program)
{
    static const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    pthread_t thread;

    list.program = program;
    sigemptyset(&list.signals);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&list.signals, wanted[i]);
    signal(SIGXFSZ, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &list.signals, NULL);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    else /* Without the thread, signals end the process and remove nothing. */
        pthread_sigmask(SIG_UNBLOCK, &list.signals, NULL);
}
