/* s3load: S3 requests, and a row for each. The map of the code is docs/how-it-is-built.md; each
 * command is in its cmd_NAME.c. */
#include "commands.h"
#include "version.h"

#include <curl/curl.h>
#include <expat.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void write_libraries(FILE *out)
{
    const XML_Expat_Version expat = XML_ExpatVersionInfo();
    fprintf(out, "libcurl %s, OpenSSL %s, expat %d.%d.%d, libzstd %s\n",
            curl_version_info(CURLVERSION_NOW)->version, OpenSSL_version(OPENSSL_VERSION_STRING),
            expat.major, expat.minor, expat.micro, ZSTD_versionString());
}

static const struct cli_command *const commands[] = {
    &cmd_get,   &cmd_put,       &cmd_delete,    &cmd_list,      &cmd_stat,
    &cmd_mixed, &cmd_versioned, &cmd_retention, &cmd_multipart, NULL};

static const struct cli_exit exits[] = {
    {"128+N", "signal N ended the run: 129 is SIGHUP, 130 SIGINT, 143 SIGTERM"},
    {0},
};

static const struct cli_program program = {
    .name = "s3load",
    .summary = "put load on an S3 store, and record each request",
    .version = version_string,
    .text =
        "Sends one kind of request, or a mix, and records each request in a capture "
        "(NAME.csv.zst), from which s3analyze says how fast the store was.\n\n"
        "Environment: S3LOAD_HOST, S3LOAD_ACCESS_KEY, S3LOAD_SECRET_KEY, S3LOAD_SESSION_TOKEN, "
        "S3LOAD_REGION and S3LOAD_TLS stand for options that are not given; then the same names "
        "with WARP_; then AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION "
        "and AWS_ENDPOINT_URL_S3; then the profile in ~/.aws/credentials, or in the file that "
        "AWS_SHARED_CREDENTIALS_FILE names.",
    .commands = commands,
    .exits = exits,
    .write_libraries = write_libraries,
};

int main(int argc, char **argv)
{
    char **copy = options_hide(argc, argv);

    if (copy == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        fprintf(stderr, "s3load: out of memory\n");
        return EXIT_FAILED;
    }
    int status = cli_main(&program, argc, copy);
    curl_global_cleanup();
    for (int i = 0; i < argc; i++) {
        explicit_bzero(copy[i], strlen(copy[i]));
        free(copy[i]);
    }
    free(copy);
    return status;
}
