"""views - the questions of each view, as the page asks them.

    views.py RUNS POOL NODES AGGREGATOR-PID WEB-PID WARM-WEB-PID URL WARM-URL

The first poolscope-web keeps no answers.
SPDX-License-Identifier: MIT
"""
import http.client
import os
import sys
import time

RUNS, POOL, NODES, AGGREGATOR, COLD, WARM = int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:7])
TIME, CURVE = "from=-1h", "shape=columns&columns=mean,nodes,few,min,p10,p50,p90,max&from=-1h"
DIGITS = 3 if NODES < 1000 else 5
NAMES = [f"cn{1 + i:0{DIGITS}}" for i in range(NODES)]
SOME = ",".join(NAMES[::max(1, NODES // 16)])
ONE = NAMES[NODES // 2]
USER, USED = "metric=system.cpu.time.user", "metric=system.memory.usage.used"
VIEWS = {
    "overview": [f"/v1/pools?name={POOL}", "phases?start=all", f"phases?{TIME}", "nodes?top=8", f"starts?newest=4&{TIME}",
                 f"slow?columns=node,phase,key,time,usual,above,open&{TIME}", "nodes?columns=node,state",
                 "phases?by=key&name=job:*&columns=key,open_starts&start=all", f"series?{USER}&{CURVE}", f"series?{USED}&{CURVE}"],
    "timeline": ["timeline?shape=columns&columns=row,pixel,pixels,phase,share,offset,duration,key,open&rows=640&pixels=1100&order=name"
                 f"&{TIME}"],
    "breakdown": [f"breakdown?rows=800&shape=columns&{TIME}"],
    "nodes by state": ["nodes", f"samples?columns=metric&node={SOME}&{TIME}"],
    "nodes by a phase": ["nodes", f"phases?by=node&name=cascade:pull&{TIME}"],
    "nodes by a metric": ["nodes", f"samples?by=node&{USER}&{TIME}", f"series?{USER}&{CURVE}"],
    "a node": [f"nodes?node={ONE}", f"phases?by=node&node={ONE}&{TIME}", f"samples?by=node&node={ONE}&{TIME}",
               f"usage?node={ONE}&{TIME}", f"series?{USER}&node={ONE}&as=lines&{CURVE}", f"series?{USED}&node={ONE}&as=lines&{CURVE}",
               f"timeline?lanes=true&pixels=1100&node={ONE}&{TIME}"],
    "its pool's median": [f"series?{USER}&as=bands&{CURVE}"],
}


def cpu(*processes):
    """Of all their threads, in ms."""
    total = 0
    for process in processes:
        for task in os.listdir(f"/proc/{process}/task"):
            try:
                with open(f"/proc/{process}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0])
            except OSError:
                pass  # it has ended
    return total / 1e6


class Web:
    def __init__(self, process, url):
        self.process, self.token = process, url.strip().partition("#k=")[2]
        self.connection = http.client.HTTPConnection(url.partition("://")[2].partition("/")[0], timeout=300)

    def ask(self, question):
        """What it costs, in ms, and how large the answer is."""
        path = question if question.startswith("/") else f"/v1/pools/{POOL}/{question}"
        used = cpu(self.process, AGGREGATOR)
        self.connection.request("GET", path, headers={"Authorization": "Bearer " + self.token, "Accept-Encoding": "gzip"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 404):
            sys.exit(f"{path}: {answer.status} {body[:200]}")
        return cpu(self.process, AGGREGATOR) - used, len(body)


def at_rest():
    """Until slices are compacted: five seconds that cost little."""
    calm = 0
    while calm < 5:
        used = cpu(AGGREGATOR)
        time.sleep(1)
        calm = calm + 1 if cpu(AGGREGATOR) - used < 20 else 0


at_rest()
cold, warm, known = Web(COLD, sys.argv[7]), Web(WARM, sys.argv[8]), {}
print(f"{NODES} nodes, the last hour, ms of processor time, best of {RUNS}")
for view, questions in VIEWS.items():
    for question in questions:
        if question not in known:
            asked = [cold.ask(question) for _ in range(RUNS)]
            known[question] = min(asked)[0], min(warm.ask(question)[0] for _ in range(RUNS + 3)), asked[0][1]
    print(f"{view:<20} cold {sum(known[q][0] for q in questions):7.1f}  warm {sum(known[q][1] for q in questions):5.1f}")
    for question in questions if len(questions) > 1 else []:
        print(f"    {question.partition('&columns')[0][:44]:<44} {known[question][0]:7.1f} {known[question][1]:5.1f} {known[question][2] / 1e3:7.1f} KB")
