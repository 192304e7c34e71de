"""python_perf - poolscope.perf against the recorded cases of tests/golden/perf, and numbers by hand.

    python_perf.py CASES [unittest's options]

SPDX-License-Identifier: MIT
"""
import copy
import json
import logging
import math
import os
import pickle
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from poolscope import perf

CASES = sys.argv.pop(1) if len(sys.argv) > 1 else ""
CPU = "cpu_pct_per_cpu_avg"
KEYS = ("cpu_pct_per_cpu_avg cpu_pct_per_cpu_min cpu_pct_per_cpu_max mem_percent disk_usage_percent "
        "disk_io_read_mb disk_io_write_mb net_io_lo_sent_mb net_io_ext_sent_mb net_io_lo_recv_mb "
        "net_io_ext_recv_mb").split()


def load(name):
    with open(os.path.join(CASES, name), encoding="utf-8") as file:
        return json.load(file)


def report(when, number, **more):
    return dict({key: float(number) for key in KEYS}, timestamp=float(when), **more)


class Logger:
    def __init__(self):
        self.calls = []

    def log_metric(self, key, value, step):
        self.calls.append([key, value, step])


def plotted(nodes, compat=None):
    """What the logger got of {node: reports}, and as a dict of the last node."""
    plotter = perf.PerfReportPlotter(Logger(), compat=compat)
    for node, reports in nodes.items():
        plotter.add_perf_reports(reports, node)
    plotter.report_nodes_perf()
    return plotter.metrics_logger.calls, {key: value for key, value, _ in plotter.metrics_logger.calls}


def collected(reports, max_length, compat=None):
    collector = perf.PerformanceMetricsCollector(max_length, compat=compat)
    for each in reports:
        collector.append_perf_metrics(each)
    collector.finalize()
    return collector.perf_reports


class Recorded(unittest.TestCase):
    def case(self, name):
        inputs = load(name + "/case.json")["inputs"]
        nodes = {n["node"]: n["reports"] for n in load(name + "/" + inputs["reports"])["nodes"]}
        host = mock.patch.multiple("poolscope.perf.os", cpu_count=lambda: inputs["cpu_count"])
        clock = mock.patch("poolscope.perf.time.time", lambda: inputs["now"])
        return nodes, host, clock

    def test_bugs_are_those_of_the_older_program(self):
        for name in ("r01_one_node", "r02_four_nodes", "r03_one_report", "r05_thresholds", "r06_prefix"):
            nodes, host, clock = self.case(name)
            with self.subTest(name), host, clock:
                calls, _ = plotted(nodes, "bugs")
                want = load(name + "/expected/metrics.json")["plotter_calls"]
                self.assertEqual([[k, s] for k, _, s in want], [[k, s] for k, _, s in calls])
                for (key, a, _), (_, b, _) in zip(want, calls):
                    self.assertTrue(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (key, a, b))

    def test_without_them_peaks_and_names_are_the_same_and_totals_grow(self):
        for name in ("r01_one_node", "r02_four_nodes", "r05_thresholds", "r06_prefix"):
            nodes, host, clock = self.case(name)
            with self.subTest(name), host, clock:
                want = load(name + "/expected/metrics.json")["plotter_calls"]
                calls, _ = plotted(nodes)
                self.assertEqual([[k, s] for k, _, s in want], [[k, s] for k, _, s in calls])
                for (key, a, node), (_, b, _) in zip(want, calls):
                    reports = nodes[node]
                    if key.startswith("max_"):
                        self.assertEqual(a, b)
                    elif key.startswith("total_"):
                        total = [r[key[len("total_"):]] for r in reports]
                        self.assertEqual(total, sorted(total))
                        self.assertAlmostEqual(total[-1] - total[0], b)
                    elif key == "node_cpu_hours":
                        self.assertAlmostEqual((reports[-1]["timestamp"] - reports[0]["timestamp"]) / 3600
                                               * os.cpu_count(), b)

    def test_a_node_without_reports(self):
        nodes, host, clock = self.case("r04_error_no_report")
        with host, clock:
            with self.assertRaisesRegex(ValueError, "empty"):
                plotted(nodes, "bugs")
            nodes[7] = [report(1, 5)]
            with self.assertLogs("poolscope.perf", "WARNING") as log:
                calls, _ = plotted(nodes)
        self.assertEqual(["WARNING:poolscope.perf:node 0 has no reports"], log.output)
        self.assertEqual(({7}, 18), ({step for _, _, step in calls}, len(calls)))

    def test_which_reports_are_kept(self):
        for name in ("d0010", "d0100", "d1000"):
            for compat in (None, "bugs"):
                with self.subTest(name, compat=compat), open(os.path.join(CASES, name, "expected/per_n.tsv")) as file:
                    collector = perf.PerformanceMetricsCollector(int(name[1:]), compat=compat)
                    rows = [line.split() for line in file if line[:1].isdigit()]
                    self.assertEqual(5000, len(rows))
                    for row in rows:
                        collector.append_perf_metrics(report(row[0], row[0]))
                        kept = [int(r[CPU]) for r in collector.perf_reports]
                        got = [int(row[0]), len(kept), collector.perf_reports_freqs, kept[0], kept[-1], sum(kept)]
                        self.assertEqual(list(map(int, row)), got)

    def test_reports_are_saved_byte_for_byte(self):
        nodes, _, _ = self.case("r01_one_node")
        plotter = perf.PerfReportPlotter(None)
        plotter.add_perf_reports(nodes[0], 0)
        path = plotter.save_to()
        with open(path, "rb") as got, open(CASES + "/r01_one_node/expected/saved_reports.json", "rb") as want:
            self.assertEqual(want.read(), got.read())
        os.unlink(path)
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(folder + "/x", plotter.save_to(folder + "/x"))


