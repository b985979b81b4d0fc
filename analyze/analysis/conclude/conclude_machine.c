/* Findings about the client machines: whether they were fit to measure (docs/machine.md). */
#include "analyze/analysis/conclude/conclude.h"

#include "libcommon/int64.h"
#include "libcommon/units.h"

#include <string.h>

/* From this value on a problem, below a notice. */
#define THROTTLED_PROBLEM_PCT 1

/* Retransmits explain a stall if there are so many times the usual number for the same time. */
#define RETRANSMITS_MORE 5

/* The name of each fault, and whether it is a problem. */
static const struct {
    const char *kind, *figure;
    bool is_problem;
} FAULTS[MACHINE_N_FAULTS] = {
    [MACHINE_STOLEN] = {"steal", "steal_pct", true},
    [MACHINE_STOLEN_BRIEFLY] = {"steal", "steal_pct", false},
    [MACHINE_THROTTLED] = {"throttled", "throttled_pct", true},
    [MACHINE_GOVERNOR] = {"governor", NULL, false},
    [MACHINE_BUSY] = {"machine-busy", "busy_pct", true},
    [MACHINE_WAITED] = {"cpu-wait", "wait_pct", false},
    [MACHINE_LINK_FULL] = {"link-full", "link_pct", true},
    [MACHINE_LINK_EXCEEDED] = {"link-exceeded", "link_pct", true},
    [MACHINE_UNSYNCHRONISED] = {"clock-unsynchronised", NULL, false},
};

/* Adds a finding with a sentence about the fault of these clients. */
static bool say(struct findings *out, const struct finding *f, enum machine_fault fault,
                const struct machine_found *x, const char *who, struct err *e)
{
#define SAY(...) findings_add(out, f, e, __VA_ARGS__)
    switch (fault) {
    case MACHINE_STOLEN:
        return SAY("The hypervisor gave %.1f %% of the CPU time of %s to others: durations hold "
                   "delays of that machine",
                   x->value, who);
    case MACHINE_STOLEN_BRIEFLY:
        return SAY("For some seconds the hypervisor gave %.1f %% of the CPU time of %s to others",
                   x->value, who);
    case MACHINE_THROTTLED:
        return SAY("A CPU quota stopped threads on the machine of %s for %.2g %% of the time "
                   "(summed over CPUs): durations hold these waits",
                   who, x->value);
    case MACHINE_GOVERNOR:
        return SAY("The CPUs of %s have the frequency governor %s, not performance: they are slow "
                   "at first when a load begins or pauses",
                   who, x->what);
    case MACHINE_BUSY:
        return SAY("The CPUs of %s were busy for %.0f %% of the time: the figures are those of "
                   "this machine, not of the server",
                   who, x->value);
    case MACHINE_WAITED:
        return SAY("s3load on %s waited %.2g %% of the time for a CPU: durations hold these waits",
                   who, x->value);
    case MACHINE_LINK_FULL:
        return SAY("The network link of %s carried %.0f %% of what it can: it was the limit, not "
                   "the server",
                   who, x->value);
    case MACHINE_LINK_EXCEEDED:
        return SAY("The requests of %s moved %.0f %% of what its network link can carry: they "
                   "went another way, or the system tells a wrong speed",
                   who, x->value);
    default:
        return SAY("The kernel of %s says that its clock is not synchronised: its times may differ "
                   "from those of other machines",
                   who);
    }
#undef SAY
}

static bool about_fault(struct findings *out, enum machine_fault fault,
                        const struct machine_found *x, struct err *e)
{
    bool is_problem = FAULTS[fault].is_problem;

    if (x->n_clients == 0)
        return true;
    if (fault == MACHINE_THROTTLED)
        is_problem = x->value >= THROTTLED_PROBLEM_PCT;
    struct finding f = finding_of(FAULTS[fault].kind, is_problem, 0);
    if (FAULTS[fault].figure != NULL)
        finding_figure(&f, FAULTS[fault].figure, x->value);
    finding_figure(&f, "n_clients", (double)x->n_clients);
    bool is_one = x->n_clients == 1;
    struct phrase who = phrase_format("client %s%s%s%s", x->client, is_one ? "" : " (and of ",
                                      is_one ? "" : units_count((int64_t)x->n_clients - 1).s,
                                      is_one ? "" : " more)");
    return say(out, &f, fault, x, who.s, e);
}

/* Adds a finding if there were more retransmits during a stall than usual. */
static bool about_stall(struct analysis *a, size_t stall, struct err *e)
{
    const struct finding f = a->findings.v[stall];
    struct finding cause = finding_of("retransmits", f.severity == FINDING_PROBLEM, f.lost_frac);
    int64_t start_ns = f.start_ns, end_ns = f.end_ns;
    double n = 0, n_all = 0, all_ns = 0;

    for (size_t i = 0; i < a->dataset->n_inputs; i++) {
        const struct machine *m = &a->dataset->inputs[i].recorded.machine;
        n_all += m->n_sent_again;
        all_ns += m->told_ns;
        for (size_t k = 0; k < m->n_retransmits; k++) {
            const struct machine_retransmits *r = &m->retransmits[k];
            if (r->start_ns >= f.end_ns || r->end_ns <= f.start_ns)
                continue;
            n += (double)r->n;
            start_ns = int64_min(start_ns, r->start_ns);
            end_ns = int64_max(end_ns, r->end_ns);
        }
    }
    double usual = all_ns > 0 ? n_all / all_ns * (double)(end_ns - start_ns) : 0;
    if (n == 0 || n < RETRANSMITS_MORE * usual)
        return true;
    finding_set_times(&cause, f.start_ns, f.end_ns);
    finding_figure(&cause, "n_retransmits", n);
    return findings_add(&a->findings, &cause, e,
                        "Connections of s3load sent %s TCP segments again within %s of a stall: "
                        "packets were lost on the way to the server",
                        units_count((int64_t)n).s, units_duration(end_ns - start_ns).s);
}

/* True if the run had several clients, each with its own clock. */
static bool has_several_clients(const struct analysis *a)
{
    for (size_t k = 0; k < a->n_operations; k++)
        if (a->operations[k].n_clients > 1)
            return true;
    return false;
}

bool conclude_machines(struct analysis *a, struct err *e)
{
    struct machine_found found[MACHINE_N_FAULTS] = {0};
    size_t n = a->findings.n;
    bool ok = true;

    for (size_t i = 0; i < a->dataset->n_inputs; i++)
        machine_find(&a->dataset->inputs[i].recorded.machine, found);
    if (!has_several_clients(a))
        found[MACHINE_UNSYNCHRONISED].n_clients = 0;
    for (int i = 0; ok && i < MACHINE_N_FAULTS; i++)
        ok = about_fault(&a->findings, (enum machine_fault)i, &found[i], e);
    for (size_t i = 0; ok && i < n; i++)
        if (strcmp(a->findings.v[i].kind->name, "stall") == 0)
            ok = about_stall(a, i, e);
    return ok;
}
