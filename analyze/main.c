/* s3analyze: from recorded requests to figures, comparisons and charts. docs/how-it-is-built.md is
 * the map of the folders beside this file, and follows one run through them. */
#include "analyze/cmd/commands.h"
#include "analyze/stats/stats.h"
#include "analyze/write/unfinished.h"
#include "libcommon/version.h"

#include <csv.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <xxhash.h>
#include <zip.h>
#include <zlib.h>
#include <zstd.h>

static void write_libraries(FILE *out)
{
    unsigned xxhash = XXH_versionNumber();

    fprintf(out,
            "libzstd %s, libcsv %d.%d.%d, libxxhash %u.%u.%u, jansson %s, GSL %s, OpenSSL %s, "
            "libzip %s, zlib %s\n",
            ZSTD_versionString(), CSV_MAJOR, CSV_MINOR, CSV_RELEASE, xxhash / 10000,
            xxhash / 100 % 100, xxhash % 100, jansson_version_str(), stats_version_gsl(),
            OpenSSL_version(OPENSSL_VERSION_STRING), zip_libzip_version(), zlibVersion());
}

static const struct cli_command *const commands[] = {PROGRAMS_S3ANALYZE(PROGRAMS_ADDRESS) NULL};
static const char *const loading[] = {PROGRAMS_S3LOAD(PROGRAMS_NAME) NULL};

static const struct cli_program program = {
    .name = "s3analyze",
    .summary = "say how fast an S3 store was, from the requests that a run recorded",
    .version = version_string,
    .text =
        "Reads captures (NAME.csv.zst): the requests that s3load, or warp since 2019, recorded.\n\n"
        "Environment: NO_COLOR switches colours off, TMPDIR is where temporary files go, and "
        "S3ANALYZE_PLOTS names another folder of gnuplot scripts.",
    .commands = commands,
    .write_libraries = write_libraries,
    .file_command = "analyze",
    .other_program = "s3load",
    .other_commands = loading,
};

int main(int argc, char **argv)
{
    unfinished_watch(program.name);
    stats_init();
    return cli_main(&program, argc, argv);
}
