#include "tests/target/fault.h"

#include "libcommon/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void faults_init(struct faults *f)
{
    *f = (struct faults){0};
    pthread_mutex_init(&f->lock, NULL);
}

void faults_fini(struct faults *f)
{
    pthread_mutex_destroy(&f->lock);
}

static bool duration(const char *text, double *ns, struct err *e)
{
    int64_t value = 0;

    if (text == NULL)
        return err_set(e, "a duration is missing");
    if (!units_parse_duration(text, false, &value, e))
        return false;
    *ns = (double)value;
    return true;
}

/* Splits text in place at its first ':'; NULL: there is none. */
static char *after_colon(char *text)
{
    char *colon = strchr(text, ':');

    if (colon == NULL)
        return NULL;
    *colon = '\0';
    return colon + 1;
}

/* Parses AT:D. */
static bool window(char *text, int64_t *at_ns, int64_t *length_ns, struct err *e)
{
    char *length = after_colon(text);
    double at = 0;
    double n = 0;

    if (!duration(text, &at, e) || !duration(length, &n, e))
        return false;
    *at_ns = (int64_t)at;
    *length_ns = (int64_t)n;
    return true;
}

static bool probability(const char *text, double *p, struct err *e)
{
    if (text == NULL || !units_parse_double(text, p, e) || !(*p >= 0 && *p <= 1))
        return err_set(e, "a probability in 0..1 is wanted");
    return true;
}

static bool latency(struct fault_rule *r, char *text, struct err *e)
{
    char *a = after_colon(text);
    char *b = a == NULL ? NULL : after_colon(a);

    if (a == NULL) {
        r->law = FAULT_FIXED;
        return duration(text, &r->a, e);
    }
    if (strcmp(text, "uniform") == 0) {
        r->law = FAULT_UNIFORM;
        return duration(a, &r->a, e) && duration(b, &r->b, e);
    }
    if (strcmp(text, "exp") == 0) {
        r->law = FAULT_EXP;
        return duration(a, &r->a, e);
    }
    if (strcmp(text, "lognormal") == 0) {
        r->law = FAULT_LOGNORMAL;
        return duration(a, &r->a, e) && b != NULL && units_parse_double(b, &r->b, e);
    }
    return err_set(e, "no such distribution: %s", text);
}

static bool set(struct fault_rule *r, const char *key, char *value, struct err *e)
{
    int64_t n = 0;
    double x = 0;

    if (strcmp(key, "server") == 0) {
        if (!units_parse_int(value, &n, e))
            return false;
        r->server = (int)n;
        return true;
    }
    if (strcmp(key, "op") == 0) {
        if (strlen(value) >= sizeof r->op)
            return err_set(e, "no such operation");
        strcpy(r->op, value);
        return true;
    }
    if (strcmp(key, "latency") == 0)
        return latency(r, value, e);
    if (strcmp(key, "reset") == 0)
        return probability(value, &r->p_reset, e);
    if (strcmp(key, "truncate") == 0)
        return probability(value, &r->p_truncate, e);
    if (strcmp(key, "corrupt") == 0)
        return probability(value, &r->p_corrupt, e);
    if (strcmp(key, "chunked") == 0)
        return probability(value, &r->p_chunked, e);
    if (strcmp(key, "hide") == 0) {
        if (snprintf(r->hide, sizeof r->hide, "%s", value) >= (int)sizeof r->hide)
            return err_set(e, "up to %zu characters are wanted", sizeof r->hide - 1);
        return true;
    }

    if (strcmp(key, "rate") == 0) {
        if (!units_parse_rate(value, &x, e) || x <= 0)
            return err_set(e, "requests per second are wanted");
        r->turn_ns = 1e9 / x;
        return true;
    }

    if (strcmp(key, "stall") == 0)
        return window(value, &r->stall_at_ns, &r->stall_ns, e);
    if (strcmp(key, "during") == 0)
        return window(value, &r->during_at_ns, &r->during_ns, e);

    char *second = after_colon(value);
    if (strcmp(key, "fail") == 0) {
        if (!units_parse_int(value, &n, e) || n < 400 || n > 599)
            return err_set(e, "a status in 400..599 is wanted");
        r->fail_status = (int)n;
        return probability(second, &r->p_fail, e);
    }
    if (strcmp(key, "slow") == 0) {
        if (!units_parse_size(value, &n, e) || n <= 0)
            return err_set(e, "a rate in bytes per second is wanted");
        r->slow_bytes_per_s = (double)n;
        return probability(second, &r->p_slow, e);
    }
    return err_set(e, "no such fault");
}

