# Latency by host, the slowest first: a dot at the median, a line to p99.
call ARG0[1:strlen(ARG0) - strlen("host-latency.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n = int(column("n")), is_ttfb = int(column("is_ttfb")), \
    shared = strcol("shared"), 0) nooutput
low = 1e99; high = 0.0
array name[n + 1]
stats data index "hosts" using (name[int(column("index")) + 1] = strcol("name"), \
    low = column("from_ms") < low ? column("from_ms") : low, \
    high = column("p99_ms") > high ? column("p99_ms") : high, 0) nooutput
longest = 4
do for [i = 1:n] {
    name[i] = short_name(name[i], narrow ? 13 : 30)
    longest = strlen(name[i]) > longest ? strlen(name[i]) : longest
}
left_px = 40 + 8 * longest
set lmargin at screen X(left_px)
panel_top_px = head_px + 26
set tmargin at screen Y(panel_top_px)
axis = "x"
load dir . "latency-axis.gp"
set yrange [n - 0.4:-0.6]
unset ytics
unset grid
set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid
@row_names
y_unit = has_shared(shared) ? "hosts: " . short_middle(shared, int((height - 20) / 7.4) - 7) : "hosts"
@y_label
set xlabel (is_ttfb ? "time to first byte" : "duration") offset 0,0.4 textcolor rgb c_faint
set key off
plot data index "hosts" using (floor_ms(column("from_ms"))):(column("index")): \
        (floor_ms(column("p99_ms")) - floor_ms(column("from_ms"))):(0) with vectors nohead \
        linewidth 2 linecolor rgb c_1_faint notitle, \
    data index "hosts" using (floor_ms(column("p50_ms"))):(column("index")): \
        (column("is_slow") > 0 ? 9 : 7):(column("is_slow") > 0 ? v_bad : rgb(c_1)) with points \
        pointtype variable pointsize 1 linecolor rgb variable notitle
