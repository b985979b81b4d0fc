/* What the command line leaves open: from profiles and the environment. */
#include "loadgen/options/options.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/secret.h"
#include "libcommon/slice.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#define FILE_MAX    (1024 * 1024)
#define PROCESS_MAX 16384       /* bytes that a credential_process prints */
#define SERVICES    "services " /* the beginning of names of sections for services */

static const char *const PROFILE_NAMES[PROFILE_N] = {"aws_access_key_id", "aws_secret_access_key",
                                                     "aws_session_token", "region",
                                                     "endpoint_url",      "ca_bundle",
                                                     "services",          "credential_process",
                                                     "role_arn",          "credential_source",
                                                     "sso_session",       "sso_start_url"};

void profile_fini(struct profile *p)
{
    for (size_t i = 0; i < PROFILE_N; i++)
        secret_free(p->field[i]);
    *p = (struct profile){0};
}

/* Takes a line "name = value" of the section. */
static bool take(struct profile *p, struct slice line)
{
    struct slice name = slice_trim(slice_take(&line, '=')), value = slice_trim(line);

    for (size_t i = 0; i < PROFILE_N && value.n > 0; i++) {
        if (slice_is(name, PROFILE_NAMES[i])) {
            secret_free(p->field[i]);
            p->field[i] = secret_copy(value.p, value.n);
            return p->field[i] != NULL;
        }
    }
    return true;
}

/* True if text, found in brackets, is "name" or "profile name". */
static bool is_section(struct slice text, const char *name)
{
    text = slice_trim(text);
    if (slice_begins(text, "profile ") || slice_begins(text, "profile\t"))
        text = slice_trim(slice_from(text, 8));
    return slice_is(text, name);
}

/* Reads the lines of a section. Of a section for services, reads only the lines below "s3 =" that
 * are indented more. A line "name =" opens a nest: the lines after it that are indented more belong
 * to it. */
static bool read_section(struct profile *p, const char *text, const char *name, bool *found)
{
    struct slice rest = slice_of(text);
    bool services = strncmp(name, SERVICES, strlen(SERVICES)) == 0;
    bool inside = false;
    bool nests = false;
    size_t nest_indent = 0;
    bool is_s3 = false;
    bool ok = true;

    while (ok && rest.p != NULL) {
        size_t indent = strspn(rest.p, " \t");
        struct slice line = slice_trim(slice_take(&rest, '\n'));

        if (line.n == 0 || *line.p == '#' || *line.p == ';')
            continue;
        const char *last = line.p + line.n - 1;
        nests = nests && indent > nest_indent;
        if (nests) {
            ok = !is_s3 || take(p, line);
        } else if (*line.p == '[' && *last == ']') {
            inside = is_section((struct slice){line.p + 1, line.n - 2}, name);
            *found |= inside;
        } else if (line.n > 1 && memchr(line.p, '=', line.n) == last) {
            nests = true;
            nest_indent = indent;
            is_s3 = inside && services && slice_is(slice_trim(slice_take(&line, '=')), "s3");
        } else if (inside && !services) {
            ok = take(p, line);
        }
    }
    return ok;
}

#define PATH_BYTES 4096

static const struct {
    const char *variable; /* environment variable that names another file */
    const char *standard; /* default name, in ~/.aws */
} FILES[2] = {{"AWS_SHARED_CREDENTIALS_FILE", "credentials"}, {"AWS_CONFIG_FILE", "config"}};

static const char *path_of(size_t file, char text[static PATH_BYTES])
{
    const char *path = getenv(FILES[file].variable);
    const char *home = getenv("HOME");

    if (path != NULL && *path != '\0')
        return path;
    snprintf(text, PATH_BYTES, "%s/.aws/%s", home != NULL ? home : "", FILES[file].standard);
    return text;
}

/* Reads a section of a file. A missing file is like an empty one. */
static bool read_file(struct profile *p, size_t file, const char *name, bool *found, struct err *e)
{
    char path[PATH_BYTES];
    struct err why = {0};
    char *text = secret_read_file(path_of(file, path), FILE_MAX, &why);

    if (text == NULL)
        return errno == ENOENT || errno == ENOTDIR || err_set(e, "%s", why.msg);
    bool ok = read_section(p, text, name, found) || mem_none(e);
    secret_free(text);
    return ok;
}

bool profile_read(struct profile *p, const char *name, bool required, struct err *e)
{
    struct profile config = {0};
    char section[256];
    bool found = false;

    *p = config;
    bool ok = read_file(p, 0, name, &found, e) && read_file(&config, 1, name, &found, e) &&
              (found || !required ||
               err_set(e, "there is no profile '%s' in ~/.aws/credentials or ~/.aws/config", name));
    bool has_keys = p->field[0] != NULL || p->field[1] != NULL;
    for (size_t i = has_keys ? PROFILE_N_KEYS : 0; ok && i < PROFILE_N; i++) {
        if (p->field[i] == NULL) {
            p->field[i] = config.field[i];
            config.field[i] = NULL;
        }
    }
    profile_fini(&config);
    if (ok && p->field[PROFILE_SERVICES] != NULL) {
        snprintf(section, sizeof section, SERVICES "%s", p->field[PROFILE_SERVICES]);
        found = false;
        ok = read_file(p, 1, section, &found, e) &&
             (found ||
              err_set(e, "profile '%s': there is no section [%s] in ~/.aws/config", name, section));
    }
    if (!ok)
        profile_fini(p);
    return ok;
}

