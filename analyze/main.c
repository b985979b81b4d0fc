/* s3analyze: from recorded requests to figures, comparisons and charts.
 *
 * A map of the folders beside this file, from above to below; each knows those below it only:
 *
 *   cmd/        one file a command: options in, exit status out. Begin at cmd/analyze.c.
 *   page/       the models below as HTML, with charts
 *   json/       as JSON
 *   report/     as sheets, which become text, Markdown and HTML, and as CSV
 *   plot/       as charts, drawn by gnuplot
 *   archive/    many runs, one after another in time: archive/archive.h
 *   compare/    runs before and after to verdicts: compare/compare.h
 *   stream/     captures to captures, row by row: cat, merge, info
 *   profile/    profiles of a server: profile/profile.h
 *   analysis/   a dataset to struct analysis: analysis/analysis.h
 *   sums/       files of sums: written, read, merged, and to struct analysis
 *   conclude/   figures and courses to findings, ranked
 *   requests/   durations, sizes, objects and errors of requests
 *   estimate/   intervals and warm-up
 *   sets/       tables to sets of requests: ranges, totals, segments
 *   model/      struct analysis, which says all that a report can: model/model.h
 *   findings/   the course of a run to what happened in it
 *   stats/      tests, intervals and quantiles: numbers to numbers
 *   data/       rows to tables of columns: data/dataset.h
 *   read/       files to rows: frames, threads, the parser: read/recfile.h
 *   write/      how a line, a table, a JSON value and a whole file are written
 *   base/       tasks on threads, arrays that grow, interned strings, progress
 *
 * ../libcommon/ is what s3load uses too. docs/how-it-is-built.md follows one run through them, and
 * says where to add something; docs/how-the-numbers-are-made.md, where each figure is computed. */
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
