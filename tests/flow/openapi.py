"""openapi - runs what exporters/web/openapi.json says against a poolscope-web, for 182-openapi.sh.

    PORT=5580 TOKEN=T openapi.py FILE WORD

    requests   each request of x-requests: its status, its sentence, and the whole answer by the schema
    statuses   each route: its statuses 304, 401, 403, 405
    sets       routes and parameters: those of the file, of the program and of api.md are the same
    refused    STATUS PATH: the first request of the path gets this status, which the file knows

SPDX-License-Identifier: MIT
"""
import http.client
import json
import os
import re
import sys
import urllib.parse

with open(sys.argv[1]) as file:
    API = json.load(file)
wrong = []


def ask(target, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=60)
    headers = {"Authorization": "Bearer " + os.environ["TOKEN"], **headers}
    connection.request(method, target, body and json.dumps(body), headers={name: value for name, value in headers.items() if value is not None})
    answer = connection.getresponse()
    stream = answer.headers["Content-Type"] == "text/event-stream"
    answer.body = answer.readline() if stream else answer.read()
    connection.close()
    return answer


def expect(holds, *what):
    if not holds:
        wrong.append(" ".join(str(each) for each in what))


def follow(node):
    """What a {"$ref": "#/a/b"} leads to."""
    if "$ref" not in node:
        return node
    at = API
    for part in node["$ref"].removeprefix("#/").split("/"):
        at = at[part]
    return at


def operations():
    for path, item in API["paths"].items():
        method = "post" if path == "/mcp" else "get"
        expect(set(item) == {method}, path, "has", set(item))
        yield path, item[method], [follow(each) for each in item[method].get("parameters", [])]


def method_of(path):
    return next(iter(API["paths"][path])).upper()


# ---- schemas: the keywords that the file uses ----

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
         "null": type(None)}
KEYWORDS = {"type", "description", "format", "properties", "required", "additionalProperties", "items", "const"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def judge(value, schema, where):
    """Also a member that the schema does not name is wrong: the file is complete."""
    schema = follow(schema)
    expect(set(schema) <= KEYWORDS, where, "uses", set(schema) - KEYWORDS)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    expect(any(is_type(value, name) for name in types), where, "is", repr(value)[:80], "not", types)
    expect("const" not in schema or value == schema["const"], where, "is", repr(value)[:80])
    if schema.get("format") == "date-time" and value is not None:
        expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value), where, "is", value)
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        for name in schema.get("required", []):
            expect(name in value, where, "lacks", name)
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            expect(inner, where, "has", name)
            if inner:
                judge(each, inner, f"{where}.{name}")
    if isinstance(value, list):
        for each in value:
            judge(each, schema["items"], where + "[]")


def judge_answer(answer, operation, where):
    """Its status, type and content are those of the file."""
    response = operation["responses"].get(str(answer.status))
    expect(response, where, "has the status", answer.status, answer.body[:200])
    if not response or answer.status in (202, 304):
        return
    kind = answer.headers["Content-Type"].partition(";")[0]
    content = follow(response).get("content", {})
    expect(kind in content, where, "is", kind, "not", set(content))
    if kind.endswith("json") and kind in content:
        schema = content[kind]["schema"]
        if schema == {"type": "object"}:
            expect(json.loads(answer.body) == API, where, "is another file")
        else:
            judge(json.loads(answer.body), schema, where)


# ---- words ----

