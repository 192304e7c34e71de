# run - do the tests notice that a rule of the code is broken?  tests/mutants/mutants.py.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/../.."
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
/usr/bin/python3 tests/mutants/mutants.py run "$TMP/tree" tests/mutants/*.txt
