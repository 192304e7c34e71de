/*
 * critical_shown - the critical path of the start that a picture shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/shown.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/format/quantity.h"
#include "proto/os/clock.h"

static int
read_path(struct critical_shown *shown, struct source *source,
    struct text partition, const struct starts *starts, int64_t until_ns,
    struct err *err)
{
	uint32_t number = starts->count;
	const struct start *start;

	while (number > 0 && starts->at[number - 1].begin_ns >= until_ns)
		number--;
	if (number == 0 || starts->at[number - 1].ready == 0)
		return 0;
	start = &starts->at[number - 1];
	shown->start_ns = start->begin_ns;
	if (critical_start_read(&shown->of, source, partition, starts, start,
		number < starts->count ? start[1].begin_ns : TIME_MAX_NS,
		err) != 0)
		return -1;
	if (shown->of.rules.any)
		critical_path_walk(
		    &shown->path, &shown->of.run, start->begin_ns);
	return 0;
}

int
critical_shown_read(struct critical_shown *shown, struct source *source,
    struct text partition, struct text model, int64_t gap_ns, int64_t until_ns,
    struct err *err)
{
	char *name = memory_text(model);
	const struct starts_query query = { .model = name,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.gap_ns = gap_ns };
	struct starts starts;
	int rc = starts_read(&starts, source, partition, &query, err);

	*shown = (struct critical_shown){ .start_ns = START_UNKNOWN };
	if (rc == 0)
		rc =
		    read_path(shown, source, partition, &starts, until_ns, err);
	starts_clear(&starts);
	free(name);
	if (rc == 0 || source_has_failed(source))
		return rc;
	/* No model of starts, no start, or one that changes just now. */
	err_clear(err);
	return 0;
}

void
critical_shown_clear(struct critical_shown *shown)
{
	critical_path_clear(&shown->path);
	critical_start_clear(&shown->of);
}

const char *
critical_shown_piece(const struct critical_shown *shown,
    const struct critical_piece *piece, struct text *node, struct text *phase,
    struct text *key)
{
	const struct critical_start *of = &shown->of;
	const struct critical_item *item = &of->waits.at[piece->item];
	bool is_in_phase = piece->kind != CRITICAL_BEGAN;

	*node = of->phases.nodes.names[item->node];
	*phase = is_in_phase ? of->names.phases.names[item->phase]
			     : (struct text){ NULL, 0 };
	*key = is_in_phase ? of->phases.keys.names[item->key]
			   : (struct text){ NULL, 0 };
	return critical_kind_words[piece->kind];
}

const char *
critical_shown_words(
    char to[static CRITICAL_SHOWN_BYTES], const struct critical_shown *shown)
{
	const struct critical_start *of = &shown->of;
	char node[NAME_BYTES_MAX * 4 + 8], time[QUANTITY_TEXT_BYTES];
	uint32_t last;

	if (shown->path.count == 0)
		return "";
	last = of->waits.at[of->run.last].node;

	snprintf(to, CRITICAL_SHOWN_BYTES, "; path to ready: node %s, %s",
	    text_quote(node, sizeof(node), of->phases.nodes.names[last]),
	    quantity_time(time, (double)(of->run.ready_ns - shown->start_ns)));
	return to;
}
