# An axis ("x" or "y", in `axis`) of durations in ms on a log scale, from `low` to `high` with some
# room; both are moved. Zero is drawn as 1 ns.
floor_ms(ms) = ms > 1e-6 ? ms : ms == ms ? 1e-6 : NaN
low = floor_ms(low < 1e98 ? low : 0.1)
high = floor_ms(high)
high = high > low * 1.5 ? high * 1.15 : low * 1.5
low = low / 1.15
# Tics at 1, 2, 5 where there is room, else at powers of ten; finer ones where that is few.
room_px = axis eq "y" ? height - panel_top_px - foot_px : width - left_px - right_px
fine_tics = log10(high / low) * (axis eq "y" ? 60 : 165) < room_px
if (axis eq "y") {
    set logscale y
    set yrange [low:high]
    set ytics ()
} else {
    set logscale x
    set xrange [low:high]
    set xtics ()
    set grid xtics linetype 1 linewidth 1 linecolor rgb c_grid
}
marks = 0.079 / log10(high / low) * room_px > (axis eq "y" ? 18 : 58) ? "1 1.5 2 2.5 3 4 5 6 8" : fine_tics ? "1 2 5" : "1"
# At least three: finer ones where the range has fewer.
do for [finer in "1,2,5 1,1.5,2,3,5,7 1,1.2,1.5,2,2.5,3,4,5,6,7,8,9"] {
    n_marks_in = 0
    do for [m = 1:words(marks)] {
        at = real(word(marks, m)) * 10.0 ** ceil(log10(low / real(word(marks, m))))
        n_marks_in = n_marks_in + (at > high ? 0 : 1 + int(floor(log10(high / at))))
    }
    if (n_marks_in < 3) {
        marks = finer
        do for [comma = 1:12] { at = strstrt(marks, ","); marks = at > 0 ? marks[1:at - 1] . " " . marks[at + 1:] : marks }
    }
}
decade_step = int(ceil(log10(high / low) * (axis eq "y" ? 18 : 58) / room_px))
last_px = -99
do for [decade = -6:12:decade_step] {
    do for [m = 1:words(marks)] {
        ms = real(word(marks, m)) * 10.0 ** decade
        at_px = log10(ms / low) / log10(high / low) * room_px
        if (ms >= low && ms <= high && at_px - last_px > (axis eq "y" ? 15 : 52)) {
            last_px = at_px
            if (axis eq "y") { set ytics add (time_text(ms / 1e3) ms) } else { set xtics add (time_text(ms / 1e3) ms) }
        }
    }
}
