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

/* What an unknown value is behind is left out. */
static void
put_value(FILE *file, const char *name, const char *value, const char *behind)
{
	fprintf(file, "%-12s%s%s\n", name, value,
	    strcmp(value, "-") == 0 ? "" : behind);
}

static void
put_text(FILE *file, const char *name, struct text text)
{
	fprintf(file, "%-12s%.*s\n", name, (int)text.bytes, text.at);
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	const struct top_node *node = node_of(snapshot, row);
	struct node_state state = state_of(node);
	char wrong[NODE_STATE_WRONG_BYTES], to[CELL_NUMBER_BYTES];

	put_text(file, "node", name_of(snapshot, row));
	put_value(file, "state", node_condition_words[state.condition], "");
	node_state_wrong(wrong, &state);
	put_value(file, "wrong", wrong[0] != '\0' ? wrong : "nothing", "");
	put_text(file, "phase",
	    node->phase == TOP_NO_PHASE ? text_of("-")
					: label_of(snapshot, row));
	put_value(file, "  for", cell_time(to, node->phase_age), "");
	put_value(file, "heard", cell_time(to, node->age), " ago");
	put_value(file, "received", cell_time(to, node->received), " ago");
	put_value(file, "spool", cell_bytes(to, node->spool),
	    " that the agent has not sent");
	put_value(file, "clock", cell_time(to, node->clock),
	    node->clock < 0 ? " (ahead of the aggregator's)"
			    : " (behind the aggregator's)");
	put_value(file, "cpu", cell_share(to, node->cpu),
	    " of the processors did something");
	put_value(file, "iowait", cell_share(to, node->iowait),
	    " of the processors waited for a disk");
	put_value(file, "pressure", cell_share(to, node->pressure),
	    " of the time a task waited for a disk");
	put_value(file, "network", cell_bytes(to, node->receive),
	    " received a second");
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
