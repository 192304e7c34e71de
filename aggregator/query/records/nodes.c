/*
 * nodes - the names of the nodes of a partition, with the last record of each.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/records.h"

#include "aggregator/query/page/answer.h"

static void
put_latest(struct answer *answer, const struct latest_row *row, unsigned place)
{
	const struct latest *latest = &row->at[place];

	if ((row->has >> place & 1) == 0)
		return;
	answer_put_int(answer, "received_ns", (uint64_t)latest->receive_ns);
	answer_put_int(answer, "time_ns", (uint64_t)latest->time_ns);
}

bool
query_nodes(struct page *page)
{
	uint32_t number = (uint32_t)page->cursor.number, block = UINT32_MAX;
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
			put_latest(&answer, &row, number % LATEST_NODES);
			good = answer_append(page, &answer);
		}
		if (good) {
			page->cursor.number = ++number;
			good = !page_examined(page);
		}
	}
	return good;
}
