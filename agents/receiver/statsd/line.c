/*
 * line - a line of statsd, or of DogStatsD.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/line.h"

#include <math.h>

#include "proto/base/number.h"
#include "proto/metric/prometheus.h"
#include "proto/os/clock.h"

static const struct {
	const char *word, *sentence;
} faults[STATSD_FAULTS] = {
	[STATSD_TOO_LONG] = { "length",
	    "a line has at most 1 KiB, one of packed values 8 KiB" },
	[STATSD_FORM] = { "form", "it is not NAME:VALUE|TYPE" },
	[STATSD_NAME] = { "name", "no metric can have this name" },
	[STATSD_VALUE] = { "value", "its value is no number" },
	[STATSD_TYPE] = { "type", "its type is not c, g, ms, h, d or s" },
	[STATSD_RATE] = { "rate",
	    "its sample rate is not above 0 and at most 1" },
	[STATSD_TAGS] = { "tags",
	    "it has more than 16 tags, or a tag of more than 128 bytes" },
	[STATSD_TIME] = { "time", "its time is not in seconds" },
	[STATSD_NEGATIVE] = { "negative",
	    "a counter cannot fall; use a gauge with +N and -N" },
	[STATSD_OTHER_TYPE] = { "other-type",
	    "its name and tags have another type already" },
	[STATSD_TIMES] = { "times",
	    "more than 65,536 values with a time in a period" },
	[STATSD_SERIES] = { "series", "a series too many" },
};

const char *
statsd_fault_word(enum statsd_fault fault)
{
	return faults[fault].word;
}

const char *
statsd_fault_sentence(enum statsd_fault fault)
{
	return faults[fault].sentence;
}

/* ---- pieces ---- */

/* Take what is before the next `end`, and the end. */
static struct text
take(struct text *rest, char end)
{
	const char *at =
	    rest->bytes > 0 ? memchr(rest->at, end, rest->bytes) : NULL;
	struct text piece = *rest;

	if (at == NULL) {
		*rest = (struct text){ rest->at + rest->bytes, 0 };
		return piece;
	}
	piece.bytes = (uint32_t)(at - rest->at);
	rest->at = at + 1;
	rest->bytes -= piece.bytes + 1;
	return piece;
}

static bool
begins(struct text text, const char *with)
{
	size_t bytes = strlen(with);

	return text.bytes >= bytes && memcmp(text.at, with, bytes) == 0;
}

static struct text
behind(struct text text, uint32_t bytes)
{
	return (struct text){ text.at + bytes, text.bytes - bytes };
}

/* The clients send most tags in the same order each time: look from the end. */
static enum statsd_fault
add_label(struct statsd_line *line, struct text key, struct text value)
{
	struct dynamic_label *label = line->label;
	uint32_t at = line->labels;
	int order = 1;

	if (key.bytes > DYNAMIC_LABEL_BYTES_MAX ||
	    value.bytes > DYNAMIC_LABEL_BYTES_MAX)
		return STATSD_TAGS;
	while (at > 0 && (order = text_compare(label[at - 1].key, key)) > 0)
		at--;
	if (at > 0 && order == 0) {
		label[at - 1].value = value;
		return STATSD_OK;
	}
	if (line->labels == DYNAMIC_LABELS_MAX)
		return STATSD_TAGS;
	memmove(
	    &label[at + 1], &label[at], (line->labels - at) * sizeof(*label));
	label[at] = (struct dynamic_label){ key, value };
	line->labels++;
	return STATSD_OK;
}

static enum statsd_fault
take_tags(struct statsd_line *line, struct text tags)
{
	enum statsd_fault fault = STATSD_OK;

	while (tags.bytes > 0 && fault == STATSD_OK) {
		struct text tag = take(&tags, ','), key = take(&tag, ':');
		bool alone = key.at + key.bytes == tag.at;

		/* "a:" has an empty text, and is no label. */
		if (key.bytes > 0 && (alone || tag.bytes > 0))
			fault =
			    add_label(line, key, alone ? text_of("true") : tag);
	}
	return fault;
}

