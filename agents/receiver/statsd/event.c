/*
 * event - an event or a service check of DogStatsD, as an event.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/event.h"

static const char *const attributes[STATSD_PARTS] = {
	[STATSD_MESSAGE] = "message",
	[STATSD_HOST] = "host.name",
	[STATSD_PRIORITY] = "priority",
	[STATSD_ALERT] = "alert_type",
	[STATSD_KEY] = "aggregation_key",
	[STATSD_SOURCE] = "source_type_name",
	[STATSD_STATUS] = "status",
};

/* Clients send a newline as \n. */
static struct text
with_newlines(char *to, struct text text)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		bool escaped = text.at[i] == '\\' && i + 1 < text.bytes &&
			       text.at[i + 1] == 'n';

		to[used++] = escaped ? '\n' : text.at[i];
		i += escaped;
	}
	return (struct text){ to, used };
}

static int
add(struct compose *compose, struct text key, struct text text, struct err *err)
{
	const struct value value = { .type = VALUE_TEXT, .is.text = text };

	return compose_attribute(compose, key, &value, err);
}

int
statsd_event_compose(
    struct compose *compose, const struct statsd_line *line, struct err *err)
{
	char message[STATSD_LONG_LINE_BYTES_MAX];
	struct value there;

	if (compose_event(compose, text_of("statsd"), line->name, err) != 0)
		return -1;
	if (line->has_time)
		compose->record.time_ns = line->time_ns;
	for (int i = 0; i < STATSD_PARTS; i++) {
		struct text text = line->part[i];

		if (i == STATSD_MESSAGE)
			text = with_newlines(message, text);
		if (text.bytes > 0 &&
		    add(compose, text_of(attributes[i]), text, err) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < line->labels; i++)
		if (!record_find_attribute(
			&compose->record, line->label[i].key, &there) &&
		    add(compose, line->label[i].key, line->label[i].value,
			err) != 0)
			return -1;
	return compose_end(compose, err);
}
