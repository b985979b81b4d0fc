/* The kinds of findings, and which of them explain which. */
#include "analyze/findings/course.h"
#include "analyze/findings/finding.h"
#include "libcommon/int64.h"

#include <stdlib.h>
#include <string.h>

static bool is_near(bool given, int64_t at_ns, int64_t ns, int64_t near_ns)
{
    return given && llabs(at_ns - ns) <= near_ns;
}

/* ---- When a cause explains a finding ---- */

#define UNUSED __attribute__((unused))
#define HOW(name)                                                                                  \
    static bool name(UNUSED const struct finding *cause, UNUSED const struct finding *f,           \
                     UNUSED int64_t near_ns)

HOW(always)
{
    return true;
}

/* Servers refuse requests that are signed with a clock that is far off. */
HOW(is_refused)
{
    return strstr(f->sentence, "RequestTimeTooSkewed") != NULL ||
           strstr(f->sentence, "HTTP 403") != NULL;
}

/* At least half of the finding lies in the time of its cause, or up to after_ns later. */
static bool mostly_in(const struct finding *cause, const struct finding *f, int64_t after_ns)
{
    int64_t start_ns = int64_max(f->start_ns, cause->start_ns);
    int64_t end_ns = int64_min(f->end_ns, cause->end_ns + after_ns);

    return f->has_start && f->has_end && end_ns - start_ns >= (f->end_ns - f->start_ns) / 2;
}

HOW(mostly_within)
{
    return mostly_in(cause, f, 0);
}

/* The cause is of all clients: each ran in a part of the time only, by design. */
HOW(is_of_all)
{
    return cause->scope == SCOPE_SYSTEM;
}

/* More clients at a time make requests slower as long as they run. */
HOW(is_of_all_for_good)
{
    return is_of_all(cause, f, near_ns) && !f->has_end;
}

HOW(is_of_an_operation)
{
    return cause->op != NULL && f->op == NULL;
}

HOW(has_a_time)
{
    return cause->has_start || cause->has_end;
}

/* The cause begins or ends when the level changes. */
HOW(is_at_the_change)
{
    int64_t at_ns = finding_moment_ns(f);
    return is_near(cause->has_start, cause->start_ns, at_ns, near_ns) ||
           is_near(cause->has_end, cause->end_ns, at_ns, near_ns);
}

HOW(begins_with)
{
    return is_near(cause->has_start, cause->start_ns, f->start_ns, near_ns);
}

HOW(begins_with_same_op)
{
    return cause->op == f->op && begins_with(cause, f, near_ns);
}

HOW(costs_a_third)
{
    return finding_costs_a_third(cause, f);
}

/* The cause lasts for a part of a swing. */
HOW(is_shorter)
{
    return cause->has_start && cause->has_end && cause->end_ns - cause->start_ns < f->period_ns;
}

/* What begins together has one cause, the costlier one. */
HOW(begins_with_costlier)
{
    return f->has_start && cause->lost_frac > f->lost_frac && begins_with(cause, f, near_ns);
}

/* The cause takes the time that this host, or a client, lacks. */
HOW(is_part_of_it)
{
    return (cause->party == NULL || cause->party == f->party || f->scope == SCOPE_CLIENT) &&
           costs_a_third(cause, f, near_ns);
}

/* The cause lasts when the level changes; a drift has no such moment. */
HOW(lasts_then)
{
    int64_t at_ns = finding_moment_ns(f);

    return (!cause->has_start || (f->has_start && cause->start_ns - near_ns <= at_ns)) &&
           (!cause->has_end || (f->has_start && at_ns <= cause->end_ns + near_ns));
}

/* ... and takes the time that other requests lack. */
HOW(takes_time_then)
{
    return lasts_then(cause, f, near_ns) && costs_a_third(cause, f, near_ns);
}

HOW(costs_more)
{
    return lasts_then(cause, f, near_ns) && cause->lost_frac > f->lost_frac;
}

/* Like takes_time_then; or a host that was down comes back, and what it missed makes all slow. */
HOW(takes_time_or_comes_back)
{
    return takes_time_then(cause, f, near_ns) ||
           (cause->severity == FINDING_PROBLEM && cause->scope == SCOPE_HOST &&
            is_near(cause->has_end, cause->end_ns, finding_moment_ns(f), near_ns));
}

/* Requests hang until they fail, all along, or for longer than one time-out. They take the threads,
 * now and then all of them, while others succeed. Where all hang, errors are the end of a stall. */
HOW(takes_threads)
{
    int64_t failing_ns = cause->end_ns - cause->start_ns;
    struct finding hang = *cause;

    hang.start_ns -= cause->within_ns;
    return finding_value(cause, FINDING_TIME_SHARE) > f->lost_frac / 2 &&
           (cause->party == NULL || (cause->party == f->party && !cause->has_start)) &&
           (!cause->has_start || (cause->within_ns > 0 && failing_ns >= cause->within_ns &&
                                  finding_value(cause, "share_within") < COURSE_NEARLY_ALL &&
                                  (!f->has_start || mostly_in(&hang, f, 0))));
}

