/*
 * why_facts - what sentences are made of: rows of answers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/why/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/record/node_list.h"

/* Slower than usual by both of these is worth a line. */
#define MUCH_NS (INT64_C(1000000000))
#define MUCH    0.25

bool
why_is_slow(int64_t above_ns, int64_t usual_ns)
{
	return above_ns >= MUCH_NS &&
	       (double)above_ns >= MUCH * (double)usual_ns;
}

/* ---- cells ---- */

/* Of a number of seconds. */
static int64_t
ns_of_seconds(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL && answer_is_known(cell)
		   ? (int64_t)llround(cell->is.number * 1e9)
		   : ANSWER_NO_NS;
}

/* A string with the lifetime of the facts. */
static char *
copy(struct why_facts *f, struct text text)
{
	char *to = arena_room(&f->texts, (size_t)text.bytes + 1);

	if (text.bytes > 0)
		memcpy(to, text.at, text.bytes);
	to[text.bytes] = '\0';
	arena_keep(&f->texts, (size_t)text.bytes + 1);
	return to;
}

static char *
copy_in(struct why_facts *f, const struct answer_taken *row, const char *key)
{
	struct text text = answer_taken_text(row, key);

	return text.bytes > 0 ? copy(f, text) : NULL;
}

/* ---- rows ---- */

static void
take_start(struct why_facts *f, const struct answer_taken *row)
{
	struct why_start *start = &f->starts[f->start_count];
	struct text state = answer_taken_text(row, "state");

	if (f->start_count == WHY_STARTS)
		return;
	f->start_count++;
	start->begin_ns = answer_taken_ns(row, "start");
	start->nodes = answer_taken_count(row, "nodes");
	start->ready = answer_taken_count(row, "ready");
	start->last_ready_ns = ns_of_seconds(row, "last_ready");
	start->duration_ns = ns_of_seconds(row, "duration");
	snprintf(start->state, sizeof(start->state), "%.*s", (int)state.bytes,
	    state.at);
}

static bool
is_same(const char *kept, struct text text)
{
	return kept == NULL ? text.bytes == 0 : text_equal(text_of(kept), text);
}

/* Pieces that wait for one thing are one, of any node. */
static void
take_piece(struct why_facts *f, const struct answer_taken *row)
{
	struct text kind = answer_taken_text(row, "kind"),
		    phase = answer_taken_text(row, "phase"),
		    key = answer_taken_text(row, "key"),
		    node = answer_taken_text(row, "node");
	int64_t ns = answer_taken_ns(row, "duration");
	uint32_t at = 0;

	f->path_ns += ns;
	if (!is_same(f->last_node, node))
		f->last_node = copy_in(f, row, "node");
	if (text_equal(f->only, node))
		f->only_path_ns += ns;
	while (
	    at < f->piece_count && (!is_same(f->pieces[at].kind, kind) ||
				       !is_same(f->pieces[at].phase, phase) ||
				       !is_same(f->pieces[at].key, key)))
		at++;
	if (at == WHY_PIECES)
		return;
	if (at == f->piece_count)
		f->pieces[f->piece_count++] =
		    (struct why_piece){ .kind = copy(f, kind),
			    .node = copy_in(f, row, "node"),
			    .phase = copy_in(f, row, "phase"),
			    .key = copy_in(f, row, "key") };
	f->pieces[at].ns += ns;
}

/* "load" of "pool:load". */
static char *
phase_in(struct why_facts *f, const struct answer_taken *row)
{
	return copy(f, text_after(answer_taken_text(row, "phase"), ':'));
}

const struct why_straggler *
why_straggler_of(const struct why_facts *f, struct text node)
{
	for (uint32_t i = 0; i < f->straggler_count; i++)
		if (is_same(f->stragglers[i].node, node))
			return &f->stragglers[i];
	return NULL;
}

/* What cost most comes first, and says why its node is slow. */
static void
take_straggler(struct why_facts *f, const struct answer_taken *row)
{
	struct text node = answer_taken_text(row, "node");

	if (f->only.bytes == 0 && why_straggler_of(f, node) != NULL)
		return;
	if (f->straggler_count == WHY_NAMED)
		f->more_stragglers++;
	else
		f->stragglers[f->straggler_count++] =
		    (struct why_straggler){ .node = copy_in(f, row, "node"),
			    .phase = phase_in(f, row),
			    .key = copy_in(f, row, "key"),
			    .cause = copy_in(f, row, "cause"),
			    .why = copy_in(f, row, "why"),
			    .time_ns = answer_taken_ns(row, "time"),
			    .usual_ns = answer_taken_ns(row, "usual"),
			    .drag_ns = answer_taken_ns(row, "drag"),
			    .share = answer_taken_number(row, "share"),
			    .is_open = answer_taken_is_set(row, "open"),
			    .is_of_node =
				text_equal(answer_taken_text(row, "usual_of"),
				    text_of("node")) };
}

