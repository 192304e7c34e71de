"""raw - peers that speak ZMTP by hand, and what they see of a process.

Written from ZeroMQ RFC 23 (ZMTP 3.0), so that they can say what no library
lets them.
SPDX-License-Identifier: MIT
"""

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "flow"))
SLOW = int(os.environ.get("SLOW", "1"))
PATIENCE_S = 5 * SLOW
PLAIN = os.environ.get("VARIANT", "release") == "release"  # figures of memory mean something


def address(endpoint):
    host, port = endpoint.replace("tcp://", "").rsplit(":", 1)
    return host, int(port)


def connect(endpoint, timeout=PATIENCE_S):
    s = socket.create_connection(address(endpoint), timeout=timeout)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def greeting(mechanism=b"NULL", server=0):
    return b"\xff" + bytes(8) + b"\x7f\x03\x01" + mechanism.ljust(20, b"\0") + bytes([server]) + bytes(31)


def greet(s, mechanism=b"NULL"):
    s.sendall(greeting(mechanism))
    got = b""
    while len(got) < 64:
        more = s.recv(64 - len(got))
        if not more:
            break
        got += more
    return got


def part(data, more=0, command=0):
    flags = (1 if more else 0) | (4 if command else 0)
    if len(data) > 255:
        return bytes([flags | 2]) + struct.pack(">Q", len(data)) + data
    return bytes([flags, len(data)]) + data


def ready(identity=b"", kind=b"DEALER", extra=()):
    properties = [(b"Socket-Type", kind), (b"Identity", identity), *extra]
    return part(b"\x05READY" + b"".join(
        bytes([len(k)]) + k + struct.pack(">I", len(v)) + v for k, v in properties), command=1)


def null_peer(endpoint, identity=b"", kind=b"DEALER", extra=()):
    """A peer without any key, through its handshake."""
    s = connect(endpoint)
    greet(s)
    s.sendall(ready(identity, kind, extra))
    return s


def is_cut(s, seconds=PATIENCE_S):
    """Does the other side end the connection, within a while?"""
    s.settimeout(0.1)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if not s.recv(65536):
                return True
        except socket.timeout:
            continue
        except OSError:
            return True
    return False


def send_until_cut(s, block, bytes_max):
    """How many bytes the other side took before it ended the connection, and
    whether it did."""
    sent = 0
    s.settimeout(PATIENCE_S)
    try:
        while sent < bytes_max:
            s.sendall(block)
            sent += len(block)
    except socket.timeout:
        return sent, False
    except OSError:
        return sent, True
    return sent, is_cut(s)


def resident_bytes(pid):
    with open("/proc/%s/statm" % pid) as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    with open("/proc/%s/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptors(pid):
    return len(os.listdir("/proc/%s/fd" % pid))


def mib(n):
    return "%.1f MiB" % (n / (1 << 20))
