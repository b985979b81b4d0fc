# Latency heat map: how many requests ended when (across), after how long (upwards, log scale).
call ARG0[1:strlen(ARG0) - strlen("latency-heat.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events

stats data index "chart" using (first = int(column("first")), last = int(column("last")), \
    most = column("most"), bin = column("bin_s"), n_bins = column("n_bins"), time = strcol("time"), 0) nooutput

@bucket_tics
unset grid
y_unit = "requests"
@heat_colours
@heat_unit
y_unit = time
@y_label
t_max = t_min + n_bins * bin
@time_below
@time_above
plot data index "heat" using (column("t_s")):(column("bucket")):(heat_r(column("requests"))): \
    (heat_g(column("requests"))):(heat_b(column("requests"))):(column("requests") > 0 ? 255 : 0) \
    with rgbalpha notitle, @heat_key