/* From a moment on requests to a host hang until they time out: all threads come to wait there,
 * again and again. Errors at the end of a stall do not explain it. */
HOW(hangs_from_then_on)
{
    int64_t ns = f->end_ns - f->start_ns,
            failing_ns = int64_max(cause->within_ns, cause->end_ns - cause->start_ns);

    return cause->has_start && !cause->has_end && cause->scope == SCOPE_HOST &&
           (f->scope == SCOPE_SYSTEM || f->party == cause->party) && 2 * failing_ns >= ns &&
           (!f->has_start || cause->start_ns - cause->within_ns - near_ns <= f->start_ns);
}

/* The finding begins within its cause: requests that hung until their time-out. A short stall does
 * not explain errors that go on for much longer. */
HOW(overlaps)
{
    return cause->has_start && cause->has_end && f->has_start && f->has_end &&
           cause->start_ns < f->end_ns && f->start_ns < cause->end_ns &&
           f->start_ns >= cause->start_ns - near_ns &&
           2 * (cause->end_ns - cause->start_ns) >= f->end_ns - f->start_ns;
}

/* The request that hung is the one that failed. */
HOW(is_its_time_out)
{
    return f->has_start && f->has_end && is_near(true, cause->end_ns, f->end_ns, near_ns) &&
           is_near(true, cause->start_ns, f->start_ns, near_ns);
}

/* A host that was down comes back, and is slow for a while. */
HOW(ends_where_it_begins)
{
    return cause->severity == FINDING_PROBLEM && cause->scope == SCOPE_HOST &&
           cause->party == f->party && cause->client == f->client && f->has_start && f->has_end &&
           is_near(cause->has_end, cause->end_ns, f->start_ns, near_ns);
}

HOW(takes_the_samples)
{
    return cause->op == NULL ? 2 * cause->lost_frac > 1 : f->op != NULL && cause->op == f->op;
}

HOW(takes_most)
{
    return 2 * cause->lost_frac > 1;
}

/* The cause costs more, or lasts when the level changes, or takes the time that other
 * requests lack for most of the time of that level. */
HOW(costs_more_or_lasts)
{
    int64_t at_ns = finding_moment_ns(f);

    return costs_more(cause, f, near_ns) ||
           (cause->has_start && cause->has_end &&
            ((cause->start_ns <= at_ns && at_ns <= cause->end_ns) ||
             (mostly_in(cause, f, 0) && costs_a_third(cause, f, near_ns))));
}

HOW(is_of_a_host)
{
    return cause->scope == SCOPE_HOST;
}

/* Rows within the run are missing, so it seems to pause or to be slow there. */
HOW(leaves_holes)
{
    return finding_value(cause, FINDING_HOLES) > 0;
}

/* ---- The table ---- */

#define DOUBT(finding) .doubt = "95 % CI unreliable: see the finding of " finding

#define HOLES                                                                                      \
    {                                                                                              \
        "damaged", leaves_holes                                                                    \
    }

#define STOPPED                                                                                    \
    {                                                                                              \
        "stopped", mostly_within                                                                   \
    }
#define PARTIAL                                                                                    \
    {                                                                                              \
        "absent-client clock-jump stuck-thread slow-host slow-client", always                      \
    }
#define LEVELS                                                                                     \
    HOLES, {"no-success clock-jump", always}, {"absent-client", is_of_all},                        \
        {"slow-host slow-client slow-op", costs_more_or_lasts},                                    \
        {"errors", takes_time_or_comes_back}, {"drift", is_of_an_operation},                       \
    {                                                                                              \
        "slow-host slow-client slow-op absent-client backlog stuck-thread stall stopped",          \
            is_at_the_change                                                                       \
    }

