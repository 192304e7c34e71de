/*
 * result_entities - all stored results, in the order in which they were
 * stored.
 *
 * A store orders them by name and time.  This order is that of stored_ns, then
 * of the digest: passes over the results find the next ones (distinct.h), and
 * each is then read by its id.  The entries of a result are looked up one by
 * one: they are not adjacent in the store, but their ids follow from the text
 * of the result.
 * SPDX-License-Identifier: MIT
 */
#include <endian.h>
#include <stdlib.h>

#include "exporters/results/distinct.h"
#include "exporters/results/query.h"
#include "exporters/results/result_file.h"
#include "proto/base/buffer.h"
#include "proto/json/json_relayout.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

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

struct row {
	struct text kind, test, entry, info;
	int64_t start, start_us;
	struct value timing;
};

static const struct answer_column columns[] = {
	{ "kind", "KIND", ANSWER_AT_TEXT(struct row, kind), NULL,
	    "Test or Entry", false, NULL },
	{ "test", "TEST", ANSWER_AT_TEXT(struct row, test), NULL,
	    "the name of the test", false, NULL },
	{ "start", "START", ANSWER_AT_TIME(struct row, start), NULL,
	    "when it was started", false, NULL },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct row, start_us), "us",
	    "the same since the epoch", false, NULL },
	{ "entry", "ENTRY", ANSWER_AT_TEXT(struct row, entry), NULL,
	    "the name of the entry", false, NULL },
	{ "timing", "SECONDS", ANSWER_AT_VALUE(struct row, timing), "s",
	    "how long the entry took", false, NULL },
	{ "info", NULL, ANSWER_AT_TEXT(struct row, info), NULL,
	    "the text of the file, or of the entry in it", false, NULL },
	{ .key = NULL },
};
const struct answer_table result_entities_tables[] = { { "entities", columns },
	{ .name = NULL } };

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
put(struct printer *p, const char *kind, const struct result_row *of,
    struct text info)
{
	bool is_entry = strcmp(kind, "Entry") == 0;
	const struct row row = { text_of(kind), of->test,
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
	put(p, "Entry", &row, info);
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
	put(p, "Test", &row, row.info);
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

int
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
