"""mcp_sdk - asks poolscope by the official SDK of the Model Context Protocol for Python.

    mcp_sdk.py WAY each PARTITION        list the tools, and ask each
    mcp_sdk.py WAY rude PARTITION        cancel, ask twice how to begin, and 1,000 times at once
    mcp_sdk.py WAY stats WORD OPTION...  what `poolscope stats WORD OPTION... --format csv` prints

WAY is stdio (the newest revision that both speak), legacy (with the handshake of the older
ones) or http: that of $MCP_URL with the token $MCP_TOKEN.  An answer that was cut is an error:
exit status 9, and a line in $MCP_CUT; each that was not is a line in $MCP_ASKED.
SPDX-License-Identifier: MIT
"""

import asyncio
import csv
import json
import os
import subprocess
import sys

import httpx2
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ANSWER_BYTES_MAX = 4096
# What a question cannot do without.
NEEDS = {"scanner": {"job": "42"}, "series": {"metric": ["system.*"]}, "whatif": {"length": ["*=0.5"]}}


def client_of(way):
    if way == "http":
        http = httpx2.AsyncClient(headers={"Authorization": "Bearer " + os.environ["MCP_TOKEN"]}, trust_env=False)
        return Client(streamable_http_client(os.environ["MCP_URL"], http_client=http))
    server = StdioServerParameters(command="poolscope-mcp", args=[], env=dict(os.environ))
    return Client(server, mode="legacy" if way == "legacy" else "auto")


async def call(client, word, arguments):
    result = await client.call_tool(word, arguments)
    text = result.content[0].text
    assert len(result.content) == 1 and len(text.encode()) <= ANSWER_BYTES_MAX, len(text.encode())
    assert json.loads(text) == result.structured_content
    # Numbers as they are written.
    return json.loads(text, parse_float=str, parse_int=str), bool(result.is_error)


async def each(way, partition):
    async with client_of(way) as client:
        tools = (await client.list_tools()).tools
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            arguments = dict(NEEDS.get(tool.name, {}))
            if "partition" in tool.input_schema["properties"]:
                arguments["partition"] = partition
            Draft202012Validator(tool.input_schema).validate(arguments)
            answer, failed = await call(client, tool.name, arguments)
            done = subprocess.run(["sh", "-c", answer["command"]], stdout=subprocess.DEVNULL, check=False)
            # What a command says by 3 or 4 is in the answer.
            assert failed == (done.returncode in (1, 2)), (answer, done.returncode)
            assert failed or (answer["question"] == tool.name and answer["complete"] is True), answer
            assert not failed or answer["error"], answer
        print(len(tools))


async def rude(way, partition):
    """Each call is answered, or says in a sentence why not."""
    async with client_of(way) as client:
        await client.send_ping()
        for ask in (client.list_resources, client.list_prompts, client.list_resource_templates):
            try:
                sys.exit("%s" % await ask())
            except MCPError as error:
                assert error.error.code == -32601 and "there is no method" in error.error.message, error
        for ms in (0.2, 0.5, 1, 2, 5):
            try:
                await asyncio.wait_for(client.call_tool("nodes", {"partition": partition}), ms / 1000)
            except TimeoutError:
                pass  # of which the server is told
        assert not (await call(client, "nodes", {"partition": partition}))[1]
        for _ in range(2):
            begun = await client.session.initialize()
            assert begun.protocol_version == "2025-11-25", begun
        answers = await asyncio.gather(*[call(client, "pools", {}) for _ in range(1000)], return_exceptions=True)
        good = [answer for answer in answers if not isinstance(answer, Exception)]
        assert all(not failed and len(answer["tables"]["pools"]["rows"]) == 1 for answer, failed in good), good[0]
        refused = {answer.error.message for answer in answers if isinstance(answer, MCPError)}
        wanted = {"the token asks more often than poolscope web --request-rate allows; ask again later",
                  "64 questions of the token are not answered yet; ask again when some are"}
        assert refused <= wanted and (way == "http" or len(good) == 1000), (len(good), refused)
        assert len(good) + sum(isinstance(answer, MCPError) for answer in answers) == 1000
        assert len(good) >= 50, len(good)
        await asyncio.sleep(1.1)  # 200 a second: one message more in 50 ms
        assert not (await call(client, "pools", {}))[1]


def arguments_of(words, properties):
    """The options of a command line, as arguments of a tool."""
    names = {"-p": "partition", "-n": "node", "-m": "metric"}
    arguments, words = {}, list(words)
    while words:
        word, equals, value = words.pop(0).partition("=")
        name = names.get(word, word[2:])
        kind = properties[name]["type"]
        if kind == "boolean":
            arguments[name] = True
            continue
        if not equals:
            value = words.pop(0)
        if kind == "array":
            arguments.setdefault(name, []).append(value)
        else:
            arguments[name] = int(value) if kind == "integer" else value
    return arguments


async def stats(way, word, *options):
    async with client_of(way) as client:
        tool = next(tool for tool in (await client.list_tools()).tools if tool.name == word)
        arguments = arguments_of(options, tool.input_schema["properties"])
        if "partition" in tool.input_schema["properties"]:
            arguments.setdefault("partition", os.environ.get("POOLSCOPE_PARTITION"))
        arguments.setdefault("columns", "*")
        Draft202012Validator(tool.input_schema).validate(arguments)
        answer, failed = await call(client, word, arguments)
    if failed:
        print(answer["error"], file=sys.stderr)
        return 1
    table = answer["tables"].get(arguments.get("table")) or next(iter(answer["tables"].values()))
    is_cut = "left_out" in table and "top" not in arguments or "columns_left_out" in table
    with open(os.environ["MCP_CUT" if is_cut else "MCP_ASKED"], "a") as file:
        print(way, word, *options, file=file)
    if is_cut:
        return 9
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(table["columns"])
    for row in table["rows"]:
        rows.writerow(["" if cell is None else str(cell).lower() if isinstance(cell, bool) else cell for cell in row])
    for note in answer["notes"]:
        print("warn poolscope-stats: " + note["text"], file=sys.stderr)
    return 0


way, what, *words = sys.argv[1:]
sys.exit(asyncio.run({"each": each, "rude": rude, "stats": stats}[what](way, *words)))
