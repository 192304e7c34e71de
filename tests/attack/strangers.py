"""strangers - peers without a key, and peers with one that do not behave.

Usage: strangers.py CASE [ARGUMENT...]; prints figures and exits with 1 and a
word when something holds that must not.
SPDX-License-Identifier: MIT
"""

import collections
import functools
import os
import random
import select
import socket
import struct
import sys
import time

from zmq.utils import z85

import curve
from honest import Crew, key_of, summary
from raw import (PATIENCE_S, PLAIN, address, connect, cpu_seconds, descriptors, greet, greeting, is_cut, mib, null_peer,
                 part, ready, resident_bytes, send_until_cut)
from peer import BATCH, agent, frame, aggregator, recv, status

MIB = 1 << 20
SIDE = os.environ.get("LOCAL_LISTENER")


def settled(what, seconds=PATIENCE_S * 2):
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def bound(pid, before, limit, what):
    """Memory may not have grown by more; with sanitizers it is only printed."""
    grown = resident_bytes(pid) - before
    print("%s: %s more" % (what, mib(grown)))
    assert not PLAIN or grown < limit, "%s: memory grew by %s" % (what, mib(grown))


def counters():
    """Of the broker, by its Unix socket, which strangers do not reach."""
    return status(SIDE)["broker"]


def let_one_in(listener):
    """An agent that connects afterwards."""
    late = Crew(listener, os.environ["TMP"], 1, "acct$late")
    try:
        assert late.wait_for(1) >= 1, "a later agent is not accepted"
    finally:
        late.stop()


def case_claims(listener, pid):
    """Lengths that no frame has are refused before a byte of it is stored."""
    before = resident_bytes(pid)
    for mechanism in (b"NULL", b"CURVE", b"PLAIN"):
        for claim in (2**64 - 1, 2**64 - 64, 2**63, 2**62, 2**47, 2**40, 8 << 30, (256 << 10) + 1):
            for flags in (2, 6):
                s = connect(listener)
                greet(s, mechanism)
                if flags == 2 and mechanism == b"NULL":
                    s.sendall(ready())
                s.sendall(bytes([flags]) + struct.pack(">Q", claim))
                sent, cut = send_until_cut(s, b"z" * 65536, 4 * MIB)
                s.close()
                assert cut, "a claim of %d bytes (%s, flags %d) kept the connection, %d sent" % (
                    claim, mechanism, flags, sent)
    bound(pid, before, 2 * MIB, "48 claims of up to 2^64 - 1 bytes")


def case_idle(listener, pid, limit):
    """More idle connections than the process may have files: those that are
    there go on, the processor rests, and places come back."""
    limit = int(limit)
    crew = Crew(listener, os.environ["TMP"], 2)
    try:
        assert crew.wait_for(50) >= 50, "no acknowledgements before"
        before = counters()
        cpu, began = cpu_seconds(pid), time.monotonic()
        idle, refused = [], 0
        for _ in range(limit * 2):
            try:
                idle.append(connect(listener))
            except OSError:
                refused += 1
        got = crew.wait_for(200, since=began)
        assert got >= 200, "the honest had %d acknowledgements" % got
        lasted = time.monotonic() - began
        busy = (cpu_seconds(pid) - cpu) / lasted
        under = crew.latencies(began)
        after = counters()
        for s in idle:
            s.close()
        failed = after["accepts_failed"] - before["accepts_failed"]
        print("%d idle, %d refused, limit %d: %d failed accepts, %d evicted, cpu %.0f %%, honest %s" % (
            len(idle), refused, limit, failed, after["connections_evicted"], busy * 100, summary(under)))
        assert after["connections_evicted"] > 0, "nobody was evicted: %r" % after
        # Without the limit it is some 100,000 a second.
        assert failed < 50 * limit, "%d failed accepts: the listener spins" % failed
        let_one_in(listener)
    finally:
        crew.stop()


COMMANDS = [b"\x05HELLO", b"\x08INITIATE", b"\x05READY", b"\x05ERROR", b"\x04PING", b"\x04PONG", b"\x07WELCOME",
            b"\x07MESSAGE", b"\x09SUBSCRIBE", b"\x06CANCEL"]


