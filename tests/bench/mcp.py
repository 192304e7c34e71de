"""mcp - asks each tool of poolscope mcp, for mcp.sh.

    mcp.py RUNS PARTITION

SPDX-License-Identifier: MIT
"""
import json
import subprocess
import sys
import time

RUNS, PARTITION = int(sys.argv[1]), sys.argv[2]
NEEDS = {"whatif": {"length": ["*=0.5"]}}


def main():
    server = subprocess.Popen(["poolscope-mcp", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(method, params):
        began = time.monotonic()
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        server.stdin.flush()
        line = server.stdout.readline()
        return (time.monotonic() - began) * 1000, json.loads(line)["result"]

    ms, tools = ask("tools/list", {})
    print("%-12s %8.1f ms  %6d bytes" % ("tools/list", ms, len(json.dumps(tools))))
    for tool in tools["tools"]:
        name, arguments = tool["name"], dict(NEEDS.get(tool["name"], {}))
        if "partition" in tool["inputSchema"]["properties"]:
            arguments["partition"] = PARTITION
        took = [ask("tools/call", {"name": name, "arguments": arguments}) for _ in range(RUNS)]
        result = took[0][1]
        if result["isError"]:
            print("%-12s          no answer: %s" % (name, result["structuredContent"]["error"][:90]))
            continue
        began = time.monotonic()
        subprocess.run(["sh", "-c", result["structuredContent"]["command"] + " --quiet >/dev/null"], check=False)
        print("%-12s %8.1f ms  worst %8.1f  %6d bytes  command %8.1f" % (
            name, min(each[0] for each in took), max(each[0] for each in took), len(result["content"][0]["text"]),
            (time.monotonic() - began) * 1000))
    server.stdin.close()
    server.wait()


main()
