"""icmp - a host that answers connects with ICMP errors.

Usage: icmp.py PORT CODE: listens, accepts nobody, and answers each SYN with
"destination unreachable" of this code until TERM.  Needs the right to raw sockets; ends with 77 without.
SPDX-License-Identifier: MIT
"""

import socket
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def main():
    port, code = int(sys.argv[1]), int(sys.argv[2])
    try:
        heard = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
        spoken = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    except PermissionError:
        sys.exit(77)
    full = socket.socket()
    full.bind(("127.0.0.1", port))
    full.listen(0)
    # The queue is full: a SYN has no other answer.
    waiting = [socket.socket() for _ in range(2)]
    for s in waiting:
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
    print("listening", flush=True)
    answered = 0
    while True:
        packet = heard.recv(4096)
        head = (packet[0] & 15) * 4
        tcp = packet[head:]
        if struct.unpack(">H", tcp[2:4])[0] != port or tcp[13] & 0x12 != 2:
            continue
        error = struct.pack(">BBHI", 3, code, 0, 0) + packet[:head + 20]
        error = error[:2] + struct.pack(">H", checksum(error)) + error[4:]
        spoken.sendto(error, ("127.0.0.1", 0))
        answered += 1
        print("answered %d" % answered, flush=True)


main()
