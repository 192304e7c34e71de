"""otlp_send - 100 spans, a counter, a histogram and a log record by OpenTelemetry's SDK.
SPDX-License-Identifier: MIT
"""
import logging

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

traces = TracerProvider()
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = traces.get_tracer("scope")
for i in range(100):
    with tracer.start_as_current_span(f"work{i}", attributes={"i": i, "list": [1, 2]}) as span:
        if i % 10 == 0:
            span.add_event("half", {"i": i})
traces.shutdown()

meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(), 60000)])
meter = meters.get_meter("scope")
meter.create_counter("requests", "1").add(42, {"code": 200})
histogram = meter.create_histogram("latency", "ms")
for v in (1.0, 2.0, 3.0):
    histogram.record(v)
meters.shutdown()

logs = LoggerProvider()
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
logger = logging.getLogger("app")
logger.addHandler(LoggingHandler(logger_provider=logs))
logger.error("it broke", extra={"code": 7})
logs.shutdown()
