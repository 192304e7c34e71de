/*
 * cascade_missing - which nodes lack events.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/missing.h"

#include <stdio.h>

#include "proto/os/log.h"

enum {
	WORDS_BYTES = 4096,
	WARNINGS_MAX = 10, /* more lines would push the rest off the screen */
};

struct words {
	char *to;
	size_t used, room;
};

static void
add_word(void *arg, const char *event, struct text image)
{
	struct words *words = arg;
	char shown[300] = "";
	int n;

	if (image.at != NULL)
		text_quote(shown, sizeof(shown), image);
	n = snprintf(words->to + words->used, words->room - words->used,
	    "%s%s%s%s", words->used ? " " : "", event,
	    image.at != NULL ? ":" : "", shown);
	words->used += (size_t)n;
	if (words->used >= words->room)
		words->used = words->room - 1;
}

const char *
cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room)
{
	struct words words = { to, 0, room };

	to[0] = '\0';
	cascade_each_missing(cascade, node, add_word, &words);
	return to;
}

static bool
lacks(const struct cascade_node *node)
{
	return node->missing != 0 || node->unmatched != 0;
}

static uint32_t
count_lacking(const struct cascade *cascade)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++)
		count += lacks(&cascade->nodes[i]);
	return count;
}

bool
cascade_has_missing(const struct cascade *cascade)
{
	return count_lacking(cascade) > 0;
}

int
cascade_refuse(const struct cascade *cascade, struct err *err)
{
	return err_set(err,
	    "%u of %u nodes lack events or have unmatched ones (--strict); "
	    "poolscope stats cascade lists them",
	    count_lacking(cascade), cascade->node_count);
}

void
cascade_warn_missing(const struct cascade *cascade)
{
	char words[WORDS_BYTES / 8], name[300];
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];

		if (!lacks(node))
			continue;
		if (++nodes > WARNINGS_MAX)
			continue;
		text_quote(name, sizeof(name), node->name);
		cascade_missing_words(cascade, node, words, sizeof(words));
		log_warn("node %s %s: %s", name,
		    node->missing
			? "is incomplete (missing or unmatched events)"
			: "has unmatched events",
		    words);
	}
	if (nodes > WARNINGS_MAX)
		log_warn("and %u more such nodes; poolscope-stats cascade "
			 "lists them all",
		    nodes - WARNINGS_MAX);
	if (cascade->unread_sizes > 0)
		log_warn("unreadable image sizes: %u; they count as unknown",
		    cascade->unread_sizes);
}
