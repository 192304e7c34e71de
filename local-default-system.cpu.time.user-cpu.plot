set terminal dumb noenhanced 79 30
set label "system.cpu.time.user of cpu, pool default" at screen 0.015, screen 0.9667 left font ",14"
set label "3 nodes\073 steps of 1 s from raw samples." at screen 0.015, screen 0.9333 left font ",10"
set tmargin 3
set border 3
set tics nomirror out
set grid ytics
set xrange [1795309875.00:1795310233.00]
set xtics time format "%H:%M:%S"
set xlabel "UTC, from 2026-11-22"
set format y "%g"
set ylabel "seconds per second"
set offsets 0, 0, graph 0.05, 0
set yrange [0:*]
set key bottom center outside horizontal
plot "local-default-system.cpu.time.user-cpu.dat" index 0 using 1:2 with lines lw 1.5 lc rgb "#4e79a7" title "node-0", \
	"local-default-system.cpu.time.user-cpu.dat" index 1 using 1:2 with lines lw 1.5 lc rgb "#f28e2b" title "node-1", \
	"local-default-system.cpu.time.user-cpu.dat" index 2 using 1:2 with lines lw 1.5 lc rgb "#59a14f" title "node-2"
