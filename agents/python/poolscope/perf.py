"""poolscope.perf - what the host did while a job ran: a report a second, and what they add up to.

    collector = poolscope.perf.PerformanceMetricsCollector()
    collector.start()
    ...
    collector.finalize()
    plotter = poolscope.perf.PerfReportPlotter(logger)      # has log_metric(name, value, step=)
    plotter.add_perf_reports(collector.perf_reports, node=0)
    plotter.report_nodes_perf()

Numbers of the whole host, read from /proc.  With compat="bugs" the results are those of the
older program: equal weights whatever was dropped between two reports, totals since boot, CPU
hours by the clock and the processors of who asks, an exception for a node without reports.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
import threading
import time
from typing import Any, Callable, Iterable, Mapping, Protocol

try:
    from . import sample as _sample
except ImportError:  # this file alone

    def _sample(**_: Any) -> None:  # type: ignore[misc]
        pass

__all__ = ["PerfReportPlotter", "PerformanceMetricsCollector", "PerformanceReportingThread"]

_log = logging.getLogger(__name__)
_CPU, _CPU_MIN, _CPU_MAX = "cpu_pct_per_cpu_avg", "cpu_pct_per_cpu_min", "cpu_pct_per_cpu_max"
_PERCENT = (_CPU, _CPU_MIN, _CPU_MAX, "mem_percent", "disk_usage_percent")
_COUNTED = ("disk_io_read_mb", "disk_io_write_mb", "net_io_lo_sent_mb", "net_io_ext_sent_mb",
            "net_io_lo_recv_mb", "net_io_ext_recv_mb")
_UNITS = {"perf." + key: "%" if key in _PERCENT else "MiBy" for key in _PERCENT + _COUNTED}
_COUNTERS = frozenset("perf." + key for key in _COUNTED)
_Pair = tuple[int, int]
_Report = dict[str, float]
_OVER = {"at100": 100, "over80": 80, "over40": 40, "over20": 20}


# ---- one report

class _Devices:
    """Counters of devices.  One that falls has wrapped: what it had is added from then on."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Pair, _Pair]] = {}

    def unwrapped(self, now: dict[str, _Pair]) -> dict[str, _Pair]:
        """now: {name: (in, out)}"""
        known: dict[str, tuple[_Pair, _Pair]] = {}
        for name, values in now.items():
            last, more = self._known.get(name, ((0, 0), (0, 0)))
            first, second = (m + l if v < l else m for v, l, m in zip(values, last, more))
            known[name] = values, (first, second)
        if known:
            self._known = known
        return {name: (a[0] + b[0], a[1] + b[1]) for name, (a, b) in known.items()}


