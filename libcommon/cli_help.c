#include "libcommon/cli_help.h"

#include "libcommon/units.h"

#include <string.h>

#define WIDTH       80
#define HELP_COLUMN 30

const char *cli_help_choice(const struct cli_option *o, size_t i)
{
    return o->choices ? o->choices[i] : o->offered ? o->offered(i) : NULL;
}

struct cli_option_text cli_help_default(const struct cli_command *command,
                                        const struct cli_group *group,
                                        const struct cli_option *option)
{
    struct cli_option_text t = {""};
    if (!command->defaults)
        return t;
    const void *field = (const char *)command->defaults + group->base + option->offset;
    const int64_t *i64 = field;
    const double *real = field;
    const char *text = NULL;
    struct units_text number = {""};
    switch (option->type) {
    case CLI_STRING:
        text = *(const char *const *)field;
        break;
    case CLI_DURATION:
    case CLI_SIGNED_DURATION:
        number = units_duration(*i64);
        break;
    case CLI_SIZE:
        number = units_size((double)*i64);
        break;
    case CLI_INT:
        number = units_format("%lld", (long long)*i64);
        break;
    case CLI_DOUBLE:
    case CLI_PCT:
    case CLI_RATE:
        number = units_format("%.10g", *real);
        break;
    case CLI_CHOICE:
        text = option->choices[*(const int *)field];
        break;
    default:
        break;
    }
    /* 0 is no default. */
    snprintf(t.s, sizeof t.s, "%s", text ? text : number.s[0] != '\0' && *i64 != 0 ? number.s : "");
    return t;
}

/* Whether the command has an option of that name, which then is no alias of another one. */
static bool has_option(const struct cli_command *command, const char *name)
{
    for (const struct cli_group *g = command->groups; g->options != NULL; g++)
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            if (strcmp(o->name, name) == 0)
                return true;
    return false;
}

/* Prints "  -o, --output FILE"; of an alias that is the end of the name only this: "  -o, --out
 * FILE", "  -v". Returns how many columns that takes. */
static int put_names(FILE *out, const struct cli_command *command, const struct cli_option *o)
{
    const char *alias = o->alias != NULL && !has_option(command, o->alias) ? o->alias : NULL;
    size_t n_name = strlen(o->name), n_alias = alias != NULL ? strlen(alias) : 0;
    bool is_suffix =
        n_alias > 0 && n_alias < n_name && strcmp(o->name + n_name - n_alias, alias) == 0;
    bool is_letter = is_suffix && n_alias == 1 && alias[0] == o->letter;
    int n =
        o->letter ? fprintf(out, "  -%c%s", o->letter, is_letter ? "" : ", ") : fprintf(out, "  ");

    if (!is_suffix)
        n += fprintf(out, "--%s%s", o->name, alias != NULL ? ", " : "");
    if (alias != NULL && !is_letter)
        n += fprintf(out, "--%s", alias);
    if (o->arg)
        n += fprintf(out, " %s", o->arg);
    return n;
}

/* Prints text up to a line break from `column` on, broken at spaces so that lines end before WIDTH.
 * `at` is the cursor's column. */
