/* s3load: sends S3 requests, and records each. docs/how-it-is-built.md is the map of the folders
 * beside this file, and follows one run through them. */
#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/version.h"
#include "loadgen/cmd/commands.h"
#include "loadgen/net/net.h"
#include "loadgen/ranks/ranks.h"
#include "loadgen/run/bench.h"

#include <curl/curl.h>
#include <expat.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <zip.h>
#include <zstd.h>

static void write_libraries(FILE *out)
{
    const XML_Expat_Version expat = XML_ExpatVersionInfo();
    fprintf(out, "libcurl %s, OpenSSL %s, expat %d.%d.%d, jansson %s, libzip %s, libzstd %s\n",
            curl_version_info(CURLVERSION_NOW)->version, OpenSSL_version(OPENSSL_VERSION_STRING),
            expat.major, expat.minor, expat.micro, jansson_version_str(), zip_libzip_version(),
            ZSTD_versionString());
}

static const struct cli_command *const commands[] = {PROGRAMS_S3LOAD(PROGRAMS_ADDRESS) NULL};
static const char *const analyzing[] = {PROGRAMS_S3ANALYZE(PROGRAMS_NAME) NULL};

static const struct cli_exit exits[] = {
    {"128+N", "signal N ended the run: 129 is SIGHUP, 130 SIGINT, 143 SIGTERM"},
    {0},
};

static const struct cli_program program = {
    .name = ranks_program,
    .summary = "put load on an S3 store, and record each request",
    .version = version_string,
    .text =
        "Sends one kind of request, or a mix, and records each request in a capture "
        "(NAME.csv.zst), from which s3analyze says how fast the store was.\n\n"
        "Environment: an option that is not given comes from the first of these that has it: the "
        "profile that --profile names; S3LOAD_HOST, S3LOAD_ACCESS_KEY, S3LOAD_SECRET_KEY, "
        "S3LOAD_SESSION_TOKEN, S3LOAD_REGION and S3LOAD_TLS; the same with WARP_; "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, "
        "AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and AWS_CA_BUNDLE; the "
        "profile that AWS_PROFILE names, or \"default\". Access key, secret key and token come "
        "from one place.\n\n"
        "A profile has keys or a credential_process, region, endpoint_url (or services) and "
        "ca_bundle, in ~/.aws/credentials and ~/.aws/config, or in the files that "
        "AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name.\n\n"
        "@FILE stands for the options in a file: one on each line, \"name value\". Lines that "
        "begin with # are comments. A later option overrides an earlier one.",
    .commands = commands,
    .exits = exits,
    .write_libraries = write_libraries,
    .other_program = "s3analyze",
    .other_commands = analyzing,
};

int main(int argc, char **argv)
{
    char **copy = options_hide(commands, argc, argv);
    struct err e = {0};

    /* Jansson reads the output of a credential_process, which has keys. */
    json_set_alloc_funcs(secret_alloc, secret_free);
    bool ok = (copy != NULL && conn_global_init()) || mem_none(&e);
    if (!ok || !ranks_open(&e)) {
        fprintf(stderr, "%s: %s\n", program.name, e.msg);
        return EXIT_FAILED;
    }
    /* Rank 0 reads the command line, and sends commands to the others. */
    int status = ranks_rank() == 0 ? cli_main(&program, argc, copy) : EXIT_DONE;
    status = ranks_rank() == 0 ? team_dismiss(status) : bench_follow(&program);
    ranks_close();
    curl_global_cleanup();
    for (int i = 0; i < argc; i++)
        secret_free(copy[i]);
    free(copy);
    return status;
}
