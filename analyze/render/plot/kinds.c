#include "analyze/render/plot/charts_internal.h"

const struct plot_kind *const plot_kinds[] = {
    &plot_kind_throughput,   &plot_kind_hosts,     &plot_kind_latency,
    &plot_kind_latency_heat, &plot_kind_spectrum,  &plot_kind_host_latency,
    &plot_kind_errors,       &plot_kind_cdf,       &plot_kind_latency_size,
    &plot_kind_sizes,        &plot_kind_in_flight, &plot_kind_clients,
    &plot_kind_autoterm,     &plot_kind_groups,    NULL,
};
