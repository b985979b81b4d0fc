#include "libcommon/cli.h"

#include "libcommon/cli_help.h"
#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "libcommon/suggest.h"
#include "libcommon/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits of a file of options. */
#define FILE_LINE_BYTES 8192
#define FILE_MAX_LINES  1000

/* What a parsed command line owns: copies of list items, arrays of lists, and which options were
 * given. */
struct cli_memory {
    struct block {
        void *p;
        void (*release)(void *p);
    } * blocks;
    size_t n_blocks;
    const struct cli_option **given;
    size_t n_given;
};

struct parser {
    const struct cli_command *command;
    int argc;
    char **argv;
    int next; /* argument to look at next */
    struct cli_args *args;
    char *options;
    struct cli_list *open; /* operands go here: the last option is of CLI_OPERANDS; else NULL */
    struct err *e;
};

struct found {
    const struct cli_option *option;
    void *field;
};

static bool out_of_memory(struct cli_args *args, struct err *e)
{
    args->no_memory = true;
    return mem_none(e);
}

static bool append_string(struct cli_args *args, struct cli_list *list, const char *s,
                          struct err *e)
{
    if (!mem_room(&list->v, list->n + 1, NULL))
        return out_of_memory(args, e);
    list->v[list->n++] = s;
    return true;
}

/* Takes ownership of a block, which is released with the arguments. */
static bool keep(struct cli_args *args, void *block, void (*release)(void *), struct err *e)
{
    struct cli_memory *m = args->memory;
    if (!mem_room(&m->blocks, m->n_blocks + 1, NULL)) {
        release(block);
        return out_of_memory(args, e);
    }
    m->blocks[m->n_blocks++] = (struct block){block, release};
    return true;
}

static bool note_given(struct cli_args *args, const struct cli_option *option, struct err *e)
{
    struct cli_memory *m = args->memory;
    if (!mem_room(&m->given, m->n_given + 1, NULL))
        return out_of_memory(args, e);
    m->given[m->n_given++] = option;
    return true;
}

/* Finds an option by its long name (n bytes), or by its letter where name is NULL. */
static struct found find(const struct parser *p, const char *name, size_t n, char letter)
{
    for (const struct cli_group *g = p->command->groups; g && g->options; g++) {
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++) {
            bool match =
                name ? (strlen(o->name) == n && memcmp(o->name, name, n) == 0) ||
                           (o->alias && strlen(o->alias) == n && memcmp(o->alias, name, n) == 0)
                     : o->letter == letter;
            if (match)
                return (struct found){o, p->options + g->base + o->offset};
        }
    }
    return (struct found){NULL, NULL};
}

/* Fails because of an unknown option. `name` is the n bytes of the argument after its dashes. The
 * message shows only the text before '=', the name of an option with a secret that it begins with,
 * or a letter: the rest may be that secret. */
static bool unknown_option(const struct parser *p, const char *arg, const char *name, size_t n)
{
    struct suggest s;
    size_t n_shown = n;

    suggest_init(&s, name, n);
    for (const struct cli_group *g = p->command->groups; g && g->options; g++) {
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++) {
            suggest_offer(&s, o->name);
            if (o->alias)
                suggest_offer(&s, o->alias);
            size_t n_name = strlen(o->name);
            if (o->is == CLI_SECRET && n_name < n && strncmp(name, o->name, n_name) == 0)
                n_shown = n_name;
        }
    }
    suggest_offer(&s, "help");
    const char *foreign = suggest_for_foreign(name, n);
    if (foreign)
        return err_set(p->e, "unknown option %.*s: %s", (int)((size_t)(name - arg) + n), arg,
                       foreign);
    if (name == arg + 1 && !s.best)
        n_shown = 1;
    int n_arg = (int)((size_t)(name - arg) + n_shown);
    const char *more = n_shown < n ? "..." : "";
    if (s.best)
        return err_set(p->e, "unknown option %.*s%s: did you mean --%s?", n_arg, arg, more, s.best);
    const char *unknown = p->command->unknown;
    return err_set(p->e, "unknown option %.*s%s%s%s", n_arg, arg, more, unknown ? ": " : "",
                   unknown ? unknown : "");
}