/* Takes the keys of the document; messages never show it. */
static bool take_document(struct profile *p, const char *text, size_t n, struct err *e)
{
    static const char *const names[] = {"AccessKeyId", "SecretAccessKey", "SessionToken"};
    json_t *json = json_loadb(text, n, 0, NULL);
    const char *expiration = json_string_value(json_object_get(json, "Expiration"));
    int64_t expires_ns = INT64_MAX;
    bool ok = json_integer_value(json_object_get(json, "Version")) == 1;

    for (size_t i = 0; i < PROFILE_N_KEYS; i++) {
        const char *key = json_string_value(json_object_get(json, names[i]));
        secret_free(p->field[i]); /* a token without keys, from a file */
        p->field[i] = NULL;
        if (key != NULL)
            p->field[i] = secret_copy(key, strlen(key));
        ok = ok && (key == NULL || p->field[i] != NULL || mem_none(e));
    }
    if (!ok || p->field[0] == NULL || p->field[1] == NULL)
        ok = err_set(e, "credential_process printed no JSON with Version 1, AccessKeyId and "
                        "SecretAccessKey");
    else if (expiration != NULL)
        ok = (rfc3339_parse(expiration, strlen(expiration), &expires_ns) ||
              err_set(e, "credential_process: the Expiration is no time of RFC 3339")) &&
             (expires_ns > clock_real_ns() ||
              err_set(e, "credential_process gave credentials that have expired"));
    json_decref(json);
    return ok;
}

/* Runs the credential_process of the profile, and takes the keys that it prints. They are used for
 * the whole run. Errors never show its output. */
static bool run_process(struct profile *p, struct err *e)
{
    char *text = secret_alloc(PROCESS_MAX);
    FILE *f = text != NULL ? popen(p->field[PROFILE_PROCESS], "r") : NULL;
    size_t n = 0;

    if (f == NULL) {
        secret_free(text);
        return text == NULL ? mem_none(e) : err_errno(e, errno, "credential_process");
    }
    setvbuf(f, NULL, _IONBF, 0); /* no copy of the keys */
    n = fread(text, 1, PROCESS_MAX, f);
    int status = pclose(f);
    bool ok =
        n == PROCESS_MAX ? err_set(e, "credential_process printed %d bytes or more", PROCESS_MAX)
        : WIFSIGNALED(status)
            ? err_set(e, "credential_process was ended by signal %d", WTERMSIG(status))
        : status != 0 ? err_set(e, "credential_process failed (status %d)", WEXITSTATUS(status))
                      : take_document(p, text, n, e);
    secret_free(text);
    return ok;
}

/* ---- The environment ---- */

