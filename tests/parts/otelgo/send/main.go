// 100 spans, a counter and a histogram by OpenTelemetry's SDK for Go, as otlp_send.py sends them.
// Prints of each span its name, identifiers and times.
// SPDX-License-Identifier: MIT
package main

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func sendSpans(ctx context.Context) {
	exporter, err := otlptracehttp.New(ctx)
	must(err)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	tracer := provider.Tracer("scope")
	for i := range 100 {
		_, span := tracer.Start(ctx, fmt.Sprintf("work%d", i),
			trace.WithAttributes(attribute.Int("i", i), attribute.IntSlice("list", []int{1, 2})))
		if i%10 == 0 {
			span.AddEvent("half", trace.WithAttributes(attribute.Int("i", i)))
		}
		span.End()
		sent := span.(sdktrace.ReadOnlySpan)
		fmt.Println(sent.Name(), sent.SpanContext().TraceID(), sent.SpanContext().SpanID(),
			sent.StartTime().UnixNano(), sent.EndTime().UnixNano())
	}
	must(provider.Shutdown(ctx))
}

func sendNumbers(ctx context.Context) {
	exporter, err := otlpmetrichttp.New(ctx)
	must(err)
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	meter := provider.Meter("scope")
	requests, err := meter.Int64Counter("requests", metric.WithUnit("1"))
	must(err)
	requests.Add(ctx, 42, metric.WithAttributes(attribute.Int("code", 200)))
	latency, err := meter.Float64Histogram("latency", metric.WithUnit("ms"))
	must(err)
	for _, value := range []float64{1, 2, 3} {
		latency.Record(ctx, value)
	}
	must(provider.Shutdown(ctx))
}

func main() {
	ctx := context.Background()
	sendSpans(ctx)
	sendNumbers(ctx)
}
