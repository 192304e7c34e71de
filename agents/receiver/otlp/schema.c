/*
 * otlp_schema - the messages of OTLP that the receiver reads.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/schema.h"

#define FIELDS(array) array, sizeof(array) / sizeof(*(array))
#define MANY          true
#define ONE           false

/* ---- values ---- */

static const struct otlp_message any_value, key_value;

static const struct otlp_field array_fields[] = {
	{ OTLP_LIST_VALUES, OTLP_MESSAGE, MANY, "values", &any_value },
};
static const struct otlp_message array = { "ArrayValue", FIELDS(array_fields),
	false };

static const struct otlp_field list_fields[] = {
	{ OTLP_LIST_VALUES, OTLP_MESSAGE, MANY, "values", &key_value },
};
static const struct otlp_message list = { "KeyValueList", FIELDS(list_fields),
	false };

static const struct otlp_field any_value_fields[] = {
	{ OTLP_VALUE_STRING, OTLP_STRING, ONE, "stringValue", NULL },
	{ OTLP_VALUE_BOOL, OTLP_BOOL, ONE, "boolValue", NULL },
	{ OTLP_VALUE_INT, OTLP_INT, ONE, "intValue", NULL },
	{ OTLP_VALUE_DOUBLE, OTLP_DOUBLE, ONE, "doubleValue", NULL },
	{ OTLP_VALUE_ARRAY, OTLP_MESSAGE, ONE, "arrayValue", &array },
	{ OTLP_VALUE_LIST, OTLP_MESSAGE, ONE, "kvlistValue", &list },
	{ OTLP_VALUE_BYTES, OTLP_BYTES, ONE, "bytesValue", NULL },
};
static const struct otlp_message any_value = { "AnyValue",
	FIELDS(any_value_fields), true };

static const struct otlp_field key_value_fields[] = {
	{ OTLP_KEY, OTLP_STRING, ONE, "key", NULL },
	{ OTLP_VALUE, OTLP_MESSAGE, ONE, "value", &any_value },
};
static const struct otlp_message key_value = { "KeyValue",
	FIELDS(key_value_fields), false };

/* ---- what all requests have ---- */

static const struct otlp_field resource_fields[] = {
	{ OTLP_RESOURCE_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes",
	    &key_value },
};
static const struct otlp_message resource = { "Resource",
	FIELDS(resource_fields), false };

static const struct otlp_field scope_fields[] = {
	{ OTLP_SCOPE_NAME, OTLP_STRING, ONE, "name", NULL },
};
static const struct otlp_message scope = { "InstrumentationScope",
	FIELDS(scope_fields), false };

/* ---- traces ---- */

