"""forge - sends something else under the session of an import.

    forge.py LISTENER KEYFILE NODE SESSION batches|gap|hello

Twenty batches of one event, a gap of 50 numbers, or a hello that names the
store's generation and a high number.  Prints the last answer.
SPDX-License-Identifier: MIT
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../attack"))
from owners import Peer  # noqa: E402
from peer import ACK, BATCH, GAP, HELLO, WELCOME, equal  # noqa: E402

listener, key, node, session, what = sys.argv[1:]
peer = Peer(listener, key, node, session, salt="forged")
answer = peer.ask(HELLO, 1)
equal(answer.type, WELCOME, "answer")
if what == "batches":
    for n in range(1, 21):
        answer = peer.ask(BATCH, n, flags=64 | 256)
        equal((answer.type, answer.seq), (ACK, n), "answer")
elif what == "gap":
    answer = peer.ask(GAP, 1, last=50, flags=64)
    equal((answer.type, answer.seq), (ACK, 50), "answer")
else:
    answer = peer.ask(HELLO, 51, generation=answer.generation, flags=64, chain=0)
    equal((answer.type, answer.expect), (WELCOME, 51), "answer")
