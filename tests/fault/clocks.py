"""One timeline of nodes whose clocks are off, drift and step, over slow links.

Three agents live with clocks of our own: a library in front of the C one shifts
what clock_gettime says, the wall clock by an offset and both clocks by a drift.
Between each of them and the broker stands a proxy that delays what it passes,
each way by another time.  What a node's clock shows at a true time is therefore
known exactly, and each event carries the true time as an attribute.  In the end
every event must be shown within the stated error of it.
SPDX-License-Identifier: MIT
"""
import json
import mmap
import os
import random
import socket
import struct
import subprocess
import threading
import time

import msgpack

from pool import PARTITION, PUT, SLOW, Failed, Instance, frame, main, open_frame, wait_until

RUNS = 3
EVENTS = 45  # of each node and part of a run
S = 1_000_000_000

SHIM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* offset of the wall clock, ns; drift, parts in 10^9; when it began */
static volatile const int64_t *shift;
int clock_gettime(clockid_t id, struct timespec *now)
{
	struct timespec mono;
	int64_t ns, since;
	long rc = syscall(SYS_clock_gettime, id, now);
	if (rc != 0 || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC))
		return (int)rc;
	if (shift == NULL) {
		int fd = open(getenv("CLOCK_SHIFT"), O_RDONLY | O_CLOEXEC);
		void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (at == MAP_FAILED)
			abort();
		shift = at;
	}
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &mono);
	since = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec - shift[2];
	ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec;
	ns += since / 1000 * shift[1] / 1000000;
	if (id == CLOCK_REALTIME)
		ns += shift[0];
	now->tv_sec = ns / 1000000000;
	now->tv_nsec = ns % 1000000000;
	return 0;
}
"""


def monotonic():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Clock:
    """What a node takes for the time."""

    def __init__(self, path, offset, drift):
        with open(path, "wb") as file:
            file.write(b"\0" * 4096)
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 4096)
        self.drift, self.base, self.wall = drift, monotonic(), time.time_ns()
        self.memory[8:24] = struct.pack("=qq", drift, self.base)
        self.set(offset)

    def set(self, offset):
        self.offset = offset
        struct.pack_into("=q", self.memory, 0, offset)

    def at(self, true, mono):
        return true + self.offset + (mono - self.base) // 1000 * self.drift // 1_000_000


    def shift_at(self, raw):
        """What it was ahead by when it showed this."""
        since = (raw - self.wall - self.offset) * 1_000_000_000 // (1_000_000_000 + self.drift)
        return self.offset + since // 1000 * self.drift // 1_000_000


def make_shim(path):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", path],
                   input=SHIM.encode(), check=True)
    return path


def environment(shim, clock):
    """Of an agent that lives by this clock.  The address sanitizer wants to be
    loaded first, but can be talked to."""
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return dict(os.environ, LD_PRELOAD=shim, ASAN_OPTIONS=asan, CLOCK_SHIFT=clock)


class Link:
    """Passes bytes on, each way after a delay of its own and some more."""

    def __init__(self, behind, there, back, jitter, seed):
        self.behind, self.delays, self.jitter = behind, (there, back), jitter
        self.random = random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = "tcp://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self.behind)
            except OSError:
                near.close()
                continue
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, to, delay in ((near, far, self.delays[0]), (far, near, self.delays[1])):
                threading.Thread(target=self.carry, args=(source, to, delay), daemon=True).start()

    def carry(self, source, to, delay):
        """A byte that waits keeps those behind it waiting: order is preserved."""
        try:
            while True:
                data = source.recv(1 << 16)
                if not data:
                    break
                self.wait(delay + self.random.expovariate(1) * self.jitter)
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def wait(seconds):
        """No sleep is as short as a fast link."""
        end = monotonic() + int(seconds * S)
        if seconds > 0.001:
            time.sleep(seconds - 0.001)
        while monotonic() < end:
            pass

    def close(self):
        self.listener.close()


class Node:
    def __init__(self, instance, shim, name, rng):
        # Milliseconds to decades, forwards and back.
        self.rng = rng
        self.name = name
        self.clock = Clock("%s/%s.clock" % (instance.dir, name), self.any_offset(),
                           rng.randint(-80_000, 80_000))
        self.link = Link(instance.dir + "/run/broker.ipc", rng.uniform(0, 0.05),
                         rng.uniform(0, 0.05), rng.uniform(0, 0.005), rng.random())
        self.socket_path = "%s/%s.sock" % (instance.dir, name)
        self.truth = {}
        instance.options[name] = [
            "-p", PARTITION, "-n", name, "--no-samples", "--spool", "%s/%s.spool" %
            (instance.dir, name), "--fallback", "%s/%s.fallback" % (instance.dir, name), "--socket",
            self.socket_path, "--broker", self.link.endpoint, "--insecure", "--send-interval", "100ms"]
        self.environment = environment(shim, "%s/%s.clock" % (instance.dir, name))

    def any_offset(self):
        return int(10 ** self.rng.uniform(7, 17)) * self.rng.choice((1, -1))

    def start(self, instance):
        log = open("%s/log/%s.log" % (instance.dir, self.name), "ab")
        instance.processes[self.name] = subprocess.Popen(
            ["poolscope-agent", "--dir", instance.dir] + instance.options[self.name],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(30 * SLOW)

        def listens():
            try:
                self.sock.connect(self.socket_path)
            except OSError:
                return False
            return True
        wait_until(listens, 30, self.name + " to listen")

    def emit(self):
        """An event of now, as the node's clock has it."""
        true, mono = time.time_ns(), monotonic()
        number = len(self.truth)
        raw = self.clock.at(true, mono)
        body = msgpack.packb([1, raw, "test", "tick", {"number": number},
                              os.urandom(16)], use_bin_type=True)
        self.sock.send(frame(PUT, [PARTITION, "", b"\0" * 16, number, 1, 0, raw, len(body)], body))
        kind, _, header = open_frame(self.sock.recv(65536))
        if kind != 4 or header[3] != number:
            raise Failed("%s: not accepted" % self.name)
        self.truth[number] = (true, raw)


