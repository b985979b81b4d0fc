/* Requests to S3 with any key, version, token and host: no value adds a line to the head, path and
 * query name what was asked for, and the head is signed.
 *
 * Input: a byte with the kind, a byte of flags, lines: version, upload id, token, start-after,
 * storage class; the key. */
#include "tests/fuzz/fuzz.h"

#include "loadgen/s3/s3.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION, UPLOAD, TOKEN, START, CLASS, N_LINES };

/* Each line ends with CR LF, the last one is empty, and no control characters are in them. */
static void check_lines(const char *head, size_t n)
{
    assert(n > 4 && memcmp(head + n - 4, "\r\n\r\n", 4) == 0);
    assert(memmem(head, n, "\r\n\r\n", 4) == head + n - 4);
    for (size_t i = 0; i < n; i++) {
        if (head[i] == '\r')
            assert(head[i + 1] == '\n');
        else if (head[i] == '\n')
            assert(head[i - 1] == '\r');
        else
            assert((unsigned char)head[i] >= ' ' && head[i] != 0x7f);
    }
}

static void check_path(const char *head, size_t n, const struct s3op *op, bool virtual_host)
{
    const char *line_end = memmem(head, n, " HTTP/1.1\r\n", 11);
    const char *path = memchr(head, ' ', n);

    assert(line_end != NULL && path != NULL && path < line_end && path[1] == '/');
    path++;
    assert(memchr(path, ' ', (size_t)(line_end - path)) == NULL);
    assert(memchr(path, '#', (size_t)(line_end - path)) == NULL);
    const char *query = memchr(path, '?', (size_t)(line_end - path));
    size_t n_path = (size_t)((query != NULL ? query : line_end) - path);
    char *decoded = malloc(n_path);
    assert(decoded != NULL);
    memcpy(decoded, path, n_path);
    assert(uri_decode(decoded, &n_path));
    size_t n_bucket = virtual_host ? 1 : strlen("/bucket/");
    if (op->n_key > 0 && (op->kind == S3OP_GET || op->kind == S3OP_PUT))
        assert(n_path == n_bucket + op->n_key &&
               memcmp(decoded + n_bucket, op->key, op->n_key) == 0);
    free(decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct sigv4 signer;
    static char out[S3OP_HEAD_MAX];
    static struct s3op op;
    struct fuzz_input in = {data, n};
    struct err e = {0};
    char *line[N_LINES];
    bool has_control = false;

    if (signer.access_key == NULL &&
        !sigv4_init(&signer, "key", "secret", "", "us-east-1", "s3", &e))
        return 0;
    enum s3op_kind kind = (enum s3op_kind)(fuzz_take(&in, 1) % S3OP_N_KINDS);
    uint64_t flags = fuzz_take(&in, 1);
    for (int i = 0; i < N_LINES; i++)
        line[i] = fuzz_take_line(&in, NULL);
    /* A storage class with control characters is refused among the options. */
    for (const char *c = line[CLASS]; *c != '\0'; c++)
        has_control |= (unsigned char)*c < ' ' || *c == 0x7f;
    op = (struct s3op){.kind = kind,
                       .version_id = flags & 1 ? line[VERSION] : NULL,
                       .upload_id = line[UPLOAD],
                       .part = 1 + (unsigned)(flags >> 6),
                       .n_payload = flags,
                       .length = 1 + flags,
                       .whole = flags & 2,
                       .start_after = flags & 8 ? line[START] : NULL,
                       .n_objects = 1};
    op.n_key = in.n < S3OP_KEY_MAX ? in.n : S3OP_KEY_MAX;
    if (op.n_key > 0)
        memcpy(op.key, in.p, op.n_key);
    bool virtual_host = flags & 16;
    const struct s3op_style style = {.bucket = "bucket",
                                     .region = "us-east-1",
                                     .storage_class =
                                         flags & 32 && !has_control ? line[CLASS] : NULL};
    const struct s3op_head head = {.host = "host:9000",
                                   .virtual_host = virtual_host,
                                   .payload_hash = SIGV4_EMPTY_PAYLOAD,
                                   .content_md5 = "1B2M2Y8AsgTpgAmY7PhCfg==",
                                   .user_agent = "agent",
                                   .token = flags & 64 ? line[TOKEN] : NULL,
                                   .token_id = flags & 128 ? line[VERSION] : NULL,
                                   .time_s = 1795239958};
    size_t len = s3op_build(&style, &signer, &op, &head, out, sizeof out, &e);
    assert((len == 0) == (e.msg[0] != '\0') && len <= sizeof out);
    if (len > 0) {
        const char *start = out;
        check_lines(start, len);
        check_path(start, len, &op, virtual_host);
        assert(memmem(start, len, "\r\nAuthorization: AWS4-HMAC-SHA256 ", 34) != NULL ||
               memmem(start, len, "\r\nauthorization: AWS4-HMAC-SHA256 ", 34) != NULL);
    }
    for (int i = 0; i < N_LINES; i++)
        free(line[i]);
    return 0;
}
