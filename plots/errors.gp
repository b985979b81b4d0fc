# Errors over time: how many requests failed in each step, by message.
call ARG0[1:strlen(ARG0) - strlen("errors.gp")] . "style.gp" ARG1 ARG2 ARG3 ARG4 ARG5 ARG6 ARG7
@events
stats data index "chart" using (n_messages = int(column("n_messages")), most = column("most"), \
    segment = column("segment_s"), 0) nooutput
array message[n_messages + 1]
key_longest = 0
stats data index "messages" using (message[int(column("index")) + 1] = strcol("text"), 0) nooutput
do for [i = 1:n_messages] {
    message[i] = short(message[i], key_most(70))
    key_longest = strlen(message[i]) > key_longest ? strlen(message[i]) : key_longest
}
key_entries = n_messages
@key_layout
top = most > 0 ? most * 1.06 : 1
set yrange [0:top]
set format y y_format(top, 1)
set ytics top < 6 ? 1 : y_step(top, height - panel_top_px - foot_px)
y_unit = "errors"
@y_label
@time_below
@time_above
array colour[3] = [c_bad, c_2, c_3]
plot for [i = 1:n_messages] data index "bars" using (0):(0):(column("message") == i - 1 ? column("from_s") : NaN): \
    (column("to_s")):(column("lo")):(column("hi")) with boxxyerror fillstyle solid noborder \
    linecolor rgb colour[i] title message[i]
