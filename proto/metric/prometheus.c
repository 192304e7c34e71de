/*
 * prometheus - read Prometheus' text format.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/, OpenMetrics
 * 1.0, and the proposal "UTF-8 support in metric and label names".
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/prometheus.h"

#include <math.h>
#include <strings.h>

#include "proto/base/number.h"
#include "proto/os/clock.h"

enum { SHOWN_BYTES = 64 };

enum type { TYPE_GAUGE, TYPE_COUNTER, TYPE_HISTOGRAM, TYPE_GAUGE_HISTOGRAM };

static const struct {
	const char *word;
	enum type type;
} types[] = {
	{ "counter", TYPE_COUNTER },
	{ "gauge", TYPE_GAUGE },
	{ "histogram", TYPE_HISTOGRAM },
	{ "summary", TYPE_HISTOGRAM },
	{ "untyped", TYPE_GAUGE },
	{ "unknown", TYPE_GAUGE },
	{ "info", TYPE_GAUGE },
	{ "stateset", TYPE_GAUGE },
	{ "gaugehistogram", TYPE_GAUGE_HISTOGRAM },
};

/* The base units of names, as UCUM. */
static const struct {
	const char *word, *unit;
} units[] = {
	{ "seconds", "s" },
	{ "milliseconds", "ms" },
	{ "bytes", "By" },
	{ "bits", "bit" },
	{ "ratio", "1" },
	{ "percent", "%" },
	{ "celsius", "Cel" },
	{ "meters", "m" },
	{ "volts", "V" },
	{ "amperes", "A" },
	{ "joules", "J" },
	{ "watts", "W" },
	{ "hertz", "Hz" },
	{ "grams", "g" },
};

void
prometheus_begin(struct prometheus *reader, struct text page)
{
	reader->rest = page;
	reader->line = 0;
	reader->family = reader->unit = (struct text){ NULL, 0 };
	reader->type = TYPE_GAUGE;
	reader->described.name = (struct text){ NULL, 0 };
}

/* ---- pieces of a line ---- */

static void
drop(struct text *line, uint32_t bytes)
{
	line->at += bytes;
	line->bytes -= bytes;
}

static void
skip_blanks(struct text *line)
{
	while (line->bytes > 0 && (line->at[0] == ' ' || line->at[0] == '\t'))
		drop(line, 1);
}