class ByHand(unittest.TestCase):
    def test_averages_are_of_time_and_not_of_what_is_kept(self):
        reports = [report(i, 100 if i <= 100 else 0) for i in range(1, 5001)]
        _, right = plotted({0: collected(reports, 10)})
        _, wrong = plotted({0: collected(reports, 10, "bugs")}, "bugs")
        self.assertAlmostEqual(2, right["cpu_avg_utilization_at100_pct"])
        self.assertAlmostEqual(2, right["cpu_avg_utilization_pct"])
        self.assertAlmostEqual(100 / 9, wrong["cpu_avg_utilization_at100_pct"])

    def test_a_list_of_reports_is_weighed_by_its_times(self):
        # The shortest time is 2 s: 2 s of 90, 2 s of 50, 6 s of 10, 10 s of 30.
        reports = [report(100, 90), report(102, 50), report(108, 10), report(118, 30)]
        _, got = plotted({0: reports})
        self.assertAlmostEqual((2 * 90 + 2 * 50 + 6 * 10 + 10 * 30) / 20, got["cpu_avg_utilization_pct"])
        self.assertAlmostEqual(10, got["cpu_avg_utilization_over80_pct"])
        self.assertAlmostEqual(20, got["cpu_avg_utilization_over40_pct"])
        self.assertAlmostEqual(70, got["cpu_avg_utilization_over20_pct"])
        _, one = plotted({0: [report(5, 42)]})
        self.assertEqual((42, 0), (one["cpu_avg_utilization_pct"], one["node_cpu_hours"]))

    def test_a_clock_that_is_set_back_gives_no_negative_weight(self):
        _, got = plotted({0: [report(100, 10), report(101, 20), report(50, 30), report(51, 40)]})
        self.assertAlmostEqual(25, got["cpu_avg_utilization_pct"])
        self.assertEqual(0, got["node_cpu_hours"])

    def test_peaks_and_totals_are_of_every_report(self):
        reports = [report(i, 10 + i / 1000) for i in range(1, 5001)]
        reports[4990].update(mem_percent=99.5)
        reports[4999].update(disk_io_read_mb=700.0)
        kept = collected(reports, 10)
        self.assertIs(reports[-1], kept[-1])
        for same in (kept, copy.copy(kept), pickle.loads(pickle.dumps(kept))):
            _, got = plotted({0: same})
            self.assertEqual(99.5, got["max_t_(mem_percent)"])
            self.assertAlmostEqual(700 - 10.001, got["total_disk_io_read_mb"])
        _, plain = plotted({0: json.loads(json.dumps(kept))})
        self.assertAlmostEqual(700 - 10.001, plain["total_disk_io_read_mb"])

    def test_a_total_that_falls_begins_again(self):
        _, got = plotted({0: [report(i, n) for i, n in enumerate((500, 510, 530, 3, 13))]})
        self.assertAlmostEqual(10 + 20 + 3 + 10, got["total_net_io_ext_recv_mb"])

    def test_the_store_keeps_its_bound_to_the_end(self):
        for max_length, reports in ((10, 10), (10, 18), (10, 19), (10, 21), (9, 10), (1, 1), (1, 7), (0, 5)):
            kept = collected([report(i, i) for i in range(reports)], max_length)
            self.assertLessEqual(len(kept), max_length + max_length % 2)
            self.assertEqual([reports - 1.0][:max_length], [r[CPU] for r in kept[-1:]])
        _, got = plotted({0: kept})
        self.assertEqual(4, got["max_t_(mem_percent)"])

    def test_what_no_report_says_is_left_out(self):
        reports = [report(i, 5) for i in range(3)]
        for each, bad in zip(reports, (None, math.nan, "x")):
            each["mem_percent"] = bad
            del each["disk_io_read_mb"]
        reports[1][CPU] = math.nan
        calls, got = plotted({0: reports})
        self.assertEqual(16, len(calls))
        self.assertFalse({"max_t_(mem_percent)", "total_disk_io_read_mb"} & set(got))
        self.assertEqual(5, got["cpu_avg_utilization_pct"])

    def test_another_word_for_compat_is_refused(self):
        for make in (lambda: perf.PerfReportPlotter(None, compat="bug"),
                     lambda: perf.PerformanceMetricsCollector(compat="bug")):
            with self.assertRaises(ValueError):
                make()


