#include "cli_completion.h"

#include <string.h>

typedef void option_writer(FILE *out, const struct cli_option *option);

static void each_option(FILE *out, const struct cli_command *c, option_writer *write)
{
    for (const struct cli_group *g = c->groups; g && g->options; g++) {
        for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
            write(out, o);
    }
}

/* Text inside '...' of a shell, without what the completion systems take apart: [ ] : and quotes.
 */
static void put_plain(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (!strchr("'[]:\\\"`$", *s))
            fputc(*s, out);
    }
}

static void put_choices(FILE *out, const struct cli_option *o)
{
    for (int i = 0; o->choices[i]; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", o->choices[i]);
}

/* --- bash: words for the command, choices after an option that has some, else files --------------
 */

static void bash_words(FILE *out, const struct cli_option *o)
{
    fprintf(out, " --%s", o->name);
    if (o->alias)
        fprintf(out, " --%s", o->alias);
    if (o->letter)
        fprintf(out, " -%c", o->letter);
}

static void bash_choices(FILE *out, const struct cli_option *o)
{
    if (o->type != CLI_CHOICE)
        return;
    fprintf(out, "    *' --%s'", o->name);
    if (o->alias)
        fprintf(out, "|*' --%s'", o->alias);
    if (o->letter)
        fprintf(out, "|*' -%c'", o->letter);
    fputs(") words='", out);
    put_choices(out, o);
    fputs("';;\n", out);
}

static void write_bash(FILE *out, const struct cli_program *program)
{
    fprintf(out, "# bash completion of %s\n_%s()\n{\n", program->name, program->name);
    fputs("    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    local before=\"${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words='",
          out);
    for (const struct cli_command *const *c = program->commands; *c; c++)
        fprintf(out, "%s ", (*c)->name);
    fputs("--help --version'\n        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "        return\n    fi\n    case ${COMP_WORDS[1]} in\n",
          out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "    %s)\n    case $before in\n", (*c)->name);
        each_option(out, *c, bash_choices);
        fputs("    *) [[ $cur == -* ]] && words='--help", out);
        each_option(out, *c, bash_words);
        fputs("';;\n    esac;;\n", out);
    }
    fputs("    esac\n    if [ -n \"$words\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    else\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n",
          out);
    fprintf(out, "complete -o filenames -F _%s %s\n", program->name, program->name);
}

/* --- zsh -----------------------------------------------------------------------------------------
 */

static void zsh_one(FILE *out, const char *dashes, const char *name, const struct cli_option *o)
{
    bool many = o->type == CLI_LIST || o->type == CLI_STRINGS || o->type == CLI_OPERANDS;
    fprintf(out, " \\\n        '%s%s%s%s[", many ? "*" : "", dashes, name,
            o->type == CLI_FLAG ? ""
            : dashes[1]         ? "="
                                : "+");
    put_plain(out, o->help);
    fputc(']', out);
    if (o->type == CLI_CHOICE) {
        fputs(":value:(", out);
        put_choices(out, o);
        fputc(')', out);
    } else if (o->type != CLI_FLAG) {
        fputc(':', out);
        put_plain(out, o->arg);
        fputs(":_files", out);
    }
    fputc('\'', out);
}

static void zsh_option(FILE *out, const struct cli_option *o)
{
    zsh_one(out, "--", o->name, o);
    if (o->alias)
        zsh_one(out, "--", o->alias, o);
    if (o->letter)
        zsh_one(out, "-", (const char[]){o->letter, '\0'}, o);
}

static void write_zsh(FILE *out, const struct cli_program *program)
{
    fprintf(out, "#compdef %s\n_%s()\n{\n", program->name, program->name);
    fputs("    if (( CURRENT == 2 )); then\n        local -a commands=(", out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "\n            '%s:", (*c)->name);
        put_plain(out, (*c)->summary);
        fputc('\'', out);
    }
    fputs(")\n        _describe command commands\n        return\n    fi\n"
          "    local name=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $name in\n",
          out);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "    %s) _arguments '--help[explain]'", (*c)->name);
        each_option(out, *c, zsh_option);
        fputs(" \\\n        '*:file:_files';;\n", out);
    }
    fprintf(out, "    esac\n}\n_%s \"$@\"\n", program->name);
}

/* --- fish ----------------------------------------------------------------------------------------
 */

static void write_fish_option(FILE *out, const struct cli_program *program,
                              const struct cli_command *c, const struct cli_option *o)
{
    fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s", program->name, c->name,
            o->name);
    if (o->alias)
        fprintf(out, " -l %s", o->alias);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    if (o->type == CLI_CHOICE) {
        fputs(" -x -a '", out);
        put_choices(out, o);
        fputc('\'', out);
    } else if (o->type != CLI_FLAG) {
        fputs(" -r", out);
    }
    fputs(" -d '", out);
    put_plain(out, o->help);
    fputs("'\n", out);
}

static void write_fish(FILE *out, const struct cli_program *program)
{
    fprintf(out, "# fish completion of %s\n", program->name);
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        fprintf(out, "complete -c %s -f -n __fish_use_subcommand -a %s -d '", program->name,
                (*c)->name);
        put_plain(out, (*c)->summary);
        fputs("'\n", out);
    }
    for (const struct cli_command *const *c = program->commands; *c; c++) {
        for (const struct cli_group *g = (*c)->groups; g && g->options; g++) {
            for (const struct cli_option *o = g->options; o->type != CLI_NONE; o++)
                write_fish_option(out, program, *c, o);
        }
    }
}

bool cli_completion_write(FILE *out, const char *shell, const struct cli_program *program)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(out, program);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out, program);
    else if (strcmp(shell, "fish") == 0)
        write_fish(out, program);
    else
        return false;
    return true;
}
