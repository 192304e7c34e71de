/*
 * clock_parse_words - times as people write them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/clock.h"

#include <string.h>

#define DAY_S  86400
#define DAY_NS (DAY_S * NS_PER_SECOND)

/* Take a word of letters, in lower case, and the blanks or dots after it. */
static void
take_word(struct text *t, char to[static 12])
{
	uint32_t n = 0;

	while (
	    n < t->bytes && ((t->at[n] | 32) >= 'a' && (t->at[n] | 32) <= 'z'))
		n++;
	for (uint32_t i = 0; i < n && i < 11; i++)
		to[i] = (char)(t->at[i] | 32);
	to[n < 11 ? n : 0] = '\0'; /* no word of ours is longer */
	while (n < t->bytes && (t->at[n] == ' ' || t->at[n] == '.'))
		n++;
	t->at += n;
	t->bytes -= n;
}

/* At most `digits` digits; -1: there are none, or more. */
static int64_t
take_digits(struct text *t, uint32_t digits)
{
	int64_t value = 0;
	uint32_t n = 0;

	while (
	    n < t->bytes && n <= digits && t->at[n] >= '0' && t->at[n] <= '9')
		value = value * 10 + (t->at[n++] - '0');
	t->at += n;
	t->bytes -= n;
	return n == 0 || n > digits ? -1 : value;
}

/* The whole of `t` is "4:00", "04:00" or "04:00:00"; seconds of the day, or
 * -1. */
static int64_t
time_of_day(struct text t)
{
	int64_t part[3] = { 0, 0, 0 };

	for (int i = 0; i < 3; i++) {
		if (i == 2 && t.bytes == 0)
			break;
		if (i > 0 && (t.bytes == 0 || t.at[0] != ':'))
			return -1;
		if (i > 0) {
			t.at++;
			t.bytes--;
		}
		part[i] = take_digits(&t, 2);
		if (part[i] < 0)
			return -1;
	}
	if (t.bytes > 0 || part[0] > 23 || part[1] > 59 || part[2] > 59)
		return -1;
	return (part[0] * 60 + part[1]) * 60 + part[2];
}

/* Seconds of a unit, or 0. */
static int64_t
unit_of(const char *word)
{
	static const struct {
		const char *names; /* with a blank before and after each */
		int64_t seconds;
	} units[] = {
		{ " s sec secs second seconds ", 1 },
		{ " m min mins minute minutes ", 60 },
		{ " h hour hours ", 3600 },
		{ " d day days ", DAY_S },
		{ " w week weeks ", 7 * DAY_S },
	};
	char padded[16] = " ";

	if (*word == '\0')
		return 0;
	strcat(padded, word);
	strcat(padded, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strstr(units[i].names, padded) != NULL)
			return units[i].seconds;
	return 0;
}

/* "3h", "2 days ago", "2.days.ago": seconds, or -1. */
static int64_t
time_ago(struct text t)
{
	int64_t number = take_digits(&t, 9), unit;
	char word[12];

	if (number < 0)
		return -1;
	while (t.bytes > 0 && (t.at[0] == ' ' || t.at[0] == '.')) {
		t.at++;
		t.bytes--;
	}
	take_word(&t, word);
	unit = unit_of(word);
	take_word(&t, word);
	if (unit == 0 || t.bytes > 0 ||
	    (word[0] != '\0' && strcmp(word, "ago") != 0))
		return -1;
	return number * unit;
}

static int64_t
day_begin(int64_t ns)
{
	int64_t of_day = ns % DAY_NS;

	return ns - of_day - (of_day < 0 ? DAY_NS : 0);
}

bool
clock_parse_words(struct text t, int64_t now_ns, int64_t *ns)
{
	int64_t seconds, begin_ns = day_begin(now_ns);
	struct text rest = t;
	char word[12];

	if (t.bytes == 0 || t.bytes > 40)
		return false;
	take_word(&rest, word);
	if (strcmp(word, "today") == 0 || strcmp(word, "yesterday") == 0) {
		seconds = rest.bytes == 0 ? 0 : time_of_day(rest);
		*ns = begin_ns - (word[0] == 'y' ? DAY_NS : 0) +
		      seconds * NS_PER_SECOND;
		return seconds >= 0 && *ns >= TIME_MIN_NS && *ns <= TIME_MAX_NS;
	}
	seconds = time_of_day(t);
	if (seconds >= 0) {
		*ns = begin_ns + seconds * NS_PER_SECOND;
		if (*ns > now_ns)
			*ns -= DAY_NS;
		return *ns >= TIME_MIN_NS;
	}
	seconds = time_ago(t);
	/* In seconds: nanoseconds may not fit. */
	if (seconds < 0 || seconds > (now_ns - TIME_MIN_NS) / NS_PER_SECOND)
		return false;
	*ns = now_ns - seconds * NS_PER_SECOND;
	return true;
}
