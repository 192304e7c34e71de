"""routes - every route of a pool, of every pool, from two servers of the page.

    routes.py PARTITIONS ADDRESS SOURCE ADDRESS SOURCE

The second word of a line of PARTITIONS is a pool; an address is what poolscope-web printed, a source
what its answers call what it reads.  Statuses and bodies must be the same bytes, but for that
and for lines with an age, which is that of now.
SPDX-License-Identifier: MIT
"""
import http.client
import re
import sys
import urllib.parse

OF_A_POOL = """starts phases phases?by=key&start=all phases?by=node nodes cascade runs runs?by=error deltas iterations skew groups
    samples samples?by=node&metric=* usage usage?step=1m clocks spans spans?by=span timeline timeline?pixels=97&rows=7
    timeline?lanes=true&start=all breakdown breakdown?shape=columns slow slow?by=phase series series?metric=*&step=1m&shape=columns
    trace results""".split()

AGE = re.compile(rb'"(received_)?age"|"silence"')


class Server:
    def __init__(self, address, source):
        self.source = source.encode()
        url, self.token = address.split("#k=")
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=120)

    def get(self, path):
        self.connection.request("GET", path, headers={"Authorization": "Bearer " + self.token})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.getheader("Content-Type", "").startswith("application/json"):
            body = b"\n".join(line for line in body.split(b"\n") if not AGE.search(line))
        return answer.status, body.replace(self.source, b"SOURCE")


partitions = [line.split()[1] for line in open(sys.argv[1])]
servers = [Server(*sys.argv[i:i + 2]) for i in (2, 4)]
requests = good = 0
for partition in partitions:
    for route in OF_A_POOL:
        path = "/v1/pools/%s/%s" % (urllib.parse.quote(partition, safe=""), route.replace("*", "%2A"))
        first, second = [server.get(path) for server in servers]
        requests += 1
        good += first[0] == 200
        if first != second:
            print(path, first[0], second[0])
            for of in first, second:
                print("   ", of[1][:300])
            sys.exit(1)
if good * 4 < requests:
    sys.exit("only %d of %d requests were answered" % (good, requests))
print(requests, "requests,", good, "answered")
