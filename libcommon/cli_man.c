#include "libcommon/cli_help.h"

#include <ctype.h>
#include <string.h>

/* Writes n bytes of text, and escapes what groff would interpret: backslashes and hyphens, and a
 * dot or an apostrophe at the start of a line. */
static void put_bytes(FILE *out, const char *text, size_t n)
{
    bool at_start = true;
    for (const char *p = text; p < text + n; p++) {
        if (at_start && (*p == '.' || *p == '\''))
            fputs("\\&", out);
        if (*p == '\\')
            fputs("\\e", out);
        else if (*p == '-')
            fputs("\\-", out);
        else
            fputc(*p, out);
        at_start = *p == '\n';
    }
}

/* Writes a text, escaped, between two pieces of groff. */
static void put(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    put_bytes(out, text, strlen(text));
    fputs(after, out);
}

/* Writes the text of a section, in which an empty line separates paragraphs. */
static void put_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t n = end ? (size_t)(end - text) : strlen(text);

        put_bytes(out, text, n);
        fputs(end ? "\n.PP\n" : "\n", out);
        text += n + (end ? 2 : 0);
    }
}

static void put_upper(FILE *out, const char *s)
{
    for (; *s; s++)
        fputc(toupper((unsigned char)*s), out);
}

/* Writes .TH with the name in capitals and without a date, so that the page is always the same. */
static void put_title(FILE *out, const struct cli_program *program,
                      const struct cli_command *command)
{
    const char *name = command ? command->name : "";
    const char *dash = command ? "\\-" : "";

    fputs(".TH \"", out);
    put_upper(out, program->name);
    fputs(dash, out);
    put_upper(out, name);
    fprintf(out, "\" 1 \"\" \"%s ", program->name);
    put(out, "", program->version, "\" \"User Commands\"\n.SH NAME\n");
    put(out, "", program->name, dash);
    put(out, "", name, " \\- ");
    put(out, "", command ? command->summary : program->summary, "\n");
}

static void put_long_name(FILE *out, const char *name, const char *arg)
{
    put(out, "\\fB\\-\\-", name, "\\fR");
    if (arg)
        put(out, " \\fI", arg, "\\fR");
}

static void put_option(FILE *out, const struct cli_command *command, const struct cli_group *g,
                       const struct cli_option *o)
{
    struct cli_option_text value = cli_help_default(command, g, o);

    fputs(".TP\n", out);
    if (o->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    put_long_name(out, o->name, o->alias ? NULL : o->arg);
    if (o->alias) {
        fputs(", ", out);
        put_long_name(out, o->alias, o->arg);
    }
    put(out, "\n", o->help, "");
    for (size_t i = 0; cli_help_choice(o, i); i++)
        put(out, i > 0 ? ", " : ": ", cli_help_choice(o, i), "");
    if (value.s[0])
        put(out, " [", value.s, "]");
    fputc('\n', out);
}

static void put_command(FILE *out, const struct cli_program *program, const struct cli_command *c)
{
    const char *title = "";

    fprintf(out, ".SH SYNOPSIS\n\\fB%s %s\\fR", program->name, c->name);
    if (c->groups)
        fputs(" [\\fIOPTION\\fR...]", out);
    if (c->operands)
        put(out, " ", c->operands, "");
    fputc('\n', out);
    if (c->text) {
        fputs(".SH DESCRIPTION\n", out);
        put_paragraphs(out, c->text);
    }
    if (c->groups)
        fputs(".SH OPTIONS\n", out);
    for (const struct cli_group *g = c->groups; g && g->options; g++) {
        if (cli_help_needs_heading(g, &title))
            put(out, ".SS ", g->title, "\n");
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            put_option(out, c, g, o);
    }
    if (c->examples)
        fputs(".SH EXAMPLES\n", out);
    for (const struct cli_example *x = c->examples; x && x->command; x++) {
        put(out, ".TP\n\\fB", x->command, "\\fR\n");
        put(out, "", x->what, "\n");
    }
}

static void put_commands(FILE *out, const struct cli_program *program)
{
    fprintf(out,
            ".SH SYNOPSIS\n\\fB%s\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n",
            program->name);
    if (program->text) {
        fputs(".SH DESCRIPTION\n", out);
        put_paragraphs(out, program->text);
    }
    fputs(".SH COMMANDS\n", out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, ".TP\n\\fB%s\\fR\n", (*c)->name);
        put(out, "", (*c)->summary, "\n");
    }
    fputs(".SH OPTIONS\n"
          ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR [\\fICOMMAND\\fR]\nlist the commands, or explain "
          "one\n"
          ".TP\n\\fB\\-\\-version\\fR\ntell the version, those of the libraries, and the license\n",
          out);
}

static void put_exits(FILE *out, const struct cli_exit *exits)
{
    for (const struct cli_exit *x = exits; x && x->code; x++) {
        fprintf(out, ".TP\n%s\n", x->code);
        put(out, "", x->what, "\n");
    }
}

static void put_exit_status(FILE *out, const struct cli_program *program,
                            const struct cli_command *command)
{
    fputs(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nfailed\n.TP\n2\nwrong usage\n", out);
    const struct cli_exit *before = NULL; /* commands in a row may share theirs */

    put_exits(out, program->exits);
    if (command)
        put_exits(out, command->exits);
    for (const struct cli_command *const *c = program->commands; !command && *c; c++) {
        if ((*c)->exits != before)
            put_exits(out, (*c)->exits);
        before = (*c)->exits;
    }
}

static void put_see_also(FILE *out, const struct cli_program *program,
                         const struct cli_command *command)
{
    const char *comma = "";
    fputs(".SH SEE ALSO\n", out);
    if (command) {
        fprintf(out, "\\fB%s\\fR(1)", program->name);
        comma = ",\n";
    }
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        if (*c == command)
            continue;
        fprintf(out, "%s\\fB%s\\-%s\\fR(1)", comma, program->name, (*c)->name);
        comma = ",\n";
    }
    if (program->other_program)
        fprintf(out, "%s\\fB%s\\fR(1)", comma, program->other_program);
    fputc('\n', out);
}

void cli_man_write(FILE *out, const struct cli_program *program, const struct cli_command *command)
{
    put_title(out, program, command);
    if (command)
        put_command(out, program, command);
    else
        put_commands(out, program);
    put_exit_status(out, program, command);
    put_see_also(out, program, command);
}
