/*
 * reader - statistics of phases, and what is in the store, as entities.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/answer.h"

#include "aggregator/phases/run_sum.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- statistics ---- */

static bool
give_stats(struct page *page, const struct model_phase *phase, struct text node)
{
	const struct duration_stats *stats = page->reader->stats;
	struct answer answer;

	answer_start(&answer, text_of("phase"), phase->id);
	answer.record.node = node;
	answer_put_stats(&answer, stats);
	answer_put_int(&answer, "open_starts", stats->open_starts);
	answer_put_int(&answer, "open_ends", stats->open_ends);
	answer_put_int(&answer, "late", stats->late);
	answer_put_int(&answer, "unkept", stats->overflow);
	answer_put_word(&answer, "start", phase->start);
	answer_put_word(&answer, "end", phase->end);
	answer_put_word(&answer, "unmatched",
	    text_of(phase->ignore_unmatched ? "ignore" : "incomplete"));
	answer_put(&answer, "required",
	    &(struct value){ VALUE_BOOL, { .boolean = phase->required } });
	return answer_give(page, &answer);
}

/* Is the phase a step of runs?  Then what all groups have of it. */
static bool
sum_groups(struct page *page, uint32_t phase)
{
	const struct model_set *models = &page->reader->models;
	struct run_form form;

	for (unsigned i = 0; i < models->runs; i++) {
		run_form_make(
		    &form, NULL, page->txn, page->partition, &models->run[i]);
		for (unsigned step = 0; step < form.model->steps; step++) {
			if (form.phase[step] != phase || phase == 0)
				continue;
			groups_sum(
			    page->txn, &form, phase, page->reader->stats);
			return true;
		}
	}
	return false;
}

static void
get_stats(struct page *page, uint32_t phase)
{
	unsigned char key[8];
	struct text value;
	struct unpack u;

	duration_stats_reset(page->reader->stats);
	if (sum_groups(page, phase))
		return;
	put_u32_be(key, page->partition);
	put_u32_be(key + 4, phase);
	if (phase == 0 || !db_get(page->txn, TABLES_STATS,
			      (struct text){ (const char *)key, 8 }, &value))
		return;
	u = unpack_of(value);
	duration_stats_decode(page->reader->stats, &u);
}

static bool
give_nodes(struct page *page, unsigned index, uint32_t number)
{
	struct reader *reader = page->reader;
	uint32_t node = page->mark.node, first, last;
	bool good = true;

	if (number == 0 || !page_wants_numbers(page, &first, &last))
		return true;
	node = node < first ? first : node;
	while (good && node <= last &&
	       phase_nodes_next(&reader->phase_nodes, page->txn,
		   page->partition, number, &node, last)) {
		struct text name = lookup_number(&reader->lookup, node);

		if (page_wants_node(page, name))
			good = give_stats(
			    page, &reader->models.phase[index], name);
		if (good) {
			page->mark.node = ++node;
			good = !page_is_through(page);
		}
	}
	return good;
}

static void
give_phases(struct page *page, bool by_node)
{
	const struct model_set *models = &page->reader->models;
	struct text pool = { NULL, 0 };
	unsigned i = (unsigned)page->mark.number;
	bool good = true;

	for (; good && i < models->phases; i++) {
		uint32_t number;

		page->mark.number = i;
		if (!page_wants_text(page, models->phase[i].id))
			continue;
		number = dictionary_find(
		    page->txn, page->partition, models->phase[i].id);
		if (by_node) {
			good = give_nodes(page, i, number);
		} else {
			get_stats(page, number);
			good = give_stats(page, &models->phase[i], pool);
		}
		if (good)
			page->mark.node = 0;
	}
}

int
reader_stats(struct reader *reader, struct text partition,
    const struct wire_query *query, bool by_node, struct wire_writer *w,
    bool *last, struct err *err)
{
	struct page page = { .reader = reader, .query = query, .w = w };

	if (page_begin(&page, err) != 0)
		return -1;
	if (query->cursor.bytes == 0)
		phase_nodes_forget(&reader->phase_nodes);
	page.partition = dictionary_find(page.txn, 0, partition);
	if (page.partition != 0) {
		lookup_use(&reader->lookup, page.txn, page.partition);
		if (query->kinds & (1u << RECORD_RUN))
			stats_of_runs(&page);
		else
			give_phases(&page, by_node);
	}
	return page_end(&page, last, err);
}

/* ---- status ---- */

static const char *
kind_name(unsigned kind, char room[static 32], const char *prefix)
{
	snprintf(
	    room, 32, "%s%s", prefix, record_kind_name((enum record_kind)kind));
	return room;
}

static void
put_records(struct answer *answer, const struct partition_counts *counts)
{
	char name[32];
	unsigned kind;

	for (kind = RECORD_EVENT; kind < RECORD_KINDS; kind++) {
		if (kind != RECORD_PHASE)
			answer_put_int(answer,
			    kind_name(kind, name, "records_"),
			    counts->records[kind]);
	}
	answer_put_int(answer, "rejected_bytes", counts->rejected_bytes);
	answer_put_int(answer, "dead_cut", counts->dead_cut);
}

/* The first and the last number in the journal, 0 and 0 when it is empty. */
static void
journal_ends(struct reader *reader, uint64_t *first, uint64_t *last)
{
	struct db_cursor *cursor;
	struct text key, all = { NULL, 0 };
	struct db_txn *txn;

	*first = *last = 0;
	if (db_begin(journal_db(reader->journal), false, &txn, NULL) != 0)
		return;
	cursor = db_cursor_open(txn, JOURNAL_ENTRIES);
	if (db_seek_key(cursor, all, &key) && key.bytes == 8)
		*first = get_u64_be(key.at);
	if (db_last_key(cursor, &key) && key.bytes == 8)
		*last = get_u64_be(key.at);
	db_cursor_close(&cursor);
	db_abort(&txn);
}

