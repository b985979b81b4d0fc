/* Recordings of other programs of any bytes: they are read, or a line says what is wrong, with the
 * file's name. What is read becomes a capture that can be read and analysed.
 *
 * Input: a byte that chooses the format, then the file. */
#include "tests/fuzz/fuzz.h"

#include "analyze/analysis/analysis.h"
#include "analyze/import/import.h"

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
    struct err e = {""};
    bool ok = dataset_load(&d, &path, 1, &all, &how, &e);

    assert(ok && d.n_rows == n_rows && dataset_is_imported(&d));
    ok = analysis_run(&a, &d, &options, &e);
    /* A run may be longer than reports are. */
    assert(ok == (e.msg[0] == '\0'));
    analysis_free(&a);
    dataset_free(&d);
}

static void write_capture(struct import *m)
{
    struct fuzz_file out = fuzz_file("", 0);
    const struct recwrite_options how = {.fd = out.fd, .name = "capture"};
    struct err e = {""};
    struct recwrite *w = recwrite_open(&how, &e);
    bool ok = w != NULL && import_write(m, w, &e);

    assert(ok && import_result(m)->n_threads <= import_result(m)->n_rows);
    ok = recwrite_close(w, &e);
    assert(ok);
    analyze(&out, import_result(m)->n_rows);
    close(out.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    /* So little memory that rows go to a file, too. */
    const struct import_options how = {.format = (enum import_format)(fuzz_take(&in, 1) % 4),
                                       .op = n % 2 == 0 ? "GET" : "PUT",
                                       .host = "",
                                       .max_bytes = 512};
    struct fuzz_file file = fuzz_file(in.p, in.n);
    const char *path = file.path;
    struct err e = {""};
    struct import *m = import_read(&path, 1, &how, &e);

    assert((m != NULL) == (e.msg[0] == '\0') && strchr(e.msg, '\n') == NULL);
    assert(m != NULL || strncmp(e.msg, path, strlen(path)) == 0);
    if (m != NULL)
        write_capture(m);
    import_free(m);
    close(file.fd);
    return 0;
}
