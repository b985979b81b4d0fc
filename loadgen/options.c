#include "options.h"

#include "clock.h"
#include "hosts.h"
#include "profile.h"
#include "rfc3339.h"
#include "s3op.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static const char *const SELECTS[] = {
    [HOSTS_WEIGHED] = "weighed", [HOSTS_ROUNDROBIN] = "roundrobin", NULL};
static const char *const LOOKUPS[] = {
    [S3OP_LOOKUP_AUTO] = "auto", [S3OP_LOOKUP_PATH] = "path", [S3OP_LOOKUP_HOST] = "host", NULL};

const struct cli_option options_where[] = {
    {"host", CLI_STRING, offsetof(struct options, hosts), "HOST,...",
     .help = "servers; {1...10} in name or port"},
    {"access-key", CLI_STRING, offsetof(struct options, access_key), "KEY",
     .help = "access key; else from S3LOAD_ACCESS_KEY"},
    {"secret-key", CLI_STRING, offsetof(struct options, secret_key), "KEY",
     .help = "secret key; else from S3LOAD_SECRET_KEY"},
    {"bucket", CLI_STRING, offsetof(struct options, bucket), "NAME", .help = "bucket to use"},
    {"tls", CLI_FLAG, offsetof(struct options, tls), NULL, .help = "use https"},
    {0},
};

const struct cli_option options_connection[] = {
    {"region", CLI_STRING, offsetof(struct options, region), "NAME", .help = "region to sign for"},
    {"host-select", CLI_CHOICE, offsetof(struct options, host_select), "HOW",
     .help = "how a server is chosen", .choices = SELECTS},
    {"session-token", CLI_STRING, offsetof(struct options, session_token), "TOKEN",
     .help = "session token of temporary credentials"},
    {"profile", CLI_STRING, offsetof(struct options, profile), "NAME",
     .help = "section of ~/.aws/credentials"},
    {"lookup", CLI_CHOICE, offsetof(struct options, lookup), "HOW",
     .help = "the bucket is named in", .choices = LOOKUPS},
    {"insecure", CLI_FLAG, offsetof(struct options, insecure), NULL,
     .help = "do not verify the server's certificate"},
    {"cacert", CLI_STRING, offsetof(struct options, cacert), "FILE",
     .help = "certificates to verify the server with"},
    {"request-timeout", CLI_DURATION, offsetof(struct options, request_timeout_ns), "DUR",
     .help = "a request fails after this", .min = 1e6, .max = 86400e9},
    {"connect-timeout", CLI_DURATION, offsetof(struct options, connect_timeout_ns), "DUR",
     .help = "connecting fails after this", .min = 1e6, .max = 86400e9},
    {0},
};

const struct cli_option options_load[] = {
    {"concurrent", CLI_INT, offsetof(struct options, n_workers), "N", .help = "requests in flight",
     .min = 1, .max = 65536},
    {"duration", CLI_DURATION, offsetof(struct options, duration_ns), "DUR",
     .help = "how long to run", .min = 1, .max = INFINITY},
    {"rate", CLI_RATE, offsetof(struct options, rate), "N",
     .help = "requests per second, due at fixed times", .min = 1e-6, .max = 1e9},
    {"autoterm", CLI_FLAG, offsetof(struct options, autoterm), NULL,
     .help = "end as soon as the throughput is stable"},
    {0},
};

const struct cli_option options_load_more[] = {
    {"autoterm.dur", CLI_DURATION, offsetof(struct options, autoterm_dur_ns), "DUR",
     .help = "how long it must have been stable", .min = 1, .max = INFINITY},
    {"autoterm.pct", CLI_PCT, offsetof(struct options, autoterm_pct), "PCT",
     .help = "within how much of the last speed", .min = 0, .max = 1e6},
    {"syncstart", CLI_STRING, offsetof(struct options, syncstart), "TIME",
     .help = "start then: hh:mm[:ss], local time, or RFC 3339"},
    {"label", CLI_STRING, offsetof(struct options, label), "TEXT",
     .help = "a text to keep in the capture"},
    {"stress", CLI_FLAG, offsetof(struct options, stress), NULL, .help = "write no capture"},
    {"verify", CLI_INT, offsetof(struct options, verify), "N",
     .help = "check the body of every Nth GET; 0: of none", .min = 0, .max = INFINITY},
    {"seed", CLI_INT, offsetof(struct options, seed), "N",
     .help = "seed of all random choices; default: another each time", .min = 0, .max = INFINITY},
    {0},
};

const struct cli_option options_pool[] = {
    {"objects", CLI_INT, offsetof(struct options, n_objects), "N",
     .help = "objects to upload first", .min = 1, .max = 1e12},
    {0},
};

