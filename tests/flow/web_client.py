"""web_client - a client of poolscope-web for 180-web.sh: asks, and judges the answer.

    PORT=5580 TOKEN=T web_client.py WORD [ARGUMENT...]

Exits with 1 and a sentence when what it expects does not hold.
SPDX-License-Identifier: MIT
"""
import gzip
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time

from counters import counters

PORT, TOKEN = int(os.environ["PORT"]), os.environ["TOKEN"]
ADDRESS = ("127.0.0.1", PORT)


def ask(target, method="GET", token=f"Bearer {TOKEN}", **headers):
    connection = http.client.HTTPConnection(*ADDRESS, timeout=60)
    if token:
        headers["Authorization"] = token
    connection.request(method, target, headers=headers)
    answer = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


def expect(holds, *what):
    if not holds:
        sys.exit(" ".join(str(each) for each in what))


def get(target):
    answer = ask(target)
    expect(answer.status == 200, answer.status, answer.body)
    sys.stdout.buffer.write(answer.body)


def refused(status, pattern, target):
    answer = ask(target)
    expect(answer.status == int(status), answer.status, answer.body)
    expect(answer.headers["Content-Type"] == "application/problem+json", answer.headers)
    problem = json.loads(answer.body)
    expect(problem["status"] == int(status) and set(problem) == {"type", "title", "status", "detail"}, problem)
    expect(re.search(pattern, problem["detail"]), problem["detail"])
    expect("\n" not in problem["detail"], problem["detail"])
    expect(answer.status >= 500 or "--" not in problem["detail"].split("poolscope")[0], problem["detail"])


def status(wanted, target, *options):
    headers, token = {}, f"Bearer {TOKEN}"
    for name, value in zip(options[::2], options[1::2]):
        if name == "--token":
            token = None if value == "none" else value
        else:
            headers["Host"] = value
    if headers.get("Host") == "none":
        raw(f"GET {target} HTTP/1.1\r\nAuthorization: {token}\r\n\r\n", f"HTTP/1.1 {wanted}")
        return
    answer = ask(target, token=token, **headers)
    expect(answer.status == int(wanted), answer.status, answer.body)
    if answer.status == 401:
        expect(answer.headers["WWW-Authenticate"] == "Bearer", answer.headers)


def method(word, wanted):
    answer = ask("/v1/status", method=word)
    expect(answer.status == int(wanted) and answer.headers["Allow"] == "GET, HEAD", answer.status)


def packed(target):
    plain = ask(target)
    small = ask(target, **{"Accept-Encoding": "gzip"})
    expect(small.headers["Content-Encoding"] == "gzip", small.headers)
    expect(gzip.decompress(small.body) == plain.body, "another text")
    expect(len(small.body) < len(plain.body) / 3, len(small.body), len(plain.body))
    none = ask(target, **{"Accept-Encoding": "gzip;q=0"})
    expect(none.headers["Content-Encoding"] is None, none.headers)


def head(target):
    whole, answer = ask(target), ask(target, method="HEAD")
    expect(answer.status == 200 and answer.body == b"", answer.status, answer.body)
    expect(int(answer.headers["Content-Length"]) == len(whole.body), answer.headers)


def type_(target, wanted):
    expect(ask(target, token=None).headers["Content-Type"].startswith(wanted), "another type")


def shows(pattern, target):
    found = ask(target).headers["Poolscope-Shows"]
    expect(re.search(pattern, found or ""), found)


def health():
    answer = ask("/healthz", token=None)
    expect(answer.status == 200 and answer.body == b"ok\n", answer.status, answer.body)


def security(*targets):
    for target in targets:
        headers = ask(target).headers
        policy = headers["Content-Security-Policy"]
        for word in ("default-src 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'",
                     "frame-ancestors 'none'", "require-trusted-types-for 'script'"):
            expect(word in policy, target, policy)
        expect("unsafe" not in policy, policy)
        expect(headers["X-Content-Type-Options"] == "nosniff", target)
        expect(headers["Referrer-Policy"] == "no-referrer", target)
        expect(headers["Cross-Origin-Resource-Policy"] == "same-origin", target)
        expect(headers["Access-Control-Allow-Origin"] is None and headers["Set-Cookie"] is None, target)


