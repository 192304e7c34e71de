/*
 * question_status - the state of the store and its services: what is wrong,
 * what is known of each part, the partitions, and what was counted.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "exporters/nodes/pools.h"
#include "exporters/question/values.h"
#include "exporters/question/question.h"
#include "exporters/nodes/status.h"
#include "proto/format/quantity.h"
#include "proto/os/clock.h"

struct line {
	struct text verdict, key, state, text;
};

static const struct answer_column problems[] = {
	{ "state", "STATE", ANSWER_AT_TEXT(struct line, verdict),
	    "critical or warning" },
	{ "problem", NULL, ANSWER_AT_TEXT(struct line, key),
	    "a word for it: a counter, or a part" },
	{ "text", "PROBLEM", ANSWER_AT_TEXT(struct line, text),
	    "what is wrong, and what to do" },
	{ .key = NULL },
};

static const struct answer_column parts[] = {
	{ "part", "PART", ANSWER_AT_TEXT(struct line, key),
	    "a service, or what it has" },
	{ "state", NULL, ANSWER_AT_TEXT(struct line, state),
	    "of a service: running, stopped, not running or does not answer" },
	{ "text", "STATE", ANSWER_AT_TEXT(struct line, text),
	    "what is known of it" },
	{ .key = NULL },
};

struct partition {
	struct text partition, place;
	uint64_t nodes, records, of[RECORD_KINDS], last_entry, rejected_cut;
	double rejected_bytes;
	int64_t oldest, newest;
	enum answer_flag is_read;
};

#define KIND(kind) ANSWER_AT_COUNT(struct partition, of[RECORD_##kind])

static const struct answer_column partitions[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct partition, partition),
	    "account$pool" },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct partition, nodes),
	    "nodes that have records" },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct partition, records),
	    "stored records of all kinds" },
	{ "events", NULL, KIND(EVENT), "stored events" },
	{ "samples", NULL, KIND(SAMPLE), "stored samples" },
	{ "spans", NULL, KIND(SPAN), "stored spans" },
	{ "entities", NULL, KIND(ENTITY), "stored entities" },
	{ "gaps", NULL, KIND(GAP), "records of lost records" },
	{ "rejected", NULL, KIND(REJECTED), "rejected batches" },
	{ "runs", NULL, KIND(RUN), "test runs" },
	{ "rejected_bytes", NULL,
	    ANSWER_AT_BYTES(struct partition, rejected_bytes),
	    "what is stored of rejected batches" },
	{ "rejected_cut", NULL, ANSWER_AT_COUNT(struct partition, rejected_cut),
	    "rejected batches that were not stored in full" },
	{ "oldest", NULL, ANSWER_AT_TIME(struct partition, oldest),
	    "the time of the oldest record" },
	{ "newest", "NEWEST", ANSWER_AT_TIME(struct partition, newest),
	    "the time of the newest record" },
	{ "last_entry", NULL, ANSWER_AT_COUNT(struct partition, last_entry),
	    "number of the last batch of which a record is stored" },
	{ "place", "AT", ANSWER_AT_TEXT(struct partition, place),
	    "the store, aggregator or archive that has it" },
	{ "read", "READ", ANSWER_AT_FLAG(struct partition, is_read),
	    "questions are answered from here: the newest record is here" },
	{ .key = NULL },
};

struct count {
	struct text place, of, counter, shown, kind, unit, help;
	struct value value;
};

static const struct answer_column counts[] = {
	{ "of", "OF", ANSWER_AT_TEXT(struct count, of),
	    "who counts: store, aggregator, broker, or a part of one" },
	{ "counter", "COUNTER", ANSWER_AT_TEXT(struct count, counter),
	    "what is counted" },
	{ "value", "VALUE", ANSWER_AT_VALUE(struct count, value),
	    "the number; of a time, or a number that has no order, text" },
	{ "shown", "IS", ANSWER_AT_TEXT(struct count, shown),
	    "bytes and durations as people read them" },
	{ "kind", NULL, ANSWER_AT_TEXT(struct count, kind),
	    "count, total (never falls), lost (of what did not become a row), "
	    "bytes, rate, flag, time, duration, number or text" },
	{ "unit", NULL, ANSWER_AT_TEXT(struct count, unit), "of the value" },
	{ "help", NULL, ANSWER_AT_TEXT(struct count, help), "what it means" },
	{ "place", "AT", ANSWER_AT_TEXT(struct count, place),
	    "the store, aggregator, archive or broker that was asked" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "state", ANSWER_HEAD(ANSWER_TEXT), "ok, warning or critical" },
	{ "text", ANSWER_HEAD(ANSWER_TEXT),
	    "the worst problem, or that all is well" },
	{ "newest", ANSWER_HEAD(ANSWER_TIME), "the time of the newest record" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "problems", problems },
	{ "parts", parts }, { "partitions", partitions },
	{ "counters", counts }, { "head", head }, { .name = NULL } };

/* ---- the verdict ---- */

