# Changes of a comparison with their 95% confidence intervals, a row for each operation and metric.
call ARG0[1:strlen(ARG0) - strlen("compare-change.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

n = 1
stats data index "chart" using (n = int(column("n")), least = column("least"), \
    most = column("most"), before = strcol("before"), after = strcol("after"), 0) nooutput
array name[n + 1]
array change[n + 1]
array shown[4] = [0, 0, 0, 0] # by direction, from -1 on
stats data index "rows" using (name[int(column("index")) + 1] = strcol("name"), \
    change[int(column("index")) + 1] = strcol("change"), \
    shown[int(column("direction")) + 2] = 1, 0) nooutput
room = (most - least) * 0.05
low = least - room
high = most + room
longest_name = 0; longest_change = 0; has_star = 0
do for [i = 1:n] { longest_change = strlen(change[i]) > longest_change ? strlen(change[i]) : longest_change }
right_px = 26 + 8 * longest_change
name_most = narrow ? int((width - right_px - 120 - 26) / 7) : 30 # leaves room for an entry of the key
do for [i = 1:n] {
    name[i] = short_name(name[i], name_most)
    has_star = has_star || strstrt(name[i], "*") > 0
    longest_name = strlen(name[i]) > longest_name ? strlen(name[i]) : longest_name
}
left_px = 26 + (narrow ? 7 : 8) * longest_name
set lmargin at screen X(left_px)
set rmargin at screen X(width - right_px)
panel_top_px = head_px + 26
key_entries = 1 + has_star + shown[1] + shown[2] + shown[3] + shown[4]
key_longest = narrow ? 14 : 26 # two in a row
@key_layout
set xrange [low:high]
set yrange [n - 0.5:-0.5]
set xtics step_of(high - low, (width - left_px - right_px) / 64.0) format "%g%%"
unset grid
set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid
unset ytics
set border 1
@row_names
do for [i = 0:n - 1] { set label 200 + i change[i + 1] at graph 1, first i offset 1,0 left textcolor rgb c_text }
set xlabel short("change, " . after . " against " . before, x_room(0)) offset 0,0.4 textcolor rgb c_faint
set arrow 1 from first 0, graph 0 to first 0, graph 1 nohead front linewidth 1 linecolor rgb c_faint
colour(d) = d > 1 ? v_2 : d > 0 ? v_3 : d < 0 ? v_bad : v_other
shape(d) = d > 1 ? 13 : d > 0 ? 9 : d < 0 ? 11 : 7
cut_x(x, end) = x == x ? x : end
plot data index "rows" using (column("same_lo_pct")):(column("index")): \
        (column("same_lo_pct")):(column("same_hi_pct")):(column("index") - 0.38): \
        (column("index") + 0.38) with boxxyerror linecolor rgb c_outside fillstyle solid noborder \
        notitle, \
    data index "rows" using (cut_x(column("lo_pct"), low)):(column("index")): \
        (cut_x(column("hi_pct"), high) - cut_x(column("lo_pct"), low)):(0): \
        (colour(column("direction"))) with vectors nohead linewidth 2.4 linecolor rgb variable \
        notitle, \
    data index "rows" using (column("change_pct")):(column("index")): \
        (shape(column("direction"))):(colour(column("direction"))) with points \
        pointtype variable pointsize 1.1 linecolor rgb variable notitle, \
    for [i = 1:shown[3]] keyentry with points pointtype 9 linecolor rgb c_3 title "better", \
    for [i = 1:shown[1]] keyentry with points pointtype 11 linecolor rgb c_bad title "worse", \
    for [i = 1:shown[4]] keyentry with points pointtype 13 linecolor rgb c_2 title "changed", \
    for [i = 1:shown[2]] keyentry with points pointtype 7 linecolor rgb c_other title "not shown", \
    keyentry with boxes fillstyle solid noborder linecolor rgb c_outside title "counts as same", \
    for [i = 1:has_star] keyentry with dots linecolor rgb c_back title "* exploratory"