static bool in_range(const struct cli_option *o, double v, struct err *e)
{
    if (!(o->max > o->min) || (v >= o->min && v <= o->max))
        return true;
    bool is_duration = o->type == CLI_DURATION || o->type == CLI_SIGNED_DURATION;
    struct units_text min, max;
    if (is_duration) {
        min = units_duration((int64_t)o->min);
        max = units_duration(isinf(o->max) ? 0 : (int64_t)o->max);
    } else if (o->type == CLI_SIZE) {
        min = units_size(o->min);
        max = units_size(o->max);
    } else {
        snprintf(min.s, sizeof min.s, "%.15g", o->min);
        snprintf(max.s, sizeof max.s, "%.15g", o->max);
    }
    if (isinf(o->max))
        return err_set(e, "expected at least %s", min.s);
    return err_set(e, "expected %s to %s", min.s, max.s);
}

bool cli_parse_flag(const char *text, bool *value, struct err *e)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on",
                                        "0",     "1",    "f",  "t",   "n",   "y"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2 == 1;
            return true;
        }
    }
    return err_set(e, "expected true or false");
}

int cli_choice(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i] != NULL; i++)
        if (strcmp(text, choices[i]) == 0)
            return i;
    return -1;
}

static bool parse_choice(const struct cli_option *o, const char *text, int *value, struct err *e)
{
    char names[256] = "";

    *value = cli_choice(o->choices, text);
    if (*value >= 0)
        return true;
    for (int i = 0; o->choices[i]; i++)
        suggest_list(names, sizeof names, o->choices[i]);
    return err_set(e, "expected one of %s", names);
}

static bool parse_list(struct cli_args *args, const char *text, struct cli_list *list,
                       struct err *e)
{
    char *copy;
    if (!mem_text(&copy, text, NULL))
        return out_of_memory(args, e);
    if (!keep(args, copy, free, e))
        return false;
    char *item;
    while ((item = strsep(&copy, ","))) {
        if (!*item)
            return err_set(e, "expected names with a comma between");
        if (!append_string(args, list, item, e))
            return false;
    }
    return true;
}

static bool parse_value(struct parser *p, struct found f, const char *text, struct err *e)
{
    const struct cli_option *o = f.option;
    int64_t *i64 = f.field;
    double *real = f.field;

    switch (o->type) {
    case CLI_NONE:
        break;
    case CLI_FLAG:
        return cli_parse_flag(text, f.field, e);
    case CLI_STRING:
        *(const char **)f.field = text;
        return true;
    case CLI_STRINGS:
    case CLI_OPERANDS:
        return append_string(p->args, f.field, text, e);
    case CLI_LIST:
        return parse_list(p->args, text, f.field, e);
    case CLI_DURATION:
    case CLI_SIGNED_DURATION:
        return units_parse_duration(text, o->type == CLI_SIGNED_DURATION, i64, e) &&
               in_range(o, (double)*i64, e);
    case CLI_SIZE:
        return units_parse_size(text, i64, e) && in_range(o, (double)*i64, e);
    case CLI_INT:
        return units_parse_int(text, i64, e) && in_range(o, (double)*i64, e);
    case CLI_DOUBLE:
        return units_parse_double(text, real, e) && in_range(o, *real, e);
    case CLI_PCT:
        return units_parse_pct(text, real, e) && in_range(o, *real, e);
    case CLI_RATE:
        return units_parse_rate(text, real, e) && in_range(o, *real, e);
    case CLI_CHOICE:
        return parse_choice(o, text, f.field, e);
    case CLI_CUSTOM:
        return o->parse(text, f.field, e);
    }
    return true;
}

/* Takes the value of an option: `inlined` (after =, or after its letter) or the next argument.
 * `shown` is the option as it was written, of n bytes. */
static bool take_option(struct parser *p, struct found f, const char *inlined, const char *shown,
                        size_t n)
{
    if (!note_given(p->args, f.option, p->e))
        return false;
    const char *text = inlined;
    if (!text && f.option->type == CLI_FLAG) {
        text = "true";
    } else if (!text) {
        if (p->next >= p->argc)
            return err_set(p->e, "option %.*s needs a value: %s", (int)n, shown, f.option->arg);
        text = p->argv[p->next++];
    }
    struct err why = {0};
    if (!parse_value(p, f, text, &why))
        return err_set(p->e, "option %.*s: '%s': %s", (int)n, shown, text, why.msg);
    p->open = f.option->type == CLI_OPERANDS ? f.field : NULL;
    return true;
}