/* The state of its node has it, with the time until now. */
static bool
is_attended(const struct why_facts *f, const struct answer_taken *row)
{
	struct text node = answer_taken_text(row, "node"),
		    phase = answer_taken_text(row, "phase");

	for (uint32_t i = 0; i < f->node_count; i++)
		if (f->nodes[i].phase != NULL &&
		    is_same(f->nodes[i].node, node) &&
		    is_same(f->nodes[i].phase, phase))
			return answer_taken_is_set(row, "open");
	return false;
}

static void
take_slow(struct why_facts *f, const struct answer_taken *row)
{
	int64_t above_ns = answer_taken_ns(row, "above"),
		usual_ns = answer_taken_ns(row, "usual");

	f->judged++;
	if (!why_is_slow(above_ns, usual_ns))
		return;
	if (is_attended(f, row)) {
		f->has_attended = true;
		return;
	}
	if (f->slower < WHY_NAMED)
		f->slow[f->slower] =
		    (struct why_slow){ .node = copy_in(f, row, "node"),
			    .phase = phase_in(f, row),
			    .key = copy_in(f, row, "key"),
			    .time_ns = answer_taken_ns(row, "time"),
			    .usual_ns = usual_ns,
			    .above_ns = above_ns,
			    .is_open = answer_taken_is_set(row, "open"),
			    .is_outer = answer_taken_is_set(row, "outer"),
			    .is_of_phase =
				text_equal(answer_taken_text(row, "usual_of"),
				    text_of("phase")) };
	f->slower++;
}

static void
take_node(struct why_facts *f, const struct answer_taken *row)
{
	if (f->node_count == WHY_NAMED)
		return;
	f->nodes[f->node_count++] =
	    (struct why_node){ .node = copy_in(f, row, "node"),
		    .wrong = copy_in(f, row, "wrong"),
		    .phase = copy_in(f, row, "phase"),
		    .state = copy_in(f, row, "state"),
		    .open_ns = answer_taken_ns(row, "phase_open"),
		    .usual_ns = answer_taken_ns(row, "phase_usual"),
		    .attention = answer_taken_is_set(row, "attention") };
}

static void
take_group(struct why_facts *f, const struct answer_taken *row)
{
	f->groups++;
	f->runs += answer_taken_count(row, "runs");
	f->queued += answer_taken_count(row, "queued");
	f->ongoing += answer_taken_count(row, "ongoing");
	f->finished += answer_taken_count(row, "finished");
	f->errors += answer_taken_count(row, "errors");
}

static void
take_pool(struct why_facts *f, const struct answer_taken *row)
{
	f->records = answer_taken_count(row, "records");
	f->oldest_ns = answer_taken_ns(row, "oldest");
	f->newest_ns = answer_taken_ns(row, "newest");
	f->age_ns = answer_taken_ns(row, "age");
}

/* Of `nodes`: how many are in which state. */
static void
take_head(struct why_facts *f, const struct answer_taken *row)
{
	static const struct {
		const char *key;
		bool is_heard, is_expected;
	} states[] = { { "live", true, true }, { "late", true, true },
		{ "silent", false, true }, { "gone", false, true },
		{ "stopped", false, false }, { "imported", false, false } };

	if (row->count > 0 && strcmp(row->columns->key, "question") == 0)
		f->is_of_nodes = text_equal(
		    answer_taken_text(row, "question"), text_of("nodes"));
	if (!f->is_of_nodes)
		return;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		uint64_t count = answer_taken_count(row, states[i].key);

		f->all_nodes += count;
		f->heard += states[i].is_heard ? count : 0;
		f->expected += states[i].is_expected ? count : 0;
	}
	f->imported += answer_taken_count(row, "imported");
	f->attention += answer_taken_count(row, "attention");
}

static void
take_run(struct why_facts *f, const struct answer_taken *row)
{
	struct why_run *run = &f->run;

	if (run->run != NULL)
		return;
	*run = (struct why_run){ .run = copy_in(f, row, "run"),
		.group = copy_in(f, row, "group"),
		.state = copy_in(f, row, "state"),
		.error_text = copy_in(f, row, "error_text"),
		.is_error = answer_taken_is_set(row, "error"),
		.first_ns = answer_taken_ns(row, "first") };
	for (uint32_t i = 0; i < row->count && run->step_count < WHY_STEPS;
	     i++) {
		const char *key = row->columns[i].key;

		if (strncmp(key, "step.", 5) == 0 &&
		    answer_is_known(&row->cells[i]))
			run->steps[run->step_count++] =
			    (struct why_step){ copy(f, text_of(key + 5)),
				    (double)row->cells[i].is.ns / 1e9, NAN };
	}
}

/* Of the steps of the group of the run. */
static void
take_step(struct why_facts *f, const struct answer_taken *row)
{
	if (!text_equal(
		answer_taken_text(row, "of"), text_of("per_run_total")) ||
	    !text_equal(
		answer_taken_text(row, "time"), text_of("event_emit")) ||
	    !is_same(f->run.group, answer_taken_text(row, "group")))
		return;
	for (uint32_t i = 0; i < f->run.step_count; i++)
		if (text_equal(text_of(f->run.steps[i].name),
			answer_taken_text(row, "phase")))
			f->run.steps[i].usual = answer_taken_number(row, "p50");
}

