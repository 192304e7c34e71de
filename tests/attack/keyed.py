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

import msgpack
import zmq
from zmq.utils import z85
from zmq.utils.monitor import recv_monitor_message

from honest import Crew, key_of, percentile, summary, with_key
from raw import PATIENCE_S, connect, cpu_seconds, greeting, is_cut, null_peer, part, ready, resident_bytes
from batches import Page, event, indexed, status_page
from peer import ACK, BATCH, BYE, CONTEXT, HELLO, NACK, PAGE, SELECT, STATUS, Answer, frame, recv_answer
from sender import LAST, Sender

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
    forbidden(mine, frame(BYE, node="m-1"), "that another node stopped")
    forbidden(mine, frame(BYE, partition="other$pool", node="n-1"), "that a node of another partition did")
    forbidden(peer(listener, key_of(readerfile)), frame(BYE, node="n-1"), "that a node stopped, by a reader")
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


def status_of(s, name=""):
    """All that is sent in answer to a status, page by page: headers and bodies."""
    cursor, flags, pages = b"", 0, []
    while not flags & LAST:
        query = msgpack.packb([1 << 4, "", name, -2208988800 * 10 ** 9, 7258118400 * 10 ** 9, cursor, 4096])
        s.send(frame(STATUS, partition="", node="", body=query))
        page = Page(recv_answer_bytes(s))
        assert page.type == PAGE, "answer %d, reason %d" % (page.type, page.reason)
        cursor, flags = page.body[0], page.flags
        pages.append(page)
    return pages


def recv_answer_bytes(s):
    assert s.poll(PATIENCE_S * 1000), "no answer"
    return s.recv_multipart()[-1]


def entities(pages):
    return {r[2]: r[3] for page in pages for r in page.body[1:] if r[0] == 4}


def case_status(door, intake, readerfile, reader):
    """A reader of acct$* learns nothing of other partitions, however it asks and whatever they do."""
    s, mine = peer(door, key_of(readerfile)), ["acct$pool%d" % i for i in range(40)]
    sender = Sender(intake, "status", partition="acct$pool0")

    def store(partition, count):
        sender.socket.send(frame(BATCH, partition=partition, node="n1", session=os.urandom(16), seq=1, records=count,
                                 body=event({"k": 1}) * count))
        assert recv_answer(sender.socket).type == ACK

    for i, name in enumerate(mine):
        store("secret$%d" % i, 3)
        store(name, 2)
        store("acct2$pool%d" % i, 5)
    before = indexed(reader)
    first = status_of(s)
    found = entities(first)
    assert sorted(found) == sorted(["store"] + ["partition:" + name for name in mine]), sorted(found)
    assert found["store"]["limited"] is True, found["store"]
    assert (found["store"]["partitions"], found["store"]["nodes"], found["store"]["records_event"]) == (40, 40, 80), found
    numbers = "partitions nodes rejected_bytes rejected_cut rebuilding limited".split()
    assert all(name in numbers or name.startswith("records_") for name in found["store"]), sorted(found["store"])
    assert len(first) > 1, "one page"
    # The eight bytes of the cursor's number: of a partition among those that it may see.
    for page in first:
        number = int.from_bytes(page.body[0][46:54], "big")
        assert number <= 41 and page.body[0].count(0) >= 50, page.body[0]
    for i in range(40):  # what others do changes not a byte of the answer
        store("secret$%d" % i, 7)
        store("fresh$%d" % i, 7)
    assert indexed(reader)["batches"] == before["batches"] + 80
    again = status_of(s)
    assert [p.body for p in again] == [p.body for p in first], "another answer, since others sent"
    for name in ("partition:secret$1", "partition:secret*", "*secret*", "aggregator", "partition:nothing$1"):
        for page in status_of(s, name):
            assert page.body[1:] == [], (name, page.body)
            assert int.from_bytes(page.body[0][46:54], "big") <= 41, page.body[0]
    assert sorted(entities(status_of(s, "partition:acct$pool7"))) == ["partition:acct$pool7"]
    # As if it came through a broker, for a peer that may all.
    for fake in ([b"PSV1" + bytes(32)], [b"x", b"PSV1" + bytes(32)]):
        s = peer(door, key_of(readerfile))
        s.send_multipart(fake + [frame(STATUS, partition="", node="", body=b"")])
        if s.poll(300):
            answer = Answer(s.recv_multipart()[-1])
            assert answer.type == NACK, "a forwarded identity: answer %d" % answer.type
    print("%d pages; %d partitions of 120" % (len(first), len(mine)))


def case_limited_broker(door, brokerfile):
    """A key of a broker that forwards acct$* only asks as if for a peer without a key."""
    for fake in ([], [b"x", b"PSV1" + bytes(32)]):
        s = peer(door, key_of(brokerfile))
        s.send_multipart(fake + [frame(STATUS, partition="acct$pool1", node="", body=b"")])
        answer = Answer(recv_answer_bytes(s))
        assert (answer.type, answer.reason) == (NACK, FORBIDDEN), "answer %d, reason %d" % (answer.type, answer.reason)


def case_broker_status(listener, readerfile):
    """A broker tells a reader of some partitions that it runs, and nothing else."""
    found = entities(status_of(peer(listener, key_of(readerfile))))
    assert found == {"broker": {"limited": 1}}, found


def case_names(listener, keyfile):
    """A peer with a key that gives itself a name is not let in: libzmq ends when it would give it to another."""
    key, named = key_of(keyfile), []
    for name in (b"twin", b"twin", b"\0\0\0\0\1", b"n" * 255):
        s = dealer()
        s.routing_id = name
        named.append(with_key(s, key, listener))
        named[-1].send(batch("acct$pool", "n-1"))
    s = peer(listener, key)
    s.send(batch("acct$pool", "n-1"))
    assert recv_answer(s).type == ACK, "without a name"
    time.sleep(0.2)
    assert not any(s.poll(50) for s in named), "one with a name has an answer"


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
