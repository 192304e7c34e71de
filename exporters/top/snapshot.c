/*
 * top_snapshot - what the screen shows of one moment.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/snapshot.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/format/table.h"

/* ---- the rows of nodes of a moment that is over, in half the memory ---- */

/* Numbers keep ten binary digits, the offsets of clocks all; what is the same
 * of all nodes is there once.  A row can be read without the others. */

/* Two columns have the halves of a number of 32 bits. */
enum column {
	AGE,
	RECEIVED,
	SPOOL,
	CPU,
	IOWAIT,
	PRESSURE,
	GPU,
	RECEIVE,
	DISK,
	MEMORY,
	MEMORY_LIMIT,
	LOAD,
	PHASE_AGE,
	PHASE_USUAL,
	NUMBERS, /* columns of numbers up to here */
	CLOCK = NUMBERS,
	PHASE = CLOCK + 2,
	FLAGS = PHASE + 2,
	COLUMNS
};

struct top_packed {
	size_t bytes;
	/* First of the column in `cells`; SAME: all rows have `same`. */
	uint32_t first[COLUMNS];
	uint16_t same[COLUMNS];
	uint16_t cells[];
};
#define SAME UINT32_MAX

/* A number is stored as the upper bits of a float from 2^-19 to 2^44, which is
 * a microsecond, and more bytes than there are. */
enum {
	DROPPED_BITS = 13,
	LEAST_EXPONENT = 127 - 19,
	LEAST = LEAST_EXPONENT << (23 - DROPPED_BITS),
	GREATEST_CODE = UINT16_MAX - 1,
	UNKNOWN_CODE = UINT16_MAX,
};

