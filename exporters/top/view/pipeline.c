/*
 * top_pipeline - the view of the pipeline: what is wrong with it, and what is
 * known of its parts.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "exporters/top/view/view.h"

/* Behind the lines: a blank one, and what is known of one pool. */
enum { BLANK, AGENTS, RECORDS, MORE };

static uint32_t
count_lines(const struct top_snapshot *snapshot)
{
	return snapshot->lines == NULL ? 0 : snapshot->lines->count + MORE;
}

static uint32_t
columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	(void)snapshot;
	to[0] = (struct view_column){ "PIPELINE", 1, CELL_COLUMNS_MAX, 0, false,
		false, false };
	return 1;
}

static struct text
line_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return row < snapshot->lines->count ? snapshot->lines->at[row]
					    : (struct text){ NULL, 0 };
}

static const char *
line_of_pool(const struct top_snapshot *snapshot, uint32_t row,
    char to[static VIEW_TEXT_BYTES])
{
	const uint32_t *conditions = snapshot->conditions;
	char text[CELL_NUMBER_BYTES];

	if (row == BLANK)
		return "";
	if (row == AGENTS)
		snprintf(to, VIEW_TEXT_BYTES,
		    "agents      %" PRIu32 " heard, %" PRIu32
		    " not heard; %s not sent yet",
		    conditions[NODE_LIVE],
		    snapshot->node_count - conditions[NODE_LIVE],
		    cell_bytes(text, snapshot->spool));
	else
		snprintf(to, VIEW_TEXT_BYTES,
		    "records     %s a second in this pool",
		    cell_count(text, snapshot->records_second));
	return to;
}

static struct text
no_other(const struct top_snapshot *snapshot, uint32_t row)
{
	(void)snapshot;
	(void)row;
	return (struct text){ NULL, 0 };
}

static struct order_key
key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	(void)snapshot;
	(void)row;
	(void)column;
	return (struct order_key){ .number = 0 };
}

static struct text
cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	(void)column;
	return row < snapshot->lines->count
		   ? line_of(snapshot, row)
		   : text_of(line_of_pool(
			 snapshot, row - snapshot->lines->count, to));
}

static bool
begins(struct text line, const char *word)
{
	size_t bytes = strlen(word);

	return line.bytes >= bytes && memcmp(line.at, word, bytes) == 0;
}

static enum view_look
look(const struct top_snapshot *snapshot, uint32_t row)
{
	struct text line = line_of(snapshot, row);

	return begins(line, "critical:")  ? VIEW_BAD
	       : begins(line, "warning:") ? VIEW_WARNING
	       : begins(line, "ok:")      ? VIEW_GOOD
					  : VIEW_PLAIN;
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	(void)snapshot;
	(void)row;
	(void)file;
}

const struct view view_pipeline = {
	.name = "pipeline",
	.columns = columns,
	.count = count_lines,
	.name_of = line_of,
	.other_of = no_other,
	.key = key,
	.cell = cell,
	.look = look,
	.detail = detail,
	.column = -1,
	.is_sorted = false,
	.none = "the state of the pipeline is not known yet",
};