const struct cli_option options_shares[] = {
    {"get-distrib", CLI_DOUBLE, offsetof(struct options, get_share), "N",
     .help = "share of downloads", .min = 0, .max = 1e9},
    {"stat-distrib", CLI_DOUBLE, offsetof(struct options, stat_share), "N",
     .help = "share of HEAD requests", .min = 0, .max = 1e9},
    {"put-distrib", CLI_DOUBLE, offsetof(struct options, put_share), "N",
     .help = "share of uploads, at least that of deletions", .min = 0, .max = 1e9},
    {"delete-distrib", CLI_DOUBLE, offsetof(struct options, delete_share), "N",
     .help = "share of deletions", .min = 0, .max = 1e9},
    {0},
};

const struct cli_option options_size[] = {
    {"obj.size", CLI_SIZE, offsetof(struct options, size_bytes), "SIZE",
     .help = "size of objects, base 2", .min = 0, .max = 5.0 * (1ull << 40)},
    {"obj.randsize", CLI_FLAG, offsetof(struct options, random_sizes), NULL,
     .help = "random sizes up to that"},
    {0},
};

const struct cli_option options_data[] = {
    {"prefix", CLI_STRING, offsetof(struct options, prefix), "TEXT",
     .help = "keys begin with it; the bucket may hold other data"},
    {"noprefix", CLI_FLAG, offsetof(struct options, no_prefix), NULL,
     .help = "no prefix for each worker"},
    {"noclear", CLI_FLAG, offsetof(struct options, no_clear), NULL,
     .help = "leave the objects; the bucket may hold other data"},
    {"clear-bucket", CLI_FLAG, offsetof(struct options, clear_bucket), NULL,
     .help = "delete all the bucket holds first; asks"},
    {"yes", CLI_FLAG, offsetof(struct options, yes), NULL, .help = "do not ask"},
    {"md5", CLI_FLAG, offsetof(struct options, md5), NULL, .help = "send Content-MD5"},
    {"encrypt", CLI_FLAG, offsetof(struct options, encrypt), NULL,
     .help = "encrypt with a random key of ours (SSE-C)"},
    {"sse-s3", CLI_FLAG, offsetof(struct options, sse_s3), NULL,
     .help = "encrypt with the server's key (SSE-S3)"},
    {"storage-class", CLI_STRING, offsetof(struct options, storage_class), "NAME",
     .help = "storage class of objects"},
    {"disable-sha256-payload", CLI_FLAG, offsetof(struct options, no_payload_hash), NULL,
     .help = "do not sign bodies; over TLS they never are"},
    {0},
};

const struct cli_option options_run[] = {
    {"benchdata", CLI_STRING, offsetof(struct options, benchdata), "NAME",
     .help = "name of the capture; default: by command and time"},
    {"json", CLI_FLAG, offsetof(struct options, json), NULL,
     .help = "print the final state as JSON, no analysis"},
    {"quiet", CLI_FLAG, offsetof(struct options, quiet), NULL, .help = "show no progress"},
    {0},
};

/* ---- The environment ---- */

/* The first of the variables that is set and not empty. */
static const char *from_environment(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

static bool keep(struct options *o, char *memory, struct err *e)
{
    if (memory == NULL) {
        o->failed = true;
        return err_set(e, "out of memory");
    }
    o->memory[o->n_memory++] = memory;
    return true;
}

/* Takes a secret out of the environment, where /proc shows it and children would inherit it. */
static bool take_secret(struct options *o, const char **field, const char *const *names,
                        struct err *e)
{
    const char *value = from_environment(names);

    if (value == NULL)
        return true;
    char *copy = strdup(value);
    if (!keep(o, copy, e))
        return false;
    *field = copy;
    return true;
}

static const char *const ACCESS_KEYS[] = {"S3LOAD_ACCESS_KEY", "WARP_ACCESS_KEY",
                                          "AWS_ACCESS_KEY_ID", NULL};

/* A token belongs to its keys: one that is set beside keys that are not used is not taken. */
static bool take_token(struct options *o, struct err *e)
{
    static const char *const tokens[] = {"S3LOAD_SESSION_TOKEN", "WARP_SESSION_TOKEN",
                                         "AWS_SESSION_TOKEN"};
    const char *key = from_environment(ACCESS_KEYS);
    bool ok = true;

    for (size_t i = 0; ok && key != NULL && o->session_token == NULL; i++) {
        ok = take_secret(o, &o->session_token, (const char *const[]){tokens[i], NULL}, e);
        if (getenv(ACCESS_KEYS[i]) == key)
            key = NULL;
    }
    return ok;
}

static void hide_environment(void)
{
    static const char *const secrets[] = {
        "S3LOAD_ACCESS_KEY", "S3LOAD_SECRET_KEY",     "S3LOAD_SESSION_TOKEN",
        "WARP_ACCESS_KEY",   "WARP_SECRET_KEY",       "WARP_SESSION_TOKEN",
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};

    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        char *value = getenv(secrets[i]);
        if (value != NULL)
            memset(value, 'x', strlen(value));
        unsetenv(secrets[i]);
    }
}

