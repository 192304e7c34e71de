"""python - what a span costs a program in Python, next to what others cost.

CPU time of the thread, of the best of many bursts, for each thing measured; between bursts
the library's thread hands over what it has, untimed.  Others are measured where pip has
them: tests/bench/python.sh.
SPDX-License-Identifier: MIT
"""
import asyncio
import importlib.util
import subprocess
import sys
import time

import poolscope as ps

BURST, BURSTS = 2000, 40


def best(burst, after=lambda: None):
    """us of one of BURST, in the best burst."""
    least = float("inf")
    for _ in range(BURSTS):
        began = time.thread_time_ns()
        burst()
        least = min(least, time.thread_time_ns() - began)
        after()
    return least / BURST / 1000


def say(what, us, goal=None):
    print("python: %-44s %7.2f us%s" % (what, us, "" if goal is None else " (goal %.2f)" % goal))
    if goal is not None and us > goal:
        print("python: MISSED the goal of %.2f us" % goal)


def plain():
    for _ in range(BURST):
        with ps.span("step"):
            pass


def attribute():
    for i in range(BURST):
        with ps.span("step", i=i):
            pass


def three():
    for i in range(BURST):
        with ps.span("step", "bench", i=i, rate=0.5, who="me"):
            pass


@ps.span("step")
def decorated():
    pass


def calls():
    for _ in range(BURST):
        decorated()


def events():
    for i in range(BURST):
        ps.event("bench", "step", i=i)


def samples():
    for i in range(BURST):
        ps.sample(loss=0.5, rate=i, labels={"rank": 3})


def count():
    counter = ps.counter("bench")
    for _ in range(BURST):
        counter.add(1)


def tasks():
    async def main():
        plain()

    asyncio.run(main())


class Empty:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def empty():
    for _ in range(BURST):
        with Empty():
            pass


def ours():
    def flush():
        if not ps.flush(10.0):
            raise SystemExit("python: no agent")

    say("a span", best(plain, flush), 0.3)
    say("... with an attribute", best(attribute, flush), 0.45)
    say("... with three and a category", best(three, flush))
    say("a decorated function", best(calls, flush))
    say("an event with an attribute", best(events, flush))
    say("a sample of two numbers with a label", best(samples, flush))
    say("a counter", best(count))
    say("a span of a task of asyncio", best(tasks, flush))
    say("an empty class of Python (limit)", best(empty))
    counts = ps.stats()
    print("python: %d recorded, %d dropped" % (counts["recorded"], counts["dropped"]))


def opentelemetry():
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Nowhere(SpanExporter):
        def export(self, spans):
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    tracer = provider.get_tracer("bench")

    def burst():
        for _ in range(BURST):
            with tracer.start_as_current_span("step"):
                pass

    say("opentelemetry-sdk, batch processor: a span", best(burst, provider.force_flush))


def viztracer():
    from viztracer import VizTracer

    tracer = VizTracer(verbose=0)
    tracer.start()

    def burst():
        for _ in range(BURST):
            with tracer.log_event("step"):
                pass

    say("viztracer: log_event", best(burst, tracer.clear))
    tracer.stop()


def prometheus_client():
    from prometheus_client import Histogram

    histogram = Histogram("step", "bench")

    def burst():
        for _ in range(BURST):
            with histogram.time():
                pass

    say("prometheus_client: Histogram.time", best(burst))


def imports(module):
    """ms of the import, in the best of 10 processes."""
    program = "import time; t = time.process_time_ns(); import %s; print(time.process_time_ns() - t)" % module
    return min(int(subprocess.check_output([sys.executable, "-c", program])) for _ in range(10)) / 1e6


ours()
ms = imports("poolscope")
print("python: %-44s %7.2f ms (goal 2.00)" % ("import", ms))
if ms > 2:
    print("python: MISSED the goal of 2.00 ms")
for peer, module in ((opentelemetry, "opentelemetry.sdk.trace.export"), (viztracer, "viztracer"), (prometheus_client, "prometheus_client")):
    if importlib.util.find_spec(module.split(".")[0]) is None:
        print("python: SKIPPED %s: not there" % module)
        continue
    peer()
    print("python: %-44s %7.2f ms" % ("... import", imports(module)))
