/*
 * top_nodes - the view of nodes: what each of them does, and what is wrong with
 * it.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "exporters/top/view.h"
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
	TREND,
	MEMORY,
	LOAD,
	RECEIVE,
	DISK,
	GPU,
	IOWAIT,
	PRESSURE,
	WRONG,
	CAUSE, /* the last one: it is there if somebody is slow */
	COLUMNS
};

static const struct view_column all[COLUMNS] = {
	[NODE] = { "NODE", 13, 40, 0, false, true, false },
	[STATE] = { "STATE", 8, 8, 1, false, false, false },
	[PHASE] = { "PHASE", 13, 30, 3, false, true, false },
	[FOR] = { "FOR", 5, 6, 4, true, false, false },
	[HEARD] = { "HEARD", 5, 6, 5, true, false, false },
	[SPOOL] = { "SPOOL", 6, 7, 7, true, false, false },
	[CLOCK] = { "CLOCK", 6, 7, 9, true, false, false },
	[CPU] = { "CPU", 4, 5, 6, true, false, false },
	[TREND] = { "", 8, 8, 8, false, false, true },
	[MEMORY] = { "MEM", 4, 5, 10, true, false, false },
	[LOAD] = { "LOAD", 5, 6, 11, true, false, false },
	[RECEIVE] = { "RX/S", 6, 7, 12, true, false, false },
	[DISK] = { "DISK/S", 6, 7, 13, true, false, false },
	[GPU] = { "GPU", 4, 5, 14, true, false, false },
	[IOWAIT] = { "IOWAIT", 6, 6, 15, true, false, false },
	[PRESSURE] = { "PSI IO", 6, 6, 16, true, false, false },
	[WRONG] = { "WRONG", 9, 60, 2, false, false, false },
	[CAUSE] = { "WHY SLOW", 20, 60, COLUMNS - 1, false, false, false },
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

/* No wider than the longest text. */
static void
fit_text(struct view_column *column, size_t longest)
{
	unsigned width =
	    longest < column->most ? (unsigned)longest : column->most;
	unsigned title = (unsigned)strlen(column->title) + 1;

	if (width < title)
		width = title;
	if (column->least > width)
		column->least = width;
	column->most = width;
}

/* Of all memory; NaN: unknown. */
static double
memory_share(const struct top_node *node)
{
	return node->memory_limit > 0
		   ? (double)node->memory / (double)node->memory_limit
		   : NAN;
}

/* Columns that say nothing are the first to go.  What is wrong is not cut, as
 * long as it is one thing. */
static void
rank_unknown(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	bool known[COLUMNS] = { false }, is_long = false, is_wrong = false,
	     is_silent = false;

	for (uint32_t i = 0; i < snapshot->node_count; i++) {
		const struct top_node *node = node_of(snapshot, i);

		is_long |= (node->attention & 1u << ATTENTION_PHASE) != 0;
		is_wrong |= (node->attention &
				(1u << ATTENTION_START | 1u << ATTENTION_LOST |
				    1u << ATTENTION_SPOOL |
				    1u << ATTENTION_CLOCK)) != 0;
		is_silent |= node->attention != 0;
		known[SPOOL] |= !isnan(node->spool);
		known[CLOCK] |= !isnan(node->clock);
		known[CPU] |= !isnan(node->cpu);
		known[MEMORY] |= !isnan(memory_share(node));
		known[LOAD] |= !isnan(node->load);
		known[RECEIVE] |= !isnan(node->receive);
		known[DISK] |= !isnan(node->disk);
		known[GPU] |= !isnan(node->gpu);
		known[IOWAIT] |= !isnan(node->iowait);
		known[PRESSURE] |= !isnan(node->pressure);
	}
	known[TREND] = known[CPU];
	to[WRONG].least = is_long ? 28 : is_wrong ? 16 : is_silent ? 9 : 6;
	for (int i = SPOOL; i < WRONG; i++)
		if (!known[i])
			to[i].rank += COLUMNS;
}

static uint32_t
columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	memcpy(to, all, sizeof(all));
	fit_text(&to[NODE], snapshot->names->names.longest);
	fit_text(&to[PHASE], snapshot->labels->names.longest);
	rank_unknown(snapshot, to);
	return snapshot->causes != NULL && snapshot->causes->nodes.count > 0
		   ? COLUMNS
		   : CAUSE;
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
	       : phase == TOP_READY  ? text_of("ready")
				     : snapshot->labels->table.names[phase];
}

/* The worst first, as in `poolscope nodes`. */
static double
weight(const struct top_node *node)
{
	return (double)attention_weight(node->attention) * NODE_CONDITIONS +
	       node_condition_weight(node->condition);
}

/* The label of a phase is its name and its key. */
static const char *
wrong_of(const struct top_snapshot *snapshot, uint32_t row,
    char to[static ATTENTION_TEXT_BYTES])
{
	const struct top_node *node = node_of(snapshot, row);
	struct text label = label_of(snapshot, row);
	const struct attention_phase phase = { text_next_word(&label),
		(double)node->phase_age, (double)node->phase_usual };

	return attention_text(to, node->attention, &phase);
}

