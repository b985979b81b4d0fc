# Activity of clients: how many requests each had running, over time.
call ARG0[1:strlen(ARG0) - strlen("clients.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events

stats data index "chart" using (n = int(column("n_hosts")), most = column("most"), \
    bin = column("bin_s"), n_bins = column("n_bins"), 0) nooutput
array name[n + 1]
stats data index "names" using (name[int(column("index")) + 1] = strcol("name"), 0) nooutput
unset grid
left_px = narrow ? 88 : 130
set lmargin at screen X(left_px)
unset ytics
y_unit = "requests in flight"
linear = 1
@heat_colours
@heat_unit
set yrange [n - 0.5:-0.5]
step = int(ceil(n / ((height - panel_top_px - foot_px) / 15.0)))
do for [c = 0:n - 1:step] {
    set label 100 + c short_name(name[c + 1], narrow ? 9 : 15) at graph 0, first c offset -1,0 right textcolor rgb c_faint
}
t_max = t_min + n_bins * bin
@time_below
@time_above
plot data index "rates" using (column("t_s")):(column("host") - 0.4): \
    (column("t_s") - bin / 2):(column("t_s") + bin / 2):(column("host") - 0.4): \
    (column("host") + 0.4):(column("rate") > 0 ? heat_rgb(column("rate")) : v_back) \
    with boxxyerror fillstyle solid noborder linecolor rgb variable notitle, @heat_key
