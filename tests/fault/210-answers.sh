#!/bin/sh
# Random records, honest and hostile: the answers are the same whatever is done to the
# store, and its rows pass its own verify: tests/fault/answers.py.
cd "$(dirname "$0")" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 answers.py
