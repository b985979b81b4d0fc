# Latency by object size: from the fastest to p90 a box, p50 a line in it, up to p99 a whisker, the
# slowest a dot.
slash = 0
do for [i = 1:strlen(ARG0)] { if (ARG0[i:i] eq "/") { slash = i } }
dir = ARG0[1:slash]
call dir . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5

n = 1
stats data index "chart" using (n = int(column("n")), 0) nooutput
low = 1e99; high = 0.0
stats data index "classes" using (low = column("min_ms") < low ? column("min_ms") : low, \
    high = column("max_ms") > high ? column("max_ms") : high, 0) nooutput
array label[n + 1]
stats data index "classes" using (label[int(column("index")) + 1] = \
    strcol("from") . (strcol("to") eq "up" ? "\nand up" : "\nto " . strcol("to")), 0) nooutput
set xrange [-0.6:n - 0.4]
panel_top_px = head_px + 26
key_entries = 4
key_longest = 14
@key_layout
axis = "y"
y_unit = "duration"
@y_label
load dir . "latency-axis.gp"
set xtics ()
step = int(ceil(n * 62 / real(width - left_px - right_px)))
do for [i = 0:n - 1:step] { set xtics add (label[i + 1] i) }
plot data index "classes" using (column("index")):(floor_ms(column("min_ms"))): \
        (column("index") - 0.28):(column("index") + 0.28):(floor_ms(column("min_ms"))): \
        (floor_ms(column("p90_ms"))) with boxxyerror linecolor rgb c_1 \
        fillstyle transparent solid 0.25 border title "fastest to p90", \
    data index "classes" using (column("index")):(floor_ms(column("p90_ms"))):(0): \
        (floor_ms(column("p99_ms")) - floor_ms(column("p90_ms"))) with vectors nohead \
        linewidth 1.6 linecolor rgb c_1 title "to p99", \
    data index "classes" using (column("index") - 0.28):(floor_ms(column("p50_ms"))):(0.56):(0) \
        with vectors nohead linewidth 2.4 linecolor rgb c_2 title "p50", \
    data index "classes" using (column("index")):(floor_ms(column("max_ms"))) with points \
        pointtype 7 pointsize 0.7 linecolor rgb c_other title "slowest"
