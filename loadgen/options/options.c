#include "loadgen/options/options.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/secret.h"
#include "libcommon/slo.h"
#include "loadgen/load/hosts.h"
#include "loadgen/s3/s3.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#define HOSTS_FILE_MAX (1 << 20)

/* Our part of a key takes 41 bytes: s3load-RUNID/0000/NUMBER. */
#define PREFIX_MAX (S3OP_KEY_MAX - 41)

static const char *const SELECTS[] = {
    [HOSTS_WEIGHED] = "weighed", [HOSTS_ROUNDROBIN] = "roundrobin", NULL};
static const char *const LOOKUPS[] = {
    [S3OP_LOOKUP_AUTO] = "auto", [S3OP_LOOKUP_PATH] = "path", [S3OP_LOOKUP_HOST] = "host", NULL};

const struct cli_option options_where[] = {
    SETTING("host", CLI_STRING, hosts, "HOST,...", "servers, {1...10}, or file:NAME"),
    SECRET("access-key", CLI_STRING, access_key, "KEY", "access key; else from S3LOAD_ACCESS_KEY"),
    SECRET("secret-key", CLI_STRING, secret_key, "KEY", "secret key; else from S3LOAD_SECRET_KEY"),
    OTHER("bucket", CLI_STRING, bucket, "NAME", "bucket to use"),
    SETTING("tls", CLI_FLAG, net.tls, NULL, "use https"),
    {0},
};

const struct cli_option options_connection[] = {
    SETTING("region", CLI_STRING, region, "NAME", "region to sign for"),
    SETTING("host-select", CLI_CHOICE, net.host_select, "HOW", "how a server is chosen",
            .choices = SELECTS),
    SETTING("resolve-host", CLI_FLAG, net.resolve_host, NULL,
            "each address of a name is a server of its own"),
    SECRET("session-token", CLI_STRING, session_token, "TOKEN",
           "session token of temporary credentials"),
    OTHER("profile", CLI_STRING, profile, "NAME",
          "section of ~/.aws/credentials and ~/.aws/config"),
    SETTING("anonymous", CLI_FLAG, net.anonymous, NULL, "do not sign requests"),
    SETTING("no-proxy", CLI_FLAG, net.no_proxy, NULL,
            "do not use the proxy of http_proxy and the like"),
    SETTING("lookup", CLI_CHOICE, net.lookup, "HOW", "the bucket is named in", .choices = LOOKUPS),
    SETTING("insecure", CLI_FLAG, net.insecure, NULL, "do not verify the server's certificate"),
    SETTING("cacert", CLI_STRING, cacert, "FILE", "certificates to verify the server with"),
    SETTING("request-timeout", CLI_DURATION, net.request_timeout_ns, "DUR",
            "a request fails after this time", .min = 1e6, .max = 86400e9),
    SETTING("connect-timeout", CLI_DURATION, net.connect_timeout_ns, "DUR",
            "connecting fails after this time", .min = 1e6, .max = 86400e9),
    SETTING("give-up-after", CLI_DURATION, net.give_up_ns, "DUR",
            "end if no server is reachable for this long", .min = 1e6, .max = INFINITY),
    {0},
};

const struct cli_option options_load[] = {
    SETTING("concurrent", CLI_INT, load.n_workers, "N", "requests in flight", .min = 1,
            .max = 65536),
    SETTING("duration", CLI_DURATION, load.duration_ns, "DUR", "how long to run", .min = 1,
            .max = INFINITY),
    SETTING("rate", CLI_RATE, load.rate, "N", "requests per second, due at fixed times",
            .alias = "rps-limit", .min = 1e-6, .max = 1e9),
    SETTING("autoterm", CLI_FLAG, load.autoterm, NULL, "end as soon as the throughput is stable"),
    {0},
};

