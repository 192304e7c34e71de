/*
 * line - lines of statsd and DogStatsD, and what they mean by their
 * documentation.  The first ones are what the clients `statsd` 4.0.1 and
 * `datadog` 0.56 of PyPI sent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/line.h"

#include "tests/unit/check.h"

static struct statsd_line line;

/* What the line is, as "type name values @rate{k=v} time", or the word of its
 * fault. */
static const char *
means(struct text text)
{
	static const char *const types[] = { "counter", "gauge", "timer",
		"histogram", "set", "event", "check" };
	static char said[4096];
	enum statsd_fault fault = statsd_line_parse(&line, text);
	bool is_event = line.type == STATSD_EVENT || line.type == STATSD_CHECK;
	size_t used;

	if (fault != STATSD_OK)
		return statsd_fault_word(fault);
	used = (size_t)snprintf(said, sizeof(said), "%s %.*s", types[line.type],
	    (int)line.name.bytes, line.name.at);
	if (!is_event)
		used += (size_t)snprintf(said + used, sizeof(said) - used,
		    " %.*s", (int)line.values.bytes, line.values.at);
	if (line.rate < 1)
		used += (size_t)snprintf(
		    said + used, sizeof(said) - used, " @%g", line.rate);
	for (uint32_t i = 0; i < line.labels; i++)
		used += (size_t)snprintf(said + used, sizeof(said) - used,
		    " %.*s=%.*s", (int)line.label[i].key.bytes,
		    line.label[i].key.at, (int)line.label[i].value.bytes,
		    line.label[i].value.at);
	for (int i = 0; is_event && i < STATSD_PARTS; i++)
		if (line.part[i].bytes > 0)
			used += (size_t)snprintf(said + used,
			    sizeof(said) - used, " [%d]%.*s", i,
			    (int)line.part[i].bytes, line.part[i].at);
	if (line.has_time)
		snprintf(said + used, sizeof(said) - used, " T%lld",
		    (long long)line.time_ns);
	return said;
}

static void
each_line_means_what_the_documentation_says(void **state)
{
	static const struct {
		const char *line, *means;
	} rows[] = {
		{ "job.done:1|c", "counter job.done 1" },
		{ "job.done:1|c|@0.1", "counter job.done 1 @0.1" },
		{ "job.queue:-3|g", "gauge job.queue -3" },
		{ "job.load:12.500000|ms", "timer job.load 12.500000" },
		{ "job.u:x y|s", "set job.u x y" },
		{ "loss:0.5|g|#phase:train,x,rank:3",
		    "gauge loss 0.5 phase=train rank=3 x=true" },
		{ "lat:5|d", "histogram lat 5" },
		{ "g:1|g|#rank:3|T1795506197",
		    "gauge g 1 rank=3 T1795506197000000000" },
		{ "_e{7,6}:title|x|te\\nxt|#a:b",
		    "event title|x a=b [0]te\\nxt" },
		{ "_sc|svc|0", "check svc [6]ok" },

		/* 1.1: packed values; a set has none. */
		{ "m:1:2:3|h|@0.5|#a:b", "histogram m 1:2:3 @0.5 a=b" },
		{ "m:a:b|s", "set m a:b" },
		/* 1.2: a container. */
		{ "m:1|c|#a:b|c:ci-83c0a99c", "counter m 1 a=b "
					      "container.id=83c0a99c" },
		{ "m:1|c|c:83c0a99c", "counter m 1 container.id=83c0a99c" },
		/* 1.4 and 1.5: what concerns the agent of DogStatsD alone. */
		{ "m:1|c|#a:b|c:in-7|e:it-false,cn-x,pu-y|card:low",
		    "counter m 1 a=b container.id=in-7" },
		/* The parts may come in any order. */
		{ "m:1|c|#b:2,a:1|@0.5", "counter m 1 @0.5 a=1 b=2" },
		/* A text may have colons; the last of two counts; an empty one
		 * is none. */
		{ "m:1|c|#url:http://h:1/,a:1,a:2,b:,,c",
		    "counter m 1 a=2 c=true url=http://h:1/" },

		{ "_e{2,2}:ab|cd|d:1795506197|h:n1|p:low|t:error|k:key|s:src|"
		  "#x:y|c:ci-9",
		    "event ab container.id=9 x=y [0]cd [1]n1 [2]low [3]error "
		    "[4]key [5]src T1795506197000000000" },
		{ "_e{2,0}:ab|", "event ab" },
		{ "_e{2,0}:ab", "event ab" },
		{ "_sc|svc|2|d:7|h:n1|#a:b|m:too|many",
		    "check svc a=b [0]too|many [1]n1 [6]critical "
		    "T7000000000" },

		{ "", "form" },
		{ "a", "form" },
		{ "a:1", "form" },
		{ "a:1|", "form" },
		{ ":1|c", "form" },
		{ "a|1|c", "form" },
		{ "a:1|x", "type" },
		{ "a:1|cc", "type" },
		{ "a:1|c|", "counter a 1" },
		{ "a:1|c||@0.1", "form" },
		{ "a:1|c|what", "form" },
		{ "a:1|c|@0", "rate" },
		{ "a:1|c|@-1", "rate" },
		{ "a:1|c|@1.5", "rate" },
		{ "a:1|c|@nan", "rate" },
		{ "a:1|c|@", "rate" },
		{ "a:1|g|Tnow", "time" },
		{ "a:1|g|T99999999999999999999", "time" },
		{ "_e{3,2}:ab|cd", "form" },
		{ "_e{2,9}:ab|cd", "form" },
		{ "_e{2,1}:ab|cd", "form" },
		{ "_e{-1,2}:ab|cd", "form" },
		{ "_e{18446744073709551615,2}:ab|cd", "form" },
		{ "_e{2,2", "form" },
		{ "_e{2,2}:ab|cd|z:1", "form" },
		{ "_sc|svc|4", "value" },
		{ "_sc|svc", "value" },
		{ "_x:1|c", "counter _x 1" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(means(text_of(rows[i].line)), rows[i].means) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].line,
			    means(text_of(rows[i].line)), rows[i].means);
}

