# python - what a span costs a program in Python, next to opentelemetry-sdk, viztracer and
# prometheus_client, which pip installs once into build/parts.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
. "$(dirname "$0")/lib.sh"
[ -e "$B/python/poolscope/_native.abi3.so" ] || make -s python
peers=${PARTS:-$PWD/build/parts}/pybench
if [ ! -e "$peers/complete" ]; then
	rm -rf "$peers"
	{ /usr/bin/python3 -m venv "$peers" &&
		"$peers/bin/pip" install -q --disable-pip-version-check opentelemetry-sdk viztracer prometheus_client &&
		touch "$peers/complete"; } >"$TMP/pip.log" 2>&1 || tail -n 1 "$TMP/pip.log"
fi
# An import is that of compiled files.
unset PYTHONDONTWRITEBYTECODE
python=/usr/bin/python3
[ ! -e "$peers/complete" ] || python=$peers/bin/python
poolscope up --agent >/dev/null
PYTHONPATH=$B/python "$python" tests/bench/python.py
