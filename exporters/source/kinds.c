/*
 * kinds - the option --kind: event,span --kind gap.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/kinds.h"

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
kinds_of(const struct opt_list *list, uint32_t known, uint32_t otherwise)
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
