#include "analyze/capture/stream/capture_out.h"

#include "libcommon/recwrite.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

const struct cli_option capture_out_table[] = {
    {"output", CLI_STRING, offsetof(struct capture_out_options, path), "FILE",
     .help = "where to write the capture; - is standard output", .letter = 'o'},
    {"force", CLI_FLAG, offsetof(struct capture_out_options, force), .help = "overwrite that file",
     .letter = 'f'},
    {"compress", CLI_FLAG, offsetof(struct capture_out_options, compress),
     .help = "compress, whatever the name (.zst always is)", .letter = 'z'},
    {"level", CLI_INT, offsetof(struct capture_out_options, level), "N",
     .help = "compress with this level, 1 to 19; default: 3", .min = 1, .max = RECWRITE_MAX_LEVEL},
    {0},
};

static enum outfile_replaces replaces(const struct capture_out_options *o)
{
    return o->force ? OUTFILE_ANYTHING : OUTFILE_NOTHING;
}

bool capture_out_check(const struct capture_out_options *options, struct err *e)
{
    return outfile_check(options->path, replaces(options), e);
}

bool capture_out_open(struct capture_out *c, const struct capture_out_options *options,
                      struct err *e)
{
    *c = (struct capture_out){.options = options};
    if (!outfile_open(&c->file, options->path, replaces(options), e))
        return false;
    if (!isatty(fileno(c->file.f)))
        return true;
    outfile_discard(&c->file);
    return err_set(e, "a capture may hold control characters that a terminal obeys: give a file "
                      "with -o, or a pipe (... | less)");
}

static bool ends_in_zst(const char *path)
{
    size_t n = strlen(path);

    return n >= 4 && strcmp(path + n - 4, ".zst") == 0;
}

bool capture_out_start(struct capture_out *c, bool intended, unsigned threads, struct err *e)
{
    const struct capture_out_options *o = c->options;
    bool compress = o->compress || o->level || ends_in_zst(o->path);
    const struct recwrite_options how = {.fd = fileno(c->file.f),
                                         .name = c->file.path,
                                         .compress = compress,
                                         .level = (int)o->level,
                                         .intended = intended,
                                         .threads = compress ? threads : 0};

    c->writer = recwrite_open(&how, e);
    return c->writer != NULL;
}

bool capture_out_finish(struct capture_out *c, bool complete, struct err *e)
{
    bool ok = complete && (c->writer == NULL || recwrite_close(c->writer, e));

    if (!complete)
        recwrite_discard(c->writer);
    c->writer = NULL;
    return outfile_finish(&c->file, ok, e);
}
