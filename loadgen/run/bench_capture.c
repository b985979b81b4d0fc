#include "libcommon/mem.h"
#include "libcommon/visible.h"
#include "loadgen/run/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_there(const char *path, struct err *e)
{
    return err_set(e, "'%s' is there already, and is not overwritten: choose another --benchdata",
                   path);
}

/* Whether no file exists where rank 0 puts the whole capture. */
static bool capture_is_new(const struct bench *b, struct err *e)
{
    return b->o->show.stress || b->out.to_stdout || b->team.rank > 0 ||
           access(b->out.path, F_OK) != 0 || is_there(b->out.path, e);
}

bool bench_name_outputs(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    int n = (int)(strlen(o->path) - strlen(PARTS_SUFFIX));

    b->out.path = (char *)o->path;
    b->out.to_stdout = strcmp(o->path, "-") == 0;
    if (b->out.to_stdout && b->team.size > 1)
        return err_set(e, "--benchdata -: the capture of several ranks needs a file");
    if (b->out.to_stdout && !o->show.stress && isatty(STDOUT_FILENO))
        return err_set(e, "--benchdata -: a capture is not written to a terminal");
    if (!capture_is_new(b, e))
        return false;
    if (o->serverprof != NULL && b->team.rank == 0) {
        if (o->show.stress || b->out.to_stdout)
            return err_set(e, "profiles need a capture in a file, to be saved beside it");
        snprintf(b->out.profiles, sizeof b->out.profiles, "%.*s.profiles.zip", n, o->path);
        if (access(b->out.profiles, F_OK) == 0)
            return is_there(b->out.profiles, e);
    }
    if ((!o->show.aggregate && !o->show.aggregate_only) || b->team.rank > 0)
        return true;
    if (o->show.stress || b->out.to_stdout)
        return err_set(e, "--aggregate needs a capture in a file, to write its sums beside it");
    snprintf(b->out.sums, sizeof b->out.sums, "%.*s.sums.zst", n, o->path);
    return access(b->out.sums, F_OK) != 0 || is_there(b->out.sums, e);
}

/* Syncs the folder of a file, so that the file's name survives a power failure. Some folders cannot
 * be synced. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[OPTIONS_PATH_BYTES + 100] = ".";

    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Opens a new file for the capture or part. Neither a part nor the whole capture ever overwrites a
 * file. */
