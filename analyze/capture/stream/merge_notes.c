#include "analyze/capture/stream/merge.h"

#include "libcommon/mem.h"
#include "libcommon/slice.h"
#include "libcommon/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Time ---- */

static bool note_time(struct merge *m, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[i];
        if (!merge_has_rows(in) &&
            !notes_add(&m->notes, e, "no-rows", NULL, "%s holds no requests", in->name))
            return false;
        if (merge_has_rows(in) && in->overlap_ns == 0 && m->n_inputs > 1 &&
            !notes_add(&m->notes, e, "no-overlap", NULL, "%s runs when no other input does",
                       in->name))
            return false;
    }
    if (m->common_start_ns > m->common_end_ns && m->n_inputs > 1 && m->n_rows > 0)
        return notes_add(&m->notes, e, "no-common-time", NULL,
                         "there is no time in which all inputs run, so an analysis over all "
                         "threads will find none: try analyze --range full");
    return true;
}

static __int128 magnitude(__int128 x)
{
    return x < 0 ? -x : x;
}

/* Returns by how much the servers' clock is ahead of the input's times after the move to rank 0 and
 * the shift. Shifts may be as large as times, so 64 bits are not enough. */
static __int128 left_to_add(const struct merge_input *in)
{
    return (__int128)in->clock_ns - merge_moved_ns(in, in->survey.sum.first_start_ns);
}

/* Notes clocks that differ from the first known one by more than both errors together. */
static bool note_clocks(struct merge *m, struct err *e)
{
    const struct merge_input *first = NULL;

    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[i];
        if (!in->has_clock || !merge_has_rows(in))
            continue;
        if (!first) {
            first = in;
            continue;
        }
        /* The correction that the times of `in` still need. */
        __int128 skew_ns = left_to_add(in) - left_to_add(first);
        __int128 shift_ns = in->shift_ns + skew_ns;
        int64_t error_ns = in->clock_error_ns + first->clock_error_ns;
        if (magnitude(skew_ns) <= error_ns || magnitude(skew_ns) > INT64_MAX ||
            magnitude(shift_ns) > INT64_MAX)
            continue;
        if (!notes_add(&m->notes, e, "clock-skew", NULL,
                       "the clock of %s is %s (+-%s) %s that of %s: --shift %zu=%s%s mends it",
                       in->name, units_duration((int64_t)magnitude(skew_ns)).s,
                       units_duration(error_ns).s, skew_ns < 0 ? "ahead of" : "behind", first->name,
                       i + 1, shift_ns < 0 ? "-" : "+",
                       units_duration((int64_t)magnitude(shift_ns)).s))
            return false;
    }
    return true;
}

/* ---- Settings ---- */

/* Goes to the next word of a command line. */
static bool next_word(const char **at, struct slice *w)
{
    while (isspace((unsigned char)**at))
        (*at)++;
    w->p = *at;
    while (**at && !isspace((unsigned char)**at))
        (*at)++;
    w->n = (size_t)(*at - w->p);
    return w->n > 0;
}

static bool has_word(const char *line, struct slice wanted)
{
    struct slice w;

    while (next_word(&line, &w))
        if (slice_order(w, wanted) == 0)
            return true;
    return false;
}

/* Whether a word may differ without a note: the name of the recorder's output always differs. */
static bool is_uninteresting(struct slice w)
{
    return slice_begins(w, "--benchdata=");
}

/* Whether `line` has words that `other` lacks. */
static bool has_own_words(const char *line, const char *other)
{
    struct slice w;

    while (next_word(&line, &w))
        if (!has_word(other, w) && !is_uninteresting(w))
            return true;
    return false;
}

static bool differ(const char *a, const char *b)
{
    return has_own_words(a, b) || has_own_words(b, a);
}

/* Writes the words of `line` that `other` lacks. */
static void put_own_words(FILE *out, const char *line, const char *other)
{
    const char *gap = "";
    struct slice w;

    if (!has_own_words(line, other))
        fputs("nothing of that", out);
    while (next_word(&line, &w))
        if (!has_word(other, w) && !is_uninteresting(w)) {
            fprintf(out, "%s%.*s", gap, (int)w.n, w.p);
            gap = " ";
        }
}

static bool add_command_note(struct merge *m, const struct merge_input *a,
                             const struct merge_input *b, size_t n_more, struct err *e)
{
    const char *command_a = survey_command_line(&a->survey);
    const char *command_b = survey_command_line(&b->survey);
    char more[64] = "";
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return mem_none(e);
    fprintf(out, "%s has ", a->name);
    put_own_words(out, command_a, command_b);
    fprintf(out, ", %s has ", b->name);
    put_own_words(out, command_b, command_a);
    bool ok = (fclose(out) == 0 && text != NULL) || mem_none(e);
    if (n_more)
        snprintf(more, sizeof more, "; %zu more differ from the first", n_more);
    ok = ok && notes_add(&m->notes, e, "command", NULL, "settings differ: %s%s", text, more);
    free(text);
    return ok;
}

static bool note_commands(struct merge *m, struct err *e)
{
    const struct merge_input *first = NULL, *other = NULL;
    size_t n_different = 0;

    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[m->by_time[i]];
        const char *command = survey_command_line(&in->survey);

        if (!command)
            continue;
        if (!first)
            first = in;
        if (!differ(survey_command_line(&first->survey), command))
            continue;
        if (!other)
            other = in;
        n_different++;
    }
    return !other || add_command_note(m, first, other, n_different - 1, e);
}

static bool note_damage(struct merge *m, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct merge_input *in = &m->inputs[i];
        const struct recfile_info *info = &in->survey.info;

        for (int k = 0; k < N_DROPS; k++)
            if (info->n_dropped[k] &&
                !notes_add(&m->notes, e, "dropped", NULL, "%s: dropped %s; the first: %s", in->name,
                           recfile_dropped(info, (enum recfile_drop)k).s, info->first_drop[k]))
                return false;
        if (info->n_unverified && !notes_add(&m->notes, e, "unverified", NULL,
                                             "%s: %s of frames that fail their checksum", in->name,
                                             units_counted((int64_t)info->n_unverified, "row").s))
            return false;
    }
    return true;
}

/* Notes which inputs have so many comments that those in the middle were dropped. */
static bool note_comments(struct merge *m, struct err *e)
{
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct survey *s = &m->inputs[i].survey;
        uint64_t n = s->comments.n_left_out + s->machine.n_left_out;

        if (n > 0 && !notes_add(&m->notes, e, "comments-left-out", NULL,
                                "%s: %s comments are not carried over", m->inputs[i].name,
                                units_count((int64_t)n).s))
            return false;
    }
    return true;
}

bool merge_add_notes(struct merge *m, struct err *e)
{
    return note_time(m, e) && note_clocks(m, e) && note_damage(m, e) && note_commands(m, e) &&
           note_comments(m, e);
}
