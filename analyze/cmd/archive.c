#include "analyze/cmd/archive.h"

#include "analyze/base/paths.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/sides.h"
#include "analyze/read/aggpipe.h"
#include "analyze/write/outfile.h"

#include <stdlib.h>

const struct cli_option archive_cache_table[] = {
    {"no-cache", CLI_FLAG, offsetof(struct archive_given, no_cache),
     .help = "read all files again, and keep nothing in the cache"},
    {0},
};

/* Whether to use the cache: figures depend on each run's file alone, and there are several runs. */
static bool wants_cache(const struct archive_given *o, const struct archive_paths *paths)
{
    char *choice = load_words(&o->filter, &o->analysis);
    bool all = choice != NULL && *choice == '\0';

    free(choice);
    return all && !o->no_cache && paths->n > 1 && !o->input.salvage;
}

bool archive_read(struct archive *a, const struct archive_given *o, const struct cli_args *args,
                  enum archive_as as, struct err *e)
{
    struct run_options how = {.filter = &o->filter, .input = &o->input, .analysis = &o->analysis};
    struct archive_paths paths = {0};
    bool ok = output_can_write(&o->output, e) &&
              archive_find(&paths, args->operands, args->n_operands, e);
    const char *const *names = (const char *const *)paths.v;

    ok = ok && output_spares(&o->output, names, paths.n, e) && output_fits(&o->output, args, e) &&
         aggpipe_spool(names, paths.n, e);
    if (ok && as == ARCHIVE_AS_SUMS && options_first(names, paths.n, RUN_OF_SUMS) != NULL)
        how.basis = RUN_OF_SUMS;
    if (ok && as == ARCHIVE_AS_LEAST) {
        how.basis = sides_basis(RUN_OF_REQUESTS, names, paths.n);
        ok = paths_differ(names, paths.n, e); /* a run counts once */
    }
    ok = ok && archive_load(a, &paths, &how, wants_cache(o, &paths), e);
    archive_free_paths(&paths);
    return ok;
}

bool archive_write(const struct archive_given *o, const struct cli_args *args,
                   const struct archive_writers *write, const void *ctx, struct err *e)
{
    const struct output_page page = {&o->output, &o->filter, &o->analysis, args};
    struct sheet s = {.brief = !o->output.verbose && !o->output.markdown};
    struct outfile out;
    bool ok = true;

    if (!outfile_open(&out, o->output.path, output_replaces(&o->output), e))
        return false;
    if (write->data != NULL) {
        ok = write->data(ctx, out.f, e);
    } else {
        const struct sheet_form form = output_form(&o->output, out.f);
        write->sheet(&s, ctx);
        ok = sheet_end(&s, &form, out.f, e);
    }
    return outfile_finish(&out, ok, e) && output_page(&page, write->page, ctx, e);
}