static struct text
text_or_none(const char *string)
{
	return string == NULL ? (struct text){ NULL, 0 } : text_of(string);
}

static void
put_lines(struct answer *answer, const struct status_lines *lines)
{
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct status_line *line = &lines->at[i];
		const struct line row = { text_of(verdict_word(line->verdict)),
			text_of(line->key), text_or_none(line->state),
			text_of(line->text) };

		answer_row(answer, &row, NULL);
	}
}

/* The first line is the verdict, for who reads no more. */
static void
put_verdict(struct answer *answer, const struct status_facts *facts,
    const struct status_verdict *verdict)
{
	const char *word = verdict_word(verdict->verdict);
	const char *words = status_verdict_words(verdict, facts);

	answer_head(answer, "state", answer_string(word));
	answer_head(answer, "text", answer_string(words));
	answer_head(answer, "newest",
	    answer_time(
		facts->newest_ns == 0 ? ANSWER_NO_NS : facts->newest_ns));
	answer_title(answer, "%s: %s", word, words);
	if (!answer_is_for_people(answer) || verdict->problems.count > 1)
		put_lines(answer, &verdict->problems);
	answer_begin_table(answer, "parts");
	put_lines(answer, &verdict->parts);
}

/* ---- partitions ---- */

static void
put_partition(struct answer *answer, struct source *source,
    const struct partition_row *of)
{
	struct partition row = { .partition = of->name,
		.place = text_of(source_place_name(source, of->place)),
		.nodes = of->nodes,
		.records = of->records,
		.last_entry = of->last_entry,
		.rejected_cut = of->rejected_cut,
		.rejected_bytes = (double)of->rejected_bytes,
		.oldest = of->first_ns,
		.newest = of->last_ns,
		.is_read = of->is_read ? ANSWER_YES : ANSWER_NO };

	for (int i = 0; i < RECORD_KINDS; i++)
		row.of[i] = of->records_of[i];
	answer_row(answer, &row, NULL);
}

static void
put_partitions(const struct question_asked *asked, struct answer *answer,
    const struct partition_rows *rows)
{
	uint64_t twice = 0;

	answer_begin_table(answer, "partitions");
	for (uint32_t i = 0; i < rows->count; i++)
		twice += rows->at[i].is_kept_twice && rows->at[i].is_read;
	if (source_places(asked->options) == 1)
		answer_hide_column(answer, "place");
	if (twice == 0)
		answer_hide_column(answer, "read");
	for (uint32_t i = 0; i < rows->count; i++)
		put_partition(answer, asked->source, &rows->at[i]);
	if (twice > 0)
		answer_note(answer, "kept_twice", twice,
		    "kept by more than one aggregator, and read where the "
		    "newest record is: %" PRIu64 " partition%s",
		    twice, twice == 1 ? "" : "s");
}

/* ---- counters ---- */

struct putting {
	struct answer *answer;
	bool has_zeros; /* counters that are 0 are put, too */
};

static void
put_counter(const struct putting *putting, struct text place, struct text of,
    struct text name, struct value value)
{
	char shown[QUANTITY_TEXT_BYTES], text[ANSWER_SHOWN_BYTES];
	enum counter_number number = counter_find(of, name);
	enum counter_kind kind =
	    number == COUNTERS ? COUNTER_COUNT : counters[number].kind;
	const char *unit = counter_unit(kind);
	struct count row = { .place = place,
		.of = of,
		.counter = name,
		.kind = text_of(counter_kind_name(kind)),
		.unit = text_or_none(unit),
		.help = text_or_none(
		    number == COUNTERS ? NULL : counters[number].help) };
	int64_t i = value.type == VALUE_INT ? value.is.i : 0;

