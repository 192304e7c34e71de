/*
 * node_option - the option -n: which nodes a program shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/node_option.h"

#include <string.h>

int
node_option_make(struct node_option *option, struct err *err)
{
	size_t used = 0;

	for (uint32_t i = 0; i < option->given.count; i++) {
		size_t bytes = strlen(option->given.at[i]);

		if (bytes == 0)
			continue; /* all nodes */
		if (used + bytes + 1 > NODE_LIST_BYTES_MAX)
			return err_set(err,
			    "--node: the list has more than %d bytes; write "
			    "ranges, such as cn[001-031], or patterns, such as "
			    "cn*",
			    NODE_LIST_BYTES_MAX);
		if (used > 0)
			option->list[used++] = ',';
		memcpy(option->list + used, option->given.at[i], bytes);
		used += bytes;
	}
	option->list[used] = '\0';
	if (node_list_check(text_of(option->list), err) != 0)
		return err_prefix(err, "--node");
	return 0;
}

void
node_option_check(struct node_option *option)
{
	struct err err;

	if (node_option_make(option, &err) != 0)
		opt_usage("%s", err.text);
}
