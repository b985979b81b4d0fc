/* Profiles with any content: profile.proto, perf script, gzip, or an archive. They are read, alone
 * or with themselves as the base, or a line says what is wrong. What is read is written in all
 * formats.
 *
 * Input: 0, then a profile; anything else, then an archive. */
#include "tests/fuzz/fuzz.h"

#include "analyze/tools/profile/run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_all(const struct profile_run *r, size_t type)
{
    const struct graph_options few = {type, 0.005, 5, true};
    const struct profile *p = &r->p;
    struct sheet s = {0};
    struct err e = {0};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert(f != NULL);
    bool ok = profile_write_top(p, &few, f, &e) && profile_write_flame(p, type, f, &e);
    assert(ok);
    profile_write_folded(p, type, f);
    profile_cost_line(&s, p, r->loads);
    profile_run_nodes(&s, r);
    profile_cost_parts(&s, p, r->loads);
    ok = sheet_write_markdown(&s, f, &e);
    assert(ok);
    sheet_free(&s);
    fclose(f);
    free(text);
}

static void check(struct profile_run *r, bool ok, struct err *e)
{
    assert(ok == (e->msg[0] == '\0') && strchr(e->msg, '\n') == NULL);
    for (size_t i = 0; ok && i < r->p.n_types; i++)
        write_all(r, i);
    if (ok && r->p.n_types > 0)
        assert(profile_type_index(&r->p, NULL, NULL) < r->p.n_types);
    profile_run_free(r);
}

static void read_profile(const uint8_t *data, size_t n, bool with_base)
{
    struct profile_run r = {.loads = {{.n = 3, .n_bytes = 5}, {.n = 2}}};
    struct err e = {0};

    bool ok = profile_add(&r.p, data, n, false, &e) &&
              (!with_base || profile_add(&r.p, data, n, true, &e));
    check(&r, ok, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n > 0 && data[0] != 0) {
        struct fuzz_file file = fuzz_file(data + 1, n - 1);
        struct profile_run r = {0};
        struct err e = {0};
        const char *path = file.path;
        const struct profile_wanted wanted = {.paths = &path, .n_paths = 1};
        bool ok = profile_run_read(&r, &wanted, &e);
        check(&r, ok, &e);
        close(file.fd);
    } else if (n > 0) {
        read_profile(data + 1, n - 1, false);
        read_profile(data + 1, n - 1, true);
    }
    return 0;
}