bool faults_add(struct faults *f, const char *text, int64_t seed, struct err *e)
{
    char copy[512];
    char *rest = NULL;

    if (f->n == FAULT_RULES_MAX || strlen(text) >= sizeof copy)
        return err_set(e, "too many rules of faults, or too long a rule");
    struct fault_rule *r = &f->rule[f->n++];
    *r = (struct fault_rule){.server = -1};
    for (int i = 0; i < 3; i++)
        r->random[i] = (unsigned short)((uint64_t)seed >> 16 * i);
    r->random[2] ^= (unsigned short)(f->n * 0x9e37);
    strcpy(copy, text);
    for (char *item = strtok_r(copy, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(item, '=');
        struct err cause = {0};
        if (value == NULL)
            return err_set(e, "fault '%s': KEY=VALUE is wanted", item);
        *value++ = '\0';
        if (!set(r, item, value, &cause))
            return err_set(e, "fault '%s': %s", item, cause.msg);
    }
    return true;
}

/* Draws a latency in ns. Uses two random numbers for any distribution, so that rules are
 * comparable. */
static int64_t draw_latency(struct fault_rule *r)
{
    double u = erand48(r->random);
    double v = erand48(r->random);

    switch (r->law) {
    case FAULT_UNIFORM:
        return (int64_t)(r->a + u * (r->b - r->a));
    case FAULT_EXP:
        return (int64_t)(-r->a * log1p(-u));
    case FAULT_LOGNORMAL:
        /* A normal variate by Box and Muller. */
        return (int64_t)(r->a * exp(r->b * sqrt(-2 * log1p(-u)) * cos(2 * M_PI * v)));
    default:
        return (int64_t)r->a;
    }
}

/* Models a server that handles one request at a time. Returns how long the request waits for its
 * turn, in ns. */
static int64_t wait_for_turn(struct fault_rule *r, int64_t now_ns)
{
    int64_t at_ns = r->next_turn_ns > now_ns ? r->next_turn_ns : now_ns;

    r->next_turn_ns = at_ns + (int64_t)r->turn_ns;
    return at_ns - now_ns;
}

static void draw(struct fault_rule *r, int64_t now_ns, struct fault_plan *plan)
{
    if (r->first_ns == 0)
        r->first_ns = now_ns;
    int64_t into_ns = now_ns - r->first_ns - r->during_at_ns;
    if (r->during_ns > 0 && (into_ns < 0 || into_ns >= r->during_ns))
        return;
    plan->latency_ns += draw_latency(r) + wait_for_turn(r, now_ns);
    if (erand48(r->random) < r->p_fail)
        plan->fail_status = r->fail_status;
    plan->reset |= erand48(r->random) < r->p_reset;
    plan->truncate |= erand48(r->random) < r->p_truncate;
    plan->corrupt |= erand48(r->random) < r->p_corrupt;
    if (erand48(r->random) < r->p_slow)
        plan->bytes_per_s = r->slow_bytes_per_s;
    plan->chunked |= erand48(r->random) < r->p_chunked;
    if (r->hide[0] != '\0')
        plan->hide = r->hide;

    int64_t from_ns = r->first_ns + r->stall_at_ns;
    if (r->stall_ns > 0 && now_ns >= from_ns && now_ns < from_ns + r->stall_ns)
        plan->stalled_until_ns = from_ns + r->stall_ns;
}

struct fault_plan faults_draw(struct faults *f, int server, const char *op, int64_t now_ns)
{
    struct fault_plan plan = {0};

    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < f->n; i++) {
        struct fault_rule *r = &f->rule[i];
        if ((r->server < 0 || r->server == server) && (r->op[0] == '\0' || !strcmp(r->op, op)))
            draw(r, now_ns, &plan);
    }
    pthread_mutex_unlock(&f->lock);
    return plan;
}