static const struct otlp_field event_fields[] = {
	{ OTLP_EVENT_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_EVENT_NAME, OTLP_STRING, ONE, "name", NULL },
	{ OTLP_EVENT_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes", &key_value },
};
static const struct otlp_message event = { "Event", FIELDS(event_fields),
	false };

static const struct otlp_field link_fields[] = {
	{ OTLP_LINK_TRACE_ID, OTLP_ID, ONE, "traceId", NULL },
	{ OTLP_LINK_SPAN_ID, OTLP_ID, ONE, "spanId", NULL },
};
static const struct otlp_message link = { "Link", FIELDS(link_fields), false };

static const struct otlp_field status_fields[] = {
	{ OTLP_STATUS_MESSAGE, OTLP_STRING, ONE, "message", NULL },
	{ OTLP_STATUS_CODE, OTLP_INT, ONE, "code", NULL },
};
static const struct otlp_message status = { "Status", FIELDS(status_fields),
	false };

static const struct otlp_field span_fields[] = {
	{ OTLP_SPAN_TRACE_ID, OTLP_ID, ONE, "traceId", NULL },
	{ OTLP_SPAN_ID, OTLP_ID, ONE, "spanId", NULL },
	{ OTLP_SPAN_PARENT_ID, OTLP_ID, ONE, "parentSpanId", NULL },
	{ OTLP_SPAN_NAME, OTLP_STRING, ONE, "name", NULL },
	{ OTLP_SPAN_KIND, OTLP_INT, ONE, "kind", NULL },
	{ OTLP_SPAN_BEGIN, OTLP_FIXED64, ONE, "startTimeUnixNano", NULL },
	{ OTLP_SPAN_END, OTLP_FIXED64, ONE, "endTimeUnixNano", NULL },
	{ OTLP_SPAN_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes", &key_value },
	{ OTLP_SPAN_EVENTS, OTLP_MESSAGE, MANY, "events", &event },
	{ OTLP_SPAN_LINKS, OTLP_MESSAGE, MANY, "links", &link },
	{ OTLP_SPAN_STATUS, OTLP_MESSAGE, ONE, "status", &status },
};
static const struct otlp_message span = { "Span", FIELDS(span_fields), false };

/* ---- metrics ---- */

static const struct otlp_field number_fields[] = {
	{ OTLP_POINT_BEGIN, OTLP_FIXED64, ONE, "startTimeUnixNano", NULL },
	{ OTLP_POINT_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_NUMBER_DOUBLE, OTLP_DOUBLE, ONE, "asDouble", NULL },
	{ OTLP_NUMBER_INT, OTLP_SFIXED64, ONE, "asInt", NULL },
	{ OTLP_NUMBER_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes",
	    &key_value },
	{ OTLP_NUMBER_FLAGS, OTLP_INT, ONE, "flags", NULL },
};
static const struct otlp_message number = { "NumberDataPoint",
	FIELDS(number_fields), false };

static const struct otlp_field histogram_fields[] = {
	{ OTLP_POINT_BEGIN, OTLP_FIXED64, ONE, "startTimeUnixNano", NULL },
	{ OTLP_POINT_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_DISTRIBUTION_COUNT, OTLP_FIXED64, ONE, "count", NULL },
	{ OTLP_DISTRIBUTION_SUM, OTLP_DOUBLE, ONE, "sum", NULL },
	{ OTLP_HISTOGRAM_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes",
	    &key_value },
	{ OTLP_HISTOGRAM_FLAGS, OTLP_INT, ONE, "flags", NULL },
	{ OTLP_HISTOGRAM_MIN, OTLP_DOUBLE, ONE, "min", NULL },
	{ OTLP_HISTOGRAM_MAX, OTLP_DOUBLE, ONE, "max", NULL },
};
static const struct otlp_message histogram = { "HistogramDataPoint",
	FIELDS(histogram_fields), false };

static const struct otlp_field exponential_fields[] = {
	{ OTLP_EXPONENTIAL_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes",
	    &key_value },
	{ OTLP_POINT_BEGIN, OTLP_FIXED64, ONE, "startTimeUnixNano", NULL },
	{ OTLP_POINT_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_DISTRIBUTION_COUNT, OTLP_FIXED64, ONE, "count", NULL },
	{ OTLP_DISTRIBUTION_SUM, OTLP_DOUBLE, ONE, "sum", NULL },
	{ OTLP_EXPONENTIAL_FLAGS, OTLP_INT, ONE, "flags", NULL },
	{ OTLP_EXPONENTIAL_MIN, OTLP_DOUBLE, ONE, "min", NULL },
	{ OTLP_EXPONENTIAL_MAX, OTLP_DOUBLE, ONE, "max", NULL },
};
static const struct otlp_message exponential = {
	"ExponentialHistogramDataPoint", FIELDS(exponential_fields), false
};

static const struct otlp_field quantile_fields[] = {
	{ OTLP_QUANTILE, OTLP_DOUBLE, ONE, "quantile", NULL },
	{ OTLP_QUANTILE_VALUE, OTLP_DOUBLE, ONE, "value", NULL },
};
static const struct otlp_message quantile = { "ValueAtQuantile",
	FIELDS(quantile_fields), false };

static const struct otlp_field summary_point_fields[] = {
	{ OTLP_POINT_BEGIN, OTLP_FIXED64, ONE, "startTimeUnixNano", NULL },
	{ OTLP_POINT_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_DISTRIBUTION_COUNT, OTLP_FIXED64, ONE, "count", NULL },
	{ OTLP_DISTRIBUTION_SUM, OTLP_DOUBLE, ONE, "sum", NULL },
	{ OTLP_SUMMARY_QUANTILES, OTLP_MESSAGE, MANY, "quantileValues",
	    &quantile },
	{ OTLP_SUMMARY_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes",
	    &key_value },
	{ OTLP_SUMMARY_FLAGS, OTLP_INT, ONE, "flags", NULL },
};
static const struct otlp_message summary_point = { "SummaryDataPoint",
	FIELDS(summary_point_fields), false };

/* The messages around points differ in the points only. */
#define POINTS(name, of)                                                       \
	static const struct otlp_field name##_fields[] = {                     \
		{ OTLP_METRIC_POINTS, OTLP_MESSAGE, MANY, "dataPoints", of },  \
		{ OTLP_METRIC_TEMPORALITY, OTLP_INT, ONE,                      \
		    "aggregationTemporality", NULL },                          \
		{ OTLP_METRIC_MONOTONIC, OTLP_BOOL, ONE, "isMonotonic",        \
		    NULL },                                                    \
	};                                                                     \
	static const struct otlp_message name = { #name,                       \
		FIELDS(name##_fields), false }
POINTS(numbers, &number);
POINTS(histograms, &histogram);
POINTS(exponentials, &exponential);
POINTS(summaries, &summary_point);

static const struct otlp_field metric_fields[] = {
	{ OTLP_METRIC_NAME, OTLP_STRING, ONE, "name", NULL },
	{ OTLP_METRIC_UNIT, OTLP_STRING, ONE, "unit", NULL },
	{ OTLP_METRIC_GAUGE, OTLP_MESSAGE, ONE, "gauge", &numbers },
	{ OTLP_METRIC_SUM, OTLP_MESSAGE, ONE, "sum", &numbers },
	{ OTLP_METRIC_HISTOGRAM, OTLP_MESSAGE, ONE, "histogram", &histograms },
	{ OTLP_METRIC_EXPONENTIAL, OTLP_MESSAGE, ONE, "exponentialHistogram",
	    &exponentials },
	{ OTLP_METRIC_SUMMARY, OTLP_MESSAGE, ONE, "summary", &summaries },
};
static const struct otlp_message metric = { "Metric", FIELDS(metric_fields),
	false };

/* ---- logs ---- */

static const struct otlp_field log_fields[] = {
	{ OTLP_LOG_TIME, OTLP_FIXED64, ONE, "timeUnixNano", NULL },
	{ OTLP_LOG_SEVERITY, OTLP_INT, ONE, "severityNumber", NULL },
	{ OTLP_LOG_SEVERITY_TEXT, OTLP_STRING, ONE, "severityText", NULL },
	{ OTLP_LOG_BODY, OTLP_MESSAGE, ONE, "body", &any_value },
	{ OTLP_LOG_ATTRIBUTES, OTLP_MESSAGE, MANY, "attributes", &key_value },
	{ OTLP_LOG_TRACE_ID, OTLP_ID, ONE, "traceId", NULL },
	{ OTLP_LOG_SPAN_ID, OTLP_ID, ONE, "spanId", NULL },
	{ OTLP_LOG_OBSERVED, OTLP_FIXED64, ONE, "observedTimeUnixNano", NULL },
	{ OTLP_LOG_EVENT, OTLP_STRING, ONE, "eventName", NULL },
};
static const struct otlp_message log_record = { "LogRecord", FIELDS(log_fields),
	false };

/* ---- requests ---- */

#define REQUEST(request, item, items, scopes, resources)                       \
	static const struct otlp_field request##_scope_fields[] = {            \
		{ OTLP_SCOPE_SCOPE, OTLP_MESSAGE, ONE, "scope", &scope },      \
		{ OTLP_SCOPE_ITEMS, OTLP_MESSAGE, MANY, items, item },         \
	};                                                                     \
	static const struct otlp_message request##_scope = { scopes,           \
		FIELDS(request##_scope_fields), false };                       \
	static const struct otlp_field request##_resource_fields[] = {         \
		{ OTLP_RESOURCE_RESOURCE, OTLP_MESSAGE, ONE, "resource",       \
		    &resource },                                               \
		{ OTLP_RESOURCE_SCOPES, OTLP_MESSAGE, MANY, scopes,            \
		    &request##_scope },                                        \
	};                                                                     \
	static const struct otlp_message request##_resource = { resources,     \
		FIELDS(request##_resource_fields), false };                    \
	static const struct otlp_field request##_fields[] = {                  \
		{ OTLP_REQUEST_RESOURCES, OTLP_MESSAGE, MANY, resources,       \
		    &request##_resource },                                     \
	};                                                                     \
	const struct otlp_message request = { "the request",                   \
		FIELDS(request##_fields), false }
REQUEST(otlp_traces, &span, "spans", "scopeSpans", "resourceSpans");
REQUEST(otlp_metrics, &metric, "metrics", "scopeMetrics", "resourceMetrics");
REQUEST(otlp_logs, &log_record, "logRecords", "scopeLogs", "resourceLogs");

/* ---- checking ---- */

static const struct otlp_field *
find(const struct otlp_message *message, uint32_t wanted)
{
	for (uint32_t i = 0; i < message->fields; i++)
		if (message->field[i].number == wanted)
			return &message->field[i];
	return NULL;
}

static enum protobuf_type
encoded_as(enum otlp_type type)
{
	switch (type) {
	case OTLP_INT:
	case OTLP_BOOL: return PROTOBUF_VARINT;
	case OTLP_FIXED64:
	case OTLP_SFIXED64:
	case OTLP_DOUBLE: return PROTOBUF_64;
	default: return PROTOBUF_BYTES;
	}
}

static int
check(const struct otlp_message *message, struct text bytes, unsigned values,
    struct err *err)
{
	struct varint_reader reader = varint_reader_of(bytes);
	const struct otlp_field *field;
	struct protobuf_field got;

	if (message->is_value && ++values > OTLP_VALUES_MAX)
		return err_set(
		    err, "values are nested deeper than %d", OTLP_VALUES_MAX);
	while (protobuf_next(&reader, &got)) {
		field = find(message, got.number);
		if (field == NULL)
			continue;
		if (got.type != encoded_as(field->type))
			return err_set(err, "%s of %s is of another type",
			    field->name, message->name);
		if (field->of != NULL &&
		    check(field->of, got.bytes, values, err) != 0)
			return -1;
	}
	if (reader.bad)
		return err_set(err, "%s is no protocol buffer, or is cut short",
		    message->name);
	return 0;
}

int
otlp_check(
    const struct otlp_message *message, struct text bytes, struct err *err)
{
	return check(message, bytes, 0, err);
}
