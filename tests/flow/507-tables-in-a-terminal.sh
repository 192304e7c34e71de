#!/bin/sh
# The rows of every table fit a terminal of 80 columns, though names are long.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # partitions' names
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

model work <<-'END'
	phase "step-with-a-name-of-some-length" {
		start = "work:start"
		end = "work:end"
	}
END
aggregate --models "$TMP/models"
start broker poolscope-broker || exit 1
/usr/bin/python3 - <<'END' | records
for i in range(1, 31):
    node = "compute-node-%d.rack7.cluster.example.org" % i
    print("event", i, node, "work:start")
    print("event", 1000 * i, node, "work:end")
    print("span", i, 100 * i, node, "a-track-of-some-length", "a-span-with-a-name-of-some-length")
    print("group", node, "application/with-a-long-name app.a.metric.with.a.long.name:By:counter app.depth:{thing}:gauge")
    for t in range(0, 300, 10):
        print("sample", t, node, "application/with-a-long-name", 123456789 * t, t)
    print("group", node, "cpu system.cpu.time.user:cs:counter system.cpu.time.idle:cs:counter system.cpu.logical.count:{cpu}:gauge")
    for t in range(0, 300, 10):
        print("sample", t, node, "cpu", 10 * t, 20 * t, 64)
END
check "results" sh -c 'mkdir "$TMP/made" "$TMP/sent" && poolscope-generate results -q --files 4 --tests 1 --entries 2 -o "$TMP/made" &&
	poolscope-upload results -q -d "$TMP/made" -a "$TMP/sent" --target store'
wait_until indexed 60
test=$(poolscope-results tests --format csv | sed -n 2p)

# fits COMMAND...: in a terminal of 80 columns no line of a table is longer.
fits() {
	/usr/bin/python3 - "$@" <<-'END'
		import fcntl, os, pty, struct, sys, termios
		pid, fd = pty.fork()
		if pid == 0:
		    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
		    os.execvp(sys.argv[1], sys.argv[1:])
		text = b""
		while True:
		    try:
		        text += os.read(fd, 65536)
		    except OSError:
		        break
		os.waitpid(pid, 0)
		lines = text.decode().replace("\r", "").splitlines()
		wide = [line for line in lines if len(line) > 80 and "  " in line.strip()]  # sentences have no columns
		print(*wide, sep="\n")
		sys.exit(len(lines) < 2 or bool(wide))
	END
}
for what in "phases" "phases --by node" "phases --from 2023-11-14" "samples" "samples --by node" "series -m app.depth" "usage" \
	"spans" "spans --by node" "nodes" "pools" "status"; do
	# shellcheck disable=SC2086 # words
	check "stats $what" fits poolscope-stats $what
done
for what in tests "starts $test" "entries $test" "test $test 0"; do
	# shellcheck disable=SC2086 # words
	check "results ${what%% *}" fits poolscope-results $what
done
check "partition list" fits poolscope-partitions list
