/* s3target: an S3 server in memory for demonstrations and tests. Not for anything else.
 *
 *   main      options
 *   server    ports, faults in effect, the log
 *   request   one request and its answer: parsing, errors
 *   auth      verification of signatures
 *   s3        what a request is for; buckets
 *   object multipart list   the other operations
 *   store     buckets, objects, versions, uploads
 *   fault     rules of faults
 *   cert      the certificate
 *   buf       text that grows */
#include "libcommon/cli.h"
#include "libcommon/units.h"
#include "libcommon/version.h"
#include "tests/target/cert.h"
#include "tests/target/server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define PORTS_MAX 64

struct options {
    struct server_options server;
    struct cli_list ports;
    struct cli_list faults;
    struct cli_list buckets;
    const char *access_key;
    const char *secret_key;
    const char *session_token;
    const char *region;
    const char *domain;
    const char *cn;
    const char *cert_out;
    const char *key_out;
    bool tls;
    bool refuse_batches;
    int64_t seed;
};

static const struct cli_option SERVE_OPTIONS[] = {
    {"port", CLI_LIST, offsetof(struct options, ports), "PORT",
     .help = "ports to listen on, 0 for a free one (9000)"},
    {"address", CLI_STRING, offsetof(struct options, server.address), "IP",
     .help = "address to listen on"},
    {"access-key", CLI_STRING, offsetof(struct options, access_key), "KEY",
     .help = "the access key that is let in"},
    {"secret-key", CLI_STRING, offsetof(struct options, secret_key), "KEY",
     .help = "its secret key"},
    {"session-token", CLI_STRING, offsetof(struct options, session_token), "TOKEN",
     .help = "the session token that every request must have"},
    {"region", CLI_STRING, offsetof(struct options, region), "NAME",
     .help = "region of the signatures"},
    {"domain", CLI_STRING, offsetof(struct options, domain), "NAME",
     .help = "domain of virtual hosts: BUCKET.NAME"},
    {"bucket", CLI_LIST, offsetof(struct options, buckets), "NAME",
     .help = "buckets that exist at start"},
    {"tls", CLI_FLAG, offsetof(struct options, tls), NULL,
     .help = "TLS, with a certificate made now"},
    {"cn", CLI_STRING, offsetof(struct options, cn), "NAME",
     .help = "the certificate has this common name alone"},
    {"cert-out", CLI_STRING, offsetof(struct options, cert_out), "FILE",
     .help = "write the certificate here"},
    {"key-out", CLI_STRING, offsetof(struct options, key_out), "FILE",
     .help = "write its key here"},
    {"log", CLI_STRING, offsetof(struct options, server.log), "FILE",
     .help = "write a line per request here"},
    {"idle-timeout", CLI_INT, offsetof(struct options, server.idle_timeout_s), "SECONDS",
     .help = "close idle connections after this", .min = 0, .max = 3600},
    {"max-body", CLI_SIZE, offsetof(struct options, server.max_body_bytes), "SIZE",
     .help = "largest body that is taken"},
    {"refuse-batches", CLI_FLAG, offsetof(struct options, refuse_batches), NULL,
     .help = "answer 501 to POST ?delete"},
    {"fault", CLI_STRINGS, offsetof(struct options, faults), "RULE",
     .help = "a rule of faults (see tests/target/fault.h)"},
    {"seed", CLI_INT, offsetof(struct options, seed), "N", .help = "seed of the faults"},
    {0},
};

static const struct cli_group SERVE_GROUPS[] = {
    {.title = "Options", .options = SERVE_OPTIONS},
    {0},
};

static bool write_file(const char *path, const char *text, struct err *e)
{
    FILE *f = fopen(path, "w");

    if (f == NULL)
        return err_errno(e, errno, "cannot write '%s'", path);
    bool ok = fputs(text, f) >= 0;
    ok = fclose(f) == 0 && ok;
    return ok || err_errno(e, errno, "cannot write '%s'", path);
}

static bool listen_all(struct server *s, const struct options *o, struct server_port *ports,
                       size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        int64_t port = 9000;
        if (o->ports.n > 0 && !units_parse_int(o->ports.v[i], &port, e))
            return false;
        if (port < 0 || port > 65535)
            return err_set(e, "port %lld is not in 0..65535", (long long)port);
        if (!server_listen(&ports[i], s, (int)i, (unsigned)port, e))
            return false;
        printf("listening on http%s://%s:%u\n", o->tls ? "s" : "", o->server.address,
               ports[i].port);
    }
    fflush(stdout);
    return true;
}

static bool serve(struct server *s, struct options *o, struct err *e)
{
    struct server_port ports[PORTS_MAX] = {{0}};
    size_t n = o->ports.n > 0 ? o->ports.n : 1;
    sigset_t stop;
    int caught = 0;

    if (n > PORTS_MAX)
        return err_set(e, "more than %d ports", PORTS_MAX);
    for (size_t i = 0; i < o->faults.n; i++)
        if (!faults_add(&s->faults, o->faults.v[i], o->seed, e))
            return false;
    if (!server_init(s, &o->server, e))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < o->buckets.n; i++)
        ok = store_create(&s->s3.store, o->buckets.v[i]) != NULL || err_set(e, "out of memory");

    /* Threads of the server inherit the mask, so only sigwait gets the signals. */
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    ok = ok && listen_all(s, o, ports, n, e);
    if (ok)
        sigwait(&stop, &caught);
    atomic_store(&s->stopping, true);
    for (size_t i = 0; i < n; i++)
        server_close(&ports[i]);
    server_fini(s);
    return ok;
}

static int run_serve(const struct cli_args *args, void *options)
{
    static struct server server;
    struct options *o = options;
    struct err e = {0};
    char *cert = NULL;
    char *key = NULL;

    server.s3.auth = (struct auth){o->access_key, o->secret_key, o->session_token, o->region};
    server.s3.domain = o->domain;
    server.s3.refuses_batches = o->refuse_batches;
    faults_init(&server.faults);
    bool ok = !o->tls || cert_make(o->domain, o->cn, &cert, &key, &e);
    o->server.cert_pem = cert;
    o->server.key_pem = key;
    if (ok && o->tls && o->cert_out != NULL)
        ok = write_file(o->cert_out, cert, &e);
    if (ok && o->tls && o->key_out != NULL)
        ok = write_file(o->key_out, key, &e);
    ok = ok && serve(&server, o, &e);
    faults_fini(&server.faults);
    free(cert);
    free(key);
    return ok ? EXIT_DONE : cli_failed(args, &e);
}

static const struct options DEFAULTS = {
    .server = {.address = "127.0.0.1", .max_body_bytes = (int64_t)5 << 30},
    .access_key = "s3load",
    .secret_key = "s3load-secret",
    .region = "us-east-1",
    .seed = 1,
};

static const struct cli_command SERVE = {
    .name = "serve",
    .summary = "serve S3 from memory until SIGINT or SIGTERM",
    .groups = SERVE_GROUPS,
    .options_size = sizeof(struct options),
    .defaults = &DEFAULTS,
    .run = run_serve,
};

static void write_libraries(FILE *out)
{
    fprintf(out, "libmicrohttpd %s\n", MHD_get_version());
}

int main(int argc, char **argv)
{
    static const struct cli_command *const commands[] = {&SERVE, NULL};
    const struct cli_program program = {
        .name = "s3target",
        .summary = "an S3 server in memory for demonstrations and tests",
        .version = version_string,
        .commands = commands,
        .write_libraries = write_libraries,
    };

    return cli_main(&program, argc, argv);
}
