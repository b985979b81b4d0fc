# The runs of a plan: throughput or response time against the level that each run was made at.
call ARG0[1:strlen(ARG0) - strlen("plan.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6

stats data index "chart" using (is_judged = int(column("is_judged")), y_unit = strcol("unit"), \
    level = strcol("level"), 0) nooutput
panel_top_px = head_px + 26
is_time = y_unit eq "ms"
key_entries = 1 + is_time + 3 * is_judged
key_longest = 9
@key_layout

# Both axes are logarithmic, with room for two numbers at least.
stats data index "runs" using "level" name "X" nooutput
stats data index "runs" using "value" name "Y" nooutput
room(least, most) = (r = sqrt(5 * least / most), r > 1.1 ? r : 1.1)
x_room = room(X_min, X_max); x_low = X_min / x_room; x_high = X_max * x_room
y_room = room(Y_min, Y_max); y_low = Y_min / y_room; y_high = Y_max * y_room
set logscale xy
set xrange [x_low:x_high]
set yrange [y_low:y_high]
set xtics () textcolor rgb c_faint
set ytics () textcolor rgb c_faint
do for [k = -6:12] { do for [m in "1 2 5"] {
    tick = m * 10.0 ** k
    if (tick >= x_low && tick <= x_high) { set xtics add (sprintf("%.10g", tick) tick) }
    if (tick >= y_low && tick <= y_high) { set ytics add (sprintf("%.10g", tick) tick) }
} }
@y_label
set xlabel level offset 0,0.4 textcolor rgb c_faint
colour(verdict) = verdict == 0 ? rgb(c_1) : verdict == 1 ? v_bad : v_2
plot data index "runs" using "level":"value":(column("is_tail") > 0 ? 7 : 6):(colour(column("verdict"))) \
        with points pointtype variable pointsize 0.9 linewidth 1.4 linecolor rgb variable notitle, \
    keyentry with points pointtype 6 pointsize 0.9 linewidth 1.4 linecolor rgb c_text \
        title (is_time ? "p50" : "run"), \
    for [i = 1:is_time] keyentry with points pointtype 7 pointsize 0.9 linecolor rgb c_text title "p99", \
    for [i = 1:is_judged] keyentry with points pointtype 7 linecolor rgb c_1 title "met", \
    for [i = 1:is_judged] keyentry with points pointtype 7 linecolor rgb c_2 title "undecided", \
    for [i = 1:is_judged] keyentry with points pointtype 7 linecolor rgb c_bad title "missed"
