"""metrics - is a file OpenMetrics, as the strict parser of the Prometheus project reads it?

Usage: metrics.py FILE [CANARY]: with a canary, the partitions of texts.py are in it, each as
it was sent, and each once.  Exits with 1 and a word otherwise.
SPDX-License-Identifier: MIT
"""

import sys

from prometheus_client.openmetrics import parser


def main():
    path, canary = sys.argv[1], sys.argv[2:]
    with open(path, encoding="utf-8", newline="\n") as f:
        families = list(parser.text_string_to_metric_families(f.read()))
    samples = [s for family in families for s in family.samples]
    assert samples, "empty"
    assert len({(s.name, tuple(sorted(s.labels.items()))) for s in samples}) == len(samples), "a series twice"
    if canary:
        from texts import names
        known = [s.labels["partition"] for s in samples if s.name == "poolscope_pool_nodes_known"]
        assert sorted(known) == sorted(names(canary[0])), set(known) ^ set(names(canary[0]))
    print(len(families), "families,", len(samples), "samples")


if __name__ == "__main__":
    main()