static void put_wrapped(FILE *out, const char *text, int at, int column)
{
    bool first = true;
    while (*text && *text != '\n') {
        int n = (int)strcspn(text, " \n");
        if (!first && at + 1 + n > WIDTH) {
            fputc('\n', out);
            at = 0;
            first = true;
        }
        if (at < column)
            at += fprintf(out, "%*s", column - at, "");
        at += fprintf(out, "%s%.*s", first ? "" : " ", n, text);
        first = false;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void put_option(FILE *out, const struct cli_command *command, const struct cli_group *group,
                       const struct cli_option *o)
{
    char text[1024];
    struct cli_option_text value = cli_help_default(command, group, o);
    int n = snprintf(text, sizeof text, "%s", o->help);

    if (o->type == CLI_CHOICE) {
        for (int i = 0; o->choices[i]; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i > 0 ? ", " : ": ",
                          o->choices[i]);
    }
    if (value.s[0])
        snprintf(text + n, sizeof text - (size_t)n, " [%s]", value.s);
    int at = put_names(out, command, o);
    if (at >= HELP_COLUMN) {
        fputc('\n', out);
        at = 0;
    }
    put_wrapped(out, text, at, HELP_COLUMN);
}

/* Whether a group has no options, like s3load's group of ranks. */
static bool is_empty(const struct cli_group *g)
{
    return g->options->type == CLI_NONE;
}

bool cli_help_needs_heading(const struct cli_group *group, const char **title)
{
    if (is_empty(group) || strcmp(group->title, *title) == 0)
        return false;
    *title = group->title;
    return true;
}

static bool is_shown(const struct cli_group *g, const char *topic)
{
    if (strcmp(topic, CLI_HELP_ALL) == 0)
        return true;
    return g->topic ? strcmp(g->topic, topic) == 0 : !topic[0];
}

/* Whether a group before `end` has the topic; NULL: any group. */
static bool has_topic(const struct cli_command *command, const struct cli_group *end,
                      const char *topic)
{
    for (const struct cli_group *g = command->groups; g && g->options && g != end; g++)
        if (g->topic && !is_empty(g) && strcmp(g->topic, topic) == 0)
            return true;
    return false;
}

bool cli_help_has_topic(const struct cli_command *command, const char *topic)
{
    return strcmp(topic, CLI_HELP_ALL) == 0 || has_topic(command, NULL, topic);
}

static void put_topics(FILE *out, const struct cli_command *command)
{
    bool any = false;
    for (const struct cli_group *g = command->groups; g && g->options; g++) {
        if (!g->topic || is_empty(g) || has_topic(command, g, g->topic))
            continue;
        fprintf(out, any ? ", %s" : "\nMore: --help TOPIC (%s", g->topic);
        any = true;
    }
    fprintf(out, any ? ", %s)\n" : "\nMore: --help %s\n", CLI_HELP_ALL);
}

void cli_help_command(FILE *out, const char *program, const struct cli_command *command,
                      const char *topic)
{
    bool is_first_page = !topic[0];
    const char *title = "";

    fprintf(out, "%s %s: %s\n", program, command->name, command->summary);
    fprintf(out, "\nUsage: %s %s%s%s%s\n", program, command->name,
            command->groups ? " [OPTION...]" : "", command->operands ? " " : "",
            command->operands ? command->operands : "");
    for (const char *p = strcmp(topic, CLI_HELP_ALL) == 0 ? command->text : NULL; p != NULL;
         p = strstr(p, "\n\n")) {
        p += strspn(p, "\n");
        fputc('\n', out);
        put_wrapped(out, p, 0, 0);
    }
    if (command->put_more != NULL && strcmp(topic, command->more_topic) == 0)
        command->put_more(out);
    for (const struct cli_group *g = command->groups; g && g->options; g++) {
        if (!is_shown(g, topic))
            continue;
        if (cli_help_needs_heading(g, &title))
            fprintf(out, "\n%s:\n", g->title);
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            put_option(out, command, g, o);
    }
    if (!is_first_page)
        return;
    for (const struct cli_example *x = command->examples; x && x->command; x++) {
        fprintf(out, "%s  %s\n", x == command->examples ? "\nExamples:\n" : "", x->command);
        put_wrapped(out, x->what, 0, 6);
    }
    put_topics(out, command);
}

void cli_help_program(FILE *out, const struct cli_program *program)
{
    fprintf(out, "%s: %s\n\nUsage: %s COMMAND [OPTION...] [OPERAND...]\n\nCommands:\n",
            program->name, program->summary, program->name);
    for (const struct cli_command *const *c = program->commands; *c; c++)
        put_wrapped(out, (*c)->summary, fprintf(out, "  %s", (*c)->name), 14);
    fprintf(out,
            "\n%s COMMAND --help explains a command.\n"
            "%s --version prints the version and the libraries.\n",
            program->name, program->name);
}
