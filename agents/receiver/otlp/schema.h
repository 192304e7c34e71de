/*
 * otlp_schema - the messages of OTLP that the receiver reads.
 *
 * Field numbers, types and JSON names are those of opentelemetry-proto 1.9,
 * whose messages are stable.  What is not listed is skipped, in both forms.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_SCHEMA_H
#define AGENTS_RECEIVER_OTLP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/protobuf.h"
#include "proto/base/text.h"

enum otlp_type {
	OTLP_INT,     /* a varint: enum, int64, uint32 */
	OTLP_BOOL,    /* same */
	OTLP_FIXED64, /* JSON: a number, or its digits as text */
	OTLP_SFIXED64,
	OTLP_DOUBLE,
	OTLP_STRING,
	OTLP_BYTES, /* JSON: base64 */
	OTLP_ID,    /* bytes; JSON: hexadecimal digits */
	OTLP_MESSAGE,
};

struct otlp_message;

struct otlp_field {
	uint8_t number;
	uint8_t type; /* enum otlp_type */
	bool repeated;
	const char *name; /* in JSON */
	const struct otlp_message *of;
};

struct otlp_message {
	const char *name;
	const struct otlp_field *field;
	uint32_t fields;
	bool is_value; /* AnyValue, which may hold others of its kind */
};

/* An AnyValue in how many others. */
enum { OTLP_VALUES_MAX = 8 };

/* The requests: resources -> scopes -> what they have. */
extern const struct otlp_message otlp_traces, otlp_metrics, otlp_logs;

/* Numbers of fields. */
enum {
	OTLP_REQUEST_RESOURCES = 1, /* of all three */
	OTLP_RESOURCE_RESOURCE = 1,
	OTLP_RESOURCE_SCOPES = 2,
	OTLP_SCOPE_SCOPE = 1,
	OTLP_SCOPE_ITEMS = 2,
	OTLP_RESOURCE_ATTRIBUTES = 1,
	OTLP_SCOPE_NAME = 1,
};
enum {
	OTLP_KEY = 1,
	OTLP_VALUE = 2,
	OTLP_VALUE_STRING = 1,
	OTLP_VALUE_BOOL = 2,
	OTLP_VALUE_INT = 3,
	OTLP_VALUE_DOUBLE = 4,
	OTLP_VALUE_ARRAY = 5,
	OTLP_VALUE_LIST = 6,
	OTLP_VALUE_BYTES = 7,
	OTLP_LIST_VALUES = 1, /* of an array and of a list */
};
enum {
	OTLP_SPAN_TRACE_ID = 1,
	OTLP_SPAN_ID = 2,
	OTLP_SPAN_PARENT_ID = 4,
	OTLP_SPAN_NAME = 5,
	OTLP_SPAN_KIND = 6,
	OTLP_SPAN_BEGIN = 7,
	OTLP_SPAN_END = 8,
	OTLP_SPAN_ATTRIBUTES = 9,
	OTLP_SPAN_EVENTS = 11,
	OTLP_SPAN_LINKS = 13,
	OTLP_SPAN_STATUS = 15,
	OTLP_EVENT_TIME = 1,
	OTLP_EVENT_NAME = 2,
	OTLP_EVENT_ATTRIBUTES = 3,
	OTLP_LINK_TRACE_ID = 1,
	OTLP_LINK_SPAN_ID = 2,
	OTLP_STATUS_MESSAGE = 2,
	OTLP_STATUS_CODE = 3,
	OTLP_STATUS_ERROR = 2, /* a code */
};
enum {
	OTLP_METRIC_NAME = 1,
	OTLP_METRIC_UNIT = 3,
	OTLP_METRIC_GAUGE = 5,
	OTLP_METRIC_SUM = 7,
	OTLP_METRIC_HISTOGRAM = 9,
	OTLP_METRIC_EXPONENTIAL = 10,
	OTLP_METRIC_SUMMARY = 11,
	OTLP_METRIC_POINTS = 1,      /* of all five */
	OTLP_METRIC_TEMPORALITY = 2, /* of sum and histograms */
	OTLP_METRIC_MONOTONIC = 3,   /* of a sum */
	OTLP_TEMPORALITY_DELTA = 1,
	OTLP_TEMPORALITY_CUMULATIVE = 2,
	OTLP_POINT_BEGIN = 2, /* of all points */
	OTLP_POINT_TIME = 3,
	OTLP_NUMBER_DOUBLE = 4,
	OTLP_NUMBER_INT = 6,
	OTLP_NUMBER_ATTRIBUTES = 7,
	OTLP_NUMBER_FLAGS = 8,
	OTLP_DISTRIBUTION_COUNT = 4, /* of histograms and summaries */
	OTLP_DISTRIBUTION_SUM = 5,
	OTLP_HISTOGRAM_ATTRIBUTES = 9,
	OTLP_HISTOGRAM_FLAGS = 10,
	OTLP_HISTOGRAM_MIN = 11,
	OTLP_HISTOGRAM_MAX = 12,
	OTLP_EXPONENTIAL_ATTRIBUTES = 1,
	OTLP_EXPONENTIAL_FLAGS = 10,
	OTLP_EXPONENTIAL_MIN = 12,
	OTLP_EXPONENTIAL_MAX = 13,
	OTLP_SUMMARY_ATTRIBUTES = 7,
	OTLP_SUMMARY_QUANTILES = 6,
	OTLP_SUMMARY_FLAGS = 8,
	OTLP_QUANTILE = 1,
	OTLP_QUANTILE_VALUE = 2,
	OTLP_FLAG_NO_VALUE = 1,
};
enum {
	OTLP_LOG_TIME = 1,
	OTLP_LOG_SEVERITY = 2,
	OTLP_LOG_SEVERITY_TEXT = 3,
	OTLP_LOG_BODY = 5,
	OTLP_LOG_ATTRIBUTES = 6,
	OTLP_LOG_TRACE_ID = 9,
	OTLP_LOG_SPAN_ID = 10,
	OTLP_LOG_OBSERVED = 11,
	OTLP_LOG_EVENT = 12,
};

/* Is all of it well formed?  After that, protobuf_next of it and of what is in
 * it does not fail, and fields of these numbers have these types.  -1: a
 * sentence names the message. */
int otlp_check(
    const struct otlp_message *message, struct text bytes, struct err *err);

/* Read the JSON form, and write the binary one, which otlp_check accepts.  -1:
 * it is not JSON, or a field is not of its type. */
int otlp_read_json(struct buffer *to, const struct otlp_message *message,
    struct text json, struct err *err);

#endif
