"""forwarded - connects to a TCP listener with a key, and claims to speak for another one.

    forwarded.py LISTENER KEYFILE ROUTE PARTITION

says hello as node n1 behind routing frames (ROUTE, comma separated: PSV1 and a
key file is the frame of a broker, PSV1 alone that for a local peer, any other
word a frame as it is) and prints what came back: welcome, the number of a nack,
or nothing.
SPDX-License-Identifier: MIT
"""

import os
import sys

import zmq

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keys_judge  # noqa: E402
from peer import CONTEXT, HELLO, NACK, WELCOME, Answer  # noqa: E402
from sender import Sender  # noqa: E402

PATIENCE_MS = 5000 * int(os.environ.get("SLOW", "1"))


def routing(word):
    if not word.startswith("PSV1"):
        return word.encode()
    path = word[4:]
    return b"PSV1" + (keys_judge.z85(keys_judge.words(path, "public")[0]) if path else bytes(32))


def main(listener, key, route, partition):
    s = CONTEXT.socket(zmq.DEALER)
    s.linger = 0
    s.curve_publickey = keys_judge.words(key, "public")[0].encode()
    s.curve_secretkey = keys_judge.words(key, "secret")[0].encode()
    s.curve_serverkey = keys_judge.words(key, "server")[0].encode()
    s.connect(listener)
    sender = Sender.__new__(Sender)
    sender.session, sender.partition = os.urandom(16), partition
    sender.salt, sender.chain = "", {0: 0}
    s.send_multipart([routing(word) for word in route.split(",") if word] + [sender.frame(HELLO, 1)])
    answers = set()
    # One hello, one answer; a second one would come right behind.
    while s.poll(100 if answers else PATIENCE_MS):
        answer = Answer(s.recv_multipart()[-1])
        answers.add({WELCOME: "welcome", NACK: "nack %s" % answer.reason}.get(answer.type, answer.type))
    return " ".join(sorted(answers)) or "nothing"


print(main(*sys.argv[1:]))
