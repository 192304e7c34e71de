"""clickhouse_dashboard - asks a ClickHouse the questions of the archive's dashboard.

    clickhouse_dashboard.py FILE URL USER KEY FROM TO [NAME=VALUE...]

What Grafana puts into a question is put in here: $from, $to, $interval, and the
variables, of which each NAME=VALUE gives one.  Prints a line for each question:
its title, the number of rows of the answer, and of the last row all columns.
SPDX-License-Identifier: MIT
"""
import json
import re
import sys
import urllib.error
import urllib.request

INTERVAL_S = 10


def filled(sql, values):
    """${name:sqlstring} is a list of quoted texts, $name as it is."""
    def put(found):
        if found.group(1):
            return "'" + values[found.group(1)].replace("'", "''") + "'"
        return values[found.group(2)]
    return re.sub(r"\$\{(\w+):sqlstring\}|\$(\w+)", put, sql)


def ask(url, user, key, sql):
    request = urllib.request.Request(url, data=(sql + " FORMAT JSON").encode(), headers={
        "X-ClickHouse-User": user, "X-ClickHouse-Key": key})
    try:
        return json.load(urllib.request.urlopen(request, timeout=60))
    except urllib.error.HTTPError as why:
        return {"why": why.read().decode(errors="replace")}


def main():
    file, url, user, key, first, last, *rest = sys.argv[1:]
    values = {"from": first, "to": last, "interval": str(INTERVAL_S), **dict(r.split("=", 1) for r in rest)}
    with open(file) as of:
        dashboard = json.load(of)
    questions = [(v["name"], v["query"]) for v in dashboard["templating"]["list"] if v["type"] == "query"]
    questions += [(p["title"], t["query"]) for p in dashboard["panels"] for t in p["targets"]]
    for title, sql in questions:
        answer = ask(url, user, key, filled(sql, values))
        if "why" in answer:
            print("%s: failed: %s" % (title, answer["why"].strip()))
            continue
        rows = answer["data"]
        print("%s: %d rows: %s" % (title, len(rows), json.dumps(rows[-1] if rows else None)))


main()