static const struct finding_kind kinds[] = {
    /* Found in the course. */
    {.name = "stall",
     .is_standstill = true,
     DOUBT("a stall"),
     .because = {STOPPED,
                 {"clock-jump", begins_with},
                 {"retransmits", mostly_within},
                 {"errors", hangs_from_then_on},
                 {"errors", takes_threads},
                 HOLES}},
    {.name = "pauses",
     .because = {{"errors", hangs_from_then_on}, {"errors", takes_threads}, HOLES}},
    {.name = "errors",
     .table = FINDING_IN_ERRORS,
     .because = {{"clock-step", is_refused},
                 {"no-success", begins_with},
                 {"stopped", mostly_in},
                 {"stall", overlaps},
                 {"stuck-thread", is_its_time_out}}},
    {.name = "drop", .is_step = true, DOUBT("a drop"), .because = {LEVELS}},
    {.name = "rise", .is_step = true, DOUBT("a rise"), .because = {LEVELS}},
    {.name = "warm-up",
     .is_step = true,
     .is_beginning = true,
     DOUBT("a warm-up"),
     .because = {LEVELS}},
    {.name = "drift",
     DOUBT("a drift"),
     .because = {{"no-success clock-jump", always},
                 {"drift", is_of_an_operation},
                 {"slow-host slow-client", costs_more},
                 {"absent-client", is_of_all},
                 {"slow-host slow-client slow-op absent-client backlog", has_a_time}}},
    {.name = "load-change",
     .because = {{"clock-jump", always},
                 {"absent-client", is_of_all},
                 {"absent-client", is_at_the_change}}},
    {.name = "swings",
     DOUBT("swings"),
     .because = {{"pauses clock-jump", always},
                 {"errors slow-op", costs_a_third},
                 {"slow-host slow-client", is_shorter}}},
    {.name = "slow-host",
     .is_slowness = true,
     DOUBT("a slow host"),
     .because = {{"errors", ends_where_it_begins}, {"slow-object", is_part_of_it}}},
    {.name = "fast-host", DOUBT("slow hosts")},
    {.name = "fast-client", DOUBT("slow clients"), .because = {{"fast-host", always}}},
    {.name = "slow-object", DOUBT("a slow object")},
    {.name = "slow-client",
     .is_slowness = true,
     DOUBT("a slow client"),
     .because = {{"slow-object", is_part_of_it}}},
    {.name = "slow-op",
     DOUBT("a slow operation"),
     .because = {{"slow-host", begins_with_same_op},
                 {"slow-op", begins_with_costlier},
                 {"slow-host slow-client pauses", costs_more},
                 {"stall pauses", mostly_within},
                 {"absent-client", is_of_all_for_good},
                 {"absent-client", is_at_the_change}}},
    {.name = "stuck-thread", .because = {STOPPED}},
    {.name = "absent-client",
     .is_standstill = true,
     .is_design = true,
     DOUBT("an absent client"),
     .because = {{"clock-jump", always}}},
    {.name = "clock-jump", .because = {{"errors", takes_threads}}},
    {.name = "backlog",
     DOUBT("a backlog"),
     .is_overload = true,
     .stays = true,
     .because = {{"slow-host slow-op stopped", begins_with}, {"slow-host", costs_more}}},
    /* Found in figures. */
    {.name = "no-success", .is_end = true, .because = {{"clock-step", always}}},
    {.name = "left-out", .stays = true, .because = {PARTIAL}},
    {.name = "short-range", .because = {PARTIAL}},
    {.name = "few-samples", .because = {{"errors", takes_the_samples}, {"left-out", takes_most}}},
    {.name = "uneven-hosts",
     .table = FINDING_IN_HOSTS,
     .because = {{"slow-host stall errors", is_of_a_host}}},
    {.name = "overlapping-runs", .because = {{"clock-jump", always}}},
    /* Found in files and figures, or reported by s3load about its run and its machine. */
    {.name = "late-starts"},
    {.name = "clocks-apart"},
    {.name = "error-groups"},
    {.name = "damaged"},
    {.name = "unverified"},
    {.name = "several-headers"},
    {.name = "copied-capture"},
    {.name = "identical-rows"},
    {.name = "from-sums"},
    {.name = "clock-step"},
    {.name = "stopped"},
    {.name = "cut-off"},
    {.name = "no-benchmark"},
    {.name = "ended-by-error"},
    {.name = "interrupted"},
    {.name = "generator-bound"},
    {.name = "not-begun"},
    {.name = "resent"},
    {.name = "reconnects"},
    {.name = "imported"},
    {.name = "imported-cut"},
    {.name = "steal"},
    {.name = "throttled"},
    {.name = "governor"},
    {.name = "machine-busy"},
    {.name = "cpu-wait"},
    {.name = "link-full"},
    {.name = "link-exceeded"},
    {.name = "retransmits"},
    {.name = "clock-unsynchronised"},
};

const struct finding_kind *finding_kind(const char *name)
{
    static const struct finding_kind other = {.name = ""};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return &other;
}

int64_t finding_moment_ns(const struct finding *f)
{
    return f->kind->is_beginning ? f->end_ns : f->start_ns;
}

/* Whether a list of names, separated by blanks, has the name. */
static bool has_name(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

bool finding_explains(const struct finding *cause, const struct finding *f, int64_t near_ns)
{
    const struct finding_kind *kind = f->kind;

    near_ns = int64_max(near_ns, f->within_ns) + cause->within_ns;
    for (size_t i = 0; i < FINDING_MAX_REASONS && kind->because[i].causes != NULL; i++)
        if (has_name(kind->because[i].causes, cause->kind->name) &&
            kind->because[i].how(cause, f, near_ns))
            return true;
    return false;
}