def nonsense(rng):
    return part(rng.choice(COMMANDS) + rng.randbytes(rng.randrange(400)), more=rng.randrange(2),
                command=rng.randrange(2))


def hostile(rng, listener):
    """One connection that is not what it should be."""
    s = connect(listener)
    how = rng.randrange(8)
    try:
        if how == 0:
            s.sendall(rng.randbytes(rng.randrange(1, 300)))
        elif how == 1:
            hello = bytearray(greeting(rng.choice([b"CURVE", b"NULL", b"PLAIN", b"GSSAPI"]), rng.randrange(2)))
            hello[rng.randrange(len(hello))] ^= 1 << rng.randrange(8)
            s.sendall(bytes(hello[:rng.randrange(1, 65)]) + rng.randbytes(rng.randrange(80)))
        elif how == 2:
            s.sendall(greeting() + ready(rng.randbytes(rng.choice([0, 1, 5, 255, 256, 1000]))) +
                      part(rng.randbytes(rng.randrange(400)), more=rng.randrange(2), command=rng.randrange(2)))
        elif how == 3:
            s.sendall(greeting() + ready() + part(b"PSCP\x02" + rng.randbytes(rng.randrange(100))))
        else:
            s.sendall(greeting(rng.choice([b"CURVE", b"NULL", b"PLAIN"])))
            s.sendall(b"".join(nonsense(rng) for _ in range(rng.randrange(1, 4))))
        if how == 6:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    s.close()


