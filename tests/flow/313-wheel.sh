#!/bin/sh
# The wheel: what it is called says where it runs, and that is so; it is small, is the same
# each time, and installs without a network.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
if [ "${VARIANT:-release}" != release ]; then
	echo "SKIPPED: a wheel is of a release"
	exit 0
fi
unset PYTHONPATH

wheel() {
	"$PYTHON" "$ROOT/agents/python/build_wheel.py" "$B/python" "$1"
}
check "a wheel" wheel "$TMP/wheel"
file=$(cat "$TMP/out")
check_text "... serves Python 3.10 and later with glibc 2.34 and later" \
	"poolscope-$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' "$ROOT/proto/base/version.h")-cp310-abi3-manylinux_2_34_$(uname -m).whl" \
	"$(basename "$file")"
check "... is at most 300 KB" test "$(wc -c <"$file")" -le 300000
wheel "$TMP/again" >/dev/null
check "... is the same each time" cmp "$file" "$TMP/again/$(basename "$file")"

mkdir "$TMP/unpacked"
check "it is a zip file with what its record says" "$PYTHON" - "$file" "$TMP/unpacked" <<'PY'
import base64
import csv
import hashlib
import sys
import zipfile

archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
archive.extractall(sys.argv[2])
names = archive.namelist()
record = next(n for n in names if n.endswith("/RECORD"))
rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
assert sorted(rows) == sorted(names)
for name in names:
    data = archive.read(name)
    if name != record:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert rows[name] == ["sha256=" + digest, str(len(data))], name
tops = {n.split("/")[0] for n in names}
assert tops == {"poolscope", record.split("/")[0]}, tops
for wanted in ("__init__.py", "__init__.pyi", "py.typed", "_native.abi3.so"):
    assert "poolscope/" + wanted in names, wanted
PY
so=$TMP/unpacked/poolscope/_native.abi3.so
check_text "its extension needs libc alone" "libc.so.6" \
	"$(readelf -dW "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux')"
check_text "... of version 2.34 at most" "GLIBC_2.34" \
	"$({ echo GLIBC_2.34; readelf -VW "$so" | grep -o 'GLIBC_2[.0-9]*'; } | sort -V | tail -1)"
check_text "... shows one symbol" PyInit__native \
	"$(readelf -W --dyn-syms "$so" | awk '$7 != "UND" && $5 == "GLOBAL" { print $8 }')"
# The stable ABI is what python3.dll of that version has: here, what the headers of this
# Python declare for it.
cat >"$TMP/stable.c" <<'C'
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
C
cc -E -I"$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" "$TMP/stable.c" >"$TMP/stable.i"
readelf -W --dyn-syms "$so" | awk '$7 == "UND" { print $8 }' | grep '^_*Py' | sort -u >"$TMP/used"
check "... uses the stable ABI" test "$(wc -l <"$TMP/used")" -gt 20
check_text "... and nothing else of Python" "" "$(while read -r symbol; do
	grep -qw "$symbol" "$TMP/stable.i" || echo "$symbol"
done <"$TMP/used")"
check_text "... and has what the hardened programs have" "BIND_NOW GNU_RELRO __stack_chk_fail" \
	"$({ readelf -dW "$so"; readelf -lW "$so"; readelf -W --dyn-syms "$so"; } |
		grep -o 'BIND_NOW\|GNU_RELRO\|__stack_chk_fail' | sort -u | tr '\n' ' ' | sed 's/ $//')"
check "it runs where it was unpacked" env PYTHONPATH="$TMP/unpacked" "$PYTHON" -c 'import poolscope
assert poolscope.__file__.startswith("'"$TMP"'")
with poolscope.span("unpacked"):
    pass'

# A machine with nothing but Debian may lack pip.
if "$PYTHON" -m pip --version >/dev/null 2>&1; then
	check "pip installs it without a network" "$PYTHON" -m pip install -q --no-index --no-deps \
		--disable-pip-version-check --target "$TMP/target" "$file"
	check "... and it runs" env PYTHONPATH="$TMP/target" "$PYTHON" -c 'import poolscope
with poolscope.span("installed"):
    pass'
fi

# The stubs have what the module has.
check "stubs and module have the same names" env PYTHONPATH="$TMP/unpacked" "$PYTHON" -c 'import ast, poolscope, sys
tree = ast.parse(open(sys.argv[1]).read())
names = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name[0] != "_"}
assert names == set(poolscope.__all__) - {"Store", "Table"}, names ^ set(poolscope.__all__)' "$TMP/unpacked/poolscope/__init__.pyi"
