/*
 * phase_stats - statistics of phases as entities.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/phases/part_list.h"
#include "aggregator/phases/run_sum.h"
#include "aggregator/query/page/answer.h"
#include "aggregator/query/phases/phase_nodes.h"

/* As a text, so that it is one attribute. */
static void
put_histogram(struct answer *answer, const struct quantile_sketch *sketch)
{
	uint64_t counts[DURATION_BUCKETS];
	char text[DURATION_BUCKETS * 21] = "";
	size_t used = 0;

	quantile_sketch_histogram(sketch, counts);
	for (int i = 0; i < DURATION_BUCKETS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
		    "%s%" PRIu64, i == 0 ? "" : " ", counts[i]);
	answer_put_word(answer, "histogram", text_of(text));
}

static bool
append_stats(
    struct page *page, const struct model_phase *phase, struct text node)
{
	const struct duration_stats *stats = page->reader->stats;
	struct answer answer;

	answer_start(&answer, text_of("phase"), phase->id);
	answer.record.node = node;
	answer_put_stats(&answer, stats);
	answer_put_int(&answer, "open_starts", stats->open_starts);
	answer_put_int(&answer, "open_ends", stats->open_ends);
	answer_put_word(&answer, "start", phase->start);
	answer_put_word(&answer, "end", phase->end);
	answer_put_word(&answer, "unmatched",
	    text_of(phase->ignore_unmatched ? "ignore" : "incomplete"));
	answer_put_int(&answer, "place", phase->place);
	if (node.bytes == 0)
		put_histogram(&answer, &stats->quantile_sketch);
	if (phase->measured.bytes > 0)
		answer_put_word(&answer, "measured", phase->measured);
	if (phase->run.bytes > 0)
		answer_put_word(&answer, "run", phase->run);
	for (int i = 0; i < MODEL_WAITS; i++)
		if (phase->waits[i].bytes > 0)
			answer_put_word(
			    &answer, model_wait_words[i], phase->waits[i]);
	if (phase->places > 0)
		answer_put_int(&answer, "places", phase->places);
	if (phase->bytes.bytes > 0)
		answer_put_word(&answer, "bytes", phase->bytes);
	if (phase->pool.gap_ns > 0)
		answer_put_int(&answer, "gap_ns", (int64_t)phase->pool.gap_ns);
	if (phase->pool.share > 0)
		answer_put_int(&answer, "ready_share", phase->pool.share);
	answer_put(&answer, "required",
	    &(struct value){ VALUE_BOOL, { .boolean = phase->required } });
	return answer_append(page, &answer);
}

/* If the phase is a step of test runs, sum the statistics of all groups. */
static bool
sum_groups(struct page *page, uint32_t phase)
{
	const struct model_set *models = &page->reader->models;
	struct run_sum_form form;

	for (unsigned i = 0; i < models->runs; i++) {
		run_sum_form_make(
		    &form, NULL, page->txn, page->partition, &models->run[i]);
		for (unsigned step = 0; step < form.model->steps; step++) {
			if (form.phase[step] != phase || phase == 0)
				continue;
			run_sum_groups(
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
	struct varint_reader u;

	duration_stats_reset(page->reader->stats);
	if (sum_groups(page, phase))
		return;
	varint_put_u32_be(key, page->partition);
	varint_put_u32_be(key + 4, phase);
	if (phase == 0 || !db_get(page->txn, TABLES_STATS,
			      (struct text){ (const char *)key, 8 }, &value))
		return;
	u = varint_reader_of(value);
	duration_stats_decode(page->reader->stats, &u);
}

static bool
append_nodes(
    struct page *page, const struct model_phase *phase, uint32_t number)
{
	struct reader *reader = page->reader;
	uint32_t node = page->cursor.node, first, last;
	bool good = true;

	if (number == 0 || !page_node_range(page, &first, &last))
		return true;
	node = node < first ? first : node;
	while (good && node <= last &&
	       phase_nodes_next(reader->phase_nodes, page->txn, page->partition,
		   number, &node, last)) {
		struct text name = lookup_number(&reader->lookup, node);

		if (page_wants_node(page, name))
			good = append_stats(page, phase, name);
		if (good) {
			page->cursor.node = ++node;
			good = !page_examined(page);
		}
	}
	return good;
}

/* Where the cursor begins with the phases without a model. */
enum { OWN_FROM = MODEL_PHASES_MAX };

/* Of a phase that never had a start and an end, what waits means nothing. */
static bool
append_own(struct page *page, const struct part_list *list, bool by_node)
{
	char id[NAME_BYTES_MAX];
	char start[2 * NAME_BYTES_MAX], end[2 * NAME_BYTES_MAX];
	struct model_phase phase = { .id = lookup_number(
					 &page->reader->lookup, list->phase),
		.place = OWN_FROM + list->phase };

	/* An empty id means that the row of its name is damaged. */
	if (!own_phase_is(phase.id) || !page_wants_text(page, phase.id))
		return true;
	memcpy(id, phase.id.at, phase.id.bytes);
	phase.id.at = id;
	phase.start = own_phase_event_text(phase.id, list->marks, false, start);
	phase.end = own_phase_event_text(phase.id, list->marks, true, end);
	get_stats(page, list->phase);
	phase.ignore_unmatched = page->reader->stats->sums.count == 0;
	if (by_node)
		return append_nodes(page, &phase, list->phase);
	return append_stats(page, &phase, (struct text){ NULL, 0 });
}

static bool
append_all_own(struct page *page, bool by_node)
{
	struct db_cursor *cursor = db_cursor_open(page->txn, TABLES_PHASES);
	struct part_list list = { .at = NULL };
	uint32_t partition = page->partition, phase;
	bool good = true;

	if (page->cursor.number < OWN_FROM)
		page->cursor.number = OWN_FROM;
	phase = (uint32_t)(page->cursor.number - OWN_FROM);
	while (good && part_list_find(cursor, &partition, &phase) &&
	       partition == page->partition) {
		page->cursor.number = OWN_FROM + (uint64_t)phase;
		if (part_list_get(&list, page->txn, partition, phase) &&
		    list.marks != 0 && list.count > 0)
			good = append_own(page, &list, by_node);
		if (good)
			page->cursor.node = 0;
		phase++;
	}
	db_cursor_close(&cursor);
	part_list_clear(&list);
	return good;
}

bool
query_phase_stats(struct page *page, bool by_node)
{
	const struct model_set *models = &page->reader->models;
	struct text pool = { NULL, 0 };
	uint64_t i = page->cursor.number;
	bool good = true;

	for (; good && i < models->phases; i++) {
		uint32_t number;

		page->cursor.number = i;
		if (!page_wants_text(page, models->phase[i].id))
			continue;
		number = dictionary_find(
		    page->txn, page->partition, models->phase[i].id);
		if (by_node) {
			good = append_nodes(page, &models->phase[i], number);
		} else {
			get_stats(page, number);
			good = append_stats(page, &models->phase[i], pool);
		}
		if (good)
			page->cursor.node = 0;
	}
	return good && append_all_own(page, by_node);
}
