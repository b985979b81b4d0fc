/* A record that is written reads back as it was, but for newlines, which only an error keeps. */
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fingerprint.h"

#include "libcommon/rowformat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_TEXTS 5
#define MAX_NS  INT64_MAX

static int64_t take_time(struct fuzz_input *in)
{
    return (int64_t)(fuzz_take(in, 8) & MAX_NS);
}

static int64_t take_optional_time(struct fuzz_input *in)
{
    uint64_t x = fuzz_take(in, 8);
    return x == 0 ? RECORD_NO_TIME : (int64_t)(x & MAX_NS);
}

/* Texts end with a zero byte in the input, so that they can hold newlines. */
static char *take_text(struct fuzz_input *in, struct slice *text)
{
    char *s = malloc(3 * in->n + RECORD_PADDING);

    assert(s != NULL);
    *text = (struct slice){s, 0};
    for (uint8_t c; in->n > 0 && (c = (uint8_t)fuzz_take(in, 1)) != 0;)
        s[text->n++] = (char)c;
    return s;
}

/* The text that is read back if it is not an error's. */
static void escape_newlines(struct slice *text, char *s)
{
    for (size_t i = 0; i < text->n; i++) {
        if (s[i] != '\n')
            continue;
        memmove(s + i + 3, s + i + 1, text->n - i - 1);
        memcpy(s + i, "%0A", 3);
        text->n += 2;
    }
}

static bool is_within(int64_t ns, int64_t from_ns, int64_t to_ns)
{
    return ns == RECORD_NO_TIME || (from_ns <= ns && ns <= to_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    struct rowformat format;
    struct fingerprint expected = {0};
    char *memory[N_TEXTS];
    bool intended = fuzz_take(&in, 1) % 2;
    struct record r = {
        .thread = (uint32_t)fuzz_take(&in, 4),
        .bytes = take_time(&in),
        .n_objects = (int64_t)fuzz_take(&in, 1),
        .cat = fuzz_take(&in, 8),
        .start_ns = take_time(&in),
        .end_ns = take_time(&in),
        .first_byte_ns = take_optional_time(&in),
        .last_byte_ns = take_optional_time(&in),
        .intended_ns = intended ? take_optional_time(&in) : RECORD_NO_TIME,
    };
    struct slice *texts[N_TEXTS] = {&r.op, &r.client, &r.endpoint, &r.file, &r.error};

    for (size_t i = 0; i < N_TEXTS; i++)
        memory[i] = take_text(&in, texts[i]);
    if (r.op.n == 0 || !is_within(r.end_ns, r.start_ns, INT64_MAX) ||
        !is_within(r.first_byte_ns, r.start_ns, r.end_ns) ||
        !is_within(r.last_byte_ns, r.start_ns, r.end_ns) ||
        !is_within(r.intended_ns, 0, r.start_ns))
        goto done; /* no record */
    /* If quotes in `file` are literal and the first of two lines is a complete row, that row is
     * read. */
    if (memchr(r.file.p, '\t', r.file.n) != NULL && memchr(r.error.p, '\n', r.error.n) != NULL)
        goto done;
    const char *header = rowformat_header(intended);
    size_t n_header = strlen(header);
    char *text = malloc(n_header + 2 * (1 + rowformat_bound(&r)));
    assert(text != NULL);
    char *end = mempcpy(text, header, n_header);
    rowformat_init(&format, intended);
    for (int i = 0; i < 2; i++) {
        char *row = end;
        *end++ = '0';
        end = rowformat_put(&format, end, &r);
        assert((size_t)(end - row) <= 1 + rowformat_bound(&r));
    }
    for (size_t i = 0; i + 1 < N_TEXTS; i++)
        escape_newlines(texts[i], memory[i]);
    fingerprint_add(&expected, &r, 0);
    fingerprint_add(&expected, &r, 0);
    struct fuzz_file file = fuzz_file(text, (size_t)(end - text));
    struct fingerprint got = fingerprint_read(file.path, (struct recfile_options){.threads = 1});
    assert(got.err.msg[0] == '\0');
    assert(got.n_rows == 2 && got.hash == expected.hash);
    close(file.fd);
    free(text);
done:
    for (size_t i = 0; i < N_TEXTS; i++)
        free(memory[i]);
    return 0;
}
