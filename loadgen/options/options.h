/* The options of all commands. The first source that has a value wins: the command line, the
 * profile that it names, the environment (S3LOAD_*, WARP_*, AWS_*), the profile of AWS_PROFILE or
 * "default". */
#ifndef S3_LOADGEN_OPTIONS_OPTIONS_H
#define S3_LOADGEN_OPTIONS_OPTIONS_H

#include "libcommon/units.h"
#include "loadgen/ranks/ranks.h"

struct options {
    /* All pointers to text, together, because other ranks get copies of the texts. */
    union {
        struct {
            const char *hosts, *region, *bucket, *cacert;
            const char *hosts_file; /* file:NAME that the hosts are from; NULL: none */
            const char *access_key, *secret_key, *session_token;
            const char *profile;
            const char *prefix, *storage_class, *syncstart, *benchdata, *label;
            const char *wanted_id;    /* clean: the run to delete (--run) */
            const char *command_line; /* without secrets */
            const char *run_id;       /* of this run */
            const char *serverprof;
            const char *path; /* path of the capture; "-": standard output */
        };
        const char *text[19];
    };

    struct {
        int host_select; /* enum hosts_select */
        bool anonymous, no_proxy, resolve_host;
        bool tls, insecure;
        int lookup; /* enum s3op_lookup */
        int64_t request_timeout_ns, connect_timeout_ns, give_up_ns;
    } net;

    struct {
        int64_t n_workers;
        int64_t n_threads;           /* threads of loops; 0: one per CPU */
        int64_t max_errors;          /* 0: no limit */
        int64_t duration_ns;         /* 0: no limit, as n_requests or n_bytes has one */
        int64_t n_requests, n_bytes; /* end of the run, counted over all ranks; 0: no limit */
        int64_t warmup_ns;
        double rate; /* 0: closed loop */
        bool autoterm;
        int64_t autoterm_dur_ns;
        double autoterm_pct;
        int64_t verify; /* every Nth GET; 0: none */
        int64_t seed;
        int64_t syncstart_ns; /* CLOCK_REALTIME; valid if syncstart is given */
    } load;

    /* The bucket and its objects. */
    struct {
        bool list_existing, objects_given;
        int64_t n_objects, n_versions;
        int64_t size_bytes;
        bool random_sizes;
        bool no_prefix;
        bool no_clear, clear_bucket, yes;
        bool enable_versioning;
        int checksum; /* enum checksum_kind */
        bool md5, encrypt, sse_s3, no_payload_hash;
    } data;

    /* Options of single commands. */
    struct {
        bool range;
        int64_t range_bytes; /* 0: random */
        int64_t max_keys;
        int64_t batch;
        double get_share, stat_share, put_share, delete_share;
        int64_t n_parts, part_bytes;
        int64_t older_than_ns;
    } request;

    /* What is recorded and shown. */
    struct {
        bool aggregate, aggregate_only, stress, quiet, json, dry_run;
        struct cli_list slo; /* only in rank 0; owned by the parsed arguments */
    } show;

    struct ranks_settings ranks;
    bool alone; /* run even if a launcher started several copies */

    /* Not options, but results of options_complete. */
    bool failed;      /* options_complete failed, but usage is not at fault */
    char *memory[16]; /* texts in memory of secret.h; options_free frees them */
    size_t n_memory;
};

_Static_assert(offsetof(struct options, net) == sizeof((struct options){0}.text),
               "a text more or less");

/* Defaults that all commands share. Each command adds its own. */
#define OPTIONS_DEFAULTS                                                                           \
    .hosts = "127.0.0.1:9000", .profile = "default", .region = "us-east-1",                        \
    .bucket = "s3load-benchmark-bucket", .net.request_timeout_ns = 60 * NS_PER_S,                  \
    .net.connect_timeout_ns = 10 * NS_PER_S, .net.give_up_ns = 30 * NS_PER_S,                      \
    .load.n_workers = 20, .load.duration_ns = 300 * NS_PER_S,                                      \
    .load.autoterm_dur_ns = AUTOTERM_DEFAULT_DUR_NS, .load.autoterm_pct = AUTOTERM_DEFAULT_PCT,    \
    .prefix = "", .ranks.timeout_ns = 30 * NS_PER_S

/* Entries of tables of options, by their use: name, type, field of struct options, name of the
 * value, help; further members of struct cli_option may follow. */