static bool is_true(const char *value, bool *flag, struct err *e)
{
    static const char *const yes[] = {"1", "true", "yes", "on", "t", "y"};
    static const char *const no[] = {"0", "false", "no", "off", "f", "n"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            *flag = strcasecmp(value, yes[i]) == 0;
            return true;
        }
    }
    return err_set(e, "S3LOAD_TLS or WARP_TLS: '%s' is neither true nor false", value);
}

/* AWS_ENDPOINT_URL_S3: [http[s]://]host[:port][/]. */
static bool take_endpoint(struct options *o, bool tls_given, struct err *e)
{
    const char *url = getenv("AWS_ENDPOINT_URL_S3");

    if (url == NULL || *url == '\0')
        return true;
    bool https = strncasecmp(url, "https://", 8) == 0;
    const char *host = https ? url + 8 : strncasecmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t n = strcspn(host, "/");
    if (memchr(host, '@', n) != NULL || (host[n] == '/' && host[n + 1] != '\0'))
        return err_set(e, "AWS_ENDPOINT_URL_S3: only http[s]://host[:port] can be used");
    char *copy = strndup(host, n);
    if (!keep(o, copy, e))
        return false;
    o->hosts = copy;
    if (https && !tls_given)
        o->tls = true;
    return true;
}

static bool take_environment(struct options *o, const struct cli_args *args, struct err *e)
{
    const char *host = from_environment((const char *const[]){"S3LOAD_HOST", "WARP_HOST", NULL});
    const char *tls = from_environment((const char *const[]){"S3LOAD_TLS", "WARP_TLS", NULL});
    const char *region =
        from_environment((const char *const[]){"S3LOAD_REGION", "WARP_REGION", "AWS_REGION", NULL});
    bool keys_given = cli_given(args, "access-key") || cli_given(args, "secret-key");
    bool ok = true;

    if (tls != NULL && !cli_given(args, "tls"))
        ok = is_true(tls, &o->tls, e);
    if (ok && !cli_given(args, "host")) {
        if (host != NULL)
            o->hosts = host;
        else
            ok = take_endpoint(o, tls != NULL || cli_given(args, "tls"), e);
    }
    if (region != NULL && !cli_given(args, "region"))
        o->region = region;
    if (ok && !cli_given(args, "access-key"))
        ok = take_secret(o, &o->access_key, ACCESS_KEYS, e);
    if (ok && !cli_given(args, "secret-key"))
        ok = take_secret(o, &o->secret_key,
                         (const char *const[]){"S3LOAD_SECRET_KEY", "WARP_SECRET_KEY",
                                               "AWS_SECRET_ACCESS_KEY", NULL},
                         e);
    if (ok && !cli_given(args, "session-token") && !keys_given)
        ok = take_token(o, e);
    hide_environment();
    return ok;
}

static bool take_profile(struct options *o, const struct cli_args *args, struct err *e)
{
    struct profile p;
    bool explicit = cli_given(args, "profile");

    if (o->access_key != NULL && o->secret_key != NULL && !explicit)
        return true;
    if (!profile_read(&p, o->profile, explicit, e)) {
        o->failed = !explicit;
        return false;
    }
    bool ok = true;
    if (o->access_key == NULL && o->secret_key == NULL && p.access_key != NULL) {
        o->access_key = p.access_key;
        o->secret_key = p.secret_key;
        if (o->session_token == NULL)
            o->session_token = p.session_token;
    }
    if (p.access_key != NULL)
        ok = keep(o, p.access_key, e);
    if (p.secret_key != NULL)
        ok = keep(o, p.secret_key, e) && ok;
    if (p.session_token != NULL)
        ok = keep(o, p.session_token, e) && ok;
    return ok;
}

/* ---- Checks ---- */

