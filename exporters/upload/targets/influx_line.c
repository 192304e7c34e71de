/*
 * influx_line - format the parts of InfluxDB's line protocol.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/influx_line.h"

#include <math.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/json/json_bytes.h"

static bool
is_special(char c, enum influx_part part)
{
	return c == ',' || c == ' ' || (c == '=' && part == INFLUX_KEY);
}

/* Servers disagree on a backslash before one of these. */
static bool
is_doubtful(struct text name, uint32_t at)
{
	return at + 1 == name.bytes ||
	       strchr(", =\\\"", name.at[at + 1]) != NULL;
}

size_t
influx_escape(char *to, struct text name, enum influx_part part)
{
	size_t used = 0;

	for (uint32_t i = 0; i < name.bytes; i++) {
		char c = name.at[i];

		if (is_special(c, part))
			to[used++] = '\\';
		else if (c == '\\' && is_doubtful(name, i))
			c = '/';
		else if ((c == '#' && i == 0 && part == INFLUX_MEASUREMENT) ||
			 (unsigned char)c < ' ')
			c = '_';
		to[used++] = c;
	}
	return used;
}

static bool
is_taken(struct text name)
{
	static const char *const taken[] = { "time", "node", "partition",
		"_time", "_field", "_measurement" };

	while (name.bytes > 0 && name.at[name.bytes - 1] == '_')
		name.bytes--;
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (text_equal(name, text_of(taken[i])))
			return true;
	return false;
}

size_t
influx_field(char *to, struct text name)
{
	size_t used = influx_escape(to, name, INFLUX_KEY);

	if (is_taken(name))
		to[used++] = '_';
	return used;
}

unsigned char *
influx_put_number(unsigned char *to, const struct value *value)
{
	char text[NUMBER_BYTES];

	switch (value->type) {
	case VALUE_INT: return json_put_integer(to, value->is.i);
	case VALUE_UINT: return json_put_digits(to, value->is.u);
	case VALUE_FLOAT:
		if (!isfinite(value->is.f))
			return NULL;
		return json_put_bytes(to, text, number_repr(text, value->is.f));
	case VALUE_BOOL:
		return value->is.boolean ? JSON_PUT(to, "true")
					 : JSON_PUT(to, "false");
	default: return NULL;
	}
}