const struct cli_option options_load_more[] = {
    SETTING("autoterm.dur", CLI_DURATION, load.autoterm_dur_ns, "DUR", "how long it must be stable",
            .min = 1, .max = INFINITY),
    SETTING("autoterm.pct", CLI_PCT, load.autoterm_pct, "PCT",
            "how far throughputs may differ, in percent", .min = 0, .max = 1e6),
    OTHER("syncstart", CLI_STRING, syncstart, "TIME",
          "when to start: hh:mm[:ss], local time, or RFC 3339"),
    SETTING("requests", CLI_INT, load.n_requests, "N", "end after so many requests", .min = 1,
            .max = INFINITY),
    SETTING("bytes", CLI_SIZE, load.n_bytes, "SIZE", "end once so many bytes were moved", .min = 1,
            .max = INFINITY),
    SETTING("warmup", CLI_DURATION, load.warmup_ns, "DUR",
            "load for this long first, and record nothing", .min = 0, .max = 86400e9),
    SETTING("max-errors", CLI_INT, load.max_errors, "N",
            "end once so many requests failed; 0: never", .min = 0, .max = INFINITY),
    SETTING("threads", CLI_INT, load.n_threads, "N", "threads that send; 0: one for each CPU",
            .min = 0, .max = 4096),
    OTHER("slo", CLI_STRINGS, show.slo, "TEXT", SLO_HELP),
    OTHER("label", CLI_STRING, label, "TEXT", "a text to keep in the capture"),
    OTHER("aggregate", CLI_FLAG, show.aggregate, NULL,
          "also write the sums of the capture (.sums.zst)"),
    OTHER("aggregate-only", CLI_FLAG, show.aggregate_only, NULL,
          "keep the sums, delete the capture"),
    OTHER("serverprof", CLI_STRING, serverprof, "TYPE,...",
          "save profiles of MinIO: cpu,mem,block,mutex"),
    SETTING("stress", CLI_FLAG, show.stress, NULL, "write no capture"),
    SETTING("verify", CLI_INT, load.verify, "N", "check the body of every Nth GET; 0: of none",
            .min = 0, .max = INFINITY),
    OTHER("seed", CLI_INT, load.seed, "N", "seed of random choices; default: a new one", .min = 0,
          .max = INFINITY),
    {0},
};

const struct cli_exit options_exits[] = {
    {"1, 3", "with --slo also: an assertion is missed; one is undecided"},
    {0},
};

const struct cli_option options_launch[] = {
    OTHER("alone", CLI_FLAG, alone, NULL, "run even if mpirun or srun started several copies"),
    {0},
};

const struct cli_option options_pool[] = {
    SETTING("objects", CLI_INT, data.n_objects, "N", "objects to upload first", .min = 0,
            .max = 1e12),
    {0},
};

const struct cli_option options_existing[] = {
    SETTING("list-existing", CLI_FLAG, data.list_existing, NULL,
            "use N objects of the bucket (--objects N; 0: all)"),
    {0},
};

const struct cli_option options_versions[] = {
    /* The largest product of --versions and --objects must fit into 64 bits. */
    SETTING("versions", CLI_INT, data.n_versions, "N", "versions of each object to upload",
            .min = 1, .max = 1e6),
    {0},
};

const struct cli_option options_shares[] = {
    SETTING("get-distrib", CLI_DOUBLE, request.get_share, "N", "share of downloads", .min = 0,
            .max = 1e9),
    SETTING("stat-distrib", CLI_DOUBLE, request.stat_share, "N", "share of HEAD requests", .min = 0,
            .max = 1e9),
    SETTING("put-distrib", CLI_DOUBLE, request.put_share, "N",
            "share of uploads, at least that of deletions", .min = 0, .max = 1e9),
    SETTING("delete-distrib", CLI_DOUBLE, request.delete_share, "N", "share of deletions", .min = 0,
            .max = 1e9),
    {0},
};

const struct cli_option options_size[] = {
    SETTING("obj.size", CLI_SIZE, data.size_bytes, "SIZE", "size of objects, base 2", .min = 0,
            .max = 5.0 * (1ull << 40)),
    SETTING("obj.randsize", CLI_FLAG, data.random_sizes, NULL, "random sizes up to --obj.size"),
    {0},
};

const struct cli_option options_data[] = {
    SETTING("prefix", CLI_STRING, prefix, "TEXT",
            "begin keys with it; the bucket may hold other data"),
    SETTING("noprefix", CLI_FLAG, data.no_prefix, NULL, "keys have no prefix of their worker"),
    SETTING("noclear", CLI_FLAG, data.no_clear, NULL,
            "leave the objects; the bucket may hold other data", .alias = "keep-data"),
    SETTING("clear-bucket", CLI_FLAG, data.clear_bucket, NULL,
            "first delete all that the bucket holds; asks"),
    OTHER("yes", CLI_FLAG, data.yes, NULL, "do not ask"),
    SETTING("md5", CLI_FLAG, data.md5, NULL, "send Content-MD5"),
    SETTING("checksum", CLI_CHOICE, data.checksum, "NAME",
            "send a checksum of each object, as SDKs do", .choices = S3OP_CHECKSUMS),
    SETTING("encrypt", CLI_FLAG, data.encrypt, NULL, "encrypt with a random key of ours (SSE-C)"),
    SETTING("sse-s3", CLI_FLAG, data.sse_s3, NULL, "encrypt with the server's key (SSE-S3)"),
    SETTING("storage-class", CLI_STRING, storage_class, "NAME", "storage class of objects"),
    SETTING("disable-sha256-payload", CLI_FLAG, data.no_payload_hash, NULL,
            "do not sign bodies; over TLS they never are"),
    {0},
};

