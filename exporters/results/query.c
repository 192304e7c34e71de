/*
 * result_query - queries about results, printed as rows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/query.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/results/read.h"
#include "exporters/results/result_file.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/json/json_relayout.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum { RESULT_NOTHING = 1 };

/*
 * List starts and timings: the newest N, or oldest first.
 *
 * A store returns the newest first.  For the opposite order the range is read
 * to its end and its last rows are reversed in memory; rows that do not fit
 * are read in another pass that stops at the first row of the previous one.
 */

enum { KEPT_MAX = 1 << 18 };

struct stored_row {
	char id[RESULT_ID_BYTES];
	int64_t start_us;
	struct value timing;
	char *text; /* owns the text of a timing that is one */
};

/* The last `room` rows of a pass. */
struct tail {
	struct stored_row *at;
	uint64_t room, seen;
};

struct list {
	const struct result_query *query;
	struct result_range range;
	uint64_t count;
	bool timings;
};

struct row {
	int64_t start, start_us;
	struct value timing;
};

#define STARTS                                                                 \
	{ "start", "START", ANSWER_AT_TIME(struct row, start),                 \
		"when the test was started" },                                 \
	{                                                                      \
		"start_us", NULL, ANSWER_AT_WHOLE(struct row, start_us),       \
		    "the same since the epoch", "us"                           \
	}

static const struct answer_column start_columns[] = { STARTS, { .key = NULL } };
static const struct answer_table result_starts_tables[] = {
	{ "starts", start_columns }, { .name = NULL }
};

static const struct answer_column timing_columns[] = { STARTS,
	{ "timing", "SECONDS", ANSWER_AT_VALUE(struct row, timing),
	    "how long it took; a text is what the file has instead", "s" },
	{ .key = NULL } };
static const struct answer_table result_timings_tables[] = {
	{ "timings", timing_columns }, { .name = NULL }
};

static int
begin(struct list *list, uint64_t rows, struct err *err)
{
	const struct result_query *query = list->query;

	list->range.wrong = 0;
	if (list->timings)
		return result_range_entries(
		    &list->range, query->test, query->entry, rows, err);
	return result_range_runs(&list->range, query->test, 0, err);
}

static void
put(struct list *list, int64_t start_us, const struct value *timing)
{
	const struct row row = { result_time(start_us), start_us, *timing };

	list->count++;
	answer_row(list->query->answer, &row, NULL);
}

static int
print_newest(struct list *list, struct err *err)
{
	uint64_t limit = list->query->limit;
	struct result_row row;
	int rc;

	if (begin(list, limit, err) != 0)
		return -1;
	while ((limit == 0 || list->count < limit) &&
	       (rc = result_range_next(&list->range, &row, err)) != 0) {
		if (rc < 0)
			return -1;
		put(list, row.start_us, &row.timing);
		if (answer_is_broken(list->query->answer))
			break; /* the caller reports the error */
	}
	return 0;
}

static void
store(struct tail *tail, const struct result_row *row)
{
	struct stored_row *stored = &tail->at[tail->seen++ % tail->room];
	uint32_t bytes;

	free(stored->text);
	*stored = (struct stored_row){ .start_us = row->start_us,
		.timing = row->timing };
	memcpy(stored->id, row->id.at, row->id.bytes);
	if (row->timing.type != VALUE_TEXT)
		return;
	bytes = row->timing.is.text.bytes;
	stored->text = memory_alloc(bytes + 1);
	memcpy(stored->text, row->timing.is.text.at, bytes);
	stored->timing.is.text.at = stored->text;
}

/* The oldest rows before `until` (an id; "" selects all). */
static int
read_tail(
    struct list *list, struct tail *tail, const char *until, struct err *err)
{
	struct result_row row;
	int rc;

	tail->seen = 0;
	if (begin(list, 0, err) != 0)
		return -1;
	while ((rc = result_range_next(&list->range, &row, err)) > 0) {
		if (until[0] != '\0' &&
		    text_compare(row.id, text_of(until)) >= 0)
			return 0;
		store(tail, &row);
	}
	return rc;
}