static enum statsd_fault
take_time(struct statsd_line *line, struct text seconds)
{
	line->has_time = true;
	return clock_parse_seconds(seconds, &line->time_ns, NULL) == 0
		   ? STATSD_OK
		   : STATSD_TIME;
}

static enum statsd_fault
take_rate(struct statsd_line *line, struct text rate)
{
	if (number_parse_double(rate, &line->rate, NULL) != 0)
		return STATSD_RATE;
	return line->rate > 0 && line->rate <= 1 ? STATSD_OK : STATSD_RATE;
}

/* "ci-ID" is an id; anything else is taken as it is. */
static enum statsd_fault
take_container(struct statsd_line *line, struct text container)
{
	if (begins(container, "ci-"))
		container = behind(container, 3);
	return container.bytes > 0
		   ? add_label(line, text_of("container.id"), container)
		   : STATSD_OK;
}

/* What the agent of DogStatsD asks for and no label says: external data and
 * the cardinality. */
static bool
is_passed_over(struct text piece)
{
	return begins(piece, "e:") || begins(piece, "card:");
}

/* ---- numbers ---- */

bool
statsd_line_value(struct text *values, double *value, bool *is_signed)
{
	struct text word = take(values, ':');
	struct value number;

	*is_signed = word.bytes > 0 && (word.at[0] == '+' || word.at[0] == '-');
	if (prometheus_value(word, &number, NULL) != 0)
		return false;
	*value = number.type == VALUE_INT ? (double)number.is.i : number.is.f;
	return isfinite(*value);
}

static enum statsd_fault
take_type(struct statsd_line *line, struct text type)
{
	if (type.bytes == 2 && type.at[0] == 'm' && type.at[1] == 's') {
		line->type = STATSD_TIMER;
		return STATSD_OK;
	}
	if (type.bytes != 1)
		return STATSD_TYPE;
	switch (type.at[0]) {
	case 'c': line->type = STATSD_COUNTER; return STATSD_OK;
	case 'g': line->type = STATSD_GAUGE; return STATSD_OK;
	case 'h':
	case 'd': line->type = STATSD_HISTOGRAM; return STATSD_OK;
	case 's': line->type = STATSD_SET; return STATSD_OK;
	default: return STATSD_TYPE;
	}
}

static enum statsd_fault
take_metric_piece(struct statsd_line *line, struct text piece)
{
	switch (piece.bytes > 0 ? piece.at[0] : '\0') {
	case '@': return take_rate(line, behind(piece, 1));
	case '#': return take_tags(line, behind(piece, 1));
	case 'T': return take_time(line, behind(piece, 1));
	default: break;
	}
	if (begins(piece, "c:"))
		return take_container(line, behind(piece, 2));
	return is_passed_over(piece) ? STATSD_OK : STATSD_FORM;
}

static enum statsd_fault
take_metric(struct statsd_line *line, struct text rest)
{
	enum statsd_fault fault;
	uint32_t bytes = rest.bytes;

	line->name = take(&rest, ':');
	line->values = take(&rest, '|');
	if (line->name.bytes == 0 || rest.bytes == 0)
		return STATSD_FORM;
	fault = take_type(line, take(&rest, '|'));
	while (rest.bytes > 0 && fault == STATSD_OK)
		fault = take_metric_piece(line, take(&rest, '|'));
	if (fault == STATSD_OK && bytes > STATSD_LINE_BYTES_MAX &&
	    (line->type == STATSD_SET ||
		memchr(line->values.at, ':', line->values.bytes) == NULL))
		return STATSD_TOO_LONG;
	return fault;
}

/* ---- events and checks ---- */

