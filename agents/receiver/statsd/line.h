/*
 * line - a line of statsd, or of DogStatsD 1.0 to 1.3.
 *
 *     NAME:VALUE[:VALUE
 * ...]|TYPE[|@RATE][|#TAG[:TEXT],...][|c:CONTAINER][|TTIME]
 *     _e{BYTES,BYTES}:TITLE|TEXT[|d:TIME][|h:HOST][|p:..][|t:..][|k:..][|s:..]
 *     _sc|NAME|STATUS[|d:TIME][|h:HOST][|#TAG ...][|m:TEXT]
 *
 * https://github.com/statsd/statsd/blob/master/docs/metric_types.md and
 * https://docs.datadoghq.com/developers/dogstatsd/datagram_shell/.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_LINE_H
#define AGENTS_RECEIVER_STATSD_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/metric/dynamic_group.h"

enum {
	STATSD_LINE_BYTES_MAX = 1 << 10,
	/* Of an event, a check, and a line of packed values: as much as the
	 * clients of DogStatsD send. */
	STATSD_LONG_LINE_BYTES_MAX = 8 << 10,
};

/* What a line, or a series, is refused for. */
enum statsd_fault {
	STATSD_OK,
	STATSD_TOO_LONG,
	STATSD_FORM, /* not NAME:VALUE|TYPE, or a part that nobody knows */
	STATSD_NAME,
	STATSD_VALUE,
	STATSD_TYPE,
	STATSD_RATE,
	STATSD_TAGS,
	STATSD_TIME,
	STATSD_NEGATIVE,   /* a counter never falls */
	STATSD_OTHER_TYPE, /* than the series has */
	STATSD_TIMES,      /* too many values with a time */
	STATSD_SERIES,     /* a series too many */
	STATSD_FAULTS
};

/* A word for counters ("form"), and the sentence for people. */
const char *statsd_fault_word(enum statsd_fault fault);
const char *statsd_fault_sentence(enum statsd_fault fault);

enum statsd_type {
	STATSD_COUNTER,
	STATSD_GAUGE,
	STATSD_TIMER,     /* ms */
	STATSD_HISTOGRAM, /* h and d */
	STATSD_SET,
	STATSD_EVENT,
	STATSD_CHECK,
};

/* Parts of events and checks only; empty if the line does not have it. */
enum statsd_part {
	STATSD_MESSAGE,
	STATSD_HOST,
	STATSD_PRIORITY,
	STATSD_ALERT,
	STATSD_KEY,
	STATSD_SOURCE,
	STATSD_STATUS,
	STATSD_PARTS
};

/* Views of the line. */
struct statsd_line {
	enum statsd_type type;
	struct text name;
	struct text values; /* of a set: one, whatever it has */
	double rate;        /* above 0, at most 1 */
	/* By key, each once: of two tags of one name the last counts.  A tag
	 * without a text has the text `true`. */
	struct dynamic_label label[DYNAMIC_LABELS_MAX];
	uint32_t labels;
	bool has_time;
	int64_t time_ns;
	struct text part[STATSD_PARTS];
};

/* Parse a line without its newline.  Names and texts may still be such as a
 * dynamic group refuses. */
enum statsd_fault statsd_line_parse(struct statsd_line *line, struct text text);

/* Take the next of the values.  `is_signed`: it begins with a sign, which makes
 * it a delta of a gauge.  False: it is no number. */
bool statsd_line_value(struct text *values, double *value, bool *is_signed);

#endif
