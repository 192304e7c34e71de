/*
 * node_list - any bytes as a list of nodes, and a name: a list that is accepted
 * selects each name that it stands for, and a quoted name selects itself.
 *
 * The name follows the first newline.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/node_list.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES_TRIED = 16 };

static void
try_names(struct text list)
{
	struct text rest = list, item;
	char room[NAME_BYTES_MAX];
	uint64_t names = 0;

	while (node_list_next(&rest, &item)) {
		uint32_t count = node_list_count(item);
		uint32_t step = count / NAMES_TRIED + 1;

		names += count;
		if (item.bytes == 0 || names > NODE_LIST_NAMES_MAX)
			abort();
		for (uint32_t i = 0; i < count; i += step) {
			struct text name = { room,
				node_list_name(item, i, room) };

			if (name.bytes == 0 || !node_list_match(list, name))
				abort();
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = { (const char *)data, (uint32_t)size }, list;
	char quoted[2 * NAME_BYTES_MAX], room[NAME_BYTES_MAX];
	struct text of_one, name;
	struct err err;

	if (size > 2 * NODE_LIST_BYTES_MAX)
		return 0;
	if (!text_next_line(&rest, &list))
		list = rest;
	if (node_list_check(list, &err) == 0) {
		node_list_match(list, rest);
		try_names(list);
	}
	if (text_check_name(rest) != TEXT_OK)
		return 0;
	of_one = node_list_quote(quoted, rest, false);
	if (node_list_check(of_one, NULL) != 0 ||
	    !node_list_is_name(of_one, room, &name) ||
	    !text_equal(name, rest) || !node_list_match(of_one, rest))
		abort();
	return 0;
}
