/* Aggregated captures with any content: they are read, or a line says what is wrong. What is read
 * can be written as text, JSON and series.
 *
 * Input: the file. */
#include "tests/fuzz/fuzz.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/analysis/sums/sums.h"
#include "analyze/render/json/documents.h"
#include "analyze/render/report/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_json(const char *text, size_t n)
{
    json_error_t error;
    json_t *value = json_loadb(text, n, JSON_ALLOW_NUL, &error);
    assert(json_is_array(json_object_get(value, "operations")));
    json_decref(value);
}

static void write_all(const struct sums *s)
{
    struct analysis_options how = {0};
    struct analysis a = {0};
    struct dataset d = {0};
    struct err e = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert(f != NULL);
    if (sums_analyze(&a, &d, s, "file", &how, &e)) {
        assert(report_json(&a, f, &e) && fflush(f) == 0);
        check_json(text, n);
        assert(report_text(&a, &(struct sheet_form){.verbose = true}, f, &e));
        assert(report_csv(&a, REPORT_CSV_TABS, false, false, f, &e));
    } else {
        assert(strcmp(e.msg, "file: no requests") == 0);
    }
    fclose(f);
    free(text);
    analysis_free(&a);
    dataset_free(&d);
    how.by_second = true;
    assert(sums_analyze(&a, &d, s, "file", &how, &e) || strcmp(e.msg, "file: no requests") == 0);
    analysis_free(&a);
    dataset_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_file file = fuzz_file(data, n);
    struct sums s = {0};
    struct err e = {0};
    bool ok = sums_of_foreign(&s, file.path, &e);
    assert(ok == (e.msg[0] == '\0') && strchr(e.msg, '\n') == NULL);
    if (ok)
        write_all(&s);
    sums_free(&s);
    close(file.fd);
    return 0;
}