/* Takes --help, --help TOPIC or --help=TOPIC. */
static bool take_help(struct parser *p, const char *topic)
{
    if (!topic) {
        bool has = p->next < p->argc && p->argv[p->next][0] != '-';
        topic = has ? p->argv[p->next] : "";
    }
    if (*topic && !cli_help_has_topic(p->command, topic))
        return err_set(p->e, "no help on '%s': --help alone names the topics", topic);
    p->args->help_topic = topic;
    return true;
}

/* Takes --name or --name=VALUE; with one dash too, as users of Go programs type it. */
static bool take_long(struct parser *p, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    size_t n = strcspn(name, "=");
    const char *value = name[n] ? name + n + 1 : NULL;

    if (n == 4 && memcmp(name, "help", 4) == 0)
        return take_help(p, value);
    struct found f = find(p, name, n, 0);
    if (!f.option)
        return unknown_option(p, arg, name, n);
    return take_option(p, f, value, arg, (size_t)(name - arg) + n);
}

/* Takes -o VALUE, -oVALUE or -qv. The text is a long option if it is the name of one, or if its
 * first letter is not that of any option. */
static bool take_letters(struct parser *p, const char *arg)
{
    size_t n = strcspn(arg + 1, "=");
    if (n > 1 && (strcmp(arg, "-help") == 0 || find(p, arg + 1, n, 0).option ||
                  !find(p, NULL, 0, arg[1]).option))
        return take_long(p, arg);
    for (const char *c = arg + 1; *c; c++) {
        struct found f = find(p, NULL, 0, *c);
        if (strcmp(c, "h") == 0)
            return take_help(p, NULL);
        if (!f.option)
            return c == arg + 1 ? unknown_option(p, arg, arg + 1, n)
                                : err_set(p->e, "unknown option -%c", *c);
        char shown[3] = {'-', *c, '\0'};
        bool is_flag = f.option->type == CLI_FLAG;
        if (!take_option(p, f, !is_flag && c[1] ? c + 1 : NULL, shown, 2))
            return false;
        if (!is_flag)
            break;
    }
    return true;
}

static bool take_operand(struct parser *p, const char *arg)
{
    struct cli_list operands = {p->args->operands, p->args->n_operands};
    struct cli_list *to = p->open ? p->open : &operands;

    if (!append_string(p->args, to, arg, p->e))
        return false;
    p->args->operands = operands.v;
    p->args->n_operands = operands.n;
    return true;
}

static bool check_operands(const struct parser *p)
{
    const struct cli_command *c = p->command;
    if (p->args->n_operands < c->min_operands)
        return err_set(p->e, "missing operand: %s", c->operands);
    if (p->args->n_operands <= c->max_operands)
        return true;
    /* Does not show the operand: a blank may have separated a secret from its option. */
    if (!c->operands)
        return err_set(p->e, "%s takes only options%s", c->name,
                       find(p, "host", 4, 0).option ? "; to name a server use --host" : "");
    return err_set(p->e, "unexpected operand '%s': %s takes %s", p->args->operands[c->max_operands],
                   c->name, c->operands);
}

/* Returns a line such as "name", "name VALUE" or "name = VALUE", with or without dashes, in the
 * form "--name" or "--name=VALUE". NULL: out of memory. */
static char *option_of_line(const char *line, size_t n)
{
    size_t skip = strspn(line, "-");
    size_t n_name = strcspn(line + skip, " \t=");
    const char *value = line + skip + n_name + strspn(line + skip + n_name, " \t");

    value += *value == '=';
    value += strspn(value, " \t");
    char *arg = secret_alloc(n + 4);
    if (arg)
        snprintf(arg, n + 4, "--%.*s%s%s", (int)n_name, line + skip, *value ? "=" : "", value);
    return arg;
}

