# Latency percentiles of both sides of a comparison: the duration (log scale) within which a share of
# the requests ended, in nines; each run thin, all runs of a side together thick.
call ARG0[1:strlen(ARG0) - strlen("compare-spectrum.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (before = strcol("before"), after = strcol("after"), \
    n_before = int(column("n_before")), n_after = int(column("n_after")), \
    requests_before = column("requests_before"), requests_after = column("requests_after"), 0) nooutput
blocks = "all_before all_after before_runs after_runs"
@find_range
# The slowest of n requests stands where 1 in n are slower.
nines(pct, n) = pct < 100 ? -log10(1 - pct / 100.0) : n > 0 ? log10(n) : NaN
most_requests = requests_before > requests_after ? requests_before : requests_after
last = most_requests > 10 ? log10(most_requests) : 1.0
@compare_key
axis = "y"
y_unit = "duration"
@y_label
load dir . "latency-axis.gp"
set xrange [0:last * 1.08]
@nines_tics
set xlabel (narrow ? "share of the requests" : "share of the requests that took at most that long") offset 0,0.4 textcolor rgb c_faint
plot for [i = 1:n_before > 1] data index "before_runs" using (nines($2, 0)):(floor_ms($1)) with lines \
        linewidth 0.7 linecolor rgb c_1_faint notitle, \
    for [i = 1:n_after > 1] data index "after_runs" using (nines($2, 0)):(floor_ms($1)) with lines \
        linewidth 0.7 linecolor rgb c_2_faint notitle, \
    data index "all_before" using (nines($2, requests_before)):(floor_ms($1)) with lines linewidth 2.2 \
        linecolor rgb c_1 title title_1, \
    data index "all_after" using (nines($2, requests_after)):(floor_ms($1)) with lines linewidth 2.2 \
        dashtype (10,4) linecolor rgb c_2 title title_2
