"""The independent judge of tests/unit/proto/json/json_fields.c: Python's json.

Reads lines "MEMBERS TEXT" from standard input, TEXT in hexadecimal: how many
members our reader found, -1 if it refused the text.  Ends with 1 at the first
text that Python judges otherwise.
SPDX-License-Identifier: MIT
"""
import json
import sys


def refuse(word):
    raise ValueError(word)


def check_text(text):
    if "\0" in text or any("\ud800" <= c < "\ue000" for c in text):
        refuse("a character that is none")


def check(value):
    if isinstance(value, str):
        check_text(value)
    for item in value if isinstance(value, list) else ():
        check(item)


def members(pairs):
    for name, value in pairs:
        check_text(name)
        check(value)
    if len({name for name, _ in pairs}) < len(pairs):
        refuse("a name twice")
    return dict(pairs)


def judge(text):
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=refuse,
                           object_pairs_hook=members)
    except ValueError:
        return -1
    return len(value) if isinstance(value, dict) else -1


for line in sys.stdin:
    found, text = line.split()
    if judge(bytes.fromhex(text)) != int(found):
        sys.exit(f"{bytes.fromhex(text)}: {found} members, not {judge(bytes.fromhex(text))}")
