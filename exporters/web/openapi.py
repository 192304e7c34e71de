#!/usr/bin/env python3
"""openapi - writes the schemas of answers in openapi.json from the columns of the questions.

    exporters/web/openapi.py            write them
    exporters/web/openapi.py --check    say which differ, and fail

A path whose x-command is `poolscope stats WORD`, and WORD a question, has the answer that
`poolscope stats WORD --columns help --format json` describes.  All else in the file is
written by hand.
SPDX-License-Identifier: MIT
"""
import json
import subprocess
import sys

FILE = "exporters/web/openapi.json"
TYPES = {"text": "string", "count": "integer", "whole number": "integer", "number": "number", "share": "number", "time": "string",
         "duration": "number", "bytes": "number", "flag": "boolean"}
NOTE = {"type": "object", "properties": {
    "key": {"type": "string"}, "count": {"type": ["integer", "null"]}, "text": {"type": "string"}},
    "required": ["key", "count", "text"]}
SHAPE = "#/components/parameters/shape"
VALUES = {"type": ["array", "null"], "items": {"type": ["string", "number", "boolean", "null"]}}


def columns_of(*command):
    done = subprocess.run(["build/bin/poolscope-" + command[0], *command[1:], "--columns", "help", "--format", "json"],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else None


def columns_of_results():
    """One route has the answers of five questions."""
    all_of = {}
    for word in (["tests"], ["starts", "t"], ["entries", "t"], ["timings", "t", "e"], ["changes", "t", "e"]):
        for column in columns_of("results", *word):
            all_of.setdefault(column["column"], dict(column, table="results"))
    return list(all_of.values())


def schema_of_row(columns):
    row = {"type": "object", "properties": {}}  # none is required: the parameter columns chooses
    for column in columns:
        words = column["help"] + (", in " + column["unit"] if column["unit"] else "")
        of = {"type": ["string", "number", "boolean", "object", "null"]} if column["type"] == "value" else {"type": [TYPES[column["type"]], "null"]}
        if column["type"] == "time":
            of["format"] = "date-time"
        of["description"] = words
        if column["with_data"]:
            row["additionalProperties"] = of
        else:
            row["properties"][column["column"]] = of
    return row


def schema_of(columns, path, has_shape):
    tables = [table for table in dict.fromkeys(column["table"] for column in columns) if table != "head"]
    properties = {"question": {"type": "string"}}
    if path.endswith("/results"):
        properties.update({"of": {"type": "string"}, "partition": {"type": "string"}})
    elif path.startswith("/v1/pools/"):
        when = {"type": ["string", "null"], "format": "date-time"}
        properties.update({"partition": {"type": "string"}, "from": when, "to": when})
    properties.update(schema_of_row([column for column in columns if column["table"] == "head"])["properties"])
    for i, table in enumerate(tables):
        rows = {"type": "array", "items": schema_of_row([column for column in columns if column["table"] == table])}
        if has_shape:
            rows.update(type=["array", "object"], additionalProperties=VALUES, description="An object with shape=columns.")
        properties["rows" if i == 0 else table] = rows
    properties["notes"] = {"type": "array", "items": NOTE}
    properties["complete"] = {"type": "boolean", "const": True}
    return {"type": "object", "properties": properties,
            "required": [name for name in properties if name in ("question", "of", "partition", "from", "to", "rows", "notes", "complete")]}


def laid_out(value, depth):
    """As JSON, an object a line unless it is short."""
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict) or len(short) + depth < 130:
        return short
    blanks = " " * (depth + 1)
    return "{\n" + ",\n".join(blanks + json.dumps(key) + ": " + laid_out(each, depth + 1)
                              for key, each in value.items()) + "\n" + " " * depth + "}"


def end_of(text, at):
    """Behind the object that begins at `at`."""
    return at + json.JSONDecoder().raw_decode(text[at:])[1]


def main():
    with open(FILE) as file:
        text = before = file.read()
    for path, item in json.loads(text)["paths"].items():
        words = item.get("get", {}).get("x-command", "").split()
        columns = (columns_of(*words[1:]) if words[:2] == ["poolscope", "stats"] else
                   columns_of_results() if words[:2] == ["poolscope", "results"] else None)
        if columns is None or "application/json" not in item["get"]["responses"]["200"]["content"]:
            continue
        at = text.index('"schema": ', text.index('\n  "%s": {' % path)) + len('"schema": ')
        new = laid_out(schema_of(columns, path, {"$ref": SHAPE} in item["get"]["parameters"]), 8)
        text = text[:at] + new + text[end_of(text, at):]
    if sys.argv[1:] == ["--check"]:
        if text != before:
            print(FILE + ": schemas are not those of the columns: run exporters/web/openapi.py")
        return text != before
    with open(FILE, "w") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