static void
take_usage(struct why_facts *f, const struct answer_taken *row)
{
	if (answer_taken_text(row, "job").at == NULL)
		return;
	f->usage = (struct why_usage){ .is_known = true,
		.cpu_used = answer_taken_number(row, "cpu_hours_used"),
		.cpu_unused = answer_taken_number(row, "cpu_hours_unused"),
		.memory_peak = answer_taken_number(row, "memory_peak_bytes"),
		.pressure = answer_taken_number(row, "pressure_seconds") };
}

static void
take_span(struct why_facts *f, const struct answer_taken *row)
{
	if (f->span_count < WHY_SPANS)
		f->spans[f->span_count++] =
		    (struct why_step){ copy_in(f, row, "name"),
			    answer_taken_number(row, "sum"),
			    answer_taken_number(row, "p50") };
}

static void
take_whatif(struct why_facts *f, const struct answer_taken *row)
{
	struct text what = answer_taken_text(row, "what");

	if (text_equal(what, text_of("best")))
		f->best_ns = answer_taken_ns(row, "earlier");
	if (text_equal(what, text_of("worst")))
		f->worst_ns = answer_taken_ns(row, "earlier");
}

static void
take_note(struct why_facts *f, const struct answer_taken *row)
{
	struct text key = answer_taken_text(row, "key");

	if (text_equal(key, text_of("no_words")))
		f->has_no_words = true;
	else if (text_equal(key, text_of("not_ready")))
		f->not_ready = answer_taken_count(row, "count");
	else if (text_equal(key, text_of("not_judged")))
		f->has_not_judged = true;
	else if (f->is_of_nodes && f->nodes_left_out == NULL &&
		 text_equal(key, text_of("left_out")))
		f->nodes_left_out = copy_in(f, row, "text");
}

void
why_take(void *facts, const struct answer_taken *row)
{
	static const struct {
		const char *table;
		void (*take)(
		    struct why_facts *f, const struct answer_taken *row);
	} tables[] = { { "head", take_head }, { "pools", take_pool },
		{ "starts", take_start }, { "critical", take_piece },
		{ "groups", take_group }, { "stragglers", take_straggler },
		{ "slow", take_slow }, { "nodes", take_node },
		{ "runs", take_run }, { "steps", take_step },
		{ "all", take_usage }, { "spans", take_span },
		{ "whatif", take_whatif }, { "notes", take_note } };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(row->table, tables[i].table) == 0)
			tables[i].take(facts, row);
}

void
why_facts_clear(struct why_facts *f)
{
	arena_clear(&f->texts);
	*f = (struct why_facts){ .start_count = 0 };
}

/* ---- what would have helped ---- */

static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static const struct why_piece *
longest(const struct why_facts *f, const char *kind, bool with_key)
{
	const struct why_piece *found = NULL;

	for (uint32_t i = 0; i < f->piece_count; i++) {
		const struct why_piece *piece = &f->pieces[i];

		if (strcmp(piece->kind, kind) == 0 &&
		    (!with_key || piece->key != NULL) &&
		    (found == NULL || piece->ns > found->ns))
			found = piece;
	}
	return found;
}

/* As a list of nodes reads it. */
static char *
node_argument(const char *node)
{
	struct text name = text_of(node), quoted;
	char *to = memory_alloc(2 * (size_t)name.bytes + 1), *argument;

	quoted = node_list_quote(to, name, false);
	argument = memory_format("%.*s=0", (int)quoted.bytes, quoted.at);
	free(to);
	return argument;
}

/* A tenth of the time until the pool was ready is worth a question. */
static bool
is_worth(const struct why_facts *f, const struct why_piece *piece)
{
	return piece != NULL && piece->ns >= f->path_ns / 10;
}

uint32_t
why_helps_find(struct why_help to[static WHY_HELPS], const struct why_facts *f)
{
	const struct why_piece *late = longest(f, "began", false),
			       *place = longest(f, "place", true),
			       *phase = longest(f, "in", false);
	uint32_t count = 0;

	/* Of one phase nothing has to be asked. */
	if (f->piece_count < 2)
		return 0;
	if (is_worth(f, late))
		to[count++] = (struct why_help){ .option = "begin",
			.argument = node_argument(late->node),
			.words = memory_format(
			    "had %s begun with the first", late->node) };
	if (is_worth(f, place))
		to[count++] = (struct why_help){ .option = "places",
			.argument = memory_format("%s=+2", place->key),
			.words = memory_format(
			    "with 2 more places for %s", place->key) };
	if (is_worth(f, phase))
		to[count++] = (struct why_help){ .option = "length",
			.argument = memory_format("%s,%s=0.5", phase->phase,
			    phase->key != NULL ? phase->key : "*"),
			.words = memory_format("had %s%s%s taken half as long",
			    or_empty(strchr(phase->phase, ':')) + 1,
			    phase->key != NULL ? " of " : "",
			    or_empty(phase->key)) };
	return count;
}