def paged(pool, step):
    """The runs in pages, each after the last run of the one before; a run that comes meanwhile moves nothing."""
    whole = json.loads(ask(f"/v1/pools/{pool}/runs?newest=1000").body)["rows"]
    seen, after = [], ""
    while len(seen) < len(whole):
        answer = ask(f"/v1/pools/{pool}/runs?newest={step}{after}")
        expect(answer.status == 200, answer.status, answer.body)
        page = json.loads(answer.body)["rows"]
        expect(0 < len(page) <= int(step), len(page))
        seen += page
        after = "&after=" + page[-1]["run"]
    expect(seen == whole, [each["run"] for each in seen], "not", [each["run"] for each in whole])


def has(text, *targets):
    for target in targets:
        expect(text in ask(target).body.decode(), f"{target} lacks {text}")


def lacks(text, *targets):
    for target in targets:
        expect(text not in ask(target).body.decode(), f"{target} has {text}")


def limited():
    """What a reader's key of the same pattern gets: sums of the partitions it names, and nothing of the store, its broker."""
    status = counters(json.loads(ask("/v1/status").body))
    expect(set(status) == {"from", "store", "partitions"}, f"it has {sorted(status)}")
    store, parts = status["store"], status["partitions"]
    expect(store["limited"] is True and store["partitions"] == len(parts) == 2, f"partitions: {store}")
    summed = [name for name in store if name not in ("limited", "partitions", "rebuilding")]
    expect(summed[:2] == ["nodes", "records_event"] and len(summed) == 10, f"it has {summed}")
    for name in summed:
        expect(store[name] == sum(part[name] for part in parts.values()), f"{name} is {store[name]}")
    expect(store["records_event"] == 320, f"{parts}")


def shape(value, path=""):
    """Names and texts, without numbers and times: what does not change from now to now."""
    if isinstance(value, dict):
        return {name: shape(each, f"{path}/{name}") for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each, path) for each in value]
    if isinstance(value, str):
        return re.sub(r"\d[\d.]*( ([KMGT]i)?B| [mun]?s| min| h| d| peers?)?", "0", value)
    return type(value).__name__ if value is None else "number"


def alike(wanted, got):
    wanted, got = (shape(json.load(open(name))) for name in (wanted, got))
    expect(wanted == got, "wanted", wanted, "got", got)


def tagged(target):
    first = ask(target)
    tag = first.headers["ETag"]
    expect(re.fullmatch(r'"[0-9a-f]{32}"', tag or ""), tag)
    again = ask(target, **{"If-None-Match": f'"x", {tag}'})
    expect(again.status == 304 and again.body == b"" and again.headers["ETag"] == tag, again.status, again.headers)
    other = ask(target, **{"If-None-Match": '"x"'})
    expect(other.status == 200 and other.body == first.body and other.headers["ETag"] == tag, other.status)
    print(tag, end="")


def retagged(target, tag):
    """The tag is another one as soon as something came."""
    for _ in range(100):
        answer = ask(target, **{"If-None-Match": tag})
        if answer.status == 200 and answer.headers["ETag"] != tag:
            return
        time.sleep(0.1)
    sys.exit("the same tag for 10 s")


def exposes(pool, kind):
    answer = ask("/metrics", Accept=kind)
    expect(answer.headers["Content-Type"].startswith(kind), answer.headers)
    option = [] if "open" in kind else ["--prometheus"]
    wanted = subprocess.run(["poolscope-stats", "metrics", *option], check=True, capture_output=True, text=True).stdout

    def names(text):
        return sorted(line.rsplit(" ", 1)[0] for line in text.splitlines())

    # The page has one family of its own: how many questions it refused.
    lines = answer.body.decode().splitlines()
    own = [line for line in lines if "poolscope_web_rate_limited_requests" in line]
    expect([line for line in own if line[0] != "#"] == ["poolscope_web_rate_limited_requests_total 0"], own)
    rest = "\n".join(line for line in lines if line not in own)
    expect(names(rest) == names(wanted), answer.body.decode(), wanted)
    expect(f'partition="{pool}"' in wanted, "the pool is not there")


# ---- streams ----

