#include "loadgen/ranks/team.h"

#include "loadgen/load/recorder.h"
#include "loadgen/util/clock.h"

/* There is a vote for each whole second after the first start. It takes three rounds, in which the
 * ranks find out whether all loops of all ranks have reported up to that second; the range that all
 * threads share; and what was done in the segments of this range. All ranks see the same figures
 * and come to the same verdict, which a replay of the merged capture would also give. */

/* Indexes of the last maxima. */
enum { MINUS_FIRST = RANKS_N_MAXES - RANKS_N_VOTES, MINUS_UNTIL, RANGE_START, MINUS_RANGE_END };

void vote_add(struct vote *v, int64_t ahead_ns, struct ranks_figures *mine)
{
    struct segment_range range = {INT64_MIN, INT64_MAX};
    struct autoterm_cut cut = v->cut;
    int64_t *max = mine->max;
    int64_t first_ns;
    int64_t until_ns;

    if (v->recorder == NULL)
        return;
    recorder_reported(v->recorder, &first_ns, &until_ns);
    max[MINUS_FIRST] = first_ns == CLOCK_NEVER ? -CLOCK_NEVER : ahead_ns - first_ns;
    max[MINUS_UNTIL] = until_ns == INT64_MIN ? CLOCK_NEVER : ahead_ns - until_ns;
    if (v->step == VOTE_RANGE)
        recorder_range_at(v->recorder, v->instant_ns + ahead_ns, &range, v->error);
    /* A rank without any request does not take part yet. */
    bool has_range = v->step == VOTE_RANGE && range.start_ns != INT64_MAX;
    max[RANGE_START] = has_range ? range.start_ns - ahead_ns : -CLOCK_NEVER;
    max[MINUS_RANGE_END] = has_range ? ahead_ns - range.end_ns : -CLOCK_NEVER;
    cut.range_start_ns += ahead_ns;
    cut.start_ns += ahead_ns;
    if (v->step == VOTE_AMOUNTS)
        recorder_amounts(v->recorder, &cut, mine->amount);
}

bool vote_go_on(struct vote *v, const struct ranks_figures *all)
{
    const int64_t *max = all->max;
    const struct segment_range range = {max[RANGE_START], -max[MINUS_RANGE_END]};
    struct autoterm_stop *stop = &v->stop;

    if (v->recorder == NULL || stop->stopped)
        return false;
    if (v->step == VOTE_REPORTED) {
        if (max[MINUS_FIRST] == -CLOCK_NEVER)
            return false;
        v->instant_ns = -max[MINUS_FIRST] + (stop->at_s + 1) * NS_PER_S;
        if (v->instant_ns >= -max[MINUS_UNTIL])
            return false;
        v->step = VOTE_RANGE;
        return true;
    }
    if (v->step == VOTE_RANGE && range.start_ns != -CLOCK_NEVER &&
        autoterm_cut_range(v->dur_ns, &range, &v->cut)) {
        v->step = VOTE_AMOUNTS;
        return true;
    }
    stop->at_s++;
    stop->stopped =
        v->step == VOTE_AMOUNTS && autoterm_judge(v->pct, &v->cut, all->amount, &stop->window);
    v->step = VOTE_REPORTED;
    return !stop->stopped;
}
