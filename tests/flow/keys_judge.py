"""keys_judge - what is in key files and lists, by other means than ours.

    keys_judge.py pairs FILE...   each secret is that of its public key
    keys_judge.py servers FILE    the server keys of a file, a line each
    keys_judge.py public FILE     its public key
    keys_judge.py allow FILE      the list as poolscope-keys list has it, as JSON

Z85 is of ZeroMQ RFC 32, curve25519 the ladder of RFC 7748; both must first do
what the pair of zmq_curve(7) says.
SPDX-License-Identifier: MIT
"""
import json
import os
import stat
import sys

DIGITS = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
          ".-:+=^!/*?&<>()[]{}@%$#")
P = 2**255 - 19


def z85(text):
    assert len(text) == 40, text
    out = b""
    for i in range(0, 40, 5):
        value = 0
        for c in text[i:i + 5]:
            value = value * 85 + DIGITS.index(c)
        out += value.to_bytes(4, "big")
    return out


def x25519_base(secret):
    k = int.from_bytes(secret, "little")
    k = k & ~7 & (1 << 255) - 1 | 1 << 254
    x1, x2, z2, x3, z3, swap = 9, 1, 0, 9, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b = x2 + z2, x2 - z2
        da, cb = (x3 - z3) * a, (x3 + z3) * b
        x3, z3 = (da + cb)**2 % P, 9 * (da - cb)**2 % P
        e = a * a - b * b
        x2, z2 = a * a * b * b % P, e * (a * a + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


assert z85("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID").hex().upper() == (
    "BB88471D65E2659B30C55A5321CEBB5AAB2B70A398645C26DCA2B2FCB43FC518")
assert x25519_base(z85("D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs")) == z85(
    "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID")


def read_key(path):
    lines = open(path, encoding="ascii").read().splitlines()
    assert lines[0] == "poolscope-key: 1", path
    return [tuple(line.split(": ", 1)) for line in lines[1:]]


def words(path, word):
    return [value for key, value in read_key(path) if key == word]


def check_pair(path):
    mode = os.stat(path, follow_symlinks=False).st_mode
    assert stat.S_ISREG(mode) and mode & 0o7777 == 0o600, oct(mode)
    (public,), (secret,) = words(path, "public"), words(path, "secret")
    assert x25519_base(z85(secret)) == z85(public), path
    assert (words(path, "role") == ["server"]) != bool(words(path, "server"))
    for server in words(path, "server"):
        z85(server)
    assert len(set(words(path, "server"))) == len(words(path, "server"))


def rows(path):
    found = []
    for line in open(path, encoding="utf-8").read().split("\n")[:-1]:
        if line == "" or line.startswith("#"):
            continue
        public, role, partition, node, name = line.split("\t")
        z85(public)
        found.append({"name": name, "role": role, "partition": partition,
                      "node": node, "public": public})
    for row in found:
        row["newest"] = [r for r in found if r["name"] == row["name"]][-1] is row
    return found


def main(what, *files):
    if what == "pairs":
        for each in files:
            check_pair(each)
        print(len(files))
    elif what == "servers":
        print("\n".join(words(files[0], "server")))
    elif what == "public":
        print(words(files[0], "public")[0])
    else:
        print(json.dumps(rows(files[0])))


if __name__ == "__main__":
    main(*sys.argv[1:])