/* Takes a line of a file of options. On failure *why says what is wrong with it. */
static bool take_line(struct parser *p, char *line, struct err *why)
{
    size_t n = strlen(line);
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        line[--n] = '\0';
    if (n >= FILE_LINE_BYTES)
        return err_set(why, "the line is too long");
    const char *text = line + strspn(line, " \t");
    if (*text == '\0' || *text == '#')
        return true;
    char *arg = option_of_line(text, strlen(text));
    if (!arg)
        return out_of_memory(p->args, why);
    return keep(p->args, arg, secret_free, why) && take_long(p, arg) &&
           (!p->args->help_topic || err_set(why, "help is not given here"));
}

/* Takes @FILE, which has an option on each line; # begins a comment line. The file may hold
 * keys. */
static bool take_file(struct parser *p, const char *path)
{
    struct parser of_file = *p;
    struct err why = {0};
    size_t n = 0;
    char *text = secret_read_file(path, FILE_MAX_LINES * FILE_LINE_BYTES, p->e);

    if (!text) {
        p->args->no_memory = errno == ENOMEM;
        return false;
    }
    /* The last option in the file must not take a value from the arguments after the file. */
    of_file.argc = of_file.next = 0;
    of_file.e = &why;
    bool ok = true;
    for (char *rest = text, *line; ok && (line = strsep(&rest, "\n"));) {
        n++;
        ok = n <= FILE_MAX_LINES || *line == '\0'
                 ? take_line(&of_file, line, &why)
                 : err_set(&why, "more than %d lines", FILE_MAX_LINES);
    }
    if (!ok && p->args->no_memory)
        err_set(p->e, "%s", why.msg);
    else if (!ok)
        err_set(p->e, "%s:%zu: %s", path, n, why.msg);
    secret_free(text);
    return ok;
}

static bool parse_all(struct parser *p)
{
    bool options_ended = false;
    while (p->next < p->argc && !p->args->help_topic) {
        const char *arg = p->argv[p->next++];
        bool ok = true;

        if (arg[0] == '@' && !p->command->operands && !options_ended) {
            ok = take_file(p, arg + 1);
        } else if (options_ended || arg[0] != '-' || !arg[1]) {
            ok = take_operand(p, arg);
        } else if (strcmp(arg, "--") == 0) {
            options_ended = true;
            p->open = NULL;
        } else {
            ok = arg[1] == '-' ? take_long(p, arg) : take_letters(p, arg);
        }
        if (!ok)
            return false;
    }
    return p->args->help_topic || check_operands(p);
}

/* Gives *args the lists, which the options struct owned while they grew. */
static bool adopt_lists(struct parser *p)
{
    bool ok = true;
    for (const struct cli_group *g = p->command->groups; g && g->options; g++) {
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++) {
            if (o->type != CLI_LIST && o->type != CLI_STRINGS && o->type != CLI_OPERANDS)
                continue;
            struct cli_list *list = (void *)(p->options + g->base + o->offset);
            if (list->v && !keep(p->args, list->v, free, p->e)) {
                *list = (struct cli_list){NULL, 0};
                ok = false;
            }
        }
    }
    return ok;
}

bool cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args,
               void *options, struct err *e)
{
    *args = (struct cli_args){.command = command};
    if (!mem_cleared(&args->memory, 1, NULL))
        return out_of_memory(args, e);
    struct parser p = {command, argc, argv, 1, args, options, NULL, e};
    bool ok = parse_all(&p);
    return adopt_lists(&p) && ok;
}

void cli_args_free(struct cli_args *args)
{
    free(args->operands);
    args->operands = NULL;
    args->n_operands = 0;
    struct cli_memory *m = args->memory;
    if (!m)
        return;
    for (size_t i = 0; i < m->n_blocks; i++)
        m->blocks[i].release(m->blocks[i].p);
    free(m->blocks);
    free(m->given);
    free(m);
    args->memory = NULL;
}

const char *cli_given_at(const struct cli_args *args, size_t i)
{
    return i < args->memory->n_given ? args->memory->given[i]->name : NULL;
}

bool cli_given(const struct cli_args *args, const char *name)
{
    const char *given;

    for (size_t i = 0; (given = cli_given_at(args, i)) != NULL; i++)
        if (strcmp(given, name) == 0)
            return true;
    return false;
}
