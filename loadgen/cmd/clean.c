#include "loadgen/cmd/commands.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a run has left in the bucket. */
struct old_run {
    char root[S3OP_KEY_MAX + 1]; /* all its keys begin with it; it ends with its id and a slash */
    uint64_t n_objects, n_markers, n_uploads;
    uint64_t n_others;            /* objects below its root with a name that no run gives */
    char other[S3OP_KEY_MAX + 1]; /* the first of these */
    int64_t newest_ns;            /* wall clock; INT64_MAX: not known */
};

struct old_runs {
    const char *prefix;
    char wanted[S3OP_KEY_MAX + 1]; /* the keys of all runs that we look for begin with it */
    struct old_run *run;
    size_t n;
    enum s3op_kind kind;           /* listing that shows the objects */
    uint64_t n_uploads;            /* unfinished uploads of all runs */
    enum sweep_scope upload_scope; /* listing that shows the uploads */
    struct err unlisted;           /* why the uploads could not be listed */
    int no_list;                   /* status of a server that has no list of uploads; 0: it has */
};

/* Returns the run that a key is of; adds it if it is new. NULL: out of memory. */
static struct old_run *find(struct old_runs *runs, const char *key, struct err *e)
{
    size_t n_root = strlen(runs->prefix) + OPTIONS_ROOT_LENGTH;

    /* Listings are sorted, so it is usually the last run. */
    for (size_t i = runs->n; i > 0; i--)
        if (strncmp(runs->run[i - 1].root, key, n_root) == 0)
            return &runs->run[i - 1];
    if (!mem_more(&runs->run, runs->n, e))
        return NULL;
    struct old_run *run = &runs->run[runs->n++];
    *run = (struct old_run){0};
    memcpy(run->root, key, n_root);
    return run;
}

static bool on_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct old_runs *runs = user;
    size_t n_prefix = strlen(runs->prefix);

    if (entry->n_key > S3OP_KEY_MAX ||
        strncmp(entry->key, runs->wanted, strlen(runs->wanted)) != 0 ||
        !bucket_is_run(entry->key + n_prefix))
        return true;
    struct old_run *run = find(runs, entry->key, e);
    if (run == NULL)
        return false;
    if (!bucket_is_name(entry->key + n_prefix + OPTIONS_ROOT_LENGTH)) {
        if (run->n_others++ == 0)
            memcpy(run->other, entry->key, entry->n_key);
    } else if (entry->kind == XML_UPLOAD)
        run->n_uploads++;
    else if (entry->kind == XML_DELETE_MARKER)
        run->n_markers++;
    else
        run->n_objects++;
    if (entry->modified_ns > run->newest_ns)
        run->newest_ns = entry->modified_ns;
    runs->n_uploads += entry->kind == XML_UPLOAD;
    return true;
}

/* Finds what all runs have left, or only that of --run. */
static bool look(struct bench *b, struct old_runs *runs, struct err *e)
{
    const struct options *o = b->o;

    snprintf(runs->wanted, sizeof runs->wanted, "%ss3load-%s%s", o->prefix,
             o->wanted_id != NULL ? o->wanted_id : "", o->wanted_id != NULL ? "/" : "");
    if (!bucket_listing(&b->control, runs->wanted, &runs->kind, e) ||
        !bucket_list_all(&b->control, runs->kind, runs->wanted, on_entry, runs, NULL, e))
        return false;
    bool ok = bucket_list_all(&b->control, S3OP_LIST_UPLOADS, runs->wanted, on_entry, runs, NULL,
                              &runs->unlisted);
    int status = b->control.result.status;
    if (ok && (status == 405 || status == 501))
        runs->no_list = status;
    /* MinIO lists an upload only if the prefix is its whole key. If none was found, list the whole
     * bucket. */
    runs->upload_scope = runs->n_uploads > 0 ? SWEEP_PREFIX : SWEEP_BUCKET;
    if (ok && runs->n_uploads == 0)
        bucket_list_all(&b->control, S3OP_LIST_UPLOADS, "", on_entry, runs, NULL, &runs->unlisted);
    return true;
}

static bool delete_run(struct bench *b, const struct old_runs *runs, const struct old_run *run,
                       struct err *e)
{
    struct err cause = {0};
    enum sweep_scope uploads = run->n_uploads > 0 ? runs->upload_scope : SWEEP_NOTHING;

    b->sweep.root = run->root;
    bool ok = sweep_all(&b->sweep, uploads, SWEEP_DIRS, runs->kind, &cause);
    if (b->sweep.other.msg[0] != '\0')
        bench_say(b, SWEEP_KEEPS, b->sweep.other.msg);
    return ok || err_set(e, "objects under %s are left: %s", run->root, cause.msg);
}

static void show(const struct old_run *run, const char *what)
{
    const char *id = run->root + strlen(run->root) - 1 - OPTIONS_ID_LENGTH;
    char newest[] = "unknown             ";

    if (run->newest_ns != INT64_MAX)
        snprintf(newest, sizeof newest, "%.19sZ", rfc3339_format(run->newest_ns).s);
    printf("%.*s  %9llu  %7llu  %7llu  %s  %s\n", OPTIONS_ID_LENGTH, id,
           (unsigned long long)run->n_objects, (unsigned long long)run->n_markers,
           (unsigned long long)run->n_uploads, newest, what);
}