static uint32_t
bits_of(float number)
{
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static float
float_of(uint32_t bits)
{
	float number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static uint16_t
code_of(float number)
{
	uint32_t upper;

	if (isnan(number))
		return UNKNOWN_CODE;
	if (!(number > 0))
		return 0;
	upper = (bits_of(number) + (1u << (DROPPED_BITS - 1))) >> DROPPED_BITS;
	if (upper <= LEAST)
		return 0;
	upper -= LEAST;
	return (uint16_t)(upper > GREATEST_CODE ? GREATEST_CODE : upper);
}

static float
number_of(uint16_t code)
{
	return code == UNKNOWN_CODE ? NAN
	       : code == 0          ? 0
			   : float_of((code + (uint32_t)LEAST) << DROPPED_BITS);
}

static void
put_row(uint16_t to[static COLUMNS], const struct top_node *node)
{
	uint32_t clock = bits_of(node->clock);

	to[AGE] = code_of(node->age);
	to[RECEIVED] = code_of(node->received);
	to[SPOOL] = code_of(node->spool);
	to[CPU] = code_of(node->cpu);
	to[IOWAIT] = code_of(node->iowait);
	to[PRESSURE] = code_of(node->pressure);
	to[GPU] = code_of(node->gpu);
	to[RECEIVE] = code_of(node->receive);
	to[DISK] = code_of(node->disk);
	to[MEMORY] = code_of(node->memory);
	to[MEMORY_LIMIT] = code_of(node->memory_limit);
	to[LOAD] = code_of(node->load);
	to[PHASE_AGE] = code_of(node->phase_age);
	to[PHASE_USUAL] = code_of(node->phase_usual);
	to[CLOCK] = (uint16_t)clock;
	to[CLOCK + 1] = (uint16_t)(clock >> 16);
	to[PHASE] = (uint16_t)node->phase;
	to[PHASE + 1] = (uint16_t)(node->phase >> 16);
	to[FLAGS] = (uint16_t)(node->condition | node->attention << 8);
}

/* Which columns differ; returns how many. */
static uint32_t
find_differences(
    bool differs[static COLUMNS], const struct top_node *nodes, uint32_t count)
{
	uint16_t first[COLUMNS], row[COLUMNS];
	uint32_t many = 0;

	memset(differs, 0, COLUMNS * sizeof(*differs));
	for (uint32_t i = 0; i < count; i++) {
		put_row(i == 0 ? first : row, &nodes[i]);
		for (int c = 0; i > 0 && c < COLUMNS; c++)
			if (row[c] != first[c] && !differs[c]) {
				differs[c] = true;
				many++;
			}
	}
	return many;
}

static struct top_packed *
packed_new(const struct top_node *nodes, uint32_t count)
{
	bool differs[COLUMNS];
	size_t columns = find_differences(differs, nodes, count);
	size_t bytes =
	    sizeof(struct top_packed) + columns * count * sizeof(uint16_t);
	struct top_packed *to = memory_zero(1, bytes);
	uint16_t row[COLUMNS];
	uint32_t next = 0;

	to->bytes = bytes;
	for (int c = 0; c < COLUMNS; c++) {
		to->first[c] = differs[c] ? next : SAME;
		next += differs[c] ? count : 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		put_row(row, &nodes[i]);
		for (int c = 0; c < COLUMNS; c++)
			if (differs[c])
				to->cells[to->first[c] + i] = row[c];
			else
				to->same[c] = row[c];
	}
	return to;
}

static struct top_node
packed_at(const struct top_packed *packed, uint32_t row)
{
	uint16_t of[COLUMNS];

	for (int c = 0; c < COLUMNS; c++)
		of[c] = packed->first[c] == SAME
			    ? packed->same[c]
			    : packed->cells[packed->first[c] + row];
	return (struct top_node){
		.age = number_of(of[AGE]),
		.received = number_of(of[RECEIVED]),
		.spool = number_of(of[SPOOL]),
		.cpu = number_of(of[CPU]),
		.iowait = number_of(of[IOWAIT]),
		.pressure = number_of(of[PRESSURE]),
		.gpu = number_of(of[GPU]),
		.receive = number_of(of[RECEIVE]),
		.disk = number_of(of[DISK]),
		.memory = number_of(of[MEMORY]),
		.memory_limit = number_of(of[MEMORY_LIMIT]),
		.load = number_of(of[LOAD]),
		.phase_age = number_of(of[PHASE_AGE]),
		.phase_usual = number_of(of[PHASE_USUAL]),
		.clock = float_of((uint32_t)of[CLOCK + 1] << 16 | of[CLOCK]),
		.phase = (uint32_t)of[PHASE + 1] << 16 | of[PHASE],
		.condition = (uint8_t)of[FLAGS],
		.attention = (uint8_t)(of[FLAGS] >> 8),
	};
}

static size_t
packed_bytes(const struct top_packed *packed)
{
	return packed->bytes;
}

/* ---- sharing ---- */

void *
top_share(void *at)
{
	struct top_shared *shared = at;

	if (shared != NULL)
		atomic_fetch_add(&shared->references, 1);
	return at;
}

void
top_unshare(void *at)
{
	struct top_shared *shared = at;

	if (shared != NULL && atomic_fetch_sub(&shared->references, 1) == 1)
		shared->free(shared);
}

static void *
new_shared(size_t bytes, void (*free_it)(struct top_shared *shared))
{
	struct top_shared *shared = memory_zero(1, bytes);

	atomic_init(&shared->references, 1);
	shared->bytes = bytes;
	shared->free = free_it;
	return shared;
}

static void
free_texts(struct top_shared *shared)
{
	struct top_texts *texts = (struct top_texts *)(void *)shared;

	string_table_clear(&texts->table);
	free(texts);
}

struct top_texts *
top_texts_new(void)
{
	struct top_texts *texts = new_shared(sizeof(*texts), free_texts);

	string_table_init(&texts->table);
	return texts;
}

void
top_texts_add(struct top_texts *texts, struct text text)
{
	uint32_t before = texts->table.count;
	uint32_t number = string_table_add(&texts->table, text);

	if (number < before)
		return;
	/* The table has a view, its copy, and slots. */
	texts->shared.bytes += sizeof(struct text) + text.bytes + 16;
	table_names_add(&texts->names, texts->table.names[number]);
}

static void
free_runs(struct top_shared *shared)
{
	struct top_runs *runs = (struct top_runs *)(void *)shared;

	newest_runs_clear(&runs->runs);
	free(runs);
}

struct top_runs *
top_runs_new(void)
{
	return new_shared(sizeof(struct top_runs), free_runs);
}

static void
free_pools(struct top_shared *shared)
{
	struct top_pools *pools = (struct top_pools *)(void *)shared;

	pools_clear(&pools->pools);
	free(pools);
}

struct top_pools *
top_pools_new(void)
{
	return new_shared(sizeof(struct top_pools), free_pools);
}

static void
free_causes(struct top_shared *shared)
{
	struct top_causes *causes = (struct top_causes *)(void *)shared;

	string_table_clear(&causes->nodes);
	string_table_clear(&causes->texts);
	free(causes->text);
	free(causes);
}

struct top_causes *
top_causes_new(const struct stragglers *stragglers)
{
	struct top_causes *causes = new_shared(sizeof(*causes), free_causes);

	string_table_init(&causes->nodes);
	string_table_init(&causes->texts);
	for (uint32_t i = 0; i < stragglers->count; i++) {
		const struct straggler *straggler = &stragglers->at[i];
		uint32_t before = causes->nodes.count, number;

		number = string_table_add(&causes->nodes, straggler->node);
		if (number < before || straggler->causes == 0)
			continue;
		MEMORY_GROW_ZERO(causes->text, causes->room, number);
		causes->text[number] = string_table_add(
		    &causes->texts, straggler->cause[0].clause);
		causes->shared.bytes += 2 * sizeof(struct text) +
					straggler->node.bytes +
					straggler->cause[0].clause.bytes + 32;
	}
	return causes;
}

struct text
top_cause_of(const struct top_snapshot *snapshot, struct text node)
{
	const struct top_causes *causes = snapshot->causes;
	uint32_t number;

	return causes != NULL &&
		       string_table_find(&causes->nodes, node, &number)
		   ? causes->texts.names[causes->text[number]]
		   : (struct text){ NULL, 0 };
}

static void
free_lines(struct top_shared *shared)
{
	struct top_lines *lines = (struct top_lines *)(void *)shared;

	free(lines->at);
	free(lines->memory);
	free(lines);
}

/* At blanks, into lines of at most this many characters. */
enum { LINE_WIDTH = 80, LINE_INDENT = 2 };
static void
put_wrapped(FILE *file, const char *label, const char *text)
{
	unsigned at = (unsigned)fprintf(file, "%s", label);

	for (bool first = true; *text != '\0'; first = false) {
		size_t bytes = strcspn(text, " ");
		unsigned width =
		    table_width((struct text){ text, (uint32_t)bytes });

		if (!first && at + 1 + width > LINE_WIDTH)
			at = (unsigned)fprintf(file, "\n%*s", LINE_INDENT, "") -
			     1;
		else if (!first)
			at += (unsigned)fprintf(file, " ");
		fwrite(text, 1, bytes, file);
		at += width;
		text += bytes + (text[bytes] == ' ');
	}
	putc('\n', file);
}

static enum verdict
put_verdict(FILE *file, const struct status_facts *facts)
{
	struct status_verdict verdict;
	char label[32];

	status_judge(&verdict, facts);
	for (uint32_t i = 0; i < verdict.problems.count; i++) {
		const struct status_line *line = &verdict.problems.at[i];

		snprintf(
		    label, sizeof(label), "%s: ", verdict_word(line->verdict));
		put_wrapped(file, label, line->text);
	}
	if (verdict.problems.count == 0)
		put_wrapped(
		    file, "ok: ", status_verdict_words(&verdict, facts));
	putc('\n', file);
	for (uint32_t i = 0; i < verdict.parts.count; i++) {
		snprintf(
		    label, sizeof(label), "%-12s", verdict.parts.at[i].key);
		put_wrapped(file, label, verdict.parts.at[i].text);
	}
	status_verdict_clear(&verdict);
	return verdict.verdict;
}

struct top_lines *
top_lines_new(const struct status_facts *facts)
{
	struct top_lines *lines = new_shared(sizeof(*lines), free_lines);
	uint32_t room = 0;
	struct text rest, line;
	size_t bytes;
	FILE *file = memory_stream(&lines->memory, &bytes);

	lines->lag = facts->counters[COUNTER_STORE_indexing_lag];
	lines->verdict = put_verdict(file, facts);
	memory_stream_end(&file);
	rest = (struct text){ lines->memory, (uint32_t)bytes };
	while (text_next_line(&rest, &line)) {
		*MEMORY_ADD(lines->at, room, lines->count) = line;
	}
	lines->shared.bytes += bytes + room * sizeof(*lines->at);
	return lines;
}

/* ---- snapshots ---- */

struct top_snapshot *
top_snapshot_new(int64_t taken_ns)
{
	struct top_snapshot *snapshot = memory_zero(1, sizeof(*snapshot));

	snapshot->taken_ns = taken_ns;
	snapshot->records_second = NAN;
	snapshot->holds = 1;
	return snapshot;
}

void
top_snapshot_drop(struct top_snapshot **dropped)
{
	struct top_snapshot *snapshot = *dropped;

	*dropped = NULL;
	if (snapshot == NULL || --snapshot->holds > 0)
		return;
	top_unshare(snapshot->names);
	top_unshare(snapshot->labels);
	top_unshare(snapshot->runs);
	top_unshare(snapshot->pools);
	top_unshare(snapshot->lines);
	top_unshare(snapshot->causes);
	free(snapshot->nodes);
	free(snapshot->packed);
	free(snapshot->phases);
	free(snapshot->partition);
	free(snapshot->error);
	free(snapshot);
}

void
top_snapshot_pack(struct top_snapshot *snapshot)
{
	if (snapshot->packed == NULL)
		snapshot->packed =
		    packed_new(snapshot->nodes, snapshot->node_count);
	free(snapshot->nodes);
	snapshot->nodes = NULL;
}

void
top_snapshot_unpack(struct top_snapshot *snapshot)
{
	if (snapshot->nodes != NULL)
		return;
	snapshot->nodes =
	    memory_alloc((snapshot->node_count + 1) * sizeof(*snapshot->nodes));
	for (uint32_t i = 0; i < snapshot->node_count; i++)
		snapshot->nodes[i] = packed_at(snapshot->packed, i);
}

struct top_node
top_snapshot_node(const struct top_snapshot *snapshot, uint32_t row)
{
	return snapshot->nodes != NULL ? snapshot->nodes[row]
				       : packed_at(snapshot->packed, row);
}

static size_t
bytes_of(const void *at, const void *before)
{
	const struct top_shared *shared = at;

	return shared == NULL || at == before ? 0 : shared->bytes;
}

size_t
top_snapshot_bytes(
    const struct top_snapshot *snapshot, const struct top_snapshot *before)
{
	size_t bytes = sizeof(*snapshot) +
		       snapshot->phase_count * sizeof(*snapshot->phases) +
		       NAME_BYTES_MAX;

	if (snapshot->packed != NULL)
		bytes += packed_bytes(snapshot->packed);
	bytes += bytes_of(snapshot->names, before ? before->names : NULL);
	bytes += bytes_of(snapshot->labels, before ? before->labels : NULL);
	bytes += bytes_of(snapshot->runs, before ? before->runs : NULL);
	bytes += bytes_of(snapshot->pools, before ? before->pools : NULL);
	bytes += bytes_of(snapshot->lines, before ? before->lines : NULL);
	return bytes;
}
