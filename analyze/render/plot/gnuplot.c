#include "analyze/render/plot/gnuplot.h"

#include "analyze/base/tasks.h"
#include "analyze/render/plot/svg.h"
#include "analyze/write/unfinished.h"
#include "libcommon/mem.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 2

extern char **environ;

/* A running gnuplot: its messages go to `said`, its picture to the file `aside`. */
struct child {
    struct unfinished unfinished; /* aside, and its pid */
    FILE *said;
    char *aside;
};

static bool has_scripts(const char *folder)
{
    char *path;
    bool found = mem_format(&path, NULL, "%s/style.gp", folder) && access(path, R_OK) == 0;

    free(path);
    return found;
}

static bool find_scripts(struct plot_gnuplot *g, struct err *e)
{
    static const char *const beside[] = {"/../share/s3analyze/plots", "/../plots"};
    const char *given = getenv("S3ANALYZE_PLOTS");
    char program[4096];

    if (given != NULL && *given != '\0') {
        if (!mem_text(&g->scripts, given, e))
            return false;
        return has_scripts(given) ||
               err_set(e, "%s: S3ANALYZE_PLOTS names this folder, but it holds no chart scripts",
                       given);
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        if (!mem_format(&g->scripts, e, "%s%s", program, beside[i]))
            return false;
        if (has_scripts(g->scripts))
            return true;
        free(g->scripts);
        g->scripts = NULL;
    }
    return err_set(e,
                   "%s%s holds no chart scripts: install them, or name their folder in the "
                   "environment variable S3ANALYZE_PLOTS",
                   program, beside[0]);
}

/* Returns our environment with a UTF-8 locale, without which gnuplot prints warnings. The caller
 * frees the array, not the strings. NULL: out of memory. */
static char **utf8_environment(void)
{
    size_t n = 0, n_kept = 0;
    while (environ[n] != NULL)
        n++;
    char **env;
    if (!mem_new(&env, n + 2, NULL))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            env[n_kept++] = environ[i];
    env[n_kept] = "LC_ALL=C.UTF-8";
    env[n_kept + 1] = NULL;
    return env;
}

/* Resets in gnuplot the signals that we block or ignore. Returns an error number. */
static int usual_signals(posix_spawnattr_t *attr)
{
    sigset_t none, ignored;
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGXFSZ);
    int error = posix_spawnattr_setsigmask(attr, &none);
    error = error != 0 ? error : posix_spawnattr_setsigdefault(attr, &ignored);
    return error != 0
               ? error
               : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Starts gnuplot, and registers it and its picture as unfinished. Returns an error number. */
static int spawn(struct child *c, const posix_spawn_file_actions_t *actions, char *const argv[],
                 char *const env[])
{
    posix_spawnattr_t attr;
    pid_t pid = 0;
    int error = posix_spawnattr_init(&attr);

    if (error != 0)
        return error;
    error = usual_signals(&attr);
    if (error == 0) {
        unfinished_lock();
        error = posix_spawnp(&pid, argv[0], actions, &attr, argv, env);
        if (error == 0)
            unfinished_add(&c->unfinished, c->aside, pid);
        unfinished_unlock();
    }
    posix_spawnattr_destroy(&attr);
    return error;
}

static bool start(struct child *c, char *const argv[], struct err *e)
{
    posix_spawn_file_actions_t actions;
    c->said = tmpfile();
    if (c->said == NULL)
        return err_errno(e, errno, "a temporary file");
    char **env = utf8_environment();
    int fd = fileno(c->said);
    int error = env != NULL ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, fd, 1);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, fd, 2);
        error = error != 0 ? error : spawn(c, &actions, argv, env);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(env);
    if (error == 0)
        return true;
    fclose(c->said);
    if (error == ENOENT)
        return err_set(e,
                       "gnuplot is missing, which draws the charts: apt-get install gnuplot-nox");
    return err_errno(e, error, "gnuplot");
}

