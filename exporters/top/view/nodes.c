/*
 * top_nodes - the view of nodes: what each of them does, and what is wrong with
 * it.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "exporters/top/view/view.h"
#include "proto/os/clock.h"

enum column {
	NODE,
	STATE,
	PHASE,
	FOR,
	HEARD,
	SPOOL,
	CLOCK,
	CPU,
	RECEIVE,
	IOWAIT,
	PRESSURE,
	WRONG,
	COLUMNS
};

static const struct view_column all[COLUMNS] = {
	[NODE] = { "NODE", 9, 40, 0, false, true },
	[STATE] = { "STATE", 6, 6, 1, false, false },
	[PHASE] = { "PHASE", 8, 30, 3, false, true },
	[FOR] = { "FOR", 5, 6, 4, true, false },
	[HEARD] = { "HEARD", 5, 6, 5, true, false },
	[SPOOL] = { "SPOOL", 6, 7, 7, true, false },
	[CLOCK] = { "CLOCK", 6, 7, 8, true, false },
	[CPU] = { "CPU", 4, 5, 6, true, false },
	[RECEIVE] = { "RX/S", 6, 7, 9, true, false },
	[IOWAIT] = { "IOWAIT", 6, 6, 10, true, false },
	[PRESSURE] = { "PSI IO", 6, 6, 11, true, false },
	[WRONG] = { "WRONG", 9, 36, 2, false, false },
};

static const struct top_node *
node_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return &snapshot->nodes[row];
}

static uint32_t
count_nodes(const struct top_snapshot *snapshot)
{
	return snapshot->node_count;
}

static unsigned
between(unsigned least, unsigned value, unsigned most)
{
	return value < least ? least : value > most ? most : value;
}

static uint32_t
columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	memcpy(to, all, sizeof(all));
	to[NODE].most = between(
	    to[NODE].least, snapshot->names->names.longest, to[NODE].most);
	to[PHASE].most = between(
	    to[PHASE].least, snapshot->labels->names.longest, to[PHASE].most);
	return COLUMNS;
}

static struct text
name_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return snapshot->names->table.names[row];
}

static struct text
label_of(const struct top_snapshot *snapshot, uint32_t row)
{
	uint32_t phase = node_of(snapshot, row)->phase;

	return phase == TOP_NO_PHASE ? (struct text){ NULL, 0 }
				     : snapshot->labels->table.names[phase];
}

static struct node_state
state_of(const struct top_node *node)
{
	return (struct node_state){ .condition =
					(enum node_condition)node->condition,
		.spool_fills = node->spool_fills,
		.clock_is_off = node->clock_is_off };
}

/* What is wrong: the state first, then what needs attention. */
static double
weight(const struct top_node *node)
{
	return 4 * node->condition + 2 * node->spool_fills + node->clock_is_off;
}

static struct order_key
key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct top_node *node = node_of(snapshot, row);
	const double numbers[COLUMNS] = {
		[STATE] = node->condition,
		[FOR] = node->phase_age,
		[HEARD] = node->age,
		[SPOOL] = node->spool,
		[CLOCK] = fabsf(node->clock),
		[CPU] = node->cpu,
		[RECEIVE] = node->receive,
		[IOWAIT] = node->iowait,
		[PRESSURE] = node->pressure,
		[WRONG] = weight(node),
	};

	return (struct order_key){ .is_text = all[column].is_text,
		.text = column == NODE ? name_of(snapshot, row)
				       : label_of(snapshot, row),
		.number = numbers[column] };
}

static struct text
cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct top_node *node = node_of(snapshot, row);
	struct node_state state = state_of(node);

	switch ((enum column)column) {
	case NODE: return name_of(snapshot, row);
	case PHASE:
		return node->phase == TOP_NO_PHASE ? text_of("-")
						   : label_of(snapshot, row);
	case STATE: return text_of(node_condition_words[state.condition]);
	case FOR: return text_of(cell_time(to, node->phase_age));
	case HEARD: return text_of(cell_time(to, node->age));
	case SPOOL: return text_of(cell_bytes(to, node->spool));
	case CLOCK: return text_of(cell_time(to, node->clock));
	case CPU: return text_of(cell_share(to, node->cpu));
	case RECEIVE: return text_of(cell_bytes(to, node->receive));
	case IOWAIT: return text_of(cell_share(to, node->iowait));
	case PRESSURE: return text_of(cell_share(to, node->pressure));
	case WRONG: return text_of(node_state_wrong(to, &state));
	default: return text_of("");
	}
}

static enum view_look
look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct top_node *node = node_of(snapshot, row);

	return node->condition >= NODE_SILENT ? VIEW_BAD
	       : weight(node) > 0             ? VIEW_WARNING
					      : VIEW_PLAIN;
}

static void
put_time(FILE *file, const char *name, double seconds, const char *behind)
{
	char text[CELL_NUMBER_BYTES];

	fprintf(file, "%-12s%s%s\n", name, cell_time(text, seconds),
	    isnan(seconds) ? "" : behind);
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	const struct top_node *node = node_of(snapshot, row);
	struct node_state state = state_of(node);
	char text[NODE_STATE_WRONG_BYTES], number[CELL_NUMBER_BYTES];
	struct text name = name_of(snapshot, row),
		    label = label_of(snapshot, row);

	fprintf(file, "%-12s%.*s\n", "node", (int)name.bytes, name.at);
	fprintf(
	    file, "%-12s%s\n", "state", node_condition_words[state.condition]);
	fprintf(file, "%-12s%s\n", "wrong",
	    node_state_wrong(text, &state)[0] != '\0' ? text : "nothing");
	fprintf(file, "%-12s%.*s\n", "phase",
	    label.bytes > 0 ? (int)label.bytes : 1,
	    label.bytes > 0 ? label.at : "-");
	put_time(file, "  for", node->phase_age, "");
	put_time(file, "heard", node->age, " ago");
	put_time(file, "received", node->received, " ago");
	fprintf(file, "%-12s%s that the agent has not sent\n", "spool",
	    cell_bytes(number, node->spool));
	put_time(file, "clock", node->clock,
	    node->clock < 0 ? " (ahead of the aggregator's)"
			    : " (behind the aggregator's)");
	fprintf(file, "%-12s%s\n", "cpu", cell_share(number, node->cpu));
	fprintf(file, "%-12s%s received a second\n", "network",
	    cell_bytes(number, node->receive));
	fprintf(file, "%-12s%s of the processors\n", "iowait",
	    cell_share(number, node->iowait));
	fprintf(file, "%-12s%s of the time a task waited for a disk\n",
	    "pressure", cell_share(number, node->pressure));
}

const struct view view_nodes = {
	.name = "nodes",
	.columns = columns,
	.count = count_nodes,
	.name_of = name_of,
	.other_of = label_of,
	.key = key,
	.cell = cell,
	.look = look,
	.detail = detail,
	.column = WRONG,
	.is_sorted = true,
	.none = "no node of this pool was heard in the last day",
};