	if (!putting->has_zeros &&
	    (value.type == VALUE_BOOL ? !value.is.boolean
				      : value.type == VALUE_INT && i == 0))
		return;
	/* Whoever counts may send anything. */
	if (value.type != VALUE_INT)
		kind = COUNTER_TEXT;
	if (kind == COUNTER_BYTES || kind == COUNTER_RATE)
		row.shown = text_of(quantity_bytes(shown, (double)i));
	if (kind == COUNTER_DURATION)
		row.shown = text_of(quantity_time(shown, (double)i));
	if (kind == COUNTER_TIME) {
		const struct answer_cell cell =
		    answer_time(i == 0 ? ANSWER_NO_NS : i);

		value = (struct value){ .type = i == 0 ? VALUE_NIL : VALUE_TEXT,
			.is.text = answer_plain(&cell, text) };
	} else if (kind == COUNTER_NUMBER) {
		snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)i);
		value = (struct value){ .type = VALUE_TEXT,
			.is.text = text_of(text) };
	}
	row.value = value;
	answer_row(putting->answer, &row, NULL);
}

static void
put_record(void *arg, const struct record *record, struct text place)
{
	struct text pairs = record->pairs;
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a))
		put_counter(arg, place, record->name, a.key, a.value);
}

/* Of some partitions there are only sums. */
static void
put_sums(const struct putting *putting, const struct status_facts *facts,
    const char *place)
{
	for (int i = 0; i < COUNTERS; i++)
		if (facts->is_known[i])
			put_counter(putting, text_or_none(place),
			    text_of(counters[i].of), text_of(counters[i].name),
			    counters[i].kind == COUNTER_FLAG
				? (struct value){ .type = VALUE_BOOL,
				      .is.boolean = facts->counters[i] != 0 }
				: (struct value){ .type = VALUE_INT,
				      .is.i = facts->counters[i] });
}

static int
put_counters(const struct question_asked *asked, struct answer *answer,
    const struct status_facts *facts, struct err *err)
{
	struct putting putting = { answer, !answer_is_for_people(answer) };

	answer_begin_table(answer, "counters");
	if (source_places(asked->options) == 1)
		answer_hide_column(answer, "place");
	if (asked->limit == NULL)
		return status_each(
		    asked->source, asked->options, put_record, &putting, err);
	put_sums(&putting, facts, source_name(asked->source));
	return 0;
}

/* ---- all ---- */

static int
read_facts(const struct question_asked *asked, struct status_facts *facts,
    struct err *err)
{
	struct question_kept *kept = asked->kept;
	int rc = status_facts_read(
	    facts, asked->source, asked->options, asked->limit, err);

	if (rc == 0 && kept != NULL && kept->pools == NULL)
		kept->pools = pools_kept_new();
	if (rc == 0)
		rc = pools_add_facts(facts, asked->source,
		    kept != NULL ? kept->pools : NULL, err);
	return rc;
}

/* People see the counters with --verbose. */
static int
put_all(const struct question_asked *asked, struct answer *answer,
    const struct status_facts *facts, const struct partition_rows *rows,
    const char *silent, struct err *err)
{
	struct status_verdict verdict;

	status_judge(&verdict, facts);
	if (verdict.verdict != VERDICT_OK)
		*asked->status = STATUS_FOUND;
	put_verdict(answer, facts, &verdict);
	status_verdict_clear(&verdict);
	if (silent != NULL) {
		if (!facts->is_node)
			answer_note(
			    answer, "silent", ANSWER_NO_COUNT, "%s", silent);
		return 0;
	}
	put_partitions(asked, answer, rows);
	if (answer_is_for_people(answer) && !asked->values->verbose)
		return 0;
	return put_counters(asked, answer, facts, err);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct status_facts facts;
	struct partition_rows rows = { .count = 0 };
	int rc = read_facts(asked, &facts, err);

	/* That it does not answer is an answer. */
	if (rc != 0)
		return put_all(asked, answer, &facts, &rows,
		    asked->source == NULL ? asked->silent : err->text, err);
	rc = partition_rows_read(&rows, asked->source, asked->pattern, err);
	if (rc == 0 && rows.count == 0 && asked->pattern.bytes > 0)
		rc = partition_rows_refuse(asked->source, asked->pattern, err);
	if (rc == 0)
		rc = put_all(asked, answer, &facts, &rows, NULL, err);
	partition_rows_clear(&rows);
	return rc;
}

const struct question question_status = { .word = "status",
	.summary = "the state of the store and its services",
	.options = "verbose sort top columns",
	.examples = "poolscope status\n"
		    "poolscope status --verbose\n"
		    "poolscope status --format csv --table counters\n",
	.tables = tables,
	.is_of_all = true,
	.ages = true,
	.takes_silence = true,
	.ask = ask };
