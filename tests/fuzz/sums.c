/* Files of sums with any content: they are read, or a line says what is wrong. What is read is
 * written the same, can be added to itself, and can be reported as text, JSON and series.
 *
 * Input: the file. */
#include "tests/fuzz/fuzz.h"

#include "analyze/analysis/sums/sums.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/report/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct written {
    char *v;
    size_t n;
};

static struct written write_sums(const struct sums *s)
{
    struct written w = {0};
    struct err e = {0};
    FILE *f = open_memstream(&w.v, &w.n);
    bool ok = f != NULL && sums_write(s, f, &e);
    assert(ok);
    fclose(f);
    return w;
}

static void report(const struct sums *s)
{
    const struct analysis_options how = {.full_series = true};
    const struct sheet_form verbose = {.verbose = true};
    struct analysis a = {0};
    struct dataset d = {0};
    struct err e = {0};
    struct written w = {0};
    FILE *f = open_memstream(&w.v, &w.n);
    bool ok = f != NULL && sums_analyze(&a, &d, s, "sums", &how, &e);
    if (ok) {
        ok = report_json(&a, f, &e) && report_text(&a, &verbose, f, &e);
        assert(ok);
        ok = report_csv(&a, REPORT_CSV_TABS, true, false, f, &e);
    }
    /* A run may be longer than reports are. */
    assert(ok == (e.msg[0] == '\0'));
    analysis_free(&a);
    dataset_free(&d);
    fclose(f);
    free(w.v);
}

/* What was read is written and read again, and doubled unless a sum exceeds 63 bits. */
static void write_and_add(struct sums *s)
{
    struct written one = write_sums(s);
    struct fuzz_file file = fuzz_file((const uint8_t *)one.v, one.n);
    struct sums again = {0};
    struct err e = {0};
    bool ok = sums_read(&again, file.path, &e);
    assert(ok);
    struct written two = write_sums(&again);
    assert(one.n == two.n && memcmp(one.v, two.v, one.n) == 0);
    ok = sums_merge(s, &again, &e);
    assert(ok == (e.msg[0] == '\0'));
    sums_free(&again);
    close(file.fd);
    free(one.v);
    free(two.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_file file = fuzz_file(data, n);
    struct sums s = {0};
    struct err e = {0};
    bool ok = sums_read(&s, file.path, &e);
    assert(ok == (e.msg[0] == '\0') && strchr(e.msg, '\n') == NULL);
    if (ok) {
        report(&s);
        write_and_add(&s);
    }
    sums_free(&s);
    close(file.fd);
    return 0;
}
