"""otlp.py - spans a second that poolscope-receiver takes over OTLP/HTTP and the agent
has on disk, from CLIENTS clients that each wait for their answer; beside it what
write and fdatasync alone make of as many bytes in as many pieces.

    otlp.py PORT FOLDER
SPDX-License-Identifier: MIT
"""
import os
import pathlib
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "flow"))
import otlp  # noqa: E402
import http.client  # noqa: E402

CLIENTS = 8
SECONDS = 5
T = 1_700_000_000_000_000_000


def body_of(spans):
    """As Python's SDK sends them, with a marker for a number of eight bytes."""
    items = [otlp.span(struct.pack(">8sQ", b"NUMBER!!", i), struct.pack(">Q", i + 1), "GET /items/{id}",
                       T + i, T + i + 1000, parent=b"\1" * 8, kind=2,
                       pairs={"http.request.method": "GET", "http.response.status_code": 200})
             for i in range(spans)]
    return otlp.request(items, {"service.name": "bench", "telemetry.sdk.language": "python"})


def client(port, parts, number, until, counts):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    n = 0
    while time.monotonic() < until:
        body = struct.pack(">Q", number << 32 | n).join(parts)
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200 or said:
            print(f"otlp: status {answer.status}: {said!r}", file=sys.stderr)
            os._exit(1)
        n += 1
    counts.append(n)


def measure(port, spans):
    parts = body_of(spans).split(b"NUMBER!!")
    counts, begun = [], time.monotonic()
    threads = [threading.Thread(target=client, args=(port, parts, k << 16 | spans, begun + SECONDS, counts))
               for k in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    seconds = time.monotonic() - begun
    requests = sum(counts)
    print(f"otlp: {requests * spans / seconds:,.0f} spans/s on disk, {spans} a request of "
          f"{len(b'12345678'.join(parts)):,} bytes, {requests / seconds:,.0f} requests/s")
    return requests / seconds


def plain(folder, bytes_a_second, pieces):
    """One writer that syncs once for CLIENTS pieces, which is what the agent does at best."""
    piece = os.urandom(max(1, int(bytes_a_second / pieces)))
    fd = os.open(os.path.join(folder, "plain"), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    begun, n = time.monotonic(), 0
    while time.monotonic() - begun < SECONDS:
        os.write(fd, piece * CLIENTS)
        os.fdatasync(fd)
        n += CLIENTS
    seconds = time.monotonic() - begun
    os.close(fd)
    os.unlink(os.path.join(folder, "plain"))
    return n / seconds


def main():
    port, folder = int(sys.argv[1]), sys.argv[2]
    for spans in (100, 512, 2000):
        rate = measure(port, spans)
        size = len(body_of(spans))
        alone = plain(folder, size * rate, rate)
        print(f"      write + fdatasync of {size:,} bytes alone, {CLIENTS} at once: {alone * spans:,.0f} spans/s")


main()
