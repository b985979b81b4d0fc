# The shift function of a comparison: the change of the duration at each percentile, with its band.
call ARG0[1:strlen(ARG0) - strlen("compare-shift.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

stats data index "chart" using (n = int(column("n")), least = column("least"), \
    most = column("most"), before = strcol("before"), after = strcol("after"), 0) nooutput
last = 1.0
stats data index "shift" using (last = column("nines") > last ? column("nines") : last, 0) nooutput
panel_top_px = head_px + 26
key_entries = 2
key_longest = 8
@key_layout
room = (most - least) * 0.05
set yrange [least - room:most + room]
set ytics step_of(most - least, (height - panel_top_px - foot_px) / 40.0) format "%+g%%"
set ytics add ("0%%" 0)
set xrange [0:last * 1.04]
@nines_tics
set xlabel (narrow ? "percentile" : "percentile of the duration") offset 0,0.4 textcolor rgb c_faint
y_unit = short("change, " . after . " against " . before, int((height - panel_top_px - foot_px) / 8.2))
@y_label
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead front linewidth 1 linecolor rgb c_faint
plot data index "shift" using (column("nines")):(column("lo_pct")):(column("hi_pct")) with filledcurves \
        fillstyle transparent solid 0.2 noborder linecolor rgb c_1 title "95 % CI", \
    data index "shift" using (column("nines")):(column("change_pct")) with linespoints pointtype 7 pointsize 0.35 linewidth 2 \
        linecolor rgb c_1 title "change"