/* "hh:mm[:ss]" of local time: today, or tomorrow if that is long past. */
static bool parse_clock_time(const char *text, int64_t *ns)
{
    int hour = 0;
    int minute = 0;
    int second = 0;
    int n = 0;
    bool ok = (sscanf(text, "%2d:%2d:%2d%n", &hour, &minute, &second, &n) == 3 ||
               (second = 0, sscanf(text, "%2d:%2d%n", &hour, &minute, &n) == 2)) &&
              text[n] == '\0' && strspn(text, "0123456789:") == strlen(text);
    time_t now = time(NULL);
    struct tm tm;

    if (!ok || hour > 23 || minute > 59 || second > 59 || localtime_r(&now, &tm) == NULL)
        return false;
    tm.tm_hour = hour;
    tm.tm_min = minute;
    tm.tm_sec = second;
    tm.tm_isdst = -1;
    time_t at = mktime(&tm);
    if (at < now - 12 * 3600) {
        tm.tm_mday++;
        tm.tm_isdst = -1;
        at = mktime(&tm);
    }
    *ns = (int64_t)at * CLOCK_NS_PER_S;
    return true;
}

static bool check_syncstart(struct options *o, struct err *e)
{
    if (o->syncstart == NULL)
        return true;
    o->syncstart_given = true;
    if (!parse_clock_time(o->syncstart, &o->syncstart_ns) &&
        !rfc3339_parse(o->syncstart, strlen(o->syncstart), &o->syncstart_ns))
        return err_set(e, "--syncstart: '%s' is neither hh:mm[:ss] nor a time of RFC 3339",
                       o->syncstart);
    if (o->syncstart_ns <= (int64_t)time(NULL) * CLOCK_NS_PER_S)
        return err_set(e, "--syncstart: %s is past", o->syncstart);
    return true;
}

/* A line break would end a header of a request: a token that was read from a file may have one. */
static bool check_plain(const char *name, const char *value, struct err *e)
{
    for (; value != NULL && *value != '\0'; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return err_set(e, "the %s holds a control character", name);
    return true;
}

/* What can be said of the hosts before they are used. */
static bool check_hosts(struct options *o, struct err *e)
{
    struct hosts hosts;
    struct rng rng;

    rng_init(&rng, 0, 0);
    if (!hosts_init(&hosts, o->hosts, (enum hosts_select)o->host_select, &rng, e)) {
        o->failed = hosts.no_memory;
        return false;
    }
    hosts_fini(&hosts);
    return true;
}

static bool check(struct options *o, struct err *e)
{
    if (!check_plain("access key", o->access_key, e) ||
        !check_plain("session token", o->session_token, e) ||
        !check_plain("region", o->region, e) || !check_plain("bucket's name", o->bucket, e) ||
        !check_plain("storage class", o->storage_class, e))
        return false;
    if ((o->access_key == NULL) != (o->secret_key == NULL))
        return err_set(e, "there is %s key without %s key",
                       o->access_key != NULL ? "an access" : "a secret",
                       o->access_key != NULL ? "a secret" : "an access");
    if (o->encrypt && !o->tls)
        return err_set(e, "--encrypt sends its key with each request: it needs --tls");
    if (o->encrypt && o->sse_s3)
        return err_set(e, "--encrypt and --sse-s3 exclude each other");
    if (o->list_existing && o->verify > 0)
        return err_set(e, "--verify needs objects that this run uploaded, not --list-existing");
    if (o->range_bytes > 0)
        o->range = true;
    if (o->put_share < o->delete_share)
        return err_set(e, "--put-distrib must be at least --delete-distrib, else there are no "
                          "objects left at some time");
    if (strlen(o->prefix) > OPTIONS_PREFIX_MAX)
        return err_set(e, "--prefix is longer than %d bytes", OPTIONS_PREFIX_MAX);
    if (o->clear_bucket && o->list_existing)
        return err_set(e, "--clear-bucket and --list-existing exclude each other");
    if (strpbrk(o->bucket, "/?#% \t") != NULL || strlen(o->bucket) < 1 || strlen(o->bucket) > 255)
        return err_set(e, "'%s' is no name of a bucket", o->bucket);
    return check_hosts(o, e) && check_syncstart(o, e);
}

bool options_complete(struct options *o, const struct cli_args *args, struct err *e)
{
    if (!take_environment(o, args, e) || !take_profile(o, args, e) || !check(o, e))
        return false;
    if (o->access_key == NULL)
        o->access_key = o->secret_key = "";
    o->seed_given = cli_given(args, "seed");
    if (!o->seed_given) {
        uint32_t seed = 0;
        o->failed = getrandom(&seed, sizeof seed, 0) != sizeof seed;
        if (o->failed)
            return err_errno(e, errno, "cannot get random bytes");
        o->seed = seed;
    }
    return true;
}

void options_free(struct options *o)
{
    for (size_t i = 0; i < o->n_memory; i++) {
        explicit_bzero(o->memory[i], strlen(o->memory[i]));
        free(o->memory[i]);
    }
    o->n_memory = 0;
}