const struct cli_option options_run[] = {
    OTHER("benchdata", CLI_STRING, benchdata, "NAME",
          "name of the capture, - for standard output; default: by command and time"),
    OTHER("json", CLI_FLAG, show.json, NULL, "print the final state as JSON, no analysis"),
    OTHER("quiet", CLI_FLAG, show.quiet, NULL, "show no progress", .letter = 'q'),
    {0},
};

bool options_keep(struct options *o, const char **field, char *text, struct err *e)
{
    *field = text;
    o->failed = text == NULL;
    if (text != NULL)
        o->memory[o->n_memory++] = text;
    return text != NULL || mem_none(e);
}

bool options_keep_copy(struct options *o, const char **field, const char *text, struct err *e)
{
    return options_keep(o, field, text != NULL ? secret_copy(text, strlen(text)) : NULL, e);
}

/* ---- Checks ---- */

/* Reads "hh:mm[:ss]", a local time: today, or tomorrow if that is more than 12 hours ago. */
static bool parse_clock_time(const char *text, int64_t *ns)
{
    time_t now = time(NULL);
    struct tm tm;

    if (localtime_r(&now, &tm) == NULL)
        return false;
    tm.tm_sec = 0;
    tm.tm_isdst = -1;
    const char *end = strptime(text, "%H:%M", &tm);
    if (end != NULL && *end == ':')
        end = strptime(end, ":%S", &tm);
    if (end == NULL || *end != '\0')
        return false;
    time_t at = mktime(&tm);
    if (at < now - 12 * 3600) {
        tm.tm_mday++;
        tm.tm_isdst = -1;
        at = mktime(&tm);
    }
    *ns = (int64_t)at * NS_PER_S;
    return true;
}

static bool check_syncstart(struct options *o, struct err *e)
{
    if (o->syncstart == NULL)
        return true;
    if (!parse_clock_time(o->syncstart, &o->load.syncstart_ns) &&
        !rfc3339_parse(o->syncstart, strlen(o->syncstart), &o->load.syncstart_ns))
        return err_set(e, "--syncstart: '%s' is neither hh:mm[:ss] nor a time of RFC 3339",
                       o->syncstart);
    if (o->load.syncstart_ns <= (int64_t)time(NULL) * NS_PER_S)
        return err_set(e, "--syncstart: %s is in the past", o->syncstart);
    return true;
}

/* Refuses control characters: a line break would end a header of the request. Tokens from files may
 * have one. */
static bool check_plain(const char *name, const char *value, struct err *e)
{
    for (; value != NULL && *value != '\0'; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return err_set(e, "the %s holds a control character", name);
    return true;
}

/* Reads the file of --host file:NAME, one host on each line. */
static bool read_hosts(struct options *o, const char *path, struct err *e)
{
    struct err why = {0};
    char *text = secret_read_file(path, HOSTS_FILE_MAX, &why);

    if (text == NULL) {
        o->failed = errno == ENOMEM;
        return err_set(e, "--host: %s", why.msg);
    }
    /* A line break makes this a list in lines, even with one host. secret_read_file has left room
     * for it. */
    strcat(text, "\n");
    o->hosts_file = o->hosts;
    return options_keep(o, &o->hosts, text, e);
}

/* Checks the list of hosts before any of them is used. */
static bool check_hosts(struct options *o, struct err *e)
{
    struct hosts hosts;
    struct rng rng;

    struct err cause = {0};
    const char *file = strncmp(o->hosts, "file:", 5) == 0 ? o->hosts + 5 : NULL;

    if (file != NULL && !read_hosts(o, file, e))
        return false;
    rng_init(&rng, 0, 0);
    if (!hosts_init(&hosts, o->hosts, (enum hosts_select)o->net.host_select, &rng, &cause)) {
        o->failed = !cause.is_usage;
        if (file != NULL && cause.is_usage)
            return err_set(e, "%s:%zu: %s", file, hosts.line, cause.msg);
        return err_set(e, "%s", cause.msg);
    }
    hosts_fini(&hosts);
    return true;
}

static bool check_op(const char *op, struct err *e)
{
    char names[256] = "";
    size_t n = 0;

    for (size_t k = 0; k < S3OP_BUCKET_STAT; k++) {
        if (strcasecmp(op, S3OP[k].name) == 0)
            return true;
        if (k == 0 || strcmp(S3OP[k].name, S3OP[k - 1].name) != 0)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k > 0 ? ", " : "",
                                  S3OP[k].name);
    }
    return err_set(e, "--slo: no operation is called \"%.100s\"; they are %s", op, names);
}

