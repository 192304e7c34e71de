# compare - how often the comparison of runs errs, in as many trials as its limits are of.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
exec "$B/bench/compare" 10000
