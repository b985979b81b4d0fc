/* Files and processes that must not outlive a run which a signal ends: outputs written aside,
 * folders of charts, gnuplot. A signal concerns the process and carries no context, so the list of
 * them is the one thing that is global. */
#ifndef S3_ANALYZE_WRITE_UNFINISHED_H
#define S3_ANALYZE_WRITE_UNFINISHED_H

#include <sys/types.h>

/* One entry, in memory of its owner, which may not move while it is listed. */
struct unfinished {
    const char *path; /* of a file, or of a folder that holds files alone */
    pid_t pid;        /* a child that writes it; 0: none */
    struct unfinished *next;
};

/* From here on SIGINT, SIGTERM and SIGHUP (unless it is ignored, as under nohup) end the process as
 * ever, but what is listed is removed before. SIGXFSZ is ignored, so that a write past the limit
 * fails as one on a full disk does. To be called before any other thread is started. */
void unfinished_watch(const char *program);

/* Between these two no signal ends the process: a file is created and listed in one step. */
void unfinished_lock(void);
void unfinished_unlock(void);

/* Lists *u, between the two above; *path must live as long as it is listed. */
void unfinished_add(struct unfinished *u, const char *path, pid_t pid);

/* Takes it from the list; nothing happens if it is not there. */
void unfinished_drop(struct unfinished *u);

/* Waits for the child to end, and reaps it. Returns its status as waitpid gives it. */
int unfinished_wait(struct unfinished *u);

#endif
