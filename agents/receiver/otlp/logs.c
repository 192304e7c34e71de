/*
 * otlp_logs - log records, as events.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/map.h"
#include "agents/receiver/otlp/map_private.h"

struct log {
	struct text trace_id, span_id, severity, body, event;
	uint64_t number, time_ns, observed_ns;
};

static struct log
read_log(struct text message)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;
	struct log log = { .number = 0 };

	while (protobuf_next(&reader, &field))
		switch (field.number) {
		case OTLP_LOG_TIME: log.time_ns = field.value; break;
		case OTLP_LOG_OBSERVED: log.observed_ns = field.value; break;
		case OTLP_LOG_SEVERITY: log.number = field.value; break;
		case OTLP_LOG_SEVERITY_TEXT: log.severity = field.bytes; break;
		case OTLP_LOG_BODY: log.body = field.bytes; break;
		case OTLP_LOG_TRACE_ID: log.trace_id = field.bytes; break;
		case OTLP_LOG_SPAN_ID: log.span_id = field.bytes; break;
		case OTLP_LOG_EVENT: log.event = field.bytes; break;
		default: break;
		}
	return log;
}

/* The ranges of SeverityNumber. */
static const char *
severity_name(uint64_t number)
{
	static const char *const name[] = { "TRACE", "DEBUG", "INFO", "WARN",
		"ERROR", "FATAL" };

	return number >= 1 && number <= 24 ? name[(number - 1) / 4] : "";
}

static int
on_log(struct otlp_map *map, struct text message)
{
	struct record *record = &map->compose.record;
	struct log log = read_log(message);

	otlp_map_begin_record(map, RECORD_EVENT);
	if (!otlp_map_take_time(&record->time_ns,
		log.time_ns > 0 ? log.time_ns : log.observed_ns)) {
		otlp_map_refuse(map, "a log record has no time");
		return 0;
	}
	if (log.severity.bytes == 0)
		log.severity = text_of(severity_name(log.number));
	otlp_map_put(
	    map, text_of("message"), otlp_map_value(&map->texts, log.body));
	if (log.severity.bytes > 0)
		otlp_map_put_text(map, "severity", log.severity);
	otlp_map_put_id(map, "trace.id", log.trace_id, OTLP_TRACE_ID_BYTES);
	otlp_map_put_id(map, "span.id", log.span_id, OTLP_SPAN_ID_BYTES);
	otlp_map_put_attributes(map, message, OTLP_LOG_ATTRIBUTES);
	otlp_map_put_kept(map);
	record->source = text_of(map->scope);
	record->name = client_name(
	    map->name, log.event.bytes > 0 ? log.event : text_of("log"));
	return otlp_map_end_record(map);
}

int
otlp_map_logs(struct otlp_map *map, struct text request)
{
	static const struct otlp_map_items items = { on_log, NULL };

	return otlp_map_each(map, request, &items);
}