/* Returns the value of the first variable that is set and not empty. */
static const char *from_environment(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

/* Access key, secret key and session token, by source. */
#define N_SOURCES 3
static const char *const VARIABLES[N_SOURCES][3] = {
    {"S3LOAD_ACCESS_KEY", "S3LOAD_SECRET_KEY", "S3LOAD_SESSION_TOKEN"},
    {"WARP_ACCESS_KEY", "WARP_SECRET_KEY", "WARP_SESSION_TOKEN"},
    {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}};

/* Takes the secrets out of the environment, where /proc shows them and children inherit them. */
static void hide_environment(void)
{
    for (size_t i = 0; i < N_SOURCES * 3; i++) {
        char *value = getenv(VARIABLES[i / 3][i % 3]);
        if (value != NULL)
            memset(value, 'x', strlen(value));
        unsetenv(VARIABLES[i / 3][i % 3]);
    }
}

/* Sets the server from [http[s]://]host[:port][/]. `name` is the variable or field that the URL is
 * from. */
static bool take_endpoint(struct options *o, const char *name, const char *url, bool tls_given,
                          struct err *e)
{
    bool https = strncasecmp(url, "https://", 8) == 0;
    const char *host = https ? url + 8 : strncasecmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t n = strcspn(host, "/");

    if (memchr(host, '@', n) != NULL || (host[n] == '/' && host[n + 1] != '\0'))
        return err_set(e, "%s: only http[s]://host[:port] can be used", name);
    o->net.tls |= https && !tls_given;
    return options_keep(o, &o->hosts, secret_copy(host, n), e);
}

/* Sets the server and its region. The first source that has them wins: the command line, the
 * profile that it names, the environment, the default profile. */
static bool take_place(struct options *o, const struct cli_args *args, const struct profile *p,
                       bool by_name, struct err *e)
{
    static const char *const regions[] = {"S3LOAD_REGION", "WARP_REGION", "AWS_REGION",
                                          "AWS_DEFAULT_REGION", NULL};
    static const char *const urls[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL};
    const char *host = from_environment((const char *const[]){"S3LOAD_HOST", "WARP_HOST", NULL});
    const char *tls = from_environment((const char *const[]){"S3LOAD_TLS", "WARP_TLS", NULL});
    const char *region = from_environment(regions);
    const char *url = from_environment(urls);
    bool tls_given = tls != NULL || cli_given(args, "tls");

    if (tls != NULL && !cli_given(args, "tls") && !cli_parse_flag(tls, &o->net.tls, NULL))
        return err_set(e, "S3LOAD_TLS or WARP_TLS: '%s' is neither true nor false", tls);
    if (p->field[PROFILE_REGION] != NULL && (region == NULL || by_name))
        region = p->field[PROFILE_REGION];
    if (region != NULL && !cli_given(args, "region") &&
        !options_keep_copy(o, &o->region, region, e))
        return false;
    if (cli_given(args, "host"))
        return true;
    if (p->field[PROFILE_ENDPOINT_URL] != NULL && (by_name || (host == NULL && url == NULL)))
        return take_endpoint(o, "endpoint_url", p->field[PROFILE_ENDPOINT_URL], tls_given, e);
    if (host != NULL)
        o->hosts = host;
    return host != NULL || url == NULL || take_endpoint(o, "AWS_ENDPOINT_URL", url, tls_given, e);
}

/* Copies key, secret and token of one source. `name` has the source's names of key and secret. */
static bool take_source(struct options *o, const char *const name[static 2],
                        const char *const part[static 3], struct err *e)
{
    const char **const field[] = {&o->access_key, &o->secret_key, &o->session_token};
    bool has_key = part[0] != NULL;

    if (part[0] == NULL || part[1] == NULL)
        return err_set(e, "%s needs %s: give both as options, in the environment or in a profile",
                       name[!has_key], name[has_key]);
    bool ok = true;
    for (size_t i = 0; i < 3; i++)
        ok = ok && (part[i] == NULL || options_keep_copy(o, field[i], part[i], e));
    return ok;
}

/* Sets key, secret and token. All come from the first source that has a key or a secret, never from
 * two sources. */
static bool take_credentials(struct options *o, struct profile *p, bool by_name, struct err *e)
{
    const char *const given[] = {o->access_key, o->secret_key, o->session_token};

    if (o->net.anonymous)
        return (given[0] == NULL && given[1] == NULL && given[2] == NULL && !by_name) ||
               err_set(e, "--anonymous excludes keys and --profile");
    if (given[0] != NULL || given[1] != NULL)
        return take_source(o, (const char *const[]){"--access-key", "--secret-key"}, given, e);
    if (given[2] != NULL)
        return err_set(e, "--session-token belongs to --access-key and --secret-key");
    for (size_t i = 0; i < N_SOURCES && !by_name; i++) {
        const char *const *names = VARIABLES[i];
        const char *part[3];

        for (size_t k = 0; k < 3; k++)
            part[k] = from_environment((const char *const[]){names[k], NULL});
        if (part[0] != NULL || part[1] != NULL)
            return take_source(o, names, part, e);
    }
    bool has_keys = p->field[0] != NULL || p->field[1] != NULL;
    if (!has_keys && p->field[PROFILE_PROCESS] != NULL) {
        hide_environment();
        if (!run_process(p, e))
            return false;
        has_keys = true;
    }
    if (has_keys)
        return take_source(o, PROFILE_NAMES, (const char *const *)p->field, e);
    for (size_t i = PROFILE_ELSEWHERE; i < PROFILE_N; i++)
        if (p->field[i] != NULL)
            return err_set(e,
                           "profile '%s' has %s but no keys. s3load cannot get keys that way: add "
                           "'credential_process = aws configure export-credentials --profile %s'",
                           o->profile, PROFILE_NAMES[i], o->profile);
    return true;
}

bool options_take_rest(struct options *o, const struct cli_args *args, struct err *e)
{
    struct profile p;
    bool by_name = cli_given(args, "profile");
    const char *name = from_environment((const char *const[]){"AWS_PROFILE", NULL});
    const char *authorities = from_environment((const char *const[]){"AWS_CA_BUNDLE", NULL});
    bool has_keys = o->net.anonymous || o->access_key != NULL;

    for (size_t i = 0; i < N_SOURCES; i++)
        has_keys |= from_environment((const char *const[]){VARIABLES[i][0], NULL}) != NULL;
    if (name != NULL && !by_name)
        o->profile = name;
    if (!profile_read(&p, o->profile, by_name || (name != NULL && !has_keys), e)) {
        o->failed = !by_name && name == NULL;
        return false;
    }
    bool ok = take_place(o, args, &p, by_name, e) && take_credentials(o, &p, by_name, e);
    if (p.field[PROFILE_CA_BUNDLE] != NULL && (authorities == NULL || by_name))
        authorities = p.field[PROFILE_CA_BUNDLE];
    if (ok && o->net.tls && o->cacert == NULL && authorities != NULL)
        ok = options_keep_copy(o, &o->cacert, authorities, e);
    profile_fini(&p);
    hide_environment();
    return ok;
}
