#include "analyze/render/plot/charts_internal.h"

#include "analyze/base/tasks.h"
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
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 2

#define NARROW_WIDTH 380

/* Print takes 300 pixels an inch. */
#define PNG_DPI    300
#define PNG_HEADER 33

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

char *plot_scripts(struct err *e)
{
    static const char *const beside[] = {"/../share/s3analyze/plots", "/../plots"};
    const char *given = getenv("S3ANALYZE_PLOTS");
    char program[4096], *scripts = NULL;

    if (given != NULL && *given != '\0') {
        if (!mem_text(&scripts, given, e) || has_scripts(given))
            return scripts;
        free(scripts);
        err_set(e, "%s: S3ANALYZE_PLOTS names this folder, but it holds no chart scripts", given);
        return NULL;
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        if (!mem_format(&scripts, e, "%s%s", program, beside[i]) || has_scripts(scripts))
            return scripts;
        free(scripts);
    }
    err_set(e,
            "%s%s holds no chart scripts: install them, or name their folder in the environment "
            "variable S3ANALYZE_PLOTS",
            program, beside[0]);
    return NULL;
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
static int spawn(struct child *c, const posix_spawn_file_actions_t *actions, char *const argv[])
{
    posix_spawnattr_t attr;
    pid_t pid = 0;
    int error = posix_spawnattr_init(&attr);

    if (error != 0)
        return error;
    error = usual_signals(&attr);
    if (error == 0) {
        unfinished_lock();
        error = posix_spawnp(&pid, argv[0], actions, &attr, argv, environ);
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
    int fd = fileno(c->said), error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, fd, 1);
        error = error != 0 ? error : posix_spawn_file_actions_adddup2(&actions, fd, 2);
        error = error != 0 ? error : spawn(c, &actions, argv);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (error == 0)
        return true;
    fclose(c->said);
    if (error == ENOENT)
        return err_set(e,
                       "gnuplot is missing, which draws the charts: apt-get install gnuplot-nox");
    return err_errno(e, error, "gnuplot");
}

/* Whether a picture has the end of its format: gnuplot succeeds on a full disk, too. */
static bool is_whole(const char *path)
{
    char end[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && lseek(fd, -(off_t)sizeof end, SEEK_END) >= 0 && read(fd, end, sizeof end) < 0)
        end[0] = '\0';
    if (fd >= 0)
        close(fd);
    return memmem(end, sizeof end, "</svg>", 6) != NULL ||
           memmem(end, sizeof end, "IEND", 4) != NULL ||
           memmem(end, sizeof end, "%%EOF", 5) != NULL;
}

/* Waits for gnuplot. False: it drew no whole picture. What else it says is a warning. */
static bool has_drawn(struct child *c, const char *picture, struct err *e)
{
    char line[512], said[512] = "no whole picture";
    int status = unfinished_wait(&c->unfinished);
    bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && is_whole(c->aside);

    rewind(c->said);
    /* The last line says what is wrong, earlier lines say where. */
    while (fgets(line, sizeof line, c->said) != NULL)
        if (line[strspn(line, " \t\r\n^")] != '\0')
            memcpy(said, line, sizeof said);
    fclose(c->said);
    said[strcspn(said, "\r\n")] = '\0';
    return ok || err_set(e, "%s: gnuplot failed: %s", picture, said);
}

/* One picture to draw. */
struct job {
    const char *scripts;
    const struct plot_options *options;
    struct plot_picture *of;
    const char *picture;
    int width, height;
    struct err e;
};

static bool is_print_png(const struct plot_options *o)
{
    return o->inches > 0 && strcasecmp(o->format, "png") == 0;
}

/* Says in a PNG that it has 300 pixels an inch: a chunk pHYs (of the PNG specification, third
 * edition) behind the header, which takes 33 bytes. */
static bool add_density(const char *path, struct err *e)
{
    static const unsigned char density[] = {0,    0,    0, 9,    'p',  'H',  'Y',
                                            's',  0,    0, 0x2E, 0x23, 0,    0,
                                            0x2E, 0x23, 1, 0x78, 0xA5, 0x3F, 0x76};
    size_t n;
    char *text = plot_read_file(path, &n, e);
    FILE *f = text != NULL ? fopen(path, "r+") : NULL;
    bool ok = f != NULL && n > PNG_HEADER && fseek(f, PNG_HEADER, SEEK_SET) == 0 &&
              fwrite(density, 1, sizeof density, f) == sizeof density &&
              fwrite(text + PNG_HEADER, 1, n - PNG_HEADER, f) == n - PNG_HEADER;

    ok = f != NULL && fclose(f) == 0 && ok;
    free(text);
    return ok || err_errno(e, errno, "cannot write %s", path);
}

/* Waits for gnuplot and moves the picture to its place. An SVG gets its title, in place of
 * gnuplot's name. */
static bool finish(struct child *c, const struct job *j, struct err *e)
{
    bool ok = has_drawn(c, j->picture, e), is_svg = strcasecmp(j->options->format, "svg") == 0;

    if (ok && is_print_png(j->options))
        ok = add_density(c->aside, e);
    if (ok && is_svg)
        ok = plot_svg_finish(c->aside, j->picture, j->of->title, j->width, j->height,
                             j->options->inches, e);
    else if (ok)
        ok =
            rename(c->aside, j->picture) == 0 || err_errno(e, errno, "cannot write %s", j->picture);
    if (!ok || is_svg)
        unlink(c->aside);
    unfinished_drop(&c->unfinished);
    return ok;
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

/* Starts gnuplot, which gets nothing but paths and sizes on its command line. A PNG for print has
 * as many pixels as its inches need, and text that grows with them. */
static bool start_drawing(const struct job *j, struct child *c, struct err *e)
{
    const struct plot_options *o = j->options;
    char width[16], height[16], font[16], inches[16];
    char *script = NULL, *data = NULL;
    double grows = is_print_png(o) ? o->inches * PNG_DPI / j->width : 1;

    bool ok = aside_path(&c->aside, j->picture, e) &&
              mem_format(&script, e, "%s/%s.gp", j->scripts, j->of->chart) &&
              mem_format(&data, e, "%s%s", plain(j->of->data), j->of->data);
    snprintf(width, sizeof width, "%.0f", grows * j->width);
    snprintf(height, sizeof height, "%.0f", grows * j->height);
    snprintf(font, sizeof font, "%g",
             grows * (o->font_px == 0 && grows != 1 ? BASE_FONT_PX : o->font_px));
    snprintf(inches, sizeof inches, "%g", o->inches);
    if (ok) {
        char *argv[] = {"gnuplot", "-d",   "-c",
                        script,    data,   c->aside,
                        width,     height, (char *)j->options->theme,
                        font,      inches, NULL};
        ok = start(c, argv, e);
    }
    free(script);
    free(data);
    return ok;
}

static bool draw(void *job, struct err *e)
{
    struct job *j = job;
    struct child c = {0};
    bool ok = start_drawing(j, &c, &j->e) && finish(&c, j, &j->e);

    free(c.aside);
    return ok || err_pass(e, &j->e);
}

bool plot_draw(struct plot_set *s, const struct plot_options *o, struct err *e)
{
    char *scripts = plot_scripts(e);
    struct job *jobs = NULL;
    struct task *tasks = NULL;
    bool ok =
        scripts != NULL && mem_new(&jobs, 2 * s->n + 1, e) && mem_new(&tasks, 2 * s->n + 1, e);
    size_t n = 0;

    setenv("LC_ALL", "C.UTF-8", 1); /* without it gnuplot prints warnings */
    for (size_t i = 0; ok && i < 2 * s->n; i++) {
        struct plot_picture *x = &s->v[i / 2];
        bool is_narrow = i % 2 == 1;
        struct stat st;

        if (is_narrow && x->narrow == NULL)
            continue;
        jobs[n] = (struct job){.scripts = scripts,
                               .options = o,
                               .of = x,
                               .picture = is_narrow ? x->narrow : x->picture,
                               .width = is_narrow ? NARROW_WIDTH : x->width,
                               .height = is_narrow ? x->narrow_height : x->height};
        tasks[n] =
            (struct task){draw, &jobs[n], stat(x->data, &st) == 0 ? (uint64_t)st.st_size : 0};
        n++;
    }
    ok = ok && tasks_run(tasks, n, AT_ONCE, e);
    for (size_t i = 0; !ok && i < n; i++)
        if (jobs[i].e.msg[0] != '\0' && jobs[i].of->missing == NULL)
            mem_text(&jobs[i].of->missing, jobs[i].e.msg, NULL);
    for (size_t i = 0; !ok && i < s->n; i++) /* no data without their picture */
        if (access(s->v[i].picture, F_OK) != 0)
            unlink(s->v[i].data);
    free(jobs);
    free(tasks);
    free(scripts);
    return ok;
}
