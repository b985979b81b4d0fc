#include "analyze/render/plot/charts_internal.h"

#include "libcommon/units.h"

#include <math.h>

static bool has_host(const struct plot_data *p)
{
    for (size_t h = 0; h < p->hosts.n; h++)
        if (p->hosts.v[h].mean > 0)
            return true;
    return false;
}

static bool has_hosts(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    return p->hosts.n > 1;
}

static const char *party_name(const void *parties, size_t i)
{
    return ((const struct plot_parties *)parties)->v[i].name;
}

/* Writes the block "names"; returns what all names share. */
static struct plot_names put_party_names(FILE *f, const struct plot_parties *x)
{
    struct plot_names names = plot_names_of(party_name, x, x->n);
    char rest[128];

    plot_out_block(f, "names", "index mean name");
    for (size_t h = 0; h < x->n; h++) {
        plot_names_rest(&names, x->v[h].name, rest, sizeof rest);
        plot_out_row(f, "irs", (int64_t)h, x->v[h].mean, intern_shown(rest));
    }
    return names;
}

/* Many hosts need room for the names of the slowest ones. */
static int hosts_height(const struct plot_data *p)
{
    return p->hosts.n > PLOT_DATA_MAX_BY_NAME ? 560 : 0;
}

/* Whether a bin lies within the run; of fewer than three bins each counts. */
static bool is_whole_bin(const struct plot_data *p, size_t k)
{
    int64_t start_ns = p->hosts.bins.start_ns + (int64_t)k * p->hosts.bins.length_ns;
    return p->hosts.bins.n < 3 || (start_ns >= p->course.start_ns &&
                                   start_ns + p->hosts.bins.length_ns <= p->course.end_ns);
}

/* Writes what the parties did in each bin: their rate or, of activity, how many requests they had
 * running. */
static bool put_parties(FILE *f, const struct plot_data *p, const struct plot_parties *of,
                        bool is_activity, const char *title)
{
    double unit = p->course.has_bytes ? MIB : 1, most = 0, bin_ns = (double)of->bins.length_ns;
    bool lines = !is_activity && of->n <= PLOT_DATA_MAX_LINES;

    plot_out_block(f, "rates", "t_s host rate");
    for (size_t h = 0; h < of->n; h++) {
        for (size_t k = 0; k < of->bins.n; k++) {
            double rate = is_activity ? (double)of->v[h].sum[k] / bin_ns
                                      : plot_data_rate(p, &of->v[h], k) / unit;
            if (isnan(rate) || (lines && !is_whole_bin(p, k)))
                continue;
            most = rate > most ? rate : most;
            plot_out_row(f, "rir", charts_bin_middle_s(p, &of->bins, k), (int64_t)h, rate);
        }
    }
    struct plot_names names = put_party_names(f, of);
    int64_t n_shades = charts_put_shades(f, p);
    PLOT_OUT_CHART(f, p, title,
                   "has_bytes n_hosts n_hosts_in_all lines most bin_s n_bins n_shades shared",
                   "iiiirriis", (int64_t)p->course.has_bytes, (int64_t)of->n, (int64_t)of->n_in_all,
                   (int64_t)lines, most, bin_ns / 1e9, (int64_t)of->bins.n, n_shades, names.shared);
    return true;
}

static bool write_hosts(FILE *f, const struct plot_data *p, const char *title)
{
    return put_parties(f, p, &p->hosts, false, title);
}

const struct plot_kind plot_kind_hosts = {
    "hosts",
    "throughput by host",
    "The rate of each host over time: one that lags behind, or stops, stands out. If there are "
    "many hosts: first those that a finding names, then the slowest.",
    .of_parties = true,
    .has_data = has_host,
    .is_worth = has_hosts,
    .write = write_hosts,
    .height = hosts_height};

static bool has_client_rates(const struct plot_data *p)
{
    return p->clients.n > 1;
}

static bool write_client_rates(FILE *f, const struct plot_data *p, const char *title)
{
    return put_parties(f, p, &p->clients, false, title);
}

static const struct plot_kind client_rates = {"hosts",
                                              "throughput by client",
                                              "The rate of each client over time.",
                                              .of_parties = true,
                                              .has_data = has_client_rates,
                                              .write = write_client_rates};

static bool has_clients(const struct plot_data *p, const struct plot_data *all)
{
    (void)all;
    return p->clients.n > 1;
}

static bool write_clients(FILE *f, const struct plot_data *p, const char *title)
{
    return put_parties(f, p, &p->clients, true, title);
}

const struct plot_kind plot_kind_clients = {
    "clients",
    "activity of clients",
    "How many requests each client had running, over time: whether they all ran at once.",
    .of_requests = true,
    .is_course = true,
    .else_kind = &client_rates,
    .of_parties = true,
    .is_worth = has_clients,
    .write = write_clients};
