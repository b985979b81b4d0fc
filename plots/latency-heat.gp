# Latency heat map: how many requests ended when (across), after how long (upwards, log scale).
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
dir = ARG0[1:slash]
call dir . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5
@events

stats data index "chart" using (first = int(column("first")), last = int(column("last")), \
    most = column("most"), bin = column("bin_s"), n_bins = column("n_bins"), 0) nooutput

# Bucket k starts at 2^(k/4) ns.
set yrange [first - 0.5:last + 0.5]
set ytics ()
fine_tics = (last - first + 1) * 4.5 < height - panel_top_px - foot_px # 1, 2, 5, else 1
do for [decade = 0:18] {
    do for [m = 1:(fine_tics ? 3 : 1)] {
        ns = (m == 1 ? 1 : m == 2 ? 2 : 5) * 10.0 ** decade
        at = log(ns) / log(2) * 4 - 0.5
        if (at >= first - 0.5 && at <= last + 0.5) { set ytics add (time_text(ns / 1e9) at) }
    }
}
unset grid
y_unit = "requests"
@heat_colours
@heat_unit
y_unit = "duration"
@y_label
t_max = t_min + n_bins * bin
@time_below
@time_above
plot data index "heat" using (column("t_s")):(column("bucket")):(heat_r(column("requests"))): \
    (heat_g(column("requests"))):(heat_b(column("requests"))):(column("requests") > 0 ? 255 : 0) \
    with rgbalpha notitle, @heat_key