/* Skip blanks; is `c` next?  Then skip it, too. */
static bool
take(struct text *line, char c)
{
	skip_blanks(line);
	if (line->bytes == 0 || line->at[0] != c)
		return false;
	drop(line, 1);
	return true;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_name_byte(char c)
{
	/* A bit for each from 64 on: A-Z, _ and a-z. */
	static const uint64_t upper = UINT64_C(0x07fffffe87fffffe);
	unsigned char u = (unsigned char)c;

	if (u >= 64)
		return u < 128 && (upper >> (u - 64) & 1) != 0;
	return is_digit(c) || c == ':' || c == '.';
}

/* A name without quotes; empty if there is none. */
static struct text
take_bare(struct text *line)
{
	struct text name = { line->at, 0 };

	if (line->bytes == 0 || is_digit(line->at[0]))
		return name;
	while (name.bytes < line->bytes && is_name_byte(line->at[name.bytes]))
		name.bytes++;
	drop(line, name.bytes);
	return name;
}

/* What is between the opening quote, which was taken, and the closing one.  A
 * backslash before another character than \, " and n stands for itself, as in
 * a scrape of Prometheus. */
static int
take_quoted(struct prometheus *reader, struct text *line, struct text *text,
    struct err *err)
{
	uint32_t end = 0;
	bool escaped = false;
	char *to = reader->room + reader->used;

	while (end < line->bytes && line->at[end] != '"') {
		bool escape = line->at[end] == '\\' && end + 1 < line->bytes;

		escaped |= escape;
		end += 1 + escape;
	}
	if (end >= line->bytes)
		return err_set(err, "a quote is not closed");
	*text = (struct text){ line->at, end };
	drop(line, end + 1);
	if (!escaped)
		return 0;
	if (end > sizeof(reader->room) - reader->used)
		return err_set(err, "a quoted text is too long");
	for (uint32_t i = 0; i < end; i++) {
		char c = text->at[i], next = i + 1 < end ? text->at[i + 1] : 0;

		if (c == '\\' && (next == '\\' || next == '"' || next == 'n')) {
			c = next == 'n' ? '\n' : next;
			i++;
		}
		*to++ = c;
	}
	text->at = reader->room + reader->used;
	text->bytes = (uint32_t)(to - text->at);
	reader->used += text->bytes;
	return 0;
}

/* A name, with quotes or without. */
static int
take_name(struct prometheus *reader, struct text *line, struct text *name,
    struct err *err)
{
	if (take(line, '"'))
		return take_quoted(reader, line, name, err);
	*name = take_bare(line);
	return name->bytes > 0 ? 0 : err_set(err, "a name is missing");
}

/* The name of a metric, which is a view of the page. */
static int
take_metric(struct prometheus *reader, struct text *line, struct text *name,
    struct err *err)
{
	uint32_t used = reader->used;

	if (take_name(reader, line, name, err) != 0)
		return -1;
	return reader->used == used
		   ? 0
		   : err_set(err, "the name of the metric has a backslash");
}

static int
add_label(struct prometheus_sample *sample, const struct dynamic_label *label,
    struct err *err)
{
	if (label->value.bytes == 0)
		return 0;
	if (sample->labels == DYNAMIC_LABELS_MAX)
		return err_set(err, "more than %d labels", DYNAMIC_LABELS_MAX);
	sample->label[sample->labels++] = *label;
	return 0;
}

/* What is behind the opening brace: labels, and the name if it is not before
 * the brace. */
static int
take_labels(struct prometheus *reader, struct text *line,
    struct prometheus_sample *sample, struct err *err)
{
	struct text *name = &sample->number.name;

	while (!take(line, '}')) {
		struct dynamic_label label;

		skip_blanks(line);
		if (line->bytes == 0)
			return err_set(err, "a brace is not closed");
		if (line->at[0] == '"' && name->bytes == 0) {
			if (take_metric(reader, line, name, err) != 0)
				return -1;
		} else if (take_name(reader, line, &label.key, err) != 0) {
			return -1;
		} else if (!take(line, '=') || !take(line, '"')) {
			return err_set(err, "a label has no value in quotes");
		} else if (take_quoted(reader, line, &label.value, err) != 0 ||
			   add_label(sample, &label, err) != 0) {
			return -1;
		}
		if (!take(line, ',') && (line->bytes == 0 || *line->at != '}'))
			return err_set(err, "a comma or a brace is missing");
	}
	return 0;
}

/* ---- numbers ---- */

/* False also if it is more than an int64 holds. */
static bool
whole(struct text word, int64_t *value)
{
	bool negative = word.bytes > 0 && word.at[0] == '-';
	int64_t sum = 0;

	if (negative)
		drop(&word, 1);
	if (word.bytes == 0)
		return false;
	for (uint32_t i = 0; i < word.bytes; i++)
		if (word.at[i] < '0' || word.at[i] > '9' ||
		    __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, word.at[i] - '0', &sum))
			return false;
	*value = negative ? -sum : sum;
	return !negative || sum > 0; /* there is no whole -0 */
}

/* A decimal of up to 15 digits: both parts of the fraction are exact, so that
 * its quotient is the nearest double, as of strtod. */
static bool
decimal(struct text word, double *value)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	bool negative = word.bytes > 0 && word.at[0] == '-';
	uint32_t point;
	int64_t sum = 0;

	if (negative)
		drop(&word, 1);
	point = word.bytes;
	if (word.bytes < 2 || word.bytes > 16)
		return false;
	for (uint32_t i = 0; i < word.bytes; i++) {
		if (word.at[i] == '.' && point == word.bytes)
			point = i;
		else if (word.at[i] >= '0' && word.at[i] <= '9')
			sum = 10 * sum + (word.at[i] - '0');
		else
			return false;
	}
	if (point == word.bytes)
		return false;
	*value = (double)sum / powers[word.bytes - 1 - point];
	*value = negative ? -*value : *value;
	return true;
}

