/*
 * opt_value_text - the value of an option and its origin as text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/os/clock.h"

struct unit {
	const char *name;
	uint64_t size;
};

static void
print_units(char *to, size_t to_bytes, uint64_t value, const struct unit *units)
{
	while (value == 0 || (value % units->size != 0 && units->size > 1)) {
		if (units->size == 1)
			break;
		units++;
	}
	snprintf(to, to_bytes, "%" PRIu64 "%s", value / units->size,
	    value ? units->name : "");
}

static const struct unit byte_units[] = { { "TiB", UINT64_C(1) << 40 },
	{ "GiB", UINT64_C(1) << 30 }, { "MiB", UINT64_C(1) << 20 },
	{ "KiB", UINT64_C(1) << 10 }, { "", 1 } };
static const struct unit time_units[] = { { "d", 86400 * NS_PER_SECOND },
	{ "h", 3600 * NS_PER_SECOND }, { "m", 60 * NS_PER_SECOND },
	{ "s", NS_PER_SECOND }, { "ms", 1000000 }, { "us", 1000 },
	{ "ns", 1 } };

void
opt_value_default(const struct opt_value *value, char *to, size_t to_bytes)
{
	const union opt_plain *plain = &value->initial;
	const char *choice = value->opt->choices;

	to[0] = '\0';
	switch (value->opt->type) {
	case OPT_FLAG:
		snprintf(to, to_bytes, "%s", plain->flag ? "true" : "false");
		break;
	case OPT_ZONE:
	case OPT_TEXT:
		snprintf(to, to_bytes, "%s", plain->text ? plain->text : "");
		break;
	case OPT_LIST: break;
	case OPT_COUNT:
		snprintf(to, to_bytes, "%" PRIu64, plain->number);
		break;
	case OPT_BYTES:
		print_units(to, to_bytes, plain->number, byte_units);
		break;
	case OPT_DURATION:
		/* Below zero, which cannot be typed: the program decides. */
		if (plain->ns >= 0)
			print_units(
			    to, to_bytes, (uint64_t)plain->ns, time_units);
		break;
	case OPT_TIME:
		/* Some defaults are the end of time, which cannot be typed. */
		if (plain->ns > 0 && plain->ns < INT64_MAX / 2)
			snprintf(to, to_bytes, "%" PRId64,
			    plain->ns / NS_PER_SECOND);
		break;
	case OPT_CHOICE:
		for (int i = plain->index; i > 0; i--)
			choice += strcspn(choice, "|") + 1;
		snprintf(
		    to, to_bytes, "%.*s", (int)strcspn(choice, "|"), choice);
		break;
	}
}

const char *
opt_value_text(const struct opt_value *value, char *to, size_t to_bytes)
{
	char plain[256];
	size_t used = 0;

	to[0] = '\0';
	if (value->from == OPT_DEFAULT) {
		opt_value_default(value, plain, sizeof(plain));
		return text_quote(to, to_bytes, text_of(plain));
	}
	for (uint32_t i = 0; i < value->count && used + 8 < to_bytes; i++) {
		if (i > 0)
			to[used++] = ' ';
		text_quote(
		    to + used, to_bytes - used, text_of(value->words[i]));
		used += strlen(to + used);
	}
	return to;
}

/* POOLSCOPE_SPOOL_BYTES for --spool-bytes. */
void
opt_variable(const struct opt *opt, char to[static OPT_VARIABLE_BYTES])
{
	size_t used = strlen(strcpy(to, "POOLSCOPE_"));

	for (const char *p = opt->name; *p && used < OPT_VARIABLE_BYTES - 1;
	     p++)
		to[used++] = *p == '-'                ? '_'
			     : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A')
						      : *p;
	to[used] = '\0';
}

const char *
opt_value_origin(const struct opt_value *value, char *to, size_t to_bytes)
{
	char variable[OPT_VARIABLE_BYTES], path[256];

	switch (value->from) {
	case OPT_DEFAULT: snprintf(to, to_bytes, "default"); break;
	case OPT_FILE:
		snprintf(to, to_bytes, "%s:%d",
		    text_quote(path, sizeof(path), text_of(value->file)),
		    value->line);
		break;
	case OPT_ENVIRONMENT:
		opt_variable(value->opt, variable);
		snprintf(to, to_bytes, "%s", variable);
		break;
	case OPT_COMMAND_LINE:
		snprintf(to, to_bytes, "--%s", value->opt->name);
		break;
	}
	return to;
}