def last_reports(instance):
    """What each node reported last of its clock."""
    done = instance.run("poolscope-stats", "clocks", "-p", PARTITION, "--format", "json", check=False)
    return {row["node"]: row for row in json.loads(done.stdout)["rows"]} if done.returncode == 0 else {}


def ticks(instance, *options):
    done = instance.run("poolscope-dump", "-p", PARTITION, "--kind", "event", "--name", "test:*",
                        *options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def emit_all(nodes, rng):
    for _ in range(EVENTS):
        for node in nodes:
            node.emit()
        time.sleep(rng.uniform(0, 0.08))


def steps_reported(instance, wanted):
    def reported():
        now = last_reports(instance)
        return all(now.get(n, {"steps": -1})["steps"] >= steps for n, steps in wanted.items())
    wait_until(reported, 30, "the steps of the clocks: %s" % wanted)


def judge(instance, nodes, oracle, name):
    rows = ticks(instance, "--clock", "corrected")
    wrong, unknown, seen, errors = [], [], set(), []
    for row in rows:
        node = nodes[row["node"]]
        number = int(row["attributes"]["number"])
        true, raw = node.truth[number]
        seen.add((row["node"], number))
        if row["clock"] != "corrected":
            unknown.append((row["node"], number))
            continue
        if row["raw_time_ns"] != raw or abs(row["time_ns"] - true) > row["clock_error_ns"]:
            wrong.append((row["node"], number, row["time_ns"] - true, row["clock_error_ns"]))
        errors.append(row["clock_error_ns"] / 1e6)
    errors.sort()
    print("%s: %d events, error median %.1f ms, greatest %.1f ms" %
          (name, len(rows), errors[len(errors) // 2], errors[-1]))
    total = sum(len(node.truth) for node in nodes.values())
    oracle.check(len(seen) == len(rows) == total, name + ": every event is there once",
                 (len(seen), len(rows), total))
    oracle.check(not wrong, name + ": every event is shown within the stated error", wrong[:5])
    oracle.check(not unknown, name + ": every event can be corrected", unknown[:5])
    oracle.check(errors[len(errors) // 2] < 300 * SLOW,
                 name + ": the error is that of the links, not of the clocks", errors[-5:])
    plain = {(r["node"], int(r["attributes"]["number"])): r["time_ns"] for r in ticks(instance)}
    oracle.check(all(plain[n, i] == raw for n, node in nodes.items()
                     for i, (_, raw) in node.truth.items()),
                 name + ": what is stored is as the nodes took it")
    window(instance, nodes, oracle, name)


def window(instance, nodes, oracle, name):
    """--from and --to are of the times that are shown."""
    times = sorted(true for node in nodes.values() for true, _ in node.truth.values())
    first, last = times[len(times) // 3], times[2 * len(times) // 3]
    every = {(r["node"], int(r["attributes"]["number"])): r["time_ns"]
             for r in ticks(instance, "--clock", "auto")}
    some = {(r["node"], int(r["attributes"]["number"]))
            for r in ticks(instance, "--clock", "auto", "--from", "%d.%09d" % divmod(first, S),
                           "--to", "%d.%09d" % divmod(last, S))}
    wanted = {which for which, shown in every.items() if first <= shown < last}
    oracle.check(some == wanted and wanted, name + ": a window is one of shown times",
                 (len(some), len(wanted), sorted(some ^ wanted)[:5]))


def run(oracle, shim, number, rng):
    instance = Instance()
    nodes = {}
    try:
        instance.start("aggregator", "broker")
        for i in range(3):
            name = "clock-%d" % i
            nodes[name] = Node(instance, shim, name, rng)
            nodes[name].start(instance)
        every = list(nodes.values())
        emit_all(every, rng)
        steps_reported(instance, {name: 0 for name in nodes})
        # One is set, one is set back, one is left alone.
        every[0].clock.set(every[0].any_offset())
        every[1].clock.set(every[1].clock.offset - int(10 ** rng.uniform(7.5, 12)))
        emit_all(every, rng)
        steps_reported(instance, {"clock-0": 1, "clock-1": 1, "clock-2": 0})
        for node in every:
            node.emit()
        wait_until(lambda: len(ticks(instance)) == sum(len(n.truth) for n in every), 30,
                   "every event to be stored")
        instance.alive()
        judge(instance, nodes, oracle, "run %d" % number)
        oracle.check(last_reports(instance)["clock-2"]["steps"] == 0,
                     "run %d: a clock that was left alone has not stepped" % number)
    except Failed:
        for name in nodes:
            print(name, instance.tail(name))
        raise
    finally:
        for node in nodes.values():
            node.link.close()
        instance.close()


def test(oracle, seed):
    rng = random.Random(seed)
    directory = os.environ.get("TMPDIR", "/tmp")
    shim = "%s/poolscope-clock.%d.so" % (directory, os.getpid())
    try:
        make_shim(shim)
        for number in range(1, RUNS + 1):
            run(oracle, shim, number, rng)
    finally:
        if os.path.exists(shim):
            os.unlink(shim)


if __name__ == "__main__":
    main(test)