/* Waits for gnuplot. False: it failed or printed a message. */
static bool has_drawn(struct child *c, const char *picture, struct err *e)
{
    char line[512], said[512] = "";
    int status = unfinished_wait(&c->unfinished);

    rewind(c->said);
    /* The last line says what is wrong, earlier lines say where. */
    while (fgets(line, sizeof line, c->said) != NULL)
        if (line[strspn(line, " \t\r\n^")] != '\0')
            memcpy(said, line, sizeof said);
    fclose(c->said);
    said[strcspn(said, "\r\n")] = '\0';
    if (said[0] != '\0')
        return err_set(e, "%s: gnuplot: %s", picture, said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(e, "%s: gnuplot failed", picture);
    return true;
}

/* Waits for gnuplot and moves the picture to its place. */
static bool finish(struct child *c, const struct plot_drawing *d, struct err *e)
{
    bool ok = has_drawn(c, d->picture, e);
    if (ok && d->title != NULL)
        ok = plot_svg_finish(c->aside, d->picture, d->title, d->width, d->height, e);
    else if (ok)
        ok =
            rename(c->aside, d->picture) == 0 || err_errno(e, errno, "cannot write %s", d->picture);
    if (!ok || d->title != NULL)
        unlink(c->aside);
    unfinished_drop(&c->unfinished);
    return ok;
}

bool plot_gnuplot_init(struct plot_gnuplot *g, struct err *e)
{
    *g = (struct plot_gnuplot){NULL};
    return find_scripts(g, e);
}

void plot_gnuplot_fini(struct plot_gnuplot *g)
{
    free(g->scripts);
    *g = (struct plot_gnuplot){NULL};
}

/* Returns the prefix of a path for gnuplot, which takes a name that begins with '<' or '|' for a
 * command, and "-" for its input. */
static const char *plain(const char *path)
{
    return *path == '/' ? "" : "./";
}

/* Sets *path to a temporary file beside the picture; its extension, in lower case, tells the
 * scripts the format. */
static bool aside_path(char **path, const char *picture, struct err *e)
{
    const char *end = strrchr(picture, '.');

    if (!mem_format(path, e, "%s%s.%ld.part%s", plain(picture), picture, (long)getpid(), end))
        return false;
    for (char *c = *path + strlen(*path) - strlen(end); *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return true;
}

static bool start_drawing(const struct plot_gnuplot *g, const struct plot_drawing *d,
                          struct child *c, struct err *e)
{
    char width[16], height[16], font[16];
    char *script = NULL, *data = NULL;

    bool ok = aside_path(&c->aside, d->picture, e) &&
              mem_format(&script, e, "%s/%s.gp", g->scripts, d->chart) &&
              mem_format(&data, e, "%s%s", plain(d->data), d->data);
    snprintf(width, sizeof width, "%d", d->width);
    snprintf(height, sizeof height, "%d", d->height);
    snprintf(font, sizeof font, "%d", d->font_px);
    if (ok) {
        char *argv[] = {"gnuplot",        "-d", "-c", script, data, c->aside, width, height,
                        (char *)d->theme, font, NULL};
        ok = start(c, argv, e);
    }
    free(script);
    free(data);
    return ok;
}

struct job {
    const struct plot_gnuplot *gnuplot;
    const struct plot_drawing *drawing;
};

static bool draw(void *job, struct err *e)
{
    const struct job *j = job;
    struct child c = {0};
    bool ok = start_drawing(j->gnuplot, j->drawing, &c, e) && finish(&c, j->drawing, e);

    free(c.aside);
    return ok;
}

bool plot_gnuplot_draw(const struct plot_gnuplot *g, const struct plot_drawing *drawings, size_t n,
                       struct err *e)
{
    struct job *jobs = NULL;
    struct task *tasks = NULL;
    bool ok = mem_new(&jobs, n + 1, e) && mem_new(&tasks, n + 1, e);

    for (size_t i = 0; ok && i < n; i++) {
        struct stat st;
        jobs[i] = (struct job){g, &drawings[i]};
        tasks[i] = (struct task){draw, &jobs[i],
                                 stat(drawings[i].data, &st) == 0 ? (uint64_t)st.st_size : 0};
    }
    ok = ok && tasks_run(tasks, n, AT_ONCE, e);
    free(jobs);
    free(tasks);
    return ok;
}