def requests():
    for path, operation, parameters in operations():
        used, got = set(), set()
        for each in operation["x-requests"]:
            target = each["target"]
            bare, _, query = target.partition("?")
            expect(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path).replace(".", r"\."), bare), target, "is not", path)
            answer = ask(target, method_of(path), each.get("body"), **each.get("headers", {}))
            got.add(answer.status)
            expect(answer.status == each["status"], target, answer.status, answer.body[:300])
            judge_answer(answer, operation, target)
            if answer.status == 200:
                used |= {part.partition("=")[0] for part in query.split("&") if part}
            elif answer.status != 202:
                problem = json.loads(answer.body)
                detail = problem["error"]["message"] if "error" in problem else problem["detail"]
                expect(re.search(each["detail"], detail), target, detail)
        names = {each["name"] for each in parameters if each["in"] == "query"}
        expect(used == names, path, "has parameters without a request:", names ^ used)
        stated = {int(status) for status in operation["responses"]} & {200, 202, 400, 404, 410}
        expect(got == stated, path, "has a status without a request, or none for", stated ^ got)
        for each in parameters:
            choices = each["schema"].get("enum")
            expect(not choices or each["example"] in choices, path, each["name"], each["example"])


def known(target, method):
    """304, also when the tag is another one in each second."""
    for _ in range(20):
        answer = ask(target, If_None_Match=None)
        answer = ask(target, method, **{"If-None-Match": answer.headers["ETag"]})
        if answer.status == 304:
            break
    return answer


def statuses():
    for path, operation, _ in operations():
        first, method = operation["x-requests"][0], method_of(path)
        target, body = first["target"], first.get("body")
        expect(first["status"] == 200, path, "begins with another status")
        public = operation.get("security") == []
        stated = set(operation["responses"]) & {"304", "401", "403", "405"}
        wanted = {"403", "405"} | (set() if public else {"401"}) | ({"304"} & stated)
        expect(stated == wanted, path, "has", stated, "not", wanted)
        tries = [ask(target, "GET" if method == "POST" else "POST"), ask(target, method, body, Host="evil.example"),
                 ask(target, method, body, Authorization=None)]
        expect([each.status for each in tries] == [405, 403, 200 if public else 401], path, [t.status for t in tries])
        if "304" in stated:
            tries.append(known(target, "GET"))
            expect(tries[-1].status == 304, path, tries[-1].status)
        for answer in tries:
            judge_answer(answer, operation, path)


def listed(target):
    """The names that the sentence about an unknown one has."""
    detail = json.loads(ask(target).body)["detail"]
    found = re.search(r"does not exist here; there are (.*)|there is no '0' here; there are (.*)", detail)
    expect(found, target, detail)
    words = (found.group(1) or found.group(2)).split() if found else []
    return set() if words == ["none"] else set(words)


def sets(api_md):
    root = {"/v1/" + word for word in listed("/v1/0")} | {"/v1/live", "/v1/openapi.json", "/metrics", "/mcp", "/healthz"}
    pool = {"/v1/pools/{pool}/" + word for word in listed("/v1/pools/x/0")}
    expect(set(API["paths"]) == root | pool, "routes:", set(API["paths"]) ^ (root | pool))
    text = {}
    with open(api_md) as file:
        for line in file:
            row = re.match(r"\| `([^`?]+)[^|]*\|[^|]*\| ?(?:`([^|]*)`)? *\|", line.replace(r"\|", "/"))
            if row:
                here = text.setdefault(row.group(1).replace("POOL", "{pool}"), set())
                here |= {word.partition("=")[0] for word in (row.group(2) or "").split()}
                here |= set(re.findall(r"[?&](\w+)=", line.split("|")[1]))
    for path, operation, parameters in operations():
        names = {each["name"] for each in parameters if each["in"] == "query"}
        expect(text.get(path) == names, path, "in api.md:", text.get(path), "not", names)
        if path in ("/v1/live", "/v1/openapi.json", "/mcp", "/healthz"):
            continue
        target = path.replace("{pool}", "x")
        expect(listed(target + "?0=") == names, path, "takes", listed(target + "?0="), "not", names)


def refused(status, path):
    """The answer has this status and is as the file says."""
    operation = API["paths"][path]["get"]
    answer = ask(operation["x-requests"][0]["target"])
    expect(answer.status == int(status), path, answer.status)
    judge_answer(answer, operation, path)


{"requests": requests, "statuses": statuses, "sets": sets, "refused": refused}[sys.argv[2]](*sys.argv[3:])
sys.exit("\n".join(wrong) if wrong else 0)