static int
print_oldest(struct list *list, struct err *err)
{
	uint64_t limit = list->query->limit;
	uint64_t room = limit > 0 && limit < KEPT_MAX ? limit : KEPT_MAX;
	struct tail tail = { memory_zero(room, sizeof(*tail.at)), room, 0 };
	char until[RESULT_ID_BYTES] = "";
	uint64_t stored;
	int rc;

	do {
		rc = read_tail(list, &tail, until, err);
		stored = tail.seen < room ? tail.seen : room;
		for (uint64_t i = tail.seen;
		     rc == 0 && i > tail.seen - stored &&
		     (limit == 0 || list->count < limit);
		     i--) {
			const struct stored_row *row = &tail.at[(i - 1) % room];

			put(list, row->start_us, &row->timing);
		}
		if (stored > 0)
			memcpy(until, tail.at[(tail.seen - stored) % room].id,
			    sizeof(until));
	} while (rc == 0 && tail.seen > stored &&
		 (limit == 0 || list->count < limit) &&
		 !answer_is_broken(list->query->answer));
	for (uint64_t i = 0; i < room; i++)
		free(tail.at[i].text);
	free(tail.at);
	return rc;
}

static int
print_list(const struct result_query *query, bool timings, struct err *err)
{
	struct list list = { .query = query, .timings = timings };
	int rc;

	list.range = result_query_range(query);
	rc =
	    query->oldest ? print_oldest(&list, err) : print_newest(&list, err);
	result_query_note(query, &list.range);
	if (rc == 0 && list.count == 0)
		return result_query_explain(query, err);
	return rc;
}

static int
result_query_starts(const struct result_query *query, struct err *err)
{
	return print_list(query, false, err);
}

static int
result_query_timings(const struct result_query *query, struct err *err)
{
	return print_list(query, true, err);
}

/*
 * All stored results, in the order in which they were stored.
 *
 * A store orders them by name and time.  This order is that of stored_ns, then
 * of the digest: passes over the results find the next ones (read.h), and
 * each is then read by its id.  The entries of a result are looked up one by
 * one: they are not adjacent in the store, but their ids follow from the text
 * of the result.
 */

enum {
	SIEVE_KEYS = 1 << 16,
	SIEVE_BYTES = 16 << 20,
	DIGEST_DIGITS = RESULT_ID_DIGEST_BYTES,
	KEY_BYTES = 8 + RESULT_ID_BYTES + DIGEST_DIGITS,
};

struct printer {
	const struct result_query *query;
	struct result_range range;
	struct distinct distinct;
	struct json_relayout again;
	struct buffer
	    texts; /* copy of name and info of the result being printed */
	struct progress bar;
};

struct entities_row {
	struct text kind, test, entry, info;
	int64_t start, start_us;
	struct value timing;
};

static const struct answer_column columns[] = {
	{ "kind", "KIND", ANSWER_AT_TEXT(struct entities_row, kind),
	    "Test or Entry" },
	{ "test", "TEST", ANSWER_AT_TEXT(struct entities_row, test),
	    "the name of the test" },
	{ "start", "START", ANSWER_AT_TIME(struct entities_row, start),
	    "when it was started" },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct entities_row, start_us),
	    "the same since the epoch", "us" },
	{ "entry", "ENTRY", ANSWER_AT_TEXT(struct entities_row, entry),
	    "the name of the entry" },
	{ "timing", "SECONDS", ANSWER_AT_VALUE(struct entities_row, timing),
	    "how long the entry took", "s" },
	{ "info", NULL, ANSWER_AT_TEXT(struct entities_row, info),
	    "the text of the file, or of the entry in it" },
	{ .key = NULL },
};
static const struct answer_table result_entities_tables[] = {
	{ "entities", columns }, { .name = NULL }
};

/* Key: time of storing, digest, id. */
static void
add_key(struct distinct *distinct, const struct result_row *row)
{
	uint64_t order = htobe64((uint64_t)row->stored_ns ^ UINT64_C(1) << 63);
	char key[KEY_BYTES];

	memcpy(key, &order, sizeof(order));
	memcpy(key + 8, row->id.at + RESULT_ID_DIGEST_AT, DIGEST_DIGITS);
	memcpy(key + 8 + DIGEST_DIGITS, row->id.at, row->id.bytes);
	distinct_add(
	    distinct, (struct text){ key, 8 + DIGEST_DIGITS + row->id.bytes });
}