/* clang-format off */
#define OPTION(use, name, type, field, arg, ...) \
    {name, type, offsetof(struct options, field), arg, .is = use, .help = __VA_ARGS__}
#define SETTING(...) OPTION(CLI_SETTING, __VA_ARGS__)
#define OTHER(...)   OPTION(CLI_OTHER, __VA_ARGS__)
#define SECRET(...)  OPTION(CLI_SECRET, __VA_ARGS__)
/* clang-format on */

/* Tables of options for the groups of commands. The base of each group is 0. */
extern const struct cli_option options_where[], options_connection[], options_load[],
    options_load_more[], options_pool[], options_shares[], options_size[], options_data[],
    options_run[], options_existing[], options_versions[], options_launch[];

/* What --slo adds to the exit statuses of commands that put load on a store. */
extern const struct cli_exit options_exits[];

/* The id of a run, and the beginning of all its keys after --prefix: "s3load-ID/". */
#define OPTIONS_ID_ALPHABET "23456789abcdefghijkmnpqrstuvwxyz"
#define OPTIONS_ID_LENGTH   12
#define OPTIONS_ROOT_LENGTH (7 + OPTIONS_ID_LENGTH + 1)

/* The most bytes of the capture's path, with a NUL. */
#define OPTIONS_PATH_BYTES 4096

/* Fills in what the command line leaves open, draws the id of the run, names its capture, and
 * checks everything. On failure o->failed says whether usage is at fault (false) or not. Call
 * options_free in any case. */
bool options_complete(struct options *o, const struct cli_args *args, struct err *e);
void options_free(struct options *o);

/* Points *field to `text`, which is in memory of secret.h; options_free frees it. `text` NULL:
 * fails, out of memory. options_keep_copy copies it first. */
bool options_keep(struct options *o, const char **field, char *text, struct err *e);
bool options_keep_copy(struct options *o, const char **field, const char *text, struct err *e);

/* The fields of a profile. The first three belong together: access key, secret key, session token.
 */
enum {
    PROFILE_N_KEYS = 3,
    PROFILE_REGION = PROFILE_N_KEYS,
    PROFILE_ENDPOINT_URL,
    PROFILE_CA_BUNDLE,
    PROFILE_SERVICES,
    PROFILE_PROCESS,
    PROFILE_ELSEWHERE, /* from here on: ways to get keys, which we do not know */
    PROFILE_N = PROFILE_ELSEWHERE + 4
};

/* The values of the fields, in memory of secret.h; NULL: not set. */
struct profile {
    char *field[PROFILE_N];
};

/* Reads the section [name] of ~/.aws/credentials, and missing fields from [profile name] of
 * ~/.aws/config, or of the files that AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name.
 * The endpoint_url of "s3 =" in the section that "services" names comes before that of the profile.
 * Access key, secret key and session token come from one file. If neither file has the profile,
 * fails if `required`, else finds nothing. On failure all fields are NULL. */
bool profile_read(struct profile *p, const char *name, bool required, struct err *e);
void profile_fini(struct profile *p);

/* Fills in servers, region and credentials that the command line leaves open, and takes the secrets
 * out of the environment. */
bool options_take_rest(struct options *o, const struct cli_args *args, struct err *e);

/* Packs the options and their texts into *n bytes for another process of the same program. The
 * caller frees the bytes with secret_free, as they hold keys. NULL: out of memory. */
char *options_pack(const struct options *o, size_t *n);

/* Unpacks options. Call options_free unless it fails. */
bool options_unpack(struct options *o, const char *data, size_t n, struct err *e);

/* Returns a command line that may be shown: argv, which ends with NULL, with "REDACTED" in place of
 * the values of secret options and of passwords in URLs. Words are quoted where a shell needs it.
 * `commands` (NULL at the end) say which options are secret. The caller frees it; NULL: out of
 * memory. */
char *options_redacted(const struct cli_command *const *commands, char *const *argv);

/* Returns the command that deletes what the run of these options leaves, without secrets, like
 * options_redacted. */
char *options_to_clean(const struct options *o);

/* Whether the words hold a secret: a secret option, or a password in a URL. The words end with
 * NULL. */
bool options_hold_secret(const struct cli_command *const *commands, char *const *words);

/* Copies argv, and overwrites the values of secret options in the original, so that the process
 * title does not show them. NULL: out of memory. */
char **options_hide(const struct cli_command *const *commands, int argc, char **argv);

#endif