int
prometheus_value(struct text word, struct value *value, struct err *err)
{
	static const char *const infinite[] = { "inf", "infinity" };
	struct text size = word;
	char shown[SHOWN_BYTES];

	value->type = VALUE_INT;
	if (whole(word, &value->is.i))
		return 0;
	value->type = VALUE_FLOAT;
	if (decimal(word, &value->is.f))
		return 0;
	if (word.bytes == 3 && strncasecmp(word.at, "nan", 3) == 0) {
		value->is.f = (double)NAN;
		return 0;
	}
	if (size.bytes > 0 && (size.at[0] == '+' || size.at[0] == '-'))
		drop(&size, 1);
	for (int i = 0; i < 2; i++)
		if (size.bytes == strlen(infinite[i]) &&
		    strncasecmp(size.at, infinite[i], size.bytes) == 0) {
			value->is.f = word.at[0] == '-' ? -(double)INFINITY
							: (double)INFINITY;
			return 0;
		}
	if (number_parse_double(word, &value->is.f, err) != 0)
		return -1;
	return isfinite(value->is.f)
		   ? 0
		   : err_set(err, "'%s' is too large for a number",
			 text_quote(shown, sizeof(shown), word));
}

/* A whole number of 12 digits or more, or below 0, is milliseconds (0.0.4), any
 * other time seconds (OpenMetrics): both are right from 1973 on. */
static int
take_time(struct text word, struct prometheus_sample *sample, struct err *err)
{
	int64_t ms;

	sample->has_time = true;
	if (!whole(word, &ms) || (ms >= 0 && ms < 100000000000))
		return clock_parse_seconds(word, &sample->time_ns, err);
	if (ms < TIME_MIN_NS / 1000000 || ms > TIME_MAX_NS / 1000000)
		return err_set(
		    err, "the time is not between the years 1900 and 2200");
	sample->time_ns = ms * 1000000;
	return 0;
}

/* ---- what a name means ---- */

static struct text
without_end(struct text name, const char *end)
{
	uint32_t bytes = (uint32_t)strlen(end);

	if (name.bytes > bytes &&
	    memcmp(name.at + name.bytes - bytes, end, bytes) == 0)
		name.bytes -= bytes;
	return name;
}

/* The unit that a word of OpenMetrics, or the last one of a name, says. */
static struct text
unit_of(struct text name)
{
	static const struct text none = { "", 0 };
	struct text word = name;

	for (uint32_t i = 0; i < name.bytes; i++)
		if (name.at[i] == '_')
			word = (struct text){ name.at + i + 1,
				name.bytes - i - 1 };
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text_equal(word, text_of(units[i].word)))
			return text_of(units[i].unit);
	return none;
}

