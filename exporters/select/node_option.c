/*
 * node_option - the option -n: which nodes a program shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/select/node_option.h"

#include <string.h>

void
node_option_check(struct node_option *option)
{
	size_t used = 0;
	struct err err;

	for (uint32_t i = 0; i < option->given.count; i++) {
		size_t bytes = strlen(option->given.at[i]);

		if (bytes == 0)
			continue; /* all nodes */
		if (used + bytes + 1 > NODE_LIST_BYTES_MAX)
			opt_usage("--node: the list has more than %d bytes; "
				  "write ranges, such as cn[001-031], or "
				  "patterns, such as cn*",
			    NODE_LIST_BYTES_MAX);
		if (used > 0)
			option->list[used++] = ',';
		memcpy(option->list + used, option->given.at[i], bytes);
		used += bytes;
	}
	option->list[used] = '\0';
	if (node_list_check(text_of(option->list), &err) != 0)
		opt_usage("--node: %s", err.text);
}
