# mutants - the places that tests/mutants breaks are there, each once.
# SPDX-License-Identifier: MIT
set -eu
/usr/bin/python3 tests/mutants/mutants.py check tests/mutants/*.txt