static struct order_key
key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct top_node *node = node_of(snapshot, row);
	const double numbers[COLUMNS] = {
		[STATE] = node_condition_weight(node->condition),
		[FOR] = node->phase_age,
		[HEARD] = node->age,
		[SPOOL] = node->spool,
		[CLOCK] = fabsf(node->clock),
		[CPU] = node->cpu,
		[TREND] = node->cpu,
		[MEMORY] = memory_share(node),
		[LOAD] = node->load,
		[RECEIVE] = node->receive,
		[DISK] = node->disk,
		[GPU] = node->gpu,
		[IOWAIT] = node->iowait,
		[PRESSURE] = node->pressure,
		[WRONG] = weight(node),
	};

	return (struct order_key){ .is_text = all[column].is_text,
		.text = column == NODE ? name_of(snapshot, row)
			: column == CAUSE
			    ? top_cause_of(snapshot, name_of(snapshot, row))
			    : label_of(snapshot, row),
		.number = numbers[column] };
}

static struct text
cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct top_node *node = node_of(snapshot, row);

	switch ((enum column)column) {
	case NODE: return name_of(snapshot, row);
	case PHASE:
		return node->phase == TOP_NO_PHASE ? text_of("-")
						   : label_of(snapshot, row);
	case STATE: return text_of(node_condition_words[node->condition]);
	case FOR: return text_of(cell_time(to, node->phase_age));
	case HEARD: return text_of(cell_time(to, node->age));
	case SPOOL: return text_of(cell_bytes(to, node->spool));
	case CLOCK: return text_of(cell_time(to, node->clock));
	case CPU: return text_of(cell_share(to, node->cpu));
	case MEMORY: return text_of(cell_share(to, memory_share(node)));
	case LOAD: return text_of(cell_number(to, node->load));
	case RECEIVE: return text_of(cell_bytes(to, node->receive));
	case DISK: return text_of(cell_bytes(to, node->disk));
	case GPU: return text_of(cell_share(to, node->gpu));
	case IOWAIT: return text_of(cell_share(to, node->iowait));
	case PRESSURE: return text_of(cell_share(to, node->pressure));
	case WRONG: return text_of(wrong_of(snapshot, row, to));
	case CAUSE: return top_cause_of(snapshot, name_of(snapshot, row));
	default: return text_of("");
	}
}

static enum view_look
look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct top_node *node = node_of(snapshot, row);

	const unsigned bad = 1u << ATTENTION_GONE | 1u << ATTENTION_SILENT |
			     1u << ATTENTION_PHASE;

	return (node->attention & bad) != 0 ? VIEW_BAD
	       : weight(node) > 0           ? VIEW_WARNING
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
put_usage(FILE *file, const struct top_node *node)
{
	char to[CELL_NUMBER_BYTES], limit[CELL_NUMBER_BYTES];
	char of[CELL_NUMBER_BYTES + 8];

	put_value(file, "cpu", cell_share(to, node->cpu),
	    " of the processors did something");
	put_value(file, "iowait", cell_share(to, node->iowait),
	    " of the processors waited for a disk");
	put_value(file, "pressure", cell_share(to, node->pressure),
	    " of the time a task waited for a disk");
	put_value(file, "load", cell_number(to, node->load),
	    " threads, mean of a minute");
	snprintf(
	    of, sizeof(of), " of %s", cell_bytes(limit, node->memory_limit));
	put_value(file, "memory", cell_bytes(to, node->memory), of);
	put_value(file, "disk", cell_bytes(to, node->disk),
	    " read and written a second");
	put_value(file, "network", cell_bytes(to, node->receive),
	    " received a second");
	put_value(
	    file, "gpu", cell_share(to, node->gpu), ", the busiest of them");
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	const struct top_node *node = node_of(snapshot, row);
	struct text cause = top_cause_of(snapshot, name_of(snapshot, row));
	char wrong[ATTENTION_TEXT_BYTES], to[CELL_NUMBER_BYTES];

	put_text(file, "node", name_of(snapshot, row));
	put_value(file, "state", node_condition_words[node->condition], "");
	wrong_of(snapshot, row, wrong);
	put_value(file, "wrong", wrong[0] != '\0' ? wrong : "nothing", "");
	put_text(file, "why slow", cause.bytes > 0 ? cause : text_of("-"));
	put_text(file, "phase",
	    node->phase == TOP_NO_PHASE ? text_of("-")
					: label_of(snapshot, row));
	put_value(file, "  for", cell_time(to, node->phase_age), "");
	put_value(file, "heard", cell_time(to, node->age), " ago");
	put_value(file, "received", cell_time(to, node->received), " ago");
	put_value(file, "spool", cell_bytes(to, node->spool),
	    " that the agent has not sent");
	put_value(file, "clock", cell_time(to, fabsf(node->clock)),
	    node->clock < 0 ? " ahead of the aggregator's"
			    : " behind the aggregator's");
	put_usage(file, node);
}

static double
trend(const struct top_snapshot *snapshot, uint32_t row, int64_t *at_ns)
{
	*at_ns = snapshot->taken_ns;
	return (double)top_snapshot_node(snapshot, row).cpu;
}

static bool
find(const struct top_snapshot *snapshot, const struct top_snapshot *other,
    uint32_t like, uint32_t *row)
{
	*row = like;
	return snapshot->names == other->names ||
	       string_table_find(
		   &snapshot->names->table, name_of(other, like), row);
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
	.trend = trend,
	.find = find,
	.trend_is_share = true,
	.column = WRONG,
	.none = "no node of this pool was ever heard",
};
