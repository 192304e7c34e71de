/*
 * nodes - the names of the nodes of a partition.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/records.h"

#include "aggregator/query/page/answer.h"

bool
query_nodes(struct page *page)
{
	uint32_t number = (uint32_t)page->cursor.number;
	struct text name;
	bool good = true;

	while (
	    good && dictionary_next_node(page->txn, page->partition, &number)) {
		if (page_wants_node_number(page, number, &name) &&
		    name.bytes > 0) {
			struct answer answer;

			answer_start(&answer, text_of("node"), name);
			good = answer_append(page, &answer);
		}
		if (good) {
			page->cursor.number = ++number;
			good = !page_examined(page);
		}
	}
	return good;
}