/* Deletes or keeps each run, and prints a line about it. */
static bool clean_all(struct bench *b, const struct old_runs *runs, struct err *e)
{
    const struct options *o = b->o;
    int64_t from_ns = clock_real_ns() - o->request.older_than_ns;
    unsigned n_young = 0;
    bool ok = true;

    if (o->wanted_id != NULL && runs->n == 0)
        return err_set(e, "bucket '%s' holds nothing of run '%s'%s%s", o->bucket, o->wanted_id,
                       *o->prefix != '\0' ? " under " : "", o->prefix);
    if (runs->n == 0)
        visible_line(stdout, "Bucket '%s' holds nothing of s3load%s%s.", o->bucket,
                     *o->prefix != '\0' ? " under " : "", o->prefix);
    else
        printf("RUN             OBJECTS  MARKERS  UPLOADS  NEWEST\n");
    for (size_t i = 0; i < runs->n && !sweep_is_stopped(&b->sweep); i++) {
        const struct old_run *run = &runs->run[i];
        bool young = o->wanted_id == NULL && run->newest_ns > from_ns;

        bool kept = young || run->n_others > 0;
        bool done = kept || o->show.dry_run || delete_run(b, runs, run, e);
        n_young += young;
        ok = ok && done;
        if (run->n_others > 0)
            bench_say(
                b,
                "%s stays: s3load did not write '%s' in it (%s in all); delete that, and s3load "
                "clean deletes the rest",
                run->root, run->other, units_counted((int64_t)run->n_others, "object").s);
        show(run, kept ? "kept" : o->show.dry_run ? "to delete" : done ? "deleted" : "failed");
    }
    if (n_young > 0)
        bench_say(
            b,
            "kept: %s with objects newer than %s, which may still be running. To delete them: "
            "--run ID, or a shorter --older-than",
            units_counted(n_young, "run").s, units_duration(o->request.older_than_ns).s);
    return ok;
}

static int clean_bucket(struct bench *b)
{
    const struct options *o = b->o;
    struct old_runs runs = {.prefix = o->prefix};
    struct err e = {0};
    bool ok = bench_set_up(b, &e);

    /* If objects can be locked, ours may be under retention. */
    b->engine.op_style.object_lock = ok && bucket_is_locked(&b->control, false, NULL);
    ok = ok && bench_make_crew(b, &e);
    ok = ok && look(b, &runs, &e) && clean_all(b, &runs, &e);
    free(runs.run);
    if (!ok)
        cli_failed(&b->args, &e);
    if (runs.no_list != 0)
        bench_say(b,
                  "the server does not list unfinished uploads (HTTP %d): killed runs of multipart "
                  "may have left some",
                  runs.no_list);
    if (runs.unlisted.msg[0] != '\0')
        bench_say(b, "unfinished uploads are left, if there are any: %s", runs.unlisted.msg);
    if (atomic_load(&b->signals.n) > 0)
        return 128 + atomic_load(&b->signals.first);
    return ok && runs.unlisted.msg[0] == '\0' ? EXIT_DONE : EXIT_FAILED;
}

static const struct cli_option own_table[] = {
    SETTING("run", CLI_STRING, wanted_id, "ID", "left by this run, however new"),
    SETTING("older-than", CLI_DURATION, request.older_than_ns, "DUR",
            "left by runs that wrote nothing for so long", .min = 0, .max = INFINITY),
    SETTING("prefix", CLI_STRING, prefix, "TEXT", "left by runs with this --prefix"),
    SETTING("dry-run", CLI_FLAG, show.dry_run, NULL, "show what there is, delete nothing"),
    SETTING("quiet", CLI_FLAG, show.quiet, NULL, "show no progress"),
    {0},
};

static int clean(const struct cli_args *args, void *options)
{
    const struct options *o = options;
    char key[OPTIONS_ROOT_LENGTH + 1];

    if (o->wanted_id != NULL && cli_given(args, "older-than"))
        return cli_wrong_usage(args, "--run and --older-than exclude each other");
    if (o->wanted_id != NULL &&
        (snprintf(key, sizeof key, "s3load-%s/", o->wanted_id) != OPTIONS_ROOT_LENGTH ||
         !bucket_is_run(key)))
        return cli_wrong_usage(args, "--run: '%s' is no id of a run", o->wanted_id);
    return bench_main(args, options);
}

const struct cli_command cmd_clean = {
    .name = "clean",
    .summary = "delete what killed runs have left",
    .text = "Deletes objects, versions, delete markers and unfinished uploads of runs that could "
            "not clean up: what lies below PREFIXs3load-RUNID/ and has a name as s3load gives it. "
            "A run that wrote something within --older-than may still be going on, and is kept; "
            "--run deletes it even so. Nothing else in the bucket is touched.",
    .groups =
        (const struct cli_group[]){
            {"What to delete", NULL, own_table, 0},
            {"What to delete", NULL, options_launch, 0},
            {"Where", NULL, options_where, 0},
            {"Connections", "connection", options_connection, 0},
            {0},
        },
    COMMAND_EXAMPLES({"s3load clean --dry-run", "what killed runs have left"},
                     {"s3load clean --older-than 1h --prefix tests/", "delete it, if it is older"}),
    COMMAND_DEFAULTS(.request.older_than_ns = 24 * 3600 * NS_PER_S),
    .ctx = &(const struct workload){.instead = clean_bucket},
    .run = clean,
};