class Thread(unittest.TestCase):
    def test_the_end_is_at_once_and_has_a_report(self):
        got, ends = [], []
        thread = perf.PerformanceReportingThread(60.0, 30.0, got.append, lambda: ends.append(1))
        thread.start()
        busy = time.monotonic() + 0.5
        while time.monotonic() < busy:
            pass
        begin = time.monotonic()
        thread.finalize()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual((1, [1]), (len(got), ends))
        self.assertEqual(set(KEYS) | {"timestamp"}, set(got[0]))
        self.assertGreater(got[0]["cpu_pct_per_cpu_max"], 20)  # this process, before it was asked to end
        thread.finalize()

    def test_the_shortest_job_has_a_report(self):
        got = []
        thread = perf.PerformanceReportingThread(60.0, 30.0, got.append)
        thread.finalize()  # before it began to run
        thread.start()
        thread.finalize()
        self.assertEqual(1, len(got))

    def test_the_period_does_not_drift_and_a_stall_is_no_burst(self):
        class Clock:
            now = 0.0

            def wait(self, seconds):
                self.now += max(0.0, seconds)

            def is_set(self):
                return self.now > 10

        clock, times = Clock(), []

        def slow(_):
            times.append(clock.now)
            clock.now += 3.5 if len(times) == 4 else 0.3

        thread = perf.PerformanceReportingThread(1.0, 0.25, slow)
        thread._ended = clock
        with mock.patch("poolscope.perf.time.monotonic", lambda: clock.now):
            thread.run()
        self.assertEqual([1, 2, 3, 4, 7.75, 8.75, 9.75], times)

    def test_a_callback_that_fails_costs_its_report_alone(self):
        got = []

        def fails(each, **tags):
            got.append(tags)
            if len(got) < 3:
                raise KeyError("mine")

        thread = perf.PerformanceReportingThread(0.01, 0.01, fails, callback_tags={"job": "j"})
        with self.assertLogs("poolscope.perf", "WARNING") as log:
            thread.start()
            while len(got) < 5 and thread.is_alive():
                time.sleep(0.01)
            thread.finalize()
        self.assertEqual({"job": "j"}, got[4])
        self.assertEqual(1, len(log.records))

    def test_nobody_waits_for_one_that_was_forgotten_or_never_started(self):
        perf.PerformanceReportingThread().finalize()
        self.assertTrue(perf.PerformanceReportingThread().daemon)
        ended = threading.Event()
        thread = perf.PerformanceReportingThread(0.01, 0.01, lambda _: (thread.finalize(), ended.set()))
        thread.start()
        self.assertTrue(ended.wait(30))

    def test_totals_begin_with_the_job(self):
        totals = dict.fromkeys(KEYS[5:], 100.0)
        collector = perf.PerformanceMetricsCollector()
        thread = collector.report_thread
        thread.time_increment = thread.cpu_interval = 60.0
        now = time.time()
        with mock.patch.object(thread._host, "totals", side_effect=[
                dict(totals, timestamp=now), dict(totals, disk_io_write_mb=107.5, timestamp=now + 3600)]):
            collector.start()
            collector.finalize()
        _, got = plotted({0: collector.perf_reports})
        self.assertEqual((7.5, 0), (got["total_disk_io_write_mb"], got["total_disk_io_read_mb"]))
        self.assertAlmostEqual(os.cpu_count(), got["node_cpu_hours"])


if __name__ == "__main__":
    logging.getLogger("poolscope.perf").setLevel(logging.INFO)
    unittest.main()
