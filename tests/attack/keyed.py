"""keyed - peers of listeners with keys: the wrong ones, and the right ones that want
what they may not.

Usage: keyed.py CASE [ARGUMENT...]; exits with 1 and a word when somebody gets
what he must not.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import subprocess
import sys
import time

import zmq
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from honest import Crew, key_of, percentile, summary, with_key
from raw import PATIENCE_S, connect, cpu_seconds, greeting, is_cut, null_peer, part, ready, resident_bytes
from batches import event, status_page
from peer import ACK, BATCH, CONTEXT, HELLO, NACK, SELECT, Answer, frame, recv_answer

FORBIDDEN = 6
REFUSED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL


def dealer():
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    s.reconnect_ivl = 50
    return s


def peer(endpoint, key):
    return with_key(dealer(), key, endpoint)


def unknown_key():
    return dict(zip(("public", "secret"), zmq.curve_keypair()))


def batch(partition, node, seq=1, session=None):
    return frame(BATCH, partition=partition, node=node, session=session or os.urandom(16), seq=seq, records=1,
                 body=event({"k": 1}))


def stored(reader):
    """How many batches the aggregator has, asked over its Unix socket."""
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    s.connect(reader)
    found = status_page(s)
    s.close()
    return found


def refused_by(listener, key, data, wanted=0, seconds=1):
    """A connection must not come about: is `wanted` among what the monitor says
    of it?  The monitor comes before the connection: a refused peer does not hear
    of it again, since it does not try again."""
    s = dealer()
    monitor = s.get_monitor_socket(REFUSED | zmq.EVENT_HANDSHAKE_SUCCEEDED)
    with_key(s, key, listener)
    with contextlib.suppress(zmq.Again):  # refused before it could send
        s.send(data, zmq.NOBLOCK)
    until, heard = time.monotonic() + (PATIENCE_S if wanted else seconds), set()
    while time.monotonic() < until and (wanted == 0 or wanted not in heard):
        if monitor.poll(100):
            heard.add(int(recv_monitor_message(monitor)["event"]))
    s.disable_monitor()
    assert zmq.EVENT_HANDSHAKE_SUCCEEDED not in heard, "it was let in"
    assert not s.poll(50), "it was answered"
    return wanted == 0 or int(wanted) in heard


def case_strangers(listener, keyfile, reader):
    """Without a key, with a key that nobody knows, for another server."""
    key, before = key_of(keyfile), stored(reader)["batches"]
    data = batch("acct$pool", "n-1")
    for mechanism in (b"NULL", b"PLAIN"):
        s = connect(listener)
        s.sendall(greeting(mechanism) + ready() + part(data))
        assert is_cut(s), "%s was let in" % mechanism
    for claim in ((b"User-Id", key["public"]), (b"User-Id", b"admin"), (b"Peer-Address", b"127.0.0.1")):
        s = null_peer(listener, extra=[claim])
        try:
            s.sendall(part(data))
            assert is_cut(s), "%r was let in" % (claim,)
        except OSError:
            pass
    unknown = unknown_key()
    assert refused_by(listener, dict(key, **unknown), data, zmq.EVENT_HANDSHAKE_FAILED_AUTH), "an unknown key hears nothing"
    refused_by(listener, dict(key, server=unknown["public"]), data)
    refused_by(listener, dict(key, secret=unknown["secret"]), data)
    assert stored(reader)["batches"] == before, "a stranger's batch was stored"
    s = peer(listener, key)
    s.send(data)
    assert recv_answer(s).type == ACK, "the right key is not let in"
    assert stored(reader)["batches"] == before + 1


def forbidden(s, data, what):
    s.send(data)
    answer = recv_answer(s)
    assert (answer.type, answer.reason) == (NACK, FORBIDDEN), "%s: answer %d, reason %d" % (
        what, answer.type, answer.reason)


def case_roles(listener, keyfile, otherfile, readerfile, reader):
    """A key that wants more than its line says."""
    key, other = key_of(keyfile), key_of(otherfile)
    mine, session = peer(listener, key), os.urandom(16)
    mine.send(batch("acct$pool", "n-1", session=session))
    assert recv_answer(mine).type == ACK, "what it may"
    before = stored(reader)
    forbidden(mine, batch("other$pool", "n-1"), "another partition")
    forbidden(mine, batch("acct$pool", "m-1"), "another node")
    forbidden(mine, batch("ACCT$pool", "n-1"), "a partition in capitals")
    forbidden(mine, batch("acct$pool2", "n-1"), "a longer partition")
    forbidden(mine, frame(HELLO, partition="other$pool", node="n-1", seq=1), "a hello of another partition")
    theirs = peer(listener, other)
    forbidden(theirs, batch("acct$pool", "n-1", 2, session), "a session of another key's")
    forbidden(theirs, frame(SELECT, partition="acct$pool", node="", body=b""), "a question by an agent")
    forbidden(peer(listener, key_of(readerfile)), batch("acct$pool", "n-1"), "a batch by a reader")
    # As if it were a broker that forwards the identity of the other.
    for fake in ([b"PSV1" + z85.decode(other["public"])], [b"PSV1" + bytes(32)], [b"x"], [b"x", b"PSV1" + bytes(32)]):
        s = peer(listener, key)
        s.send_multipart(fake + [batch("other$pool", "o-1")])
        if s.poll(300):
            answer = Answer(s.recv_multipart()[-1])
            assert answer.type == NACK, "a forwarded identity: answer %d" % answer.type
    after = stored(reader)
    assert after["batches"] == before["batches"], "%d batches more" % (after["batches"] - before["batches"])
    print("batches as before; forbidden so far: aggregator %d" % after.get("forbidden", 0))


def case_twins(listener, keyfile):
    """A peer that takes the name of another gets nothing of it."""
    key, names = key_of(keyfile), []
    for _ in range(2):
        s = CONTEXT.socket(zmq.DEALER)
        s.linger = 0
        s.routing_id = b"twin"
        names.append(with_key(s, key, listener))
        names[-1].send(batch("acct$pool", "n-1"))
        if len(names) == 1:  # it has the name before another wants it
            assert recv_answer(s).type == ACK, "the first"
    time.sleep(0.2)
    for _ in range(3):
        names[0].send(batch("acct$pool", "n-1"))
        assert recv_answer(names[0]).type == ACK, "the first, again"
    assert not names[1].poll(200), "the second one has an answer"


def case_revoked(listener, keyfile, name, reader):
    """A key that is revoked is out, though its connection stays."""
    s = peer(listener, key_of(keyfile))
    s.send(batch("acct$pool", "n-1"))
    assert recv_answer(s).type == ACK
    subprocess.run(["poolscope-keys", "revoke", name], check=True)
    before = stored(reader)["batches"]
    forbidden(s, batch("acct$pool", "n-1"), "a revoked key")
    late = peer(listener, key_of(keyfile))
    late.send(batch("acct$pool", "n-1"))
    assert not late.poll(500), "a revoked key is let in"
    assert stored(reader)["batches"] == before, "a batch of a revoked key was stored"


def flood(listener, server, seconds):
    """Handshakes with keys that nobody knows, as fast as they go."""
    context, until, count = zmq.Context(io_threads=2), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        sockets = []
        for _ in range(50):
            s = context.socket(zmq.DEALER)
            s.linger = 0
            with_key(s, dict(unknown_key(), server=server), listener)
            sockets.append(s)
        time.sleep(0.04)
        for s in sockets:
            s.close()
        count += 50
    print(count)


def case_flood(listener, keyfile, pid, seconds):
    """The honest work while strangers shake hands by the thousand."""
    os.environ["HONEST_KEY"] = keyfile
    key, seconds = key_of(keyfile), float(seconds)
    crew = Crew(listener, os.environ["TMP"], 2, "acct$pool")
    try:
        assert crew.wait_for(100) >= 100, "no acknowledgements"
        since = time.monotonic()
        crew.wait_for(10**9, since, seconds)
        quiet = crew.latencies(since)
        before, cpu, began = resident_bytes(pid), cpu_seconds(pid), time.monotonic()
        attack = subprocess.run([sys.executable, os.path.abspath(__file__), "do_flood", listener, key["server"].decode(),
                                 str(seconds)], stdout=subprocess.PIPE, text=True, check=True)
        ended = time.monotonic()
        under = crew.latencies(began, ended)
        print("%s connections in %.1f s, cpu of the listener %.0f %%, memory %.1f MiB more; quiet: %s; flooded: %s" % (
            attack.stdout.strip(), ended - began, 100 * (cpu_seconds(pid) - cpu) / (ended - began),
            (resident_bytes(pid) - before) / 2**20, summary(quiet), summary(under)))
        assert len(under) > 20, "the honest starve: %d acknowledgements, p99 %.1f" % (
            len(under), percentile(under, 0.99))
        assert crew.wait_for(20, ended) >= 20, "the honest stopped"
    finally:
        crew.stop()


def main():
    if sys.argv[1] == "do_flood":
        flood(sys.argv[2], sys.argv[3].encode(), float(sys.argv[4]))
    else:
        globals()["case_" + sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