/* s3analyze judges the assertions only after the run. Find mistakes in them now. */
static bool check_slo(struct options *o, struct err *e)
{
    struct slo_list list;
    bool ok = slo_parse(&list, &o->show.slo, e);

    for (size_t i = 0; ok && i < list.n; i++)
        ok = *list.v[i].op == '\0' || check_op(list.v[i].op, e);
    slo_free(&list);
    if (ok && o->show.slo.n > 0 &&
        (o->show.stress || (o->benchdata != NULL && strcmp(o->benchdata, "-") == 0)))
        return err_set(e, "--slo needs a capture in a file, to judge by");
    o->failed = ok && o->show.slo.n > 0 && !sibling_is_there("--slo", e);
    return ok && !o->failed;
}

static bool check(struct options *o, struct err *e)
{
    /* S3 once had buckets with capitals and '_' too; Ceph has tenant:bucket. */
    static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:";
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz,";

    if (!check_plain("access key", o->access_key, e) ||
        !check_plain("session token", o->session_token, e) ||
        !check_plain("region", o->region, e) || !check_plain("bucket's name", o->bucket, e) ||
        !check_plain("storage class", o->storage_class, e))
        return false;
    if (o->data.encrypt && !o->net.tls)
        return err_set(e, "--encrypt sends its key with each request: it needs --tls");
    if (o->data.encrypt && o->data.sse_s3)
        return err_set(e, "--encrypt and --sse-s3 exclude each other");
    if (o->data.list_existing && o->load.verify > 0)
        return err_set(e, "--verify needs objects that this run uploaded, not --list-existing");
    if (o->request.range_bytes > 0)
        o->request.range = true;
    if (o->request.range_bytes > o->data.size_bytes && !o->data.list_existing)
        return err_set(e, "--range-size is larger than the objects (--obj.size)");
    if (o->request.put_share < o->request.delete_share)
        return err_set(e, "--put-distrib must be at least --delete-distrib, or objects run out");
    if (strlen(o->prefix) > PREFIX_MAX)
        return err_set(e, "--prefix is longer than %d bytes", PREFIX_MAX);
    if (o->data.clear_bucket && o->data.list_existing)
        return err_set(e, "--clear-bucket and --list-existing exclude each other");
    if (o->bucket[strspn(o->bucket, set)] != '\0' || strlen(o->bucket) > 255 ||
        o->bucket[strspn(o->bucket, ".")] == '\0')
        return err_set(e, "'%s' is no name of a bucket (3 to 63 of a-z, 0-9, - and .)", o->bucket);
    if (o->serverprof != NULL &&
        (*o->serverprof == '\0' || o->serverprof[strspn(o->serverprof, letters)] != '\0'))
        return err_set(e, "--serverprof takes a list of profiles such as cpu,mem");
    if (o->serverprof != NULL && o->net.lookup == S3OP_LOOKUP_HOST)
        return err_set(e, "--serverprof asks the server, not a bucket: it needs --lookup path");
    if (!check_hosts(o, e) || !check_syncstart(o, e) || !check_slo(o, e))
        return false;
    return o->net.anonymous || o->access_key != NULL ||
           err_set(e, "there are no credentials: set S3LOAD_ACCESS_KEY and S3LOAD_SECRET_KEY, or "
                      "use --profile or --anonymous");
}

static long number_in(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? strtol(value, NULL, 10) : 0;
}

/* Returns how many copies of this program a launcher such as mpirun or srun has started; 1: there
 * is no launcher. PMIx gives only the number of this copy, so there may be more. */
static long n_copies(void)
{
    const long numbers[] = {
        number_in("OMPI_COMM_WORLD_SIZE"),
        number_in("PMI_SIZE"),
        number_in("PMIX_RANK") + 1,
        /* Slurm sets SLURM_NTASKS for batch scripts too, but only srun starts tasks. */
        getenv("SLURM_STEP_ID") != NULL ? number_in("SLURM_NTASKS") : 0,
    };
    long n = 1;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        n = numbers[i] > n ? numbers[i] : n;
    return n;
}

