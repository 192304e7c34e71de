/*
 * select_options - the options that select records.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/select_options.h"

#include <stdio.h>
#include <string.h>

static void
refuse(struct text word, uint32_t known)
{
	char names[128] = "";
	size_t used = 0;

	for (unsigned k = 0; k < RECORD_KINDS; k++)
		if (known >> k & 1)
			used += (size_t)snprintf(names + used,
			    sizeof(names) - used, "%s%s", used > 0 ? ", " : "",
			    record_kind_name((enum record_kind)k));
	opt_usage("--kind: '%.*s' is not one of %s",
	    (int)(word.bytes > 32 ? 32 : word.bytes), word.at, names);
}

uint32_t
select_kinds(const struct opt_list *list, uint32_t known, uint32_t otherwise)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const char *p = list->at[i];

		for (;;) {
			struct text word = { p, (uint32_t)strcspn(p, ",") };
			enum record_kind kind;

			if (record_kind_parse(word, &kind) != 0 ||
			    !(known >> kind & 1))
				refuse(word, known);
			kinds |= 1u << kind;
			p += word.bytes;
			if (*p++ == '\0')
				break;
		}
	}
	return kinds != 0 ? kinds : otherwise;
}

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