static bool open_capture(struct bench *b, struct err *e)
{
    if (b->o->show.stress)
        return true;
    if (b->out.to_stdout) {
        strcpy(b->out.part, "standard output");
        b->out.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return b->out.fd >= 0 || err_errno(e, errno, "cannot write standard output");
    }
    if (b->team.size > 1)
        parts_name(b->out.path, b->team.rank, b->out.part, sizeof b->out.part);
    else
        strcpy(b->out.part, b->out.path);
    /* A file may have appeared since the run began. */
    if (!capture_is_new(b, e))
        return false;
    b->out.fd = open(b->out.part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (b->out.fd < 0 && errno == EEXIST)
        return is_there(b->out.part, e);
    if (b->out.fd < 0)
        return err_errno(e, errno, "cannot make '%s'", b->out.part);
    sync_folder(b->out.part);
    return true;
}

bool bench_record(struct bench *b, struct err *e)
{
    const struct options *o = b->o;
    struct strbuf comment = {0};

    team_measure_clock(&b->team, b->engine.offset_ns, 0);
    if (!open_capture(b, e))
        return false;
    b->summary.capture = b->out.fd >= 0 ? b->out.part : NULL;
    const struct recorder_options options = {
        .fd = b->out.fd,
        .name = b->out.part,
        .intended = o->load.rate > 0,
        .n_loops = b->n_loops,
        .autoterm = o->load.autoterm,
        .offset_ns = b->engine.offset_ns,
        .event = b->engine.event,
    };
    summary_put_start(&comment, b);
    if (comment.failed)
        mem_none(e);
    else
        b->recorder = recorder_open(&options, comment.s, e);
    strbuf_fini(&comment);
    if (o->load.autoterm)
        b->team.vote = (struct vote){b->recorder, o->load.autoterm_dur_ns, o->load.autoterm_pct,
                                     .error = &b->error};
    return b->recorder != NULL;
}

bool bench_close_capture(struct bench *b, struct err *e)
{
    struct strbuf comment = {0};
    struct stat st;
    bool ok = true;

    if (b->failed.msg[0] != '\0')
        b->summary.error = b->failed.msg;
    if (bench_is_interrupted(b) && b->summary.end == NULL)
        b->summary.end = "signal";
    if (b->has_parts)
        team_measure_clock(&b->team, b->engine.offset_ns, 2);
    if (b->recorder != NULL) {
        /* Cleaning is not recorded, as there is no writer any more. */
        crew_record(&b->crew, false);
        b->summary.n_resent = (uint64_t)crew_counts(&b->crew).n_resent;
        b->summary.clock_change_ns = clock_offset_ns() - b->engine.offset_ns;
        summary_put_end(&comment, b);
        ok = comment.failed ? mem_none(e) : recorder_close(b->recorder, comment.s, e);
        strbuf_fini(&comment);
    }
    /* Do not leave an empty file. */
    if (b->out.fd >= 0 && !b->out.to_stdout && fstat(b->out.fd, &st) == 0 && st.st_size == 0) {
        unlink(b->out.part);
        b->summary.capture = NULL;
    }
    if (b->out.fd >= 0 && close(b->out.fd) != 0 && ok)
        ok = err_errno(e, errno, "cannot write '%s'", b->out.part);
    b->out.fd = -1;
    b->out.closed = ok;
    return ok;
}

/* ---- After the capture is closed ---- */

/* Prints how to merge the parts, after that has failed. */
static void say_merge(const struct bench *b)
{
    char *head[] = {"s3analyze", "merge", "-o", (char *)b->out.path, NULL};
    char **words = parts_command(head, b->out.path, b->out.path, b->team.size);

    if (words != NULL)
        bench_show_command(stderr, "To put the captures together, once they are in one place",
                           words);
    free(words);
}

bool bench_gather(struct bench *b, struct err *e)
{
    bool recorded = !b->o->show.stress;

    if (!b->has_parts)
        return true;
    /* From now on the ranks exchange what their closed parts contain. A part that could not be
     * written to its end counts with what it has. */
    bool ok = team_meet(&b->team, true, NULL);
    if (ok && recorded)
        ok = parts_gather(&b->team, b->out.path, e);
    bool lost = b->team.lost;
    if (lost && recorded)
        bench_say(b, "its requests are recorded in %s", b->out.part);
    if (!lost && ok && b->out.closed && !b->o->ranks.keep_parts && recorded)
        unlink(b->out.part);
    if (b->team.rank == 0 && !ok && recorded)
        say_merge(b);
    if (b->team.rank == 0 && !lost)
        bench_take_totals(b);
    b->summary.alone = lost;
    b->summary.capture = ok && recorded ? b->out.path : NULL;
    return ok || !recorded;
}

bool bench_sum_up(struct bench *b, struct err *e)
{
    char *words[] = {"s3analyze", "aggregate", "--quiet",   "-o",
                     b->out.sums, "--",        b->out.path, NULL};

    if (b->out.sums[0] == '\0' || b->summary.capture == NULL)
        return true;
    if (sibling_run(words, STDOUT_FILENO, team_tick, &b->team) != EXIT_DONE)
        return err_set(e, "the capture's sums could not be made (s3analyze aggregate makes them)");
    b->summary.sums = b->out.sums;
    b->summary.capture_goes = b->o->show.aggregate_only;
    return true;
}

/* Deletes the capture once its sums are on disk. */
static bool drop_capture(const struct bench *b, struct err *e)
{
    int fd = open(b->out.sums, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (ok)
        sync_folder(b->out.sums);
    ok = ok && unlink(b->out.path) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    return ok || err_errno(e, why, "'%s' stays beside its sums", b->out.path);
}

bool bench_finish_sums(const struct bench *b, struct err *e)
{
    if (b->summary.sums == NULL)
        return true;
    if (b->o->show.aggregate_only && !drop_capture(b, e))
        return false;
    visible_line(b->o->show.json ? stderr : stdout, "Sums%s: %s",
                 b->o->show.aggregate_only ? ", in place of the capture" : "", b->out.sums);
    return true;
}
