# Object sizes: how many successful requests had which.
call ARG0[1:strlen(ARG0) - strlen("sizes.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7

n = 1
stats data index "chart" using (n = int(column("n")), 0) nooutput
top = 0.0
stats data index "sizes" using (top = column("requests") > top ? column("requests") : top, 0) nooutput
top = top * 1.06
array label[n + 1]
stats data index "sizes" using (label[int(column("index")) + 1] = strcol("label"), 0) nooutput
panel_top_px = head_px + 14
set tmargin at screen Y(panel_top_px)
set xrange [-0.7:n - 0.3]
set yrange [0:top]
axis_px = height - panel_top_px - foot_px
@y_tics
set xtics ()
step = int(ceil(n * 70 / real(width - left_px - right_px)))
do for [i = 0:n - 1:step] { set xtics add (label[i + 1] i) }
y_unit = "requests"
@y_label
set xlabel "object size, from" offset 0,0.4 textcolor rgb c_faint
set boxwidth 0.86
plot data index "sizes" using (column("index")):(column("requests")) with boxes \
    fillstyle solid 0.85 noborder linecolor rgb c_1 notitle