def case_garbage(listener, pid, count, seed):
    """Connections of all kinds of nonsense while the honest work."""
    count, rng = int(count), random.Random(int(seed))
    crew = Crew(listener, os.environ["TMP"])
    try:
        crew.wait_for(100)
        quiet_from = time.monotonic()
        assert crew.wait_for(600, since=quiet_from) >= 600, "no acknowledgements before"
        quiet = crew.latencies(quiet_from)
        for _ in range(count // 10):  # what is allocated once is allocated now
            hostile(rng, listener)
        before, files = resident_bytes(pid), descriptors(pid)
        began = time.monotonic()
        for _ in range(count - count // 10):
            hostile(rng, listener)
        ended = time.monotonic()
        print("%d hostile connections in %.1f s; quiet: %s; under attack: %s" % (
            count, ended - began, summary(quiet), summary(crew.latencies(began, ended))))
        assert crew.wait_for(50, since=ended) >= 50, "the honest stopped"
        assert settled(lambda: descriptors(pid) <= files + 8), "%d descriptors, %d before" % (descriptors(pid), files)
        bound(pid, before, 8 * MIB, "memory after them")
    finally:
        crew.stop()


def connects(at, count):
    """`count` at once; how many of them were accepted within a moment."""
    poller, waiting = select.poll(), {}
    for _ in range(count):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(at)
        waiting[s.fileno()] = s
        poller.register(s, select.POLLOUT)
    let_in, until = set(), time.monotonic() + 1.5
    while time.monotonic() < until:
        for fd, _ in poller.poll(100):
            poller.unregister(fd)
            let_in.add(fd)
    return len(let_in), waiting.values()


def case_connects(listener, count):
    """Again and again more than the rate allows."""
    crew = Crew(listener, os.environ["TMP"], 2)
    try:
        assert crew.wait_for(100, since=time.monotonic()) >= 100, "no acknowledgements before"
        count, began, got = int(count), time.monotonic(), []
        while len(got) < 3 or counters()["connections_throttled"] == 0:
            let_in, sockets = connects(address(listener), count)
            got.append(let_in)
            for s in sockets:
                s.close()
            assert len(got) < 30, "nobody was throttled: %r" % got
        ended = time.monotonic()
        under = crew.latencies(began, ended)
        print("%s of %d each were accepted, throttled %d times, honest %s" % (
            got, count, counters()["connections_throttled"], summary(under)))
        assert min(got) < count / 2, "all come in"
        assert len(under) > 20, "the honest starve"
        let_one_in(listener)
    finally:
        crew.stop()


AT_ONCE = 100  # of a flood, at the listener
RATE = 100  # connects a second that a listener accepts


def flood(rng, listener, count, until):
    """Connects without waiting, and talks nonsense where it is accepted; how often, and how often it was."""
    at, waiting, talked = address(listener), collections.deque(), 0
    for n in range(count):
        if time.monotonic() > until:
            count = n
            break
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(at)
        waiting.append(s)
        if len(waiting) < AT_ONCE:
            continue
        with waiting.popleft() as first:
            try:
                first.send(greeting(rng.choice([b"CURVE", b"NULL", b"PLAIN"])) + nonsense(rng))
                talked += 1
            except OSError:
                pass
    for s in waiting:
        s.close()
    return count, talked


def case_flood(listener, pid, count, seed):
    """More connects than the rate allows, for a while and again: quiet times and those of the attack take turns, so that
    both have the same disk and the same neighbours."""
    left, rng = int(count), random.Random(int(seed))
    crew = Crew(listener, os.environ["TMP"])
    try:
        assert crew.wait_for(100) >= 100, "no acknowledgements before"
        before, files, throttled = resident_bytes(pid), descriptors(pid), counters()["connections_throttled"]
        quiet, under, talked, seconds = [], [], 0, 0
        while left > 0:
            began = time.monotonic()
            assert crew.wait_for(600, since=began) >= 600, "the honest stopped"
            begun = time.monotonic()
            made, heard = flood(rng, listener, left, begun + 3)
            left, talked, seconds = left - made, talked + heard, seconds + time.monotonic() - begun
            quiet += crew.latencies(began, begun)
            under += crew.latencies(begun, time.monotonic())
        print("%s connects, %d accepted, throttled %d times; quiet: %s; under attack: %s" % (
            count, talked, counters()["connections_throttled"] - throttled, summary(sorted(quiet)), summary(sorted(under))))
        # A machine that is busy otherwise may be slower than the rate.
        assert talked <= RATE * seconds or settled(lambda: counters()["connections_throttled"] > throttled), "nobody was throttled"
        assert settled(lambda: descriptors(pid) <= files + 8), "%d descriptors, %d before" % (descriptors(pid), files)
        bound(pid, before, 8 * MIB, "memory after them")
        let_one_in(listener)
    finally:
        crew.stop()


def case_ids(listener, intake):
    """The id that the broker's listener gives the first peer, in hex."""
    k = aggregator(intake)
    a = agent(listener)
    a.send(frame(BATCH))
    while True:
        if k.poll(200):
            print(recv(k)[1].hex())
            return
        a.send(frame(BATCH))


def named(listener, identity):
    """A peer that gives itself a name; None when that was refused at once."""
    try:
        s = null_peer(listener, identity)
        s.sendall(part(b"not a message"))
        return s
    except OSError:
        return None


def case_identities(listener, pid):
    """Names of any size and shape that peers give themselves: none is let in, the nameless are answered."""
    before = counters()
    first = 0x6B8B4567  # of a libzmq that nobody seeded
    names = [b"x", b"y" * 255, b"z" * 256, b"w" * 1000, b"v" * 60000, b"\0", b"\0\0\0\0\0", b"\0" * 300, b"twin", b"twin"]
    names += [b"\0" + struct.pack(">I", first + n) for n in range(300)]
    squatters = [named(listener, name) for name in names]
    innocents = [agent(listener) for _ in range(100)]
    for a in innocents:
        a.send(frame(99))
    for a in innocents:
        recv(a, "an answer among squatters")
    for s, name in zip(squatters, names):
        assert s is None or is_cut(s), "a peer that calls itself %r is let in" % name[:20]
    assert counters()["malformed_frames"] == before["malformed_frames"], "what they said was heard"
    print("%d names were refused" % len(names))


def case_old(listener):
    """Peers of ZMTP 1 and 2, which tell their name in the clear and know no keys."""
    for hello in (b"\x05\0name\x02\0x", b"\xff" + bytes(7) + b"\x01\x7f\0\x05\0\x04name\0\x01x",
                  b"\xff" + bytes(7) + b"\x01\x7f\x01\x05\0\x04name\0\x01x", b"\x01\0" * 40):
        s = connect(listener)
        s.sendall(hello)
        assert is_cut(s), "%r is let in" % hello
        s.close()


def case_squat(listener, first):
    """Takes the names that the listener would give next."""
    squatters = [named(listener, b"\0" + struct.pack(">I", (int(first, 16) + n) & 0xFFFFFFFF)) for n in range(200)]
    print("squatted", flush=True)
    assert all(s is None or is_cut(s, 10 * PATIENCE_S) for s in squatters), "a name was taken"


def endless(s, pid, make_block, bytes_max, what):
    """Until the listener cuts it; a peer whose window is shut hears of that late."""
    before, cut = resident_bytes(pid), counters()["connections_dropped"]
    block = b""
    began, peak, sent = time.monotonic(), before, 0
    s.settimeout(0.2)
    try:
        while sent < bytes_max and time.monotonic() < began + PATIENCE_S:
            try:
                block = block or make_block()
                gone = s.send(block)
                block = block[gone:]
                sent += gone
            except socket.timeout:
                if counters()["connections_dropped"] > cut:
                    break
            peak = max(peak, resident_bytes(pid))
    except OSError:
        pass
    over = settled(lambda: counters()["connections_dropped"] > cut)
    s.close()
    print("%s: cut after %s in %.2f s, peak of memory %s more" % (
        what, mib(sent), time.monotonic() - began, mib(peak - before)))
    assert over, "%s: the connection was not cut after %s" % (what, mib(sent))


def without_key(listener, data, at_once=1):
    """A peer, and what makes more of its message."""
    block = part(data, more=1) * at_once
    return null_peer(listener), lambda: block


def with_key(listener, keyfile, data, at_once=1):
    key = key_of(keyfile)
    peer = curve.Peer(listener, *(z85.decode(key[name]) for name in ("public", "secret", "server")))
    return peer.s, lambda: b"".join(peer.part(data, more=1) for _ in range(at_once))


def case_parts(listener, pid, keyfile=None):
    """Messages that never end cost the peer its connection, be it one with a key."""
    if keyfile:
        os.environ["HONEST_KEY"] = keyfile
    begin = functools.partial(with_key, listener, keyfile) if keyfile else functools.partial(without_key, listener)
    crew = Crew(listener, os.environ["TMP"], 2, *(["acct$pool"] if keyfile else []))
    try:
        crew.wait_for(50)
        before, cut = resident_bytes(pid), counters()["connections_dropped"]
        rounds = 1 if keyfile else 3
        for _ in range(rounds):
            for data, at_once, bytes_max, what in ((b"a" * 60000, 1, 2048 * MIB, "parts of 60,000 bytes"),
                                                   (b"", 5000, 256 * MIB, "empty parts")):
                s, make_block = begin(data, at_once)
                endless(s, pid, make_block, bytes_max, what)
        began = time.monotonic()
        assert counters()["connections_dropped"] - cut >= 2 * rounds, "cut: %d, then %d" % (cut, counters()["connections_dropped"])
        assert crew.wait_for(50, since=began) >= 50, "the honest stopped"
        settled(lambda: resident_bytes(pid) - before < 64 * MIB)
        bound(pid, before, 192 * MIB, "memory after them")
    finally:
        crew.stop()


def case_slowly(listener, pid):
    """A peer that sends little stays connected, whatever it sends."""
    s = null_peer(listener)
    before = counters()["connections_dropped"]
    for _ in range(20):
        s.sendall(part(b"a" * 1000, more=1))
        time.sleep(0.05)
    s.sendall(part(b"the end"))
    assert settled(lambda: counters()["malformed_frames"] > 0), "the message was not seen"
    assert counters()["connections_dropped"] == before, "the connection was cut"


def main():
    globals()["case_" + sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
