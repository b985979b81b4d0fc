# The runs of a plan: throughput or response time against the level that each run was made at.
call ARG0[1:strlen(ARG0) - strlen("plan.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (is_judged = int(column("is_judged")), y_unit = strcol("unit"), \
    level = strcol("level"), 0) nooutput
panel_top_px = head_px + 26
is_time = y_unit eq "ms"
array n_of[3] = [0, 0, 0] # by verdict, if runs were judged
stats data index "runs" using (n_of[int(column("verdict")) + 1] = is_judged, 0) nooutput
key_entries = 1 + is_time + n_of[1] + n_of[2] + n_of[3]
key_longest = 9
@key_layout

# Both axes are logarithmic, with room for two numbers at least.
stats data index "runs" using "level" name "X" nooutput
stats data index "runs" using "value" name "Y" nooutput
n_lines = 0
array line_at[20]; array line_text[20]; array is_upright[20]
stats data index "lines" using (column("at") > 0 && n_lines < 20 ? (n_lines = n_lines + 1, \
    line_at[n_lines] = column("at"), line_text[n_lines] = strcol("text"), \
    is_upright[n_lines] = int(column("is_upright")), 0) : 0) nooutput
do for [i = 1:n_lines] {
    if (!is_upright[i]) {
        Y_max = line_at[i] > Y_max ? line_at[i] : Y_max
        Y_min = line_at[i] < Y_min ? line_at[i] : Y_min
    }
}
room(least, most) = (r = sqrt(5 * least / most), r > 1.25 ? r : 1.25)
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
do for [i = 1:n_lines] {
    if (is_upright[i]) {
        set arrow i from first line_at[i], graph 0 to first line_at[i], graph 1 nohead back dashtype (7,4) linecolor rgb c_1
        set label 10 + i line_text[i] at first line_at[i], graph 0.04 offset -0.5,0 right front textcolor rgb c_1
    } else {
        set arrow i from graph 0, first line_at[i] to graph 1, first line_at[i] nohead back dashtype (2,3) linecolor rgb c_bad
        set label 10 + i line_text[i] at graph 0.01, first line_at[i] offset 0,0.5 left front textcolor rgb c_bad
    }
}
if (is_time) { y_unit = "response time, ms"; @y_label }
colour(verdict) = verdict == 0 ? rgb(c_1) : verdict == 1 ? v_bad : v_2
plot data index "runs" using "level":"value":(column("is_tail") > 0 ? 7 : 6):(colour(column("verdict"))) \
        with points pointtype variable pointsize 0.9 linewidth 1.4 linecolor rgb variable notitle, \
    keyentry with points pointtype 6 pointsize 0.9 linewidth 1.4 linecolor rgb c_text \
        title (is_time ? "p50" : "run"), \
    for [i = 1:is_time] keyentry with points pointtype 7 pointsize 0.9 linecolor rgb c_text title "p99", \
    for [i = 1:n_of[1]] keyentry with points pointtype 7 linecolor rgb c_1 title "met", \
    for [i = 1:n_of[3]] keyentry with points pointtype 7 linecolor rgb c_2 title "undecided", \
    for [i = 1:n_of[2]] keyentry with points pointtype 7 linecolor rgb c_bad title "missed"
