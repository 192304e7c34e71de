/*
 * clock_words - times as people write them, and their zone.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#define DAY_S  86400
#define DAY_NS (DAY_S * NS_PER_SECOND)

/* ---- the zone ---- */

static struct {
	char name[64];
	bool named;       /* the C library knows it */
	int64_t ahead_ns; /* otherwise */
} zone = { .name = "UTC" };

/* "+01:00", "-0330", "+2" */
static bool
take_offset(const char *word, int64_t *ahead_ns)
{
	int hours, minutes = 0, end = 0;

	if ((word[0] != '+' && word[0] != '-') || word[1] < '0' ||
	    word[1] > '9')
		return false;
	if (sscanf(word + 1, "%2d:%2d%n", &hours, &minutes, &end) < 2 &&
	    sscanf(word + 1, "%2d%2d%n", &hours, &minutes, &end) < 2 &&
	    sscanf(word + 1, "%2d%n", &hours, &end) < 1)
		return false;
	*ahead_ns = (hours * 60 + minutes) * (60 * NS_PER_SECOND) *
		    (word[0] == '-' ? -1 : 1);
	return word[1 + end] == '\0' && hours <= 14 && minutes >= 0 &&
	       minutes <= 59;
}

/* Does the time zone database have the name? */
static bool
has_zone(const char *word)
{
	const char *dir = getenv("TZDIR");
	char path[256];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s",
	    dir != NULL ? dir : "/usr/share/zoneinfo", word);

	return word[0] != '/' && word[0] != '.' && strstr(word, "/.") == NULL &&
	       n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode);
}

/* libc takes a name that it does not find for UTC.  Rules that stand in TZ
 * itself have a comma. */
static bool
has_local_zone(void)
{
	const char *name = getenv("TZ");

	if (name != NULL && name[0] == ':')
		name++;
	return name == NULL || name[0] == '/' || strchr(name, '/') == NULL ||
	       strchr(name, ',') != NULL || has_zone(name);
}

int
clock_check_zone(const char *word, struct err *err)
{
	char shown[64];
	int64_t ahead_ns;

	if (strcmp(word, "local") == 0 && !has_local_zone())
		return err_set(err,
		    "TZ: '%s' is not a name of /usr/share/zoneinfo, such as "
		    "Europe/Berlin",
		    text_quote(shown, sizeof(shown), text_of(getenv("TZ"))));
	if (strcasecmp(word, "UTC") == 0 || strcmp(word, "local") == 0 ||
	    take_offset(word, &ahead_ns) ||
	    (strlen(word) < sizeof(zone.name) && has_zone(word)))
		return 0;
	return err_set(err,
	    "'%s' is not a time zone (UTC, local, +01:00, or a name of "
	    "/usr/share/zoneinfo, such as Europe/Berlin)",
	    text_quote(shown, sizeof(shown), text_of(word)));
}

int
clock_set_zone(const char *word, struct err *err)
{
	char value[sizeof(zone.name) + 1];

	if (clock_check_zone(word, err) != 0)
		return -1;
	zone.ahead_ns = 0;
	zone.named = false;
	snprintf(zone.name, sizeof(zone.name), "%s", word);
	if (strcasecmp(word, "UTC") == 0) {
		strcpy(zone.name, "UTC");
	} else if (!take_offset(word, &zone.ahead_ns)) {
		zone.named = true;
		if (strcmp(word, "local") == 0) {
			strcpy(zone.name, "local time");
		} else {
			snprintf(value, sizeof(value), ":%s", word);
			setenv("TZ", value, 1);
		}
		tzset(); /* reads the file */
	}
	return 0;
}

const char *
clock_zone_name(void)
{
	return zone.name;
}

int64_t
clock_zone_ahead_ns(int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_SECOND);
	struct tm tm;

	if (!zone.named)
		return zone.ahead_ns;
	if (wall_ns % NS_PER_SECOND < 0)
		seconds--;
	return localtime_r(&seconds, &tm) != NULL
		   ? (int64_t)tm.tm_gmtoff * NS_PER_SECOND
		   : 0;
}

int64_t
clock_zone_wall_ns(int64_t shown_ns)
{
	/* What was ahead before a change, and what is behind it. */
	int64_t before_ns = shown_ns - clock_zone_ahead_ns(shown_ns - DAY_NS);
	int64_t behind_ns = shown_ns - clock_zone_ahead_ns(shown_ns + DAY_NS);

	if (before_ns + clock_zone_ahead_ns(before_ns) == shown_ns ||
	    behind_ns + clock_zone_ahead_ns(behind_ns) != shown_ns)
		return before_ns;
	return behind_ns;
}

/* ---- times ---- */

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

/* The begin of the day, as clocks of the zone show it. */
static int64_t
shown_day(int64_t wall_ns)
{
	int64_t shown_ns = wall_ns + clock_zone_ahead_ns(wall_ns);
	int64_t of_day = shown_ns % DAY_NS;

	return shown_ns - of_day - (of_day < 0 ? DAY_NS : 0);
}

bool
clock_parse_words(struct text t, int64_t now_ns, int64_t *ns)
{
	int64_t seconds, begin_ns = shown_day(now_ns);
	struct text rest = t;
	char word[12];

	if (t.bytes == 0 || t.bytes > 40)
		return false;
	take_word(&rest, word);
	if (strcmp(word, "today") == 0 || strcmp(word, "yesterday") == 0) {
		seconds = rest.bytes == 0 ? 0 : time_of_day(rest);
		*ns = clock_zone_wall_ns(begin_ns -
					 (word[0] == 'y' ? DAY_NS : 0) +
					 seconds * NS_PER_SECOND);
		return seconds >= 0 && *ns >= TIME_MIN_NS && *ns <= TIME_MAX_NS;
	}
	seconds = time_of_day(t);
	if (seconds >= 0) {
		begin_ns += seconds * NS_PER_SECOND;
		*ns = clock_zone_wall_ns(begin_ns);
		if (*ns > now_ns)
			*ns = clock_zone_wall_ns(begin_ns - DAY_NS);
		return *ns >= TIME_MIN_NS;
	}
	seconds = time_ago(t);
	/* In seconds: nanoseconds may not fit. */
	if (seconds < 0 || seconds > (now_ns - TIME_MIN_NS) / NS_PER_SECOND)
		return false;
	*ns = now_ns - seconds * NS_PER_SECOND;
	return true;
}