class _Host:
    """What the kernel says."""

    def __init__(self, root: str = "/"):
        self._root = root
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._disks, self._interfaces = _Devices(), _Devices()

    def _lines(self, path: str) -> list[str]:
        with open(os.path.join(self._root, "proc", path), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()

    def processors(self) -> dict[str, list[float]]:
        """Seconds in each state, by processor."""
        rows = (line.split() for line in self._lines("stat") if line.startswith("cpu") and line[3:4].isdigit())
        return {name: ([int(n) / self._ticks for n in numbers] + [0.0] * 10)[:10] for name, *numbers in rows}

    def report(self, before: dict[str, list[float]], now: dict[str, list[float]]) -> _Report:
        """before, now: processors"""
        busy = [_busy(before[name], now[name]) for name in now if name in before] or [0.0]
        report = {_CPU: sum(busy) / len(busy), _CPU_MIN: min(busy), _CPU_MAX: max(busy),
                  "mem_percent": self._memory(), "disk_usage_percent": self._space()}
        report.update(self.totals())
        return report

    def totals(self) -> _Report:
        """Since boot, and when."""
        read, written = _sum(self._disks.unwrapped(self._diskstats()).values())
        interfaces = self._interfaces.unwrapped(self._net_dev())
        local = {name for name in interfaces if name.lower() == "lo" or "loopback" in name.lower()}
        lo_recv, lo_sent = _sum(interfaces[name] for name in local)
        ext_recv, ext_sent = _sum(interfaces[name] for name in interfaces if name not in local)
        totals = dict(zip(_COUNTED, (read, written, lo_sent, ext_sent, lo_recv, ext_recv)))
        totals["timestamp"] = time.time()
        return totals

    def _memory(self) -> float:
        rows = (line.split() for line in self._lines("meminfo"))
        size = {row[0]: int(row[1]) for row in rows if len(row) > 1}
        total, free = size["MemTotal:"], size.get("MemFree:", 0)
        available = size.get("MemAvailable:", free + size.get("Cached:", 0))
        return _percent(total - (free if available > total else available), total)

    def _space(self) -> float:
        try:
            space = os.statvfs(self._root)
        except OSError:
            return 0.0
        used = (space.f_blocks - space.f_bfree) * space.f_frsize
        return _percent(used, used + space.f_bavail * space.f_frsize)

    def _diskstats(self) -> dict[str, _Pair]:
        """Bytes read and written; a container may have no disk."""
        disks = {}
        for row in map(str.split, self._optional("diskstats")):
            at = (5, 9) if len(row) == 14 or len(row) >= 18 else (4, 6) if len(row) == 7 else None
            if at and os.path.exists(os.path.join(self._root, "sys/block", row[2].replace("/", "!"))):
                disks[row[2]] = int(row[at[0]]) * 512, int(row[at[1]]) * 512
        return disks

    def _net_dev(self) -> dict[str, _Pair]:
        """Bytes received and sent."""
        interfaces = {}
        for line in self._optional("net/dev")[2:]:
            name, _, numbers = line.rpartition(":")
            row = numbers.split()
            interfaces[name.strip()] = int(row[0]), int(row[8])
        return interfaces

    def _optional(self, path: str) -> list[str]:
        try:
            return self._lines(path)
        except OSError:
            return []


def _busy(before: list[float], now: list[float]) -> float:
    """Percent of a processor's time."""
    delta = [max(0.0, b - a) for a, b in zip(before, now)]
    total = sum(delta) - delta[8] - delta[9]  # a guest's time is in the user's
    return round((total - delta[3] - delta[4]) / total * 100, 1) if total else 0.0


def _percent(used: float, total: float) -> float:
    return round(used / total * 100, 1) if total > 0 else 0.0


def _sum(pairs: Iterable[_Pair]) -> tuple[float, float]:
    """In MiB."""
    first, second = (sum(numbers) / 2**20 for numbers in zip(*pairs, (0, 0)))
    return first, second


# ---- many reports

class PerformanceReportingThread(threading.Thread):
    """Calls callback_on_loop(report, **callback_tags) every time_increment seconds, and
    callback_on_exit() at the end.  A report takes cpu_interval seconds."""

    def __init__(
        self,
        initial_time_increment: float = 1.0,
        cpu_interval: float = 1.0,
        callback_on_loop: Callable[..., object] | None = None,
        callback_on_exit: Callable[[], object] | None = None,
        callback_tags: Mapping[str, Any] | None = None,
    ):
        super().__init__(name="poolscope.perf", daemon=True)
        self.time_increment = initial_time_increment
        self.cpu_interval = cpu_interval
        self.callback_on_loop = callback_on_loop
        self.callback_on_exit = callback_on_exit
        self.callback_tags = dict(callback_tags or {})
        self._ended = threading.Event()
        self._host = _Host()
        self._before: dict[str, list[float]] | None = None  # the processors at the last report
        self._failed = False

    def run(self) -> None:
        try:
            due = time.monotonic()
            self._before = self._host.processors()
            while True:  # the shortest job has a report, too
                # After a stall one report, not a burst.
                due = max(due + self.time_increment, time.monotonic() + self.cpu_interval)
                self._ended.wait(due - self.cpu_interval - time.monotonic())
                self._try_loop()
                if self._ended.is_set():
                    break
        finally:
            if self.callback_on_exit:
                self.callback_on_exit()

    def _try_loop(self) -> None:
        """What goes wrong once may go right the next time."""
        try:
            self._run_loop()
        except Exception:
            if not self._failed:
                _log.warning("no report of this host", exc_info=True)
            self._failed = True
            self._ended.wait(self.cpu_interval)

    def _run_loop(self) -> None:
        """Take one report."""
        before = self._host.processors()
        if self._ended.wait(self.cpu_interval):
            before = self._before or before  # the last one is of all that is left
        self._before = self._host.processors()
        report = self._host.report(before, self._before)
        numbers: dict[str, Any] = {"perf." + key: report[key] for key in _PERCENT + _COUNTED}
        _sample(units=_UNITS, counters=_COUNTERS, **numbers)
        if self.callback_on_loop:
            self.callback_on_loop(report, **self.callback_tags)

    # What these were called once.
    call_on_loop = property(lambda self: self.callback_on_loop, lambda self, f: setattr(self, "callback_on_loop", f))
    call_on_exit = property(lambda self: self.callback_on_exit, lambda self, f: setattr(self, "callback_on_exit", f))

    def finalize(self) -> None:
        """Take the last report, at once, and end."""
        self._ended.set()
        if self.ident is not None and self is not threading.current_thread():
            self.join()


class _Summary:
    """What the reports of a node add up to.  Each stands for the time since the one before;
    the first, if nobody knows since when, for the shortest such time."""

    def __init__(self) -> None:
        self.cpus = os.cpu_count() or 1
        self.greatest: _Report = {}
        self.totals: _Report = {}
        self._last: _Report = {}
        self._begun: float | None = None
        self._time: float | None = None
        self._shortest = math.inf
        self._seconds, self._weighted = 0.0, [0.0] * (1 + len(_OVER))
        self._first: list[float] | None = None  # its numbers, as long as they have no weight

    def begin(self, totals: _Report) -> None:
        """The job begins: totals grow from these."""
        self._begun = self._time = totals["timestamp"]
        self._last = {key: totals[key] for key in _COUNTED}
        self.totals = dict.fromkeys(_COUNTED, 0.0)

    def add(self, given: Mapping[str, Any]) -> None:
        report: _Report = {key: value for key, value in given.items() if _is_number(value)}
        for key, value in report.items():
            self.greatest[key] = max(value, self.greatest.get(key, value))
            if key in _COUNTED:
                last = self._last.get(key, value)
                # After a restart it counts from zero.
                self.totals[key] = self.totals.get(key, 0.0) + (value - last if value >= last else value)
                self._last[key] = value
        now = report.get("timestamp", self._time)
        seconds = None if now is None or self._time is None else now - self._time
        if self._begun is None:
            self._begun = now
        self._time = now
        if _CPU in report:
            self._weigh(report[_CPU], seconds)

    def _weigh(self, cpu: float, seconds: float | None) -> None:
        numbers = [cpu] + [100.0 * (cpu >= over) for over in _OVER.values()]
        if seconds is None:
            self._first = numbers
            return
        if seconds > 0:
            self._shortest = min(self._shortest, seconds)
        else:  # the clock was set back
            seconds = self._unknown()
        self._seconds += seconds
        self._weighted = [w + seconds * n for w, n in zip(self._weighted, numbers)]

    def _unknown(self) -> float:
        return self._shortest if self._shortest < math.inf else 1.0

    def averages(self) -> list[float | None]:
        """The mean of the processors' average, and percent of the time that it was over each limit."""
        seconds, weighted = self._seconds, self._weighted
        if self._first:
            seconds += self._unknown()
            weighted = [w + self._unknown() * n for w, n in zip(weighted, self._first)]
        return [w / seconds if seconds else None for w in weighted]

    def hours(self) -> float | None:
        """Of all processors, by the clock of the node."""
        if self._begun is None or self._time is None:
            return None
        return max(0.0, self._time - self._begun) * self.cpus / 3600


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


class _Reports(list[_Report]):
    """Reports that were kept, and a summary of all that there were."""

    def __init__(self) -> None:
        super().__init__()
        self.summary = _Summary()


class PerformanceMetricsCollector:
    """Keeps at most max_length reports: when there are more, every other one, and of those
    to come every second, fourth ... one."""

    def __init__(self, max_length: int = 1000, compat: str | None = None):
        _check(compat)
        self.report_thread = PerformanceReportingThread(callback_on_loop=self.append_perf_metrics)
        self.max_length = max_length + max_length % 2
        self._all = None if compat else _Reports()
        self.perf_reports: list[_Report] = [] if self._all is None else self._all
        self.perf_reports_freqs = 1
        self.perf_reports_counter = 0
        self._newest: _Report | None = None

    def start(self) -> None:
        if self._all is not None:
            self._all.summary.begin(self.report_thread._host.totals())
        self.report_thread.start()

    def finalize(self) -> None:
        """Take the last report and keep it, in the place of the last one if there is no other."""
        self.report_thread.finalize()
        reports = self.perf_reports
        if self._all is None or self._newest is None or not self.max_length or reports[-1:] == [self._newest]:
            return
        if len(reports) == self.max_length:
            del reports[-1]
        reports.append(self._newest)

    def append_perf_metrics(self, perf_metrics: _Report) -> None:
        self.perf_reports_counter += 1
        self._newest = perf_metrics
        if self._all is not None:
            self._all.summary.add(perf_metrics)
        if self.perf_reports_counter % self.perf_reports_freqs:
            return
        self.perf_reports.append(perf_metrics)
        if len(self.perf_reports) > self.max_length:
            self.perf_reports[:] = self.perf_reports[0:self.max_length:2]
            self.perf_reports_freqs *= 2
            _log.info("more than %d reports: from now on every %dth is kept",
                      self.max_length, self.perf_reports_freqs)


class _Logger(Protocol):
    def log_metric(self, key: str, value: float, *, step: Any) -> object: ...


class PerfReportPlotter:
    """Gives what the reports of each node add up to to metrics_logger.log_metric(name, value, step=node)."""

    def __init__(self, metrics_logger: _Logger, compat: str | None = None):
        _check(compat)
        self._compat = compat
        self.all_reports: dict[Any, list[_Report]] = {}
        self.metrics_logger = metrics_logger

    def add_perf_reports(self, perf_reports: list[_Report], node: Any) -> None:
        self.all_reports[node] = perf_reports

    def save_to(self, perf_report_file_path: str | None = None) -> str:
        """All reports as JSON, in this file or a new one; returns its path."""
        if perf_report_file_path is None:
            handle, perf_report_file_path = tempfile.mkstemp(suffix=".json")
            os.close(handle)
        with open(perf_report_file_path, "w", encoding="utf-8") as file:
            json.dump(self.all_reports, file, indent=4)
        return perf_report_file_path

    def report_nodes_perf(self) -> None:
        for node, reports in self.all_reports.items():
            metrics = _as_before(reports) if self._compat else _metrics_of(reports)
            if not metrics:
                _log.warning("node %s has no reports", node)
            for name, value in metrics.items():
                self.metrics_logger.log_metric(name, value, step=node)


def _check(compat: str | None) -> None:
    if compat not in (None, "bugs"):
        raise ValueError('compat is None or "bugs"')


def _metrics_of(reports: list[_Report]) -> dict[str, float]:
    summary = getattr(reports, "summary", None)
    if summary is None:
        summary = _Summary()
        for report in reports:
            summary.add(report)
    if not summary.greatest:
        return {}
    return _metrics(summary.greatest, summary.totals, summary.averages(), summary.hours())


def _as_before(reports: list[_Report]) -> dict[str, float]:
    """What the older program makes of them."""
    greatest = {key: max(report[key] for report in reports) for key in _PERCENT + _COUNTED}
    cpu = [report[_CPU] for report in reports]
    averages: list[float | None] = [sum(cpu) / len(cpu)]
    averages += [sum(u >= over for u in cpu) / len(cpu) * 100.0 for over in _OVER.values()]
    hours = (time.time() - reports[0]["timestamp"]) * (os.cpu_count() or 1) / 60 / 60
    return _metrics(greatest, greatest, averages, hours)


def _metrics(
    greatest: _Report, totals: _Report, averages: list[float | None], hours: float | None
) -> dict[str, float]:
    """What is known, in the order of the older program."""
    mean, *over = averages
    metrics: dict[str, float | None] = {"max_t_(%s)" % _CPU: greatest.get(_CPU), "cpu_avg_utilization_pct": mean}
    metrics.update(("cpu_avg_utilization_%s_pct" % name, value) for name, value in zip(_OVER, over))
    metrics.update(("max_t_(%s)" % key, greatest.get(key)) for key in (_CPU_MIN, _CPU_MAX))
    metrics["node_cpu_hours"] = hours
    metrics["node_unused_cpu_hours"] = None if mean is None or hours is None else hours * (100.0 - mean) / 100.0
    metrics["max_t_(mem_percent)"] = greatest.get("mem_percent")
    metrics["max_t_disk_usage_percent"] = greatest.get("disk_usage_percent")
    metrics.update(("total_" + key, totals.get(key)) for key in _COUNTED)
    return {name: value for name, value in metrics.items() if value is not None}