static void
put_tables(struct answer *answer, const struct db_status *status)
{
	char name[32];
	int i;

	answer_put_int(answer, "tables_bytes", status->used_bytes);
	answer_put_int(answer, "tables_file_bytes", status->file_bytes);
	answer_put_int(answer, "map_bytes", status->map_bytes);
	answer_put_int(answer, "damaged", status->damaged);
	for (i = 0; i < TABLES_COUNT; i++) {
		if (i == TABLES_SORT)
			continue;
		snprintf(name, sizeof(name), "rows_%s", tables_names[i]);
		answer_put_int(answer, name, status->rows[i]);
		snprintf(name, sizeof(name), "bytes_%s", tables_names[i]);
		answer_put_int(answer, name, status->bytes[i]);
	}
}

int
reader_lag(struct reader *reader, uint64_t *batches, struct err *err)
{
	uint64_t indexed, first, last;
	struct db_txn *txn;

	if (db_begin(reader->tables, false, &txn, err) != 0)
		return -1;
	indexed = tables_fact(txn, FACT_INDEXED);
	db_abort(&txn);
	journal_ends(reader, &first, &last);
	*batches = last > indexed ? last - indexed : 0;
	return 0;
}

static void
sum_up(struct page *page, struct partition_counts *all, uint32_t partitions)
{
	struct partition_counts one;
	uint32_t i;
	int kind;

	*all = (struct partition_counts){ .nodes = 0 };
	for (i = 1; i <= partitions; i++) {
		tables_get_counts(page->txn, i, &one);
		all->nodes += one.nodes;
		for (kind = 0; kind < RECORD_KINDS; kind++)
			all->records[kind] += one.records[kind];
		all->rejected_bytes += one.rejected_bytes;
		all->dead_cut += one.dead_cut;
	}
}

static bool
give_store(struct page *page, uint32_t partitions, struct err *err, int *rc)
{
	struct reader *reader = page->reader;
	uint64_t indexed = tables_fact(page->txn, FACT_INDEXED), first, last;
	struct db_status tables, journal;
	struct partition_counts all;
	struct answer answer;

	*rc = db_status(reader->tables, &tables, err);
	if (*rc == 0)
		*rc = db_status(journal_db(reader->journal), &journal, err);
	if (*rc != 0)
		return false;
	journal_ends(reader, &first, &last);
	sum_up(page, &all, partitions);
	answer_start(&answer, text_of("status"), text_of("store"));
	answer_put_int(&answer, "partitions", partitions);
	answer_put_int(&answer, "nodes", all.nodes);
	put_records(&answer, &all);
	answer_put_int(&answer, "journal_first", first);
	answer_put_int(&answer, "journal_next", last + 1);
	answer_put_int(&answer, "folded", indexed);
	answer_put_int(&answer, "lag", last > indexed ? last - indexed : 0);
	answer_put_int(&answer, "journal_bytes", journal.used_bytes);
	answer_put_int(&answer, "journal_file_bytes", journal.file_bytes);
	answer_put_int(&answer, "sessions", journal.rows[JOURNAL_STREAMS]);
	answer_put_int(&answer, "generation",
	    journal_generation(reader->journal) & INT64_MAX);
	answer_put_int(
	    &answer, "rebuilding", tables_fact(page->txn, FACT_REBUILD));
	put_tables(&answer, &tables);
	return answer_give(page, &answer);
}

static bool
give_partition(struct page *page, uint32_t partition, struct text name)
{
	struct partition_counts counts;
	struct text id = text_of("partition:");
	char room[16 + NAME_BYTES_MAX];
	struct answer answer;

	/* The id is a name too: cut a long one where a character begins. */
	memcpy(room, id.at, id.bytes);
	memcpy(room + id.bytes, name.at, name.bytes);
	id = (struct text){ room, id.bytes + name.bytes };
	while (id.bytes > NAME_BYTES_MAX || !text_is_utf8(id))
		id.bytes--;

	tables_get_counts(page->txn, partition, &counts);
	answer_start(&answer, text_of("status"), id);
	answer_put_word(&answer, "partition", name);
	answer_put_int(&answer, "nodes", counts.nodes);
	put_records(&answer, &counts);
	if (counts.first_ns <= counts.last_ns) {
		answer_put_int(&answer, "first_ns", (uint64_t)counts.first_ns);
		answer_put_int(&answer, "last_ns", (uint64_t)counts.last_ns);
	}
	return answer_give(page, &answer);
}

int
reader_status(struct reader *reader, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err)
{
	struct page page = { .reader = reader, .query = query, .w = w };
	uint32_t partitions, i;
	bool good = true;
	int rc = 0;

	if (page_begin(&page, err) != 0)
		return -1;
	partitions = dictionary_last(page.txn, 0);
	if (page.mark.number == 0)
		good = give_store(&page, partitions, err, &rc);
	if (good && page.mark.number == 0)
		page.mark.number = 1;
	for (i = (uint32_t)page.mark.number; good && i <= partitions; i++) {
		struct text name;

		if (dictionary_text(page.txn, 0, i, &name))
			good = give_partition(&page, i, name);
		if (good)
			page.mark.number = i + 1;
	}
	if (page_end(&page, last, err) != 0)
		return -1;
	return rc;
}
