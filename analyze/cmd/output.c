#include "analyze/cmd/output.h"

#include "analyze/write/text.h"

#include <stddef.h>

const struct cli_option output_form_table[] = {
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct output_options, json),
     .help = "print JSON"},
    {.name = "no-color",
     .alias = "no-colour",
     .type = CLI_FLAG,
     .offset = offsetof(struct output_options, no_color),
     .help = "no colours"},
    {0},
};

const struct cli_option output_file_table[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_STRING,
     .offset = offsetof(struct output_options, path),
     .arg = "FILE",
     .help = "write the report there"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct output_options, force),
     .help = "overwrite any file; without, only reports of ours"},
    {0},
};

bool output_wants_colour(const struct output_options *o, FILE *f)
{
    return !o->no_color && text_wants_colour(f);
}

enum outfile_replaces output_replaces(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : o->json ? OUTFILE_JSON : OUTFILE_NOTHING;
}

enum outfile_replaces output_replaces_page(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : OUTFILE_HTML;
}

enum outfile_replaces output_replaces_series(const struct output_options *o)
{
    return o->force ? OUTFILE_ANYTHING : OUTFILE_SERIES;
}
