"""definitions - puts that define metric groups, at the agent's local socket.

Usage: definitions.py SOCKET < LINES

Each line is GROUP NAMES UNITS TYPES, with commas in the lists; "put" ends a put, as
does the end.  Prints a line for each put: "taken", or the sentence of the refusal.
SPDX-License-Identifier: MIT
"""

import os
import socket
import sys

import msgpack

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer import ACK, MALFORMED, NACK, Answer, frame  # noqa: E402

PUT = 12


def main():
    agent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    agent.connect(sys.argv[1])
    agent.settimeout(10 * int(os.environ.get("SLOW", "1")))
    body, records, seq = b"", 0, 0
    for line in list(sys.stdin) + ["put"]:
        if line.strip() != "put":
            group, *lists = line.split()
            properties = dict(zip(("names", "units", "types"), [part.replace(",", " ") for part in lists]))
            if len(lists) > 3:  # a Python expression
                properties["labels"] = eval(lists[3])
            body += msgpack.packb([4, "set", group, properties])
            body += msgpack.packb([1, 10 ** 18 + seq, "test", group, {}, os.urandom(16)])
            records += 2
            continue
        seq += 1
        agent.send(frame(PUT, partition="", node="", body=body, records=records, seq=seq))
        answer = Answer(agent.recv(1 << 16))
        if answer.type == ACK:
            print("taken")
        elif (answer.type, answer.reason) == (NACK, MALFORMED):
            print(answer.detail)
        else:
            sys.exit("type %d, reason %d" % (answer.type, answer.reason))
        body, records = b"", 0


main()
