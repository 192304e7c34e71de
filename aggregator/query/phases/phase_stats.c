/*
 * phase_stats - statistics of phases as entities.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phases.h"

#include <inttypes.h>
#include <stdio.h>

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
append_nodes(struct page *page, unsigned index, uint32_t number)
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
			good = append_stats(
			    page, &reader->models.phase[index], name);
		if (good) {
			page->cursor.node = ++node;
			good = !page_examined(page);
		}
	}
	return good;
}

bool
query_phase_stats(struct page *page, bool by_node)
{
	const struct model_set *models = &page->reader->models;
	struct text pool = { NULL, 0 };
	unsigned i = (unsigned)page->cursor.number;
	bool good = true;

	for (; good && i < models->phases; i++) {
		uint32_t number;

		page->cursor.number = i;
		if (!page_wants_text(page, models->phase[i].id))
			continue;
		number = dictionary_find(
		    page->txn, page->partition, models->phase[i].id);
		if (by_node) {
			good = append_nodes(page, i, number);
		} else {
			get_stats(page, number);
			good = append_stats(page, &models->phase[i], pool);
		}
		if (good)
			page->cursor.node = 0;
	}
	return good;
}