static void
a_value_is_a_finite_number(void **state)
{
	static const struct {
		const char *text;
		bool is_number, is_signed;
		double value;
	} rows[] = {
		{ "17", true, false, 17 },
		{ "+3", true, true, 3 },
		{ "-3.5", true, true, -3.5 },
		{ "1e3", true, false, 1000 },
		{ "", false, false, 0 },
		{ "-", false, true, 0 },
		{ "x", false, false, 0 },
		{ "1 ", false, false, 0 },
		{ "0x10", false, false, 0 },
		{ "nan", false, false, 0 },
		{ "inf", false, false, 0 },
		{ "-Inf", false, true, 0 },
		{ "1e999", false, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text text = text_of(rows[i].text);
		bool is_signed;
		double value;
		bool is_number = statsd_line_value(&text, &value, &is_signed);

		if (is_number != rows[i].is_number ||
		    is_signed != rows[i].is_signed ||
		    (is_number && value != rows[i].value))
			fail_msg("'%s'", rows[i].text);
	}
}

static void
there_are_bounds(void **state)
{
	static char text[16384];
	int used = sprintf(text, "a:1|c|#");

	for (int i = 0; i < 16; i++)
		used += sprintf(text + used, "%d:x,", i);
	assert_int_equal(statsd_line_parse(&line, text_of(text)), STATSD_OK);
	sprintf(text + used, "16:x");
	assert_string_equal(means(text_of(text)), "tags");
	/* A tag of 128 bytes, and of one more. */
	sprintf(text, "a:1|c|#k:%0128d", 1);
	assert_int_equal(statsd_line_parse(&line, text_of(text)), STATSD_OK);
	sprintf(text, "a:1|c|#k:%0129d", 1);
	assert_string_equal(means(text_of(text)), "tags");
	sprintf(text, "a:1|c|#%0129d:x", 1);
	assert_string_equal(means(text_of(text)), "tags");

	/* 1 KiB; 8 KiB for an event, a check and packed values. */
	sprintf(text, "a:%01020d|c", 1);
	assert_int_equal(statsd_line_parse(&line, text_of(text)), STATSD_OK);
	sprintf(text, "a:%01021d|c", 1);
	assert_string_equal(means(text_of(text)), "length");
	sprintf(text, "a:%0511d:%0509d|s", 1, 1);
	assert_string_equal(means(text_of(text)), "length");
	sprintf(text, "a:%04000d:%04187d|h", 1, 1);
	assert_int_equal(strlen(text), 8192);
	assert_int_equal(statsd_line_parse(&line, text_of(text)), STATSD_OK);
	sprintf(text, "a:%04000d:%04188d|h", 1, 1);
	assert_string_equal(means(text_of(text)), "length");
	sprintf(text, "_e{1,4000}:a|%04000d", 1);
	assert_int_equal(statsd_line_parse(&line, text_of(text)), STATSD_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_means_what_the_documentation_says),
		cmocka_unit_test(a_value_is_a_finite_number),
		cmocka_unit_test(there_are_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
