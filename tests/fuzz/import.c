/* Recordings of other programs with any content: they are read, or a line with the file's name says
 * what is wrong. What is read becomes a capture that can be read and analysed.
 *
 * Input: a byte that chooses the format, then the file. */
#include "tests/fuzz/fuzz.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/capture/import/import.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

static void analyze(struct fuzz_file *capture, uint64_t n_rows)
{
    const struct dataset_filter all = {0};
    const struct recfile_options how = {.threads = 1};
    const struct analysis_options options = {.threads = 1};
    const char *path = capture->path;
    struct dataset d = {0};
    struct analysis a = {0};
    struct err e = {0};
    bool ok = dataset_load(&d, &path, 1, &all, &how, &e);

    assert(ok && d.n_rows == n_rows && dataset_is_imported(&d));
    ok = analysis_run(&a, &d, &options, &e);
    /* A run may be longer than reports are. */
    assert(ok == (e.msg[0] == '\0'));
    analysis_free(&a);
    dataset_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    /* So little memory that rows go to a file as well. */
    const struct import_options how = {.format = (enum import_format)(fuzz_take(&in, 1) % 4),
                                       .op = n % 2 == 0 ? "GET" : "PUT",
                                       .host = "",
                                       .salvage = n % 3 == 0,
                                       .max_bytes = 512};
    struct fuzz_file file = fuzz_file(in.p, in.n), out = fuzz_file("", 0);
    const struct recwrite_options to = {.fd = out.fd, .name = "capture"};
    const char *path = file.path;
    struct import_result result;
    struct err e = {0};
    struct recwrite *w = recwrite_open(&to, &e);

    assert(w != NULL);
    bool ok = import_recordings(&path, 1, &how, w, &result, &e);
    assert(ok == (e.msg[0] == '\0') && strchr(e.msg, '\n') == NULL);
    assert(ok || strncmp(e.msg, path, strlen(path)) == 0);
    bool closed = recwrite_close(w, &e);
    assert(closed);
    if (ok) {
        assert(result.n_threads <= result.n_rows);
        analyze(&out, result.n_rows);
    }
    close(out.fd);
    close(file.fd);
    return 0;
}
