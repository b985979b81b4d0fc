#include "analyze/cmd/output.h"

#include "analyze/write/text.h"

#include <stddef.h>

const struct cli_option output_form_table[] = {
    {"json", CLI_FLAG, offsetof(struct output_options, json), .help = "print JSON"},
    {"no-color", CLI_FLAG, offsetof(struct output_options, no_color), .help = "no colours",
     .alias = "no-colour"},
    {0},
};

const struct cli_option output_file_table[] = {
    {"output", CLI_STRING, offsetof(struct output_options, path), "FILE",
     .help = "write the report there", .letter = 'o'},
    {"force", CLI_FLAG, offsetof(struct output_options, force),
     .help = "overwrite any file; without, only reports of ours", .letter = 'f'},
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
