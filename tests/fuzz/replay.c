/* Feeds named files to a fuzz target: the main of targets that are built without libFuzzer. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

static uint8_t *read_file(const char *path, size_t *n)
{
    uint8_t *data = NULL;
    size_t cap = 0, got = 1;
    FILE *f = fopen(path, "rb");

    for (*n = 0; f != NULL && got > 0; *n += got) {
        if (*n == cap) {
            uint8_t *grown = realloc(data, cap = 2 * cap + 4096);
            if (grown == NULL)
                abort();
            data = grown;
        }
        got = fread(data + *n, 1, cap - *n, f);
    }
    if (f == NULL || ferror(f)) {
        perror(path);
        exit(2);
    }
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    fuzz_all = true;
    for (int i = 1; i < argc; i++) {
        size_t n;
        uint8_t *data = read_file(argv[i], &n);
        /* If the target dies, the last line names the file. */
        fprintf(stderr, "%s\n", argv[i]);
        /* A block of exactly this size, so that a sanitizer sees reads beyond it. */
        uint8_t *exact = realloc(data, n > 0 ? n : 1);
        if (exact == NULL)
            abort();
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    return 0;
}