static int
sieve_runs(struct printer *p, bool *more, struct err *err)
{
	struct result_row row;
	uint64_t count = 0;
	int rc;

	distinct_begin(&p->distinct);
	p->range.wrong = 0;
	if (result_range_runs(&p->range, (struct text){ NULL, 0 }, 0, err) != 0)
		return -1;
	while ((rc = result_range_next(&p->range, &row, err)) > 0) {
		add_key(&p->distinct, &row);
		count++;
	}
	p->bar.total = count;
	*more = distinct_sort(&p->distinct);
	return rc;
}

/* Texts that must outlive the record: name, then info. */
static void
copy_texts(struct printer *p, struct result_row *row)
{
	p->texts.bytes = 0;
	buffer_put_text(&p->texts, row->test);
	buffer_put_text(&p->texts, row->info);
	row->test.at = (const char *)p->texts.at;
	row->info.at = row->test.at + row->test.bytes;
}

static void
entities_put(struct printer *p, const char *kind, const struct result_row *of,
    struct text info)
{
	bool is_entry = strcmp(kind, "Entry") == 0;
	const struct entities_row row = { text_of(kind), of->test,
		is_entry ? of->entry : (struct text){ NULL, 0 }, info,
		result_time(of->start_us), of->start_us,
		is_entry ? of->timing : (struct value){ .type = VALUE_NIL } };

	answer_row(p->query->answer, &row, NULL);
}

static int
print_entry(
    struct printer *p, const char *id, struct text info, struct err *err)
{
	struct result_row row;
	struct text again;
	int rc;

	if (result_range_one(&p->range, RESULT_KIND_ENTRY, text_of(id), err) !=
	    0)
		return -1;
	rc = result_range_next(&p->range, &row, err);
	if (rc <= 0)
		return rc;
	/* Invalid characters that Python accepts are passed through
	 * unchanged. */
	if (json_relayout(&p->again, info, &again))
		info = again;
	entities_put(p, "Entry", &row, info);
	return 0;
}

static int
print_entries(struct printer *p, const struct result_row *run, const char *id,
    struct err *err)
{
	struct err why = { 0 };
	struct result_file file;
	int rc = 0;

	if (result_file_read(&file, run->info, false, &why) != 0) {
		log_warn("cannot read the text of result %s: %s", id, why.text);
		return 0;
	}
	for (uint32_t i = 0; rc == 0 && i < file.count; i++) {
		char of[RESULT_ID_BYTES];

		result_id_entry(of, id, run->test, file.entries[i].name, i);
		rc = print_entry(p, of, file.entries[i].info, err);
	}
	result_file_clear(&file);
	return rc;
}

static int
print_run(struct printer *p, struct text key, struct err *err)
{
	char id[RESULT_ID_BYTES] = "";
	struct result_row row;
	int rc;

	memcpy(id, key.at + 8 + DIGEST_DIGITS, key.bytes - 8 - DIGEST_DIGITS);
	if (result_range_one(&p->range, RESULT_KIND_RUN, text_of(id), err) != 0)
		return -1;
	rc = result_range_next(&p->range, &row, err);
	if (rc <= 0)
		return rc; /* retention has deleted it in the meantime */
	copy_texts(p, &row);
	entities_put(p, "Test", &row, row.info);
	return print_entries(p, &row, id, err);
}

static void
show_progress(struct printer *p)
{
	int64_t now_ns = clock_monotonic_ns();

	p->bar.done++;
	p->bar.rows = answer_rows(p->query->answer);
	if (!p->query->progress || now_ns - p->bar.now_ns < NS_PER_SECOND / 10)
		return;
	p->bar.now_ns = now_ns;
	progress_show("entities", &p->bar);
}

/* Everything in the order of storing. */
static int
result_query_entities(const struct result_query *query, struct err *err)
{
	struct printer p = { .query = query,
		.bar = { .began_ns = clock_monotonic_ns() } };
	bool more = true;
	int rc = 0;

	p.range = result_query_range(query);
	distinct_init(&p.distinct, SIEVE_KEYS, SIEVE_BYTES);
	json_relayout_init(&p.again);
	while (rc == 0 && more && !answer_is_broken(query->answer)) {
		rc = sieve_runs(&p, &more, err);
		for (uint32_t i = 0; rc == 0 && i < p.distinct.count &&
				     !answer_is_broken(query->answer);
		     i++) {
			rc = print_run(&p, p.distinct.keys[i], err);
			show_progress(&p);
		}
	}
	if (query->progress)
		progress_clear();
	result_query_note(query, &p.range);
	distinct_clear(&p.distinct);
	json_relayout_clear(&p.again);
	buffer_clear(&p.texts);
	return rc;
}

