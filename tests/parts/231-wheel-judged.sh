#!/bin/sh
# The wheel, judged by those who judge wheels: auditwheel says on which systems it runs,
# abi3audit on which versions of Python, mypy whether its types fit a program, and pip
# installs it from the sources.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
need_python pywheel auditwheel abi3audit mypy || skip "auditwheel, abi3audit and mypy cannot be had from pip"
bin=$PARTS/pywheel/bin
check "a wheel" "$bin/python" "$ROOT/agents/python/build_wheel.py" "$B/python" "$TMP/wheel"
wheel=$(cat "$TMP/out")
check "auditwheel looks at it" "$bin/auditwheel" show "$wheel"
check_text "... and finds what its name says" "manylinux_2_34_$(uname -m)" \
	"$(tr '\n' ' ' <"$TMP/out" | grep -o '"manylinux_[_0-9a-z]*"' | tail -1 | tr -d '"')"
check "abi3audit finds nothing" "$bin/abi3audit" --strict --report "$wheel"
check "pip installs it" "$bin/pip" install -q --no-index --no-deps --target "$TMP/target" "$wheel"
cat >"$TMP/good.py" <<'PY'
import poolscope as ps


@ps.span("load", "io", size=3)
def load(x: int) -> int:
    with ps.span("step", rank=1, under=ps.traceparent()) as span:
        span.set("loss", 0.5)
    ps.event("a", "b", c=None)
    ps.counter("tokens", "By").add(3)
    ps.sample(loss=0.5, labels={"rank": 3}, units={"loss": "1"}, counters=("loss",))
    return x


number: int = load(3)
dropped: int = ps.stats()["dropped"]
done: bool = ps.flush(1.0)
PY
cat >"$TMP/bad.py" <<'PY'
import poolscope as ps

ps.span(3)
ps.counter("a").add("x")
ps.sample("loss")
number: str = ps.stats()["dropped"]
PY
types() {
	MYPYPATH=$TMP/target "$bin/mypy" --strict --follow-imports=silent --cache-dir "$TMP/cache" "$@"
}
check "a program fits the types" types "$TMP/good.py"
for module in "$TMP"/target/poolscope/*.py; do
	[ "$(basename "$module")" = __init__.py ] || set -- "$@" "$module"
done
check "so do the modules themselves" types "$@"
check_status 1 "a wrong one does not" types "$TMP/bad.py"
check_text "... in each of its lines" "3 4 5 6" \
	"$(sed -n 's/^[^:]*bad.py:\([0-9]*\): error.*/\1/p' "$TMP/out" | sort -u | tr '\n' ' ' | sed 's/ $//')"
check "pip builds it from the sources" "$bin/pip" install -q --no-index --no-deps --target "$TMP/built" "$ROOT/agents/python"
check "... and it runs" env PYTHONPATH="$TMP/built" "$bin/python" -c 'import poolscope
with poolscope.span("built"):
    pass'
