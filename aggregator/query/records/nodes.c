/*
 * nodes - the names of the nodes of a partition, with what was last heard of
 * each.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/records.h"

#include "aggregator/query/page/answer.h"

static void
put_value(struct answer *answer, struct latest_value latest, const char *value,
    const char *time)
{
	if (latest.time_ns == INT64_MIN)
		return;
	answer_put_int(answer, value, (uint64_t)latest.value);
	answer_put_int(answer, time, (uint64_t)latest.time_ns);
}

/* `retire` is 1 + the time after which a node that is not heard counts as
 * stopped; 0: not known. */
static void
put_latest(struct answer *answer, const struct latest_row *row, unsigned place,
    uint64_t retire)
{
	const struct latest *latest = &row->at[place];

	if ((row->has >> place & 1) == 0)
		return;
	answer_put_int(answer, "received_ns", (uint64_t)latest->receive_ns);
	answer_put_int(answer, "time_ns", (uint64_t)latest->time_ns);
	if (latest->sample_ns != INT64_MIN)
		answer_put_int(
		    answer, "sample_ns", (uint64_t)latest->sample_ns);
	if (retire > 0)
		answer_put_int(answer, "retire_ns", retire - 1);
	if (latest->life.time_ns == INT64_MIN)
		answer_put_int(answer, "imported", 1);
	else if (latest->life.value == LATEST_STOPPED)
		answer_put_int(
		    answer, "stopped_ns", (uint64_t)latest->life.time_ns);
	put_value(answer, latest->clock, "clock_ns", "clock_at_ns");
	put_value(answer, latest->spool, "spool_bytes", "spool_at_ns");
}

bool
query_nodes(struct page *page)
{
	uint32_t number = (uint32_t)page->cursor.number, block = UINT32_MAX;
	uint64_t retire = tables_fact(page->txn, FACT_RETIRE_AFTER);
	struct latest_row row;
	struct text name;
	bool good = true;

	while (
	    good && dictionary_next_node(page->txn, page->partition, &number)) {
		if (page_wants_node_number(page, number, &name) &&
		    name.bytes > 0) {
			struct answer answer;

			if (block != number / LATEST_NODES) {
				block = number / LATEST_NODES;
				latest_read(
				    page->txn, page->partition, block, &row);
			}
			answer_start(&answer, text_of("node"), name);
			put_latest(
			    &answer, &row, number % LATEST_NODES, retire);
			good = answer_append(page, &answer);
		}
		if (good) {
			page->cursor.number = ++number;
			good = !page_examined(page);
		}
	}
	return good;
}
