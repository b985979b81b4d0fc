/* Cleans up when a signal ends the program: removes unfinished outputs and folders of charts, and
 * kills gnuplot. A signal concerns the whole process and carries no context, so the list of what to
 * remove is global. Nothing else is. */
#ifndef S3_ANALYZE_WRITE_UNFINISHED_H
#define S3_ANALYZE_WRITE_UNFINISHED_H

#include <sys/types.h>

/* An entry of the list. Its owner keeps it in memory, at the same place, while it is listed. */
struct unfinished {
    const char *path; /* a file, or a folder that holds only files */
    pid_t pid;        /* the child that writes it; 0: none */
    struct unfinished *next;
};

/* Makes SIGINT, SIGTERM and SIGHUP remove what is listed before they end the process. A signal that
 * is ignored, as SIGHUP under nohup, stays ignored. Ignores SIGXFSZ, so that a write past the limit
 * fails like one on a full disk. Call this before any other thread is started. */
void unfinished_watch(const char *program);

/* No signal ends the process between these two, so that a file can be created and listed. */
void unfinished_lock(void);
void unfinished_unlock(void);

/* Lists *u; call it between lock and unlock. *path must live as long as *u is listed. */
void unfinished_add(struct unfinished *u, const char *path, pid_t pid);

/* Takes *u from the list, if it is there. */
void unfinished_drop(struct unfinished *u);

/* Waits for the child to end, and reaps it. Returns its status as waitpid gives it. */
int unfinished_wait(struct unfinished *u);

#endif