static enum statsd_fault
take_event_piece(struct statsd_line *line, struct text piece)
{
	static const char letters[STATSD_PARTS] = {
		[STATSD_MESSAGE] = 'm',
		[STATSD_HOST] = 'h',
		[STATSD_PRIORITY] = 'p',
		[STATSD_ALERT] = 't',
		[STATSD_KEY] = 'k',
		[STATSD_SOURCE] = 's',
	};

	if (begins(piece, "#"))
		return take_tags(line, behind(piece, 1));
	if (is_passed_over(piece))
		return STATSD_OK;
	if (piece.bytes < 2 || piece.at[1] != ':')
		return STATSD_FORM;
	if (piece.at[0] == 'd')
		return take_time(line, behind(piece, 2));
	if (piece.at[0] == 'c')
		return take_container(line, behind(piece, 2));
	for (int i = 0; i < STATSD_PARTS; i++)
		if (letters[i] == piece.at[0]) {
			line->part[i] = behind(piece, 2);
			return STATSD_OK;
		}
	return STATSD_FORM;
}

static enum statsd_fault
take_event_pieces(struct statsd_line *line, struct text rest)
{
	enum statsd_fault fault = STATSD_OK;

	while (rest.bytes > 0 && fault == STATSD_OK) {
		/* A message has the rest of the line. */
		struct text piece =
		    begins(rest, "m:") ? rest : take(&rest, '|');

		if (begins(piece, "m:"))
			rest.bytes = 0;
		fault = take_event_piece(line, piece);
	}
	return fault;
}

/* Take `bytes` bytes and the mark behind them, if there is more. */
static bool
take_bytes(struct text *rest, uint64_t bytes, struct text *piece)
{
	if (bytes > rest->bytes ||
	    (bytes < rest->bytes && rest->at[bytes] != '|'))
		return false;
	*piece = (struct text){ rest->at, (uint32_t)bytes };
	*rest = behind(*rest, (uint32_t)bytes + (bytes < rest->bytes ? 1 : 0));
	return true;
}

/* Behind "_e{". */
static enum statsd_fault
take_event(struct statsd_line *line, struct text rest)
{
	struct text title = take(&rest, ','), text = take(&rest, '}');
	uint64_t title_bytes, text_bytes;

	line->type = STATSD_EVENT;
	if (number_parse_u64(title, &title_bytes, NULL) != 0 ||
	    number_parse_u64(text, &text_bytes, NULL) != 0 ||
	    !begins(rest, ":"))
		return STATSD_FORM;
	rest = behind(rest, 1);
	if (!take_bytes(&rest, title_bytes, &line->name) ||
	    !take_bytes(&rest, text_bytes, &line->part[STATSD_MESSAGE]))
		return STATSD_FORM;
	return take_event_pieces(line, rest);
}

/* Behind "_sc|". */
static enum statsd_fault
take_check(struct statsd_line *line, struct text rest)
{
	static const char *const words[] = { "ok", "warning", "critical",
		"unknown" };
	struct text status;

	line->type = STATSD_CHECK;
	line->name = take(&rest, '|');
	status = take(&rest, '|');
	if (status.bytes != 1 || status.at[0] < '0' || status.at[0] > '3')
		return STATSD_VALUE;
	line->part[STATSD_STATUS] = text_of(words[status.at[0] - '0']);
	return take_event_pieces(line, rest);
}

enum statsd_fault
statsd_line_parse(struct statsd_line *line, struct text text)
{
	line->rate = 1;
	line->labels = 0;
	line->has_time = false;
	if (text.bytes > STATSD_LONG_LINE_BYTES_MAX)
		return STATSD_TOO_LONG;
	if (text.bytes == 0 || text.at[0] != '_')
		return take_metric(line, text);
	memset(line->part, 0, sizeof(line->part));
	if (begins(text, "_e{"))
		return take_event(line, behind(text, 3));
	if (begins(text, "_sc|"))
		return take_check(line, behind(text, 4));
	return take_metric(line, text);
}
