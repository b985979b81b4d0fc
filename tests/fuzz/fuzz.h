/* What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput: `make fuzz` links
 * it with libFuzzer, `make tests` with replay.c, which feeds it files. What must hold is asserted.
 */
#ifndef S3_FUZZ_H
#define S3_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* True: make all checks of which an input chooses one, as the tests have few inputs. */
extern bool fuzz_all;

/* An input that is taken piece by piece; after its end come zeros and empty texts. */
struct fuzz_input {
    const uint8_t *p;
    size_t n;
};

/* The next n_bytes <= 8 as a number, the lowest first. */
uint64_t fuzz_take(struct fuzz_input *in, size_t n_bytes);

/* The next line, without its newline, as a string to be freed. It may hold NULs: *n_text (which may
 * be NULL) is its length. */
char *fuzz_take_line(struct fuzz_input *in, size_t *n_text);

/* All that is left, as fuzz_take_line. */
char *fuzz_take_rest(struct fuzz_input *in, size_t *n_text);

/* A file in memory that holds the n bytes; fd to be closed. */
struct fuzz_file {
    int fd;
    char path[32];
};
struct fuzz_file fuzz_file(const void *data, size_t n);

#endif
