# Durations in the groups of 10 seconds that an aggregated capture holds, each for itself and its client.
call ARG0[1:strlen(ARG0) - strlen("groups.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events
n_shades = 0
low = 1e99; high = 0.0
stats data index "chart" using (n90 = int(column("n_p90")), n99 = int(column("n_p99")), 0) nooutput
# gnuplot 6 leaves out a record of which one of these columns is missing.
stats data index "groups" using (low = column("p50_ms") < low ? column("p50_ms") : low, \
    high = column("max_ms") > high ? column("max_ms") : high, 0) nooutput
key_entries = 4
key_longest = 18
@key_layout
axis = "y"
y_unit = "duration"
@y_label
load dir . "latency-axis.gp"
bottom = low
top = high
@shading
@time_below
@time_above
array key = ["p50 of each 10 s", "p90", "p99", "slowest"]
shown = "4" . (n99 > 0 ? " 3" : "") . (n90 > 0 ? " 2" : "") . " 1"
of(k) = int(word(shown, k))
plot @shades for [k = 1:words(shown)] data index "groups" using (column("t_s")): \
    (floor_ms(column(word("p50_ms p90_ms p99_ms max_ms", of(k))))):(column("length_s")):(0.0) \
    with vectors nohead linewidth (of(k) == 4 ? 1 : 2) \
    linecolor rgb (of(k) == 4 ? c_other : of(k) == 3 ? c_3 : of(k) == 2 ? c_2 : c_1) title key[of(k)]