/* Is it what a family adds to its name in those of its samples? */
static bool
is_ending(struct text end)
{
	static const char *const endings[] = { "", "_total", "_created", "_sum",
		"_count", "_bucket", "_gsum", "_gcount", "_info" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (text_equal(end, text_of(endings[i])))
			return true;
	return false;
}

/* Numbers of observations, which do not have the unit of their family. */
static bool
is_count(enum type type, struct text end)
{
	switch (type) {
	case TYPE_HISTOGRAM:
		return text_equal(end, text_of("_count")) ||
		       text_equal(end, text_of("_bucket"));
	case TYPE_GAUGE_HISTOGRAM:
		return text_equal(end, text_of("_gcount")) ||
		       text_equal(end, text_of("_bucket"));
	default: return false;
	}
}

static void
describe(struct prometheus *reader, struct prometheus_sample *sample)
{
	struct dynamic_number *number = &sample->number;
	struct text name = number->name, family = reader->family, end;
	enum type type = TYPE_GAUGE;
	bool ours = name.bytes >= family.bytes && family.bytes > 0 &&
		    memcmp(name.at, family.at, family.bytes) == 0;

	end = ours ? (struct text){ name.at + family.bytes,
		name.bytes - family.bytes }
		   : name;
	ours = ours && is_ending(end);
	if (ours)
		type = (enum type)reader->type;
	number->counter =
	    type == TYPE_COUNTER
		? end.bytes == 0 || text_equal(end, text_of("_total"))
		: type == TYPE_HISTOGRAM &&
		      (text_equal(end, text_of("_sum")) ||
			  text_equal(end, text_of("_count")) ||
			  text_equal(end, text_of("_bucket")));
	sample->is_bucket =
	    (type == TYPE_HISTOGRAM || type == TYPE_GAUGE_HISTOGRAM) &&
	    text_equal(end, text_of("_bucket"));
	if ((type == TYPE_COUNTER || type == TYPE_HISTOGRAM) &&
	    text_equal(end, text_of("_created")))
		number->unit = text_of("s");
	else if (is_count(type, end))
		number->unit = text_of("");
	else if (ours && reader->unit.bytes > 0)
		number->unit = reader->unit;
	else
		number->unit = unit_of(without_end(
		    without_end(without_end(name, "_total"), "_sum"), "_gsum"));
	reader->described = *number;
	reader->is_bucket = sample->is_bucket;
}

/* The lines of a name follow each other. */
static void
describe_again(struct prometheus *reader, struct prometheus_sample *sample)
{
	const struct dynamic_number *before = &reader->described;

	if (!text_equal(before->name, sample->number.name)) {
		describe(reader, sample);
		return;
	}
	sample->number.unit = before->unit;
	sample->number.counter = before->counter;
	sample->is_bucket = reader->is_bucket;
}

/* ---- lines ---- */

/* "# TYPE name type", "# UNIT name unit"; any other is a comment. */
static int
take_comment(struct prometheus *reader, struct text line, struct err *err)
{
	struct text what, family;
	char shown[SHOWN_BYTES];

	what = text_next_word(&line);
	if (!text_equal(what, text_of("TYPE")) &&
	    !text_equal(what, text_of("UNIT")))
		return 0;
	reader->used = 0;
	if (take_metric(reader, &line, &family, err) != 0)
		return -1;
	if (!text_equal(family, reader->family)) {
		reader->family = family;
		reader->unit.bytes = 0;
		reader->type = TYPE_GAUGE;
	}
	reader->described.name.bytes = 0;
	line = text_trim(line);
	if (what.at[0] == 'U') {
		const struct dynamic_number number = { .name = family,
			.unit = line };

		if (dynamic_group_check_number(&number, err) != 0)
			return -1;
		reader->unit = unit_of(line);
		if (reader->unit.bytes == 0)
			reader->unit = line;
		return 0;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (text_equal(line, text_of(types[i].word))) {
			reader->type = (int)types[i].type;
			return 0;
		}
	return err_set(err, "'%s' is no type of metrics",
	    text_quote(shown, sizeof(shown), line));
}

static int
take_sample(struct prometheus *reader, struct text line,
    struct prometheus_sample *sample, struct err *err)
{
	struct text *name = &sample->number.name, word;

	reader->used = 0;
	sample->labels = 0;
	sample->has_time = false;
	*name = take_bare(&line);
	if (take(&line, '{') && take_labels(reader, &line, sample, err) != 0)
		return -1;
	if (name->bytes == 0)
		return err_set(err, "the line does not begin with a name");
	word = text_next_word(&line);
	if (word.bytes == 0)
		return err_set(err, "the value is missing");
	if (prometheus_value(word, &sample->number.value, err) != 0)
		return -1;
	word = text_next_word(&line);
	if (word.bytes > 0 && word.at[0] != '#') {
		if (take_time(word, sample, err) != 0)
			return -1;
		word = text_next_word(&line);
	}
	/* An exemplar is a comment. */
	if (word.bytes > 0 && word.at[0] != '#')
		return err_set(err, "there is something behind the time");
	describe_again(reader, sample);
	return 0;
}

int
prometheus_next(struct prometheus *reader, struct prometheus_sample *sample,
    struct err *err)
{
	struct text line;

	while (text_next_line(&reader->rest, &line)) {
		reader->line++;
		line = text_trim(line);
		if (line.bytes == 0)
			continue;
		if (line.bytes > PROMETHEUS_LINE_BYTES_MAX)
			return err_set(err, "the line is longer than %d bytes",
			    PROMETHEUS_LINE_BYTES_MAX);
		if (line.at[0] != '#')
			return take_sample(reader, line, sample, err) == 0 ? 1
									   : -1;
		drop(&line, 1);
		if (take_comment(reader, line, err) != 0)
			return -1;
	}
	return 0;
}