/* Fails if this is one of several copies that do not know each other: each would make, check and
 * clear the bucket. */
static bool check_launcher(const struct options *o, struct err *e)
{
    long n = ranks_size() > 1 ? 1 : n_copies();

    return n <= 1 || o->alone ||
           err_set(e,
                   "%ld copies of s3load would run without knowing each other: use s3load-mpi, and "
                   "the mpirun of the MPI that it was built with (or --alone, if you mean it)",
                   n);
}

/* ---- Random names ---- */

static bool draw(struct options *o, void *bytes, size_t n, struct err *e)
{
    o->failed = getrandom(bytes, n, 0) != (ssize_t)n;
    return !o->failed || err_errno(e, errno, "cannot get random bytes");
}

/* Draws n digits and letters, without those that look like others (0, 1, l and o). */
static bool draw_name(struct options *o, char *name, size_t n, struct err *e)
{
    if (!draw(o, name, n, e))
        return false;
    for (size_t i = 0; i < n; i++)
        name[i] = OPTIONS_ID_ALPHABET[(unsigned char)name[i] % 32];
    name[n] = '\0';
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);

    return n >= strlen(end) && strcmp(text + n - strlen(end), end) == 0;
}

/* Refuses names to which no suffix can be added: those of a folder alone, and of devices and pipes.
 */
static bool check_benchdata(const char *name, struct err *e)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    struct stat st;

    if (*last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return err_set(e, "--benchdata: '%s' names no file: the capture is NAME" PARTS_SUFFIX,
                       name);
    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return err_set(e,
                       "--benchdata: '%s' is no regular file: - is standard output, and --stress "
                       "writes no capture",
                       name);
    return true;
}

/* Sets the capture's name: that of --benchdata, or one made of command and time. */
static bool name_capture(struct options *o, const char *command, struct err *e)
{
    const char *name = o->benchdata != NULL ? o->benchdata : "";
    bool partly = ends_with(name, ".csv") || ends_with(name, ".zst");
    char path[OPTIONS_PATH_BYTES];
    char random[5];
    char date[32];
    time_t now = time(NULL);
    struct tm tm;
    int n;

    if ((o->benchdata != NULL && !check_benchdata(o->benchdata, e)) || !draw_name(o, random, 4, e))
        return false;
    gmtime_r(&now, &tm);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &tm);
    if (o->benchdata == NULL)
        n = snprintf(path, sizeof path, "s3load-%s-%s-%s" PARTS_SUFFIX, command, date, random);
    else if (strcmp(name, "-") == 0 || ends_with(name, PARTS_SUFFIX))
        n = snprintf(path, sizeof path, "%s", name);
    else
        n = snprintf(path, sizeof path, "%.*s" PARTS_SUFFIX, (int)strlen(name) - 4 * partly, name);
    o->failed = n >= (int)sizeof path;
    return o->failed ? err_set(e, "--benchdata: the name is too long")
                     : options_keep_copy(o, &o->path, path, e);
}

bool options_complete(struct options *o, const struct cli_args *args, struct err *e)
{
    const struct cli_command *const command[] = {args->command, NULL};
    char run_id[OPTIONS_ID_LENGTH + 1];
    uint32_t seed = 0;

    if (!check_launcher(o, e))
        return false;
    o->data.objects_given = cli_given(args, "objects");
    if ((o->load.n_requests > 0 || o->load.n_bytes > 0) && !cli_given(args, "duration"))
        o->load.duration_ns = 0;
    if (!options_take_rest(o, args, e) || !check(o, e))
        return false;
    if (o->data.objects_given && o->data.n_objects == 0 && !o->data.list_existing)
        return err_set(e, "--objects 0, for all, needs --list-existing");
    if (!cli_given(args, "seed") && !draw(o, &seed, sizeof seed, e))
        return false;
    o->load.seed = cli_given(args, "seed") ? o->load.seed : seed;
    char *command_line = options_redacted(command, args->argv);
    bool ok = options_keep_copy(o, &o->command_line, command_line, e) &&
              draw_name(o, run_id, OPTIONS_ID_LENGTH, e) &&
              options_keep_copy(o, &o->run_id, run_id, e) &&
              name_capture(o, args->command->name, e);
    free(command_line);
    return ok;
}

void options_free(struct options *o)
{
    for (size_t i = 0; i < o->n_memory; i++)
        secret_free(o->memory[i]);
    o->n_memory = 0;
}
