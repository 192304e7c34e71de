/*
 * compare_report - what a comparison says, for people and for continuous
 * integration.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/xml.h"
#include "proto/base/memory.h"

enum { PERCENT_BYTES = 40 };

/* A ratio as a change: "5.2 % more". */
static const char *
change(char to[static PERCENT_BYTES], double ratio)
{
	double percent = 100 * (ratio - 1);

	snprintf(to, PERCENT_BYTES, "%.1f %% %s", fabs(percent),
	    percent < 0 ? "less" : "more");
	return to;
}

static void add(char to[static COMPARE_WORDS_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
add(char to[static COMPARE_WORDS_BYTES], const char *format, ...)
{
	size_t used = strlen(to);
	va_list values;

	va_start(values, format);
	vsnprintf(to + used, COMPARE_WORDS_BYTES - used, format, values);
	va_end(values);
}

void
compare_words(
    char to[static COMPARE_WORDS_BYTES], const struct compare_judged *of)
{
	char ratio[PERCENT_BYTES], low[PERCENT_BYTES], high[PERCENT_BYTES];
	const char *word = compare_verdict_words[of->verdict];

	to[0] = '\0';
	if (word != NULL)
		add(to, "%s: ", word);
	if (of->old_count == 0 || of->new_count == 0) {
		add(to, "there is no %s run like those",
		    of->new_count == 0 ? "new" : "old");
		return;
	}
	add(to, "%s", change(ratio, of->ratio));
	if (isfinite(of->low))
		add(to, " (%s to %s)", change(low, of->low),
		    change(high, of->high));
	add(to, ", %" PRIu32 " new and %" PRIu32 " old", of->new_count,
	    of->old_count);
	if (of->needed > 0)
		add(to, "; about %" PRIu64 " of each would decide", of->needed);
	if (of->verdict != COMPARE_WORSE && isfinite(of->visible))
		add(to, "; %s would have been seen",
		    change(ratio, of->visible));
}

/* As a table shows it, on one line: names may have characters that a terminal
 * obeys, that turn round the rest of the line, or that XML does not allow.  The
 * caller frees it. */
static char *
shown(struct text t)
{
	char *to = memory_text(t);

	to[text_make_shown(to, t.bytes, false)] = '\0';
	return to;
}

/* ---- JUnit ---- */

static void
put_xml(FILE *file, struct text t)
{
	char *plain = shown(t);
	size_t room = 6 * strlen(plain) + 1;
	char *escaped = memory_alloc(room);

	escaped[xml_escape(escaped, room, text_of(plain))] = '\0';
	fputs(escaped, file);
	free(escaped);
	free(plain);
}

/* The number, and what the runs are like if there are several kinds. */
static void
put_name(FILE *file, const struct compare_case *of,
    const struct compare_row *row, void (*put)(FILE *, struct text))
{
	struct text like = of->set->likes.names[row->like];

	put(file, of->set->metrics.names[row->metric]);
	if (like.bytes == 0)
		return;
	put(file, text_of(" of "));
	put(file, like);
}

static void
put_case(
    FILE *file, const struct compare_case *of, const struct compare_row *row)
{
	char words[COMPARE_WORDS_BYTES];
	enum compare_verdict verdict = row->of.verdict;

	compare_words(words, &row->of);
	fputs("  <testcase classname=\"", file);
	put_xml(file, text_of(of->suite));
	fputs("\" name=\"", file);
	put_name(file, of, row, put_xml);
	fputs("\">\n    ", file);
	fputs(verdict == COMPARE_WORSE       ? "<failure message=\""
	      : verdict == COMPARE_UNDECIDED ? "<skipped message=\""
					     : "<system-out>",
	    file);
	put_xml(file, text_of(words));
	fputs(verdict == COMPARE_WORSE || verdict == COMPARE_UNDECIDED
		  ? "\"/>"
		  : "</system-out>",
	    file);
	fputs("\n  </testcase>\n", file);
}

static uint32_t
count_of(const struct compare_case *of, enum compare_verdict verdict)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < of->count; i++)
		count +=
		    of->rows[i].of.gates && of->rows[i].of.verdict == verdict;
	return count;
}

static void
write_junit(const struct compare_case *of, FILE *file)
{
	uint32_t tests = 0;

	for (uint32_t i = 0; i < of->count; i++)
		tests += of->rows[i].of.gates;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "
	      "name=\"",
	    file);
	put_xml(file, text_of(of->suite));
	fprintf(file,
	    "\" tests=\"%" PRIu32 "\" failures=\"%" PRIu32
	    "\" errors=\"0\" skipped=\"%" PRIu32 "\">\n",
	    tests, count_of(of, COMPARE_WORSE),
	    count_of(of, COMPARE_UNDECIDED));
	for (uint32_t i = 0; i < of->count; i++)
		if (of->rows[i].of.gates)
			put_case(file, of, &of->rows[i]);
	if (of->lacks != NULL) {
		fputs("  <system-err>", file);
		put_xml(file, text_of(of->lacks));
		fputs("</system-err>\n", file);
	}
	fputs("</testsuite>\n", file);
}

/* ---- GitHub ---- */

static void
put_escaped(FILE *file, struct text t, const char *special)
{
	char *plain = shown(t);

	for (const char *at = plain; *at != '\0'; at++)
		if (strchr(special, *at) != NULL)
			fprintf(file, "%%%02X", (unsigned char)*at);
		else
			putc(*at, file);
	free(plain);
}

/* GitHub turns nothing else back in a message, of one line. */
static void
put_message(FILE *file, struct text t)
{
	put_escaped(file, t, "%");
}

/* Before the message is what separates properties. */
static void
put_title(FILE *file, const char *title)
{
	fputs(" title=", file);
	put_escaped(file, text_of(title), "%:,");
	fputs("::", file);
}

static void
write_github(const struct compare_case *of, FILE *file)
{
	static const char *const levels[] = { [COMPARE_SAME] = "notice",
		[COMPARE_BETTER] = "notice",
		[COMPARE_WORSE] = "error",
		[COMPARE_UNDECIDED] = "warning" };
	char words[COMPARE_WORDS_BYTES];

	for (uint32_t i = 0; i < of->count; i++) {
		const struct compare_row *row = &of->rows[i];

		if (!row->of.gates)
			continue;
		compare_words(words, &row->of);
		fprintf(file, "::%s", levels[row->of.verdict]);
		put_title(file, of->suite);
		put_name(file, of, row, put_message);
		fputs(": ", file);
		put_message(file, text_of(words));
		putc('\n', file);
	}
	if (of->lacks == NULL)
		return;
	fputs("::warning", file);
	put_title(file, of->suite);
	put_message(file, text_of(of->lacks));
	putc('\n', file);
}

void
compare_report_write(
    const struct compare_case *of, enum compare_report report, FILE *file)
{
	(report == COMPARE_JUNIT ? write_junit : write_github)(of, file);
}
