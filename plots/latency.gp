# Latency over time: quantiles of the durations in each segment, on a log scale.
# Also draws what `s3analyze analyze --analyze.out` writes.
call ARG0[1:strlen(ARG0) - strlen("latency.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
if (!plain) {
    @events
}

n_shades = 0
if (!plain) {
    stats data index "chart" using (n_shades = int(column("n_shades")), \
        segment = column("segment_s"), time = strcol("time"), 0) nooutput
}
low = 1e99; high = 0.0; n_points = 0
stats data index 0 using (plain && !mine(0) || !(column("max_ms") >= 0) ? 0 : \
    (n_points = n_points + 1, low = column("p50_ms") < low ? column("p50_ms") : low, \
    high = column("max_ms") > high ? column("max_ms") : high, 0)) nooutput
key_entries = 4
key_longest = 3
@key_layout
line = line_of(n_points)
axis = "y"
y_unit = time
@y_label
load dir . "latency-axis.gp"
bottom = low
top = high
@shading
@time_below
@time_above
plot @shades data index 0 using (middle(0)):(floor_ms(column("max_ms"))) with @line linewidth 1 dashtype (9,3,2,3) \
        linecolor rgb c_other title "max", \
    data index 0 using (middle(0)):(floor_ms(column("p99_ms"))) with @line linewidth 1.4 dashtype (7,4) \
        linecolor rgb c_3 title "p99", \
    data index 0 using (middle(0)):(floor_ms(column("p90_ms"))) with @line linewidth 1.4 dashtype (2,3) \
        linecolor rgb c_2 title "p90", \
    data index 0 using (middle(0)):(floor_ms(column("p50_ms"))) with @line linewidth 2.2 \
        linecolor rgb c_1 title "p50"