class Stream:
    def __init__(self, pool, token=TOKEN):
        self.connection = http.client.HTTPConnection(*ADDRESS, timeout=30)
        self.connection.request("GET", "/v1/live?pool=" + pool, headers={"Authorization": f"Bearer {token}"})
        self.answer = self.connection.getresponse()

    def event(self):
        """The next event: its name, its id, and what it says; None at the end."""
        fields = {}
        while True:
            line = self.answer.readline().decode()
            if not line:
                return None
            if line == "\n" and fields:
                return fields["event"], fields.get("id"), json.loads(fields["data"])
            if line != "\n" and not line.startswith(":"):
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def live(pool, name):
    stream = Stream(pool)
    expect(stream.answer.headers["Content-Type"] == "text/event-stream", stream.answer.headers)
    word, first, said = stream.event()
    expect(word == "reset" and "phases" in said["changed"] and "series" in said["changed"], word, said)
    begun = time.monotonic()
    run("poolscope-generate", "testrun", "-q", "--runs", "1", "--first", "901", "--base", "now", "-p", name)
    word, second, said = stream.event()
    expect(word == "tick" and second != first, word, first, second)
    expect("phases" in said["changed"] and "series" not in said["changed"], said)
    expect(int(said["entry"]) > 0 and said["age"] < 60 and said["newest"] and said["now"], said)
    expect(time.monotonic() - begun < 5 * float(os.environ.get("SLOW", "2")), "late")


def revoked(pool, name):
    for _ in range(100):
        stream = Stream(pool)
        if stream.answer.status == 200:
            break
        time.sleep(0.2)  # those of a test before are still there
    expect(stream.event()[0] == "reset", "no reset")
    run("poolscope-keys", "revoke", name)
    expect(stream.event() is None, "it goes on")


def crashed(pool, name, pid, command):
    """kill -9 of the aggregator: the stream goes on with the store, then with another one, and says nothing twice."""
    stream = Stream(pool)
    word, first, _ = stream.event()
    expect(word == "reset", word)
    os.kill(int(pid), 9)
    time.sleep(2)
    run("sh", "-c", command)
    run("poolscope-generate", "testrun", "-q", "--runs", "1", "--first", "902", "--base", "now", "-p", name)
    seen = [first]
    while len(seen) < 2:
        word, number, _ = stream.event()
        expect(word in ("tick", "reset") and number not in seen, word, number, seen)
        seen.append(number)
    expect(ask("/v1/pools").status == 200, "no answers")


def silenced(pool, pid, command):
    """The same where the aggregator is the only source: the stream says so, then begins again."""
    stream = Stream(pool)
    seen = [stream.event()]
    os.kill(int(pid), 9)
    seen.append(stream.event())
    run("sh", "-c", command)
    seen.append(stream.event())
    expect([word for word, _, _ in seen] == ["reset", "silent", "reset"], seen)
    expect(seen[0][1] == seen[2][1], "another id", seen)


def streams(pool):
    """64 of them, and no more; then others again."""
    many = [Stream(pool) for _ in range(70)]
    begun = [each for each in many if each.answer.status == 200]
    # That of a client that has left ends when the next event is sent.
    expect(60 <= len(begun) <= 64, len(begun))
    expect({each.answer.status for each in many if each not in begun} == {503}, "others")
    expect({each.event()[0] for each in begun} == {"reset"}, "not all began")
    expect(ask("/v1/status").status == 200, "no answers")
    for each in many:
        each.connection.close()


# ---- bytes ----

def connect():
    peer = socket.create_connection(ADDRESS, timeout=60)
    return peer


def raw(text, begins):
    with connect() as peer:
        try:
            peer.sendall(text.encode())
            answer = peer.recv(65536)
        except ConnectionError:
            answer = b""
    expect(answer.startswith(begins.encode()) or (begins == "" and answer == b""), answer[:200])
    return answer


