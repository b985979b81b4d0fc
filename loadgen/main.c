/* s3load: S3 requests, and a row for each. The map of the code is in README.md.
 *
 *   options redact profile     what the user wants, from where it is found, and what is not shown
 *   cmd_*  workload deck sizes the commands: what each worker asks for next
 *   bench bucket cleanup       a run from begin to end
 *   crew loop worker conn      threads, their event loops, requests, connections
 *   s3op sigv4 uri http1 xml   what goes over the wire
 *   recorder screen summary    what is kept and shown of it */
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
    fprintf(out, "%s, %s, libzstd %s\n", curl_version(), XML_ExpatVersion(), ZSTD_versionString());
}

static const struct cli_command *const commands[] = {
    &cmd_get,   &cmd_put,       &cmd_delete,    &cmd_list,      &cmd_stat,
    &cmd_mixed, &cmd_versioned, &cmd_retention, &cmd_multipart, NULL};

static const struct cli_program program = {
    .name = "s3load",
    .summary = "put load on an S3 store, and record each request",
    .version = version_string,
    .commands = commands,
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