enum {
	NAME_SIEVE_KEYS = 1 << 16,
	NAME_SIEVE_BYTES = 8 << 20,
	SHOWN_BYTES = 160, /* maximum bytes of a name in a message */
};

struct result_range
result_query_range(const struct result_query *query)
{
	struct result_range range;

	result_range_init(&range, query->source, query->partition);
	range.window = query->window;
	return range;
}

void
result_query_note(
    const struct result_query *query, const struct result_range *range)
{
	if (range->wrong == 0)
		return;
	if (query->answer == NULL)
		log_warn("skipped %" PRIu64 " malformed result entities",
		    range->wrong);
	else
		answer_note(query->answer, "left_out", range->wrong,
		    "skipped %" PRIu64 " malformed result entities",
		    range->wrong);
}

int64_t
result_time(int64_t us)
{
	return us < TIME_MIN_NS / 1000 || us > TIME_MAX_NS / 1000 ? ANSWER_NO_NS
								  : us * 1000;
}

int
result_query_explain(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	char test[SHOWN_BYTES], entry[SHOWN_BYTES];
	struct result_row row;
	int rc;

	text_quote(test, sizeof(test), query->test);
	text_quote(entry, sizeof(entry), query->entry);
	range.window = result_window_all;
	if (result_range_tests(&range, query->test, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc == 0) {
		err_set(err,
		    "no results of test '%s'; list the tests with "
		    "poolscope-results tests",
		    test);
		return RESULT_NOTHING;
	}
	if (rc < 0 || query->entry.bytes == 0)
		return rc < 0 ? -1 : 0;
	if (result_range_entries(&range, query->test, query->entry, 1, err) !=
	    0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	err_set(err,
	    "test '%s' has no entry '%s'; list the entries of its latest start "
	    "with poolscope-results entries",
	    test, entry);
	return RESULT_NOTHING;
}

/* ---- names ---- */

struct name_row {
	struct text name;
};

static const struct answer_column test_columns[] = {
	{ "test", "TEST", ANSWER_AT_TEXT(struct name_row, name),
	    "the name of a test" },
	{ .key = NULL },
};
static const struct answer_table result_tests_tables[] = {
	{ "tests", test_columns }, { .name = NULL }
};

static const struct answer_column entry_columns[] = {
	{ "entry", "ENTRY", ANSWER_AT_TEXT(struct name_row, name),
	    "the name of an entry" },
	{ .key = NULL },
};
static const struct answer_table result_entries_tables[] = {
	{ "entries", entry_columns }, { .name = NULL }
};

static void
put_name(const struct result_query *query, struct text name)
{
	answer_row(query->answer, &(struct name_row){ name }, NULL);
}

static int
sieve_tests(struct result_range *range, struct distinct *distinct, bool *more,
    struct err *err)
{
	struct result_row row;
	int rc;

	distinct_begin(distinct);
	if (result_range_tests(range, (struct text){ NULL, 0 }, err) != 0)
		return -1;
	while ((rc = result_range_next(range, &row, err)) > 0)
		distinct_add(distinct, row.test);
	*more = distinct_sort(distinct);
	return rc;
}

static int
result_query_tests(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct distinct distinct;
	bool more = true;
	int rc = 0;

	distinct_init(&distinct, NAME_SIEVE_KEYS, NAME_SIEVE_BYTES);
	while (rc == 0 && more) {
		range.wrong = 0;
		rc = sieve_tests(&range, &distinct, &more, err);
		for (uint32_t i = 0; rc == 0 && i < distinct.count; i++)
			put_name(query, distinct.keys[i]);
	}
	distinct_clear(&distinct);
	result_query_note(query, &range);
	if (rc == 0 && answer_rows(query->answer) == 0)
		answer_note(query->answer, "none", ANSWER_NO_COUNT,
		    "no results in %.*s of %s: poolscope upload results sends "
		    "them",
		    (int)query->partition.bytes, query->partition.at,
		    source_name(query->source));
	return rc;
}

static int
give_entries(const struct result_query *query, const struct result_row *row,
    struct err *err)
{
	struct result_file file;

	if (result_file_read(&file, row->info, false, err) != 0)
		return err_prefix(
		    err, "result %.*s", (int)row->id.bytes, row->id.at);
	for (uint32_t i = 0; i < file.count; i++)
		put_name(query, file.entries[i].name);
	result_file_clear(&file);
	return 0;
}

/* The entries of the latest start, in the order of its file. */
static int
result_query_entries(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_row row;
	int rc;

	if (result_range_runs(&range, query->test, 1, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc < 0 || (rc > 0 && give_entries(query, &row, err) != 0))
		return -1;
	result_query_note(query, &range);
	return rc > 0 ? 0 : result_query_explain(query, err);
}

/* ---- one result ---- */

struct test_row {
	struct text id, test, file, info;
	int64_t start, stored;
	int64_t start_us, stored_us;
};

static const struct answer_column result_columns[] = {
	{ "test", "TEST", ANSWER_AT_TEXT(struct test_row, test),
	    "the name of the test" },
	{ "start", "START", ANSWER_AT_TIME(struct test_row, start),
	    "when it was started" },
	{ "file", "FILE", ANSWER_AT_TEXT(struct test_row, file),
	    "the name of the file" },
	{ "stored", "STORED", ANSWER_AT_TIME(struct test_row, stored),
	    "when it was stored", .traits = ANSWER_SPARE },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct test_row, start_us),
	    "when it was started, since the epoch", "us" },
	{ "stored_us", NULL, ANSWER_AT_WHOLE(struct test_row, stored_us),
	    "when it was stored, since the epoch", "us" },
	{ "id", NULL, ANSWER_AT_TEXT(struct test_row, id),
	    "the id of the result" },
	{ "info", NULL, ANSWER_AT_TEXT(struct test_row, info),
	    "the text of the file" },
	{ .key = NULL },
};
static const struct answer_table result_test_tables[] = {
	{ "results", result_columns }, { .name = NULL }
};

int
result_query_test(const struct result_query *query, struct err *err)
{
	struct result_range range = result_query_range(query);
	char start[CLOCK_TEXT_BYTES], test[SHOWN_BYTES];
	int64_t start_ns = result_time(query->start_us);
	struct result_row row;
	int rc;

	range.window = result_window_all;
	if (result_range_at(&range, query->test, query->start_us, err) != 0)
		return -1;
	while ((rc = result_range_next(&range, &row, err)) > 0) {
		const struct test_row of = { row.id, row.test, row.file,
			row.info, result_time(row.start_us), row.stored_ns,
			row.start_us, row.stored_ns / 1000 };

		answer_row(query->answer, &of, NULL);
		if (answer_is_for_people(query->answer))
			answer_note(query->answer, "info", ANSWER_NO_COUNT,
			    "%.*s", (int)row.info.bytes, row.info.at);
	}
	if (rc < 0)
		return -1;
	result_query_note(query, &range);
	if (answer_rows(query->answer) > 0)
		return 0;
	rc = result_query_explain(query, err);
	if (rc != 0)
		return rc;
	err_set(err,
	    "test '%s' has no result of %s; list its starts with "
	    "poolscope-results starts",
	    text_quote(test, sizeof(test), query->test),
	    start_ns == ANSWER_NO_NS
		? "that time"
		: clock_text(
		      start, start_ns, start_ns % NS_PER_SECOND == 0 ? 0 : 6));
	return RESULT_NOTHING;
}

/* ---- all of them ---- */

const struct result_question result_questions[] = {
	{ "tests", 0, result_tests_tables, result_query_tests },
	{ "starts", 1, result_starts_tables, result_query_starts },
	{ "timings", 2, result_timings_tables, result_query_timings },
	{ "changes", 2, result_changes_tables, result_query_changes },
	{ "check", 2, result_changes_tables, result_query_changes },
	{ "entries", 1, result_entries_tables, result_query_entries },
	{ "test", 2, result_test_tables, result_query_test },
	{ "entities", 0, result_entities_tables, result_query_entities },
	{ .word = NULL },
};

int
result_answer(const struct result_question *question,
    struct result_query *query, const struct answer_options *options,
    FILE *file, struct err *err)
{
	int rc;

	query->answer = answer_new(file, options, question->tables);
	answer_head(query->answer, "question", answer_string("results"));
	answer_head(query->answer, "of", answer_string(question->word));
	answer_head(query->answer, "partition", answer_text(query->partition));
	rc = question->give(query, err) == 0 ? 0 : -1;
	rc = source_end_answer(query->source, query->answer, rc, err);
	answer_free(&query->answer);
	return rc;
}