def body():
    for line in ("Content-Length: 5", "Transfer-Encoding: chunked"):
        with connect() as peer:
            peer.sendall(f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n{line}\r\n\r\n5\r\nhello\r\n".encode())
            expect(b" 200 " not in peer.recv(65536), line)


def large():
    for lines in ("X: " + "y" * 60000, "\r\n".join(f"X{i}: {'y' * 100}" for i in range(1000))):
        with connect() as peer:
            try:
                peer.sendall(f"GET /healthz HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n".encode())
                answer = peer.recv(65536)
            except ConnectionError:
                answer = b""
        expect(b" 200 " not in answer, answer[:100])


def long():
    answer = ask("/" + "a" * 9000)
    expect(answer.status in (400, 414), answer.status)


def garbage():
    for text in (b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        with connect() as peer:
            peer.settimeout(1)  # what is no line may be the begin of one
            peer.sendall(text)
            try:
                answer = peer.recv(65536)
            except OSError:
                answer = b""
        expect(b" 200 " not in answer, text, answer[:100])


def crowd(count):
    """Connections that say nothing take the places; a question waits, and comes through."""
    peers = [connect() for _ in range(int(count))]
    for peer in peers[::2]:
        peer.close()
    for peer in peers[1::2][:400]:
        peer.close()
    expect(ask("/v1/status").status == 200, "no answer")
    for peer in peers:
        peer.close()


def hidden():
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                expect(TOKEN.encode() not in file.read(), name)
        except OSError:
            pass


def unfetched(pid, pool):
    """Clients that ask for much, each for something else, and fetch nothing: memory is bounded."""
    peers = []
    for i in range(200):
        peer = connect()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.sendall(f"GET /v1/pools/{pool}/series?metric=app.*&as=lines&from={i + 1} HTTP/1.1\r\nHost: localhost\r\n"
                     f"Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        peers.append(peer)
    time.sleep(2)
    with open(f"/proc/{pid}/status") as file:
        kilobytes = int(next(line for line in file if line.startswith("VmRSS")).split()[1])
    for peer in peers:
        peer.close()
    expect(kilobytes < 400000, kilobytes, "KB")


def slow():
    """Heads that come a byte a second are not waited for."""
    peers = [connect() for _ in range(20)]
    text = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100
    closed, began, i = set(), time.monotonic(), 0
    while time.monotonic() - began < 50:
        for peer in peers:
            try:
                peer.setblocking(False)
                if i > 0 and peer.recv(1) == b"":
                    closed.add(peer)
            except BlockingIOError:
                pass
            except OSError:
                closed.add(peer)
            if peer not in closed:
                try:
                    peer.send(text[i:i + 1])
                except OSError:
                    closed.add(peer)
        if len(closed) == len(peers):
            break
        time.sleep(1)
        i += 1
    took = time.monotonic() - began
    expect(len(closed) == len(peers), len(peers) - len(closed), "are open after 50 s")
    expect(took > 20, "they were not given their time, only", took, "s")


def leave(count):
    for _ in range(int(count)):
        with connect() as peer:
            peer.sendall(f"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())


def burst(count, target):
    answers, lock = [], threading.Lock()

    def one():
        answer = ask(target)
        with lock:
            answers.append((answer.status, answer.body))

    threads = [threading.Thread(target=one) for _ in range(int(count))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    expect(set(answers) == {answers[0]} and answers[0][0] == 200, {status for status, _ in answers})


def at_once(clients, rounds, routes):
    """Each client asks all routes again and again, in an order of its own or of all; each answer is what it was alone.

    Lines of `routes`: TARGET, tab, a file with the bytes; or its shape, if "ages" and a tab are in front.
    """
    lines = [line.rstrip("\n").split("\t") for line in open(routes)]
    wanted = {target: open(name, "rb").read() for *_, target, name in lines}
    ages = {line[1]: shape(json.loads(wanted[line[1]])) for line in lines if line[0] == "ages"}
    asked, wrong, seed = [], [], int(os.environ.get("SEED", time.time_ns() % 100000))
    print("seed", seed)

    def client(number):
        for turn in range(int(rounds)):
            order = list(wanted)
            random.Random(seed + 1000 * number + turn).shuffle(order)
            if turn % 2 == 1:  # all ask the same of both pools, so that one function answers twice at once
                order = sorted(order * 5, key=lambda target: target.split("/", 4)[4])
            for target in order:
                answer = ask(target)
                asked.append(target)
                fits = shape(json.loads(answer.body)) == ages[target] if target in ages else answer.body == wanted[target]
                if answer.status != 200 or not fits:
                    wrong.append((target, answer.status, answer.body[:200], len(answer.body)))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(int(clients))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    times = sum(5 if turn % 2 == 1 else 1 for turn in range(int(rounds)))
    expect(len(asked) == int(clients) * times * len(wanted), "clients ended early:", len(asked), "answers")
    expect(not wrong, len(wrong), "of", len(asked), "answers are not what they are alone:", *wrong[:5])


WORDS = {word.__name__.rstrip("_"): word for word in (
    get, refused, status, method, packed, head, type_, shows, paged, health, security, has, lacks, limited, alike, body, large, long,
    garbage, crowd, leave, burst, at_once, tagged, retagged, live, revoked, crashed, silenced, streams, exposes, slow, hidden, unfetched)}

if __name__ == "__main__":
    WORDS[sys.argv[1]](*sys.argv[2:])
