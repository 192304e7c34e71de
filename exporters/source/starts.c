/*
 * starts - the starts of a pool, read from the required phases of its model.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/starts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

enum { SHOWN_BYTES = 300 };

/* A node, from one begin to its next one. */
struct cycle {
	int64_t begin_ns, ready_ns, sign_ns;
	uint32_t node;
	bool lacks; /* a required phase did not end */
};

/* ---- order ---- */

static int
compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int64_t
place_of(const struct start_mark *mark)
{
	return mark->end_ns != START_UNKNOWN ? mark->end_ns : mark->begin_ns;
}

/* It ended, and did not begin at the same time. */
static bool
has_lasted(const struct start_mark *mark)
{
	return mark->begin_ns != START_UNKNOWN &&
	       mark->begin_ns < place_of(mark);
}

/* Of one time, what has lasted comes first: see is_before. */
static int
by_mark(const void *left, const void *right)
{
	const struct start_mark *a = left, *b = right;
	int by_time;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	by_time = compare_times(place_of(a), place_of(b));
	return by_time != 0 ? by_time : has_lasted(b) - has_lasted(a);
}

static int
by_node(const void *left, const void *right)
{
	const struct cycle *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return compare_times(a->begin_ns, b->begin_ns);
}

static int
by_begin(const void *left, const void *right)
{
	const struct cycle *a = left, *b = right;
	int by_time = compare_times(a->begin_ns, b->begin_ns);

	return by_time != 0 ? by_time
			    : (a->node > b->node) - (a->node < b->node);
}

/* What is read is nearly always in order. */
static void
sort(void *at, uint32_t count, size_t bytes,
    int (*compare)(const void *, const void *))
{
	const char *row = at;

	for (uint32_t i = 1; i < count; i++, row += bytes)
		if (compare(row, row + bytes) > 0) {
			qsort(at, count, bytes, compare);
			return;
		}
}

/* ---- nodes ---- */

static struct cycle *
make_cycles(const struct start_marks *first, uint32_t *count)
{
	struct cycle *cycles = memory_zero(first->count + 1, sizeof(*cycles));

	*count = 0;
	for (uint32_t i = 0; i < first->count; i++) {
		const struct start_mark *mark = &first->at[i];

		if (mark->begin_ns != START_UNKNOWN)
			cycles[(*count)++] =
			    (struct cycle){ .begin_ns = mark->begin_ns,
				    .ready_ns = START_UNKNOWN,
				    .sign_ns = mark->begin_ns,
				    .node = mark->node };
	}
	sort(cycles, *count, sizeof(*cycles), by_node);
	return cycles;
}

/* Does it belong to what the node did before it began then?  Also when it ended
 * at the same time. */
static bool
is_before(const struct start_mark *mark, int64_t begin_ns)
{
	int64_t place_ns = place_of(mark);

	return place_ns < begin_ns ||
	       (place_ns == begin_ns && has_lasted(mark));
}

static int64_t
later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Add a phase to what the nodes did. */
static void
add_phase(struct cycle *cycles, uint32_t count, struct start_marks *marks)
{
	uint32_t at = 0;

	sort(marks->at, marks->count, sizeof(*marks->at), by_mark);
	for (uint32_t i = 0; i < count; i++) {
		struct cycle *cycle = &cycles[i];
		bool again = i + 1 < count && cycle[1].node == cycle->node;
		bool done = false;

		for (; at < marks->count; at++) {
			const struct start_mark *mark = &marks->at[at];

			if (mark->node > cycle->node ||
			    (mark->node == cycle->node && again &&
				!is_before(mark, cycle[1].begin_ns)))
				break;
			if (done || mark->node < cycle->node ||
			    is_before(mark, cycle->begin_ns))
				continue;
			cycle->sign_ns =
			    later_of(cycle->sign_ns, place_of(mark));
			done = mark->end_ns != START_UNKNOWN;
			if (done)
				cycle->ready_ns =
				    later_of(cycle->ready_ns, mark->end_ns);
		}
		cycle->lacks |= !done;
	}
}

/* ---- starts ---- */

/* What a node did in the start that is being formed. */
struct seen {
	uint32_t start; /* its number + 1 */
	bool ready;
};

/* Did the pool pause for longer than the gap?  The difference of two times may
 * exceed int64_t. */
static bool
has_paused(int64_t since_ns, int64_t now_ns, int64_t gap_ns)
{
	return now_ns > since_ns &&
	       (uint64_t)now_ns - (uint64_t)since_ns > (uint64_t)gap_ns;
}

/* When the nodes of the start that is being formed became ready. */
struct readies {
	int64_t *at_ns;
	uint32_t room;
};

static void
add_cycle(struct start *start, const struct cycle *cycle, struct seen *seen,
    uint32_t number, struct readies *readies)
{
	start->last_begin_ns = cycle->begin_ns;
	start->sign_ns = later_of(start->sign_ns, cycle->sign_ns);
	if (seen->start == number) {
		start->again++;
	} else {
		*seen = (struct seen){ .start = number };
		start->nodes++;
	}
	if (cycle->lacks || seen->ready)
		return;
	seen->ready = true;
	MEMORY_GROW(readies->at_ns, readies->room, start->ready);
	readies->at_ns[start->ready] = cycle->ready_ns;
	if (start->ready++ == 0 || cycle->ready_ns < start->first_ready_ns)
		start->first_ready_ns = cycle->ready_ns;
	start->last_ready_ns = later_of(start->last_ready_ns, cycle->ready_ns);
}

static int
by_ns(const void *left, const void *right)
{
	return compare_times(*(const int64_t *)left, *(const int64_t *)right);
}

uint32_t
starts_needed(const struct starts_pool *pool, uint32_t nodes)
{
	return (
	    uint32_t)(((uint64_t)nodes * pool->share + STARTS_SHARE_ALL - 1) /
		      STARTS_SHARE_ALL);
}

/* All its nodes are known. */
static void
end_start(struct start *start, const struct starts_pool *pool,
    struct readies *readies)
{
	uint32_t needed = starts_needed(pool, start->nodes);

	if (start->ready < needed)
		return;
	sort(readies->at_ns, start->ready, sizeof(*readies->at_ns), by_ns);
	start->ready_ns = readies->at_ns[needed - 1];
}

struct start *
starts_form(struct start_marks *phases, uint32_t phase_count, uint32_t nodes,
    int64_t to_ns, const struct starts_pool *pool, uint32_t *count,
    int64_t *ready_ns)
{
	struct seen *seen = memory_zero(nodes + 1, sizeof(*seen));
	struct readies readies = { NULL, 0 };
	struct start *starts = NULL;
	uint32_t cycle_count, room = 0;
	struct cycle *cycles = make_cycles(&phases[0], &cycle_count);

	*count = 0;
	for (uint32_t i = 0; ready_ns != NULL && i < nodes; i++)
		ready_ns[i] = START_NONE;
	for (uint32_t i = 0; i < phase_count; i++)
		add_phase(cycles, cycle_count, &phases[i]);
	sort(cycles, cycle_count, sizeof(*cycles), by_begin);
	for (uint32_t i = 0; i < cycle_count; i++) {
		const struct cycle *cycle = &cycles[i];

		if (cycle->begin_ns >= to_ns)
			break;
		if (*count == 0 || has_paused(starts[*count - 1].sign_ns,
				       cycle->begin_ns, pool->gap_ns)) {
			if (*count > 0)
				end_start(&starts[*count - 1], pool, &readies);
			*MEMORY_ADD(starts, room, *count) =
			    (struct start){ .begin_ns = cycle->begin_ns,
				    .sign_ns = cycle->begin_ns,
				    .first_ready_ns = START_UNKNOWN,
				    .last_ready_ns = START_UNKNOWN,
				    .ready_ns = START_UNKNOWN };
		}
		add_cycle(&starts[*count - 1], cycle, &seen[cycle->node],
		    *count, &readies);
		if (ready_ns != NULL)
			ready_ns[cycle->node] =
			    cycle->lacks ? START_UNKNOWN : cycle->ready_ns;
	}
	if (*count > 0)
		end_start(&starts[*count - 1], pool, &readies);
	free(readies.at_ns);
	free(cycles);
	free(seen);
	return starts;
}

/* ---- the phases that a model requires ---- */

struct required {
	struct text id;          /* "model:phase" */
	int64_t place;           /* in its model */
	struct starts_pool pool; /* of its model */
	bool occurred;
};

struct required_phases {
	struct string_table texts;
	struct required *at;
	uint32_t count, room;
};

/* What its model says, which each of its phases has. */
static struct starts_pool
pool_of(const struct record *record)
{
	struct value gap, share;
	struct starts_pool pool = { STARTS_GAP_NS, STARTS_SHARE_ALL };

	if (record_find_attribute(record, text_of("gap_ns"), &gap) &&
	    gap.type == VALUE_INT && gap.is.i >= NS_PER_SECOND)
		pool.gap_ns = gap.is.i;
	if (record_find_attribute(record, text_of("ready_share"), &share) &&
	    share.type == VALUE_INT && share.is.i > 0 &&
	    share.is.i < STARTS_SHARE_ALL)
		pool.share = (uint32_t)share.is.i;
	return pool;
}

static void
take_phase(struct required_phases *phases, const struct record *record)
{
	struct value required;
	struct text run;

	/* A phase of runs belongs to no node. */
	if (!record_find_attribute(record, text_of("required"), &required) ||
	    required.type != VALUE_BOOL || !required.is.boolean ||
	    record_find_text(record, "run", &run))
		return;
	*MEMORY_ADD(phases->at, phases->room, phases->count) =
	    (struct required){
		    .id = string_table_keep(&phases->texts, record->name),
		    .place = record_count(record, "place"),
		    .pool = pool_of(record),
		    .occurred = record_count(record, "count") > 0 ||
				record_count(record, "open_starts") > 0,
	    };
}

static struct text
model_of(struct text id)
{
	const char *colon = memchr(id.at, ':', id.bytes);

	if (colon != NULL)
		id.bytes = (uint32_t)(colon - id.at);
	return id;
}

static int
by_place(const void *left, const void *right)
{
	const struct required *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

/* Keep those of one model, in the order of its file. */
static void
keep_model(struct required_phases *phases, struct text model)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < phases->count; i++)
		if (text_equal(model_of(phases->at[i].id), model))
			phases->at[kept++] = phases->at[i];
	phases->count = kept;
	if (kept > 0)
		qsort(phases->at, kept, sizeof(*phases->at), by_place);
}

static void
choose_model(struct required_phases *phases, const struct starts_query *query)
{
	struct text wanted = text_of(query->model == NULL ? "" : query->model);
	struct text chosen = query->falls_back ? text_of("") : wanted;

	for (uint32_t i = 0; i < phases->count; i++)
		if (text_equal(model_of(phases->at[i].id), wanted))
			chosen = wanted;
	for (uint32_t i = 0; i < phases->count && chosen.bytes == 0; i++)
		if (phases->at[i].occurred)
			chosen = model_of(phases->at[i].id);
	keep_model(phases, chosen);
}

static int
read_required(struct required_phases *phases, struct source *source,
    struct text partition, const struct starts_query *of, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char shown[SHOWN_BYTES];
	struct record record;
	int rc;

	if (source_select(source, SOURCE_STATS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			take_phase(phases, &record);
	if (rc < 0)
		return -1;
	choose_model(phases, of);
	if (phases->count == 0 && of->model != NULL && !of->falls_back)
		return err_set(err,
		    "no model %s that requires phases, which say when a node "
		    "begins and is ready",
		    text_quote(shown, sizeof(shown), text_of(of->model)));
	return 0;
}

/* ---- reading ---- */

struct reading {
	struct string_table *nodes;
	struct start_marks *marks; /* by required phase */
	uint64_t count;
};

static int
take_mark(struct reading *reading, struct start_marks *marks,
    const struct record *record, struct err *err)
{
	/* The phases of a node follow each other. */
	uint32_t last = marks->count > 0 ? marks->at[marks->count - 1].node : 0;

	if (reading->count++ == STARTS_MARKS_MAX)
		return err_set(err,
		    "more than %d required phases: select those of fewer nodes "
		    "with --from, or all with --start all",
		    STARTS_MARKS_MAX);
	if (marks->count == 0 ||
	    !text_equal(reading->nodes->names[last], record->node))
		last = string_table_add(reading->nodes, record->node);
	*MEMORY_ADD(marks->at, marks->room, marks->count) = (struct start_mark){
		.begin_ns = record->has_time ? record->time_ns : START_UNKNOWN,
		.end_ns = record->has_end ? record->end_ns : START_UNKNOWN,
		.node = last,
	};
	return 0;
}

static int
read_marks(struct reading *reading, struct start_marks *marks,
    struct source *source, struct text partition, struct text phase,
    int64_t from_ns, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	struct record record;
	int rc;

	query.name = phase;
	query.from_ns = from_ns;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_PHASE &&
		    take_mark(reading, marks, &record, err) != 0)
			return -1;
	return rc;
}

static int
form(struct starts *starts, const struct required_phases *required,
    struct source *source, struct text partition,
    const struct starts_query *query, struct err *err)
{
	struct reading reading = { .nodes = &starts->nodes,
		.marks =
		    memory_zero(required->count + 1, sizeof(*reading.marks)) };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < required->count; i++)
		rc = read_marks(&reading, &reading.marks[i], source, partition,
		    required->at[i].id, query->from_ns, err);
	starts->ready_ns =
	    memory_zero(starts->nodes.count + 1, sizeof(*starts->ready_ns));
	if (rc == 0 && required->count > 0)
		starts->at = starts_form(reading.marks, required->count,
		    starts->nodes.count, query->to_ns, &starts->pool,
		    &starts->count, starts->ready_ns);
	for (uint32_t i = 0; i < required->count; i++)
		free(reading.marks[i].at);
	free(reading.marks);
	return rc;
}

/* That no node began is no failure. */
static int
read_any(struct starts *starts, struct source *source, struct text partition,
    const struct starts_query *query, struct err *err)
{
	struct required_phases required = { .at = NULL };
	int rc;

	*starts =
	    (struct starts){ .pool = { STARTS_GAP_NS, STARTS_SHARE_ALL } };
	string_table_init(&starts->nodes);
	string_table_init(&required.texts);
	rc = read_required(&required, source, partition, query, err);
	if (rc == 0 && required.count > 0) {
		starts->model = memory_text(model_of(required.at[0].id));
		starts->pool = required.at[0].pool;
	}
	if (query->gap_ns != STARTS_GAP_MODEL)
		starts->pool.gap_ns = query->gap_ns;
	if (rc == 0)
		rc = form(starts, &required, source, partition, query, err);
	free(required.at);
	string_table_clear(&required.texts);
	return rc;
}

static int
refuse(struct source *source, struct text partition,
    const struct starts_query *query, struct err *err)
{
	bool all = query->from_ns == TIME_MIN_NS && query->to_ns == TIME_MAX_NS;
	char shown[SHOWN_BYTES];

	return err_set(err,
	    "no node of partition %s in %s began%s, as its models say",
	    text_quote(shown, sizeof(shown), partition), source_name(source),
	    all ? "" : " in that time");
}

int
starts_read(struct starts *starts, struct source *source, struct text partition,
    const struct starts_query *query, struct err *err)
{
	int rc = read_any(starts, source, partition, query, err);

	return rc == 0 && starts->count == 0
		   ? refuse(source, partition, query, err)
		   : rc;
}

void
starts_clear(struct starts *starts)
{
	free(starts->model);
	free(starts->at);
	free(starts->ready_ns);
	string_table_clear(&starts->nodes);
	*starts = (struct starts){ .at = NULL };
}

/* ---- one of them ---- */

const struct opt starts_options[] = {
	{ "start", 0, OPT_TIME, OPT_TO(struct starts_options, start_ns), "TIME",
	    "only what belongs to the start that had begun at TIME, or to the "
	    "newest one, or to all",
	    "newest|all" },
	{ "gap", 0, OPT_DURATION, OPT_TO(struct starts_options, gap_ns), "TIME",
	    "a pause longer than TIME parts two starts (default: what the "
	    "model says, or 10m)" },
	{ .name = NULL },
};

int
starts_options_judge(const struct starts_options *options, int64_t from_ns,
    int64_t to_ns, struct err *err)
{
	if (options->gap_ns != STARTS_GAP_MODEL &&
	    options->gap_ns < NS_PER_SECOND)
		return err_set(err, "gap: a pause has at least 1s");
	if (options->start_ns != TIME_MIN_NS &&
	    (from_ns != TIME_MIN_NS || to_ns != TIME_MAX_NS))
		return err_set(
		    err, "start: is a window of its own, without from and to");
	return 0;
}

void
starts_options_check(
    const struct starts_options *options, int64_t from_ns, int64_t to_ns)
{
	struct err err = { 0 };

	if (starts_options_judge(options, from_ns, to_ns, &err) != 0)
		opt_usage("--%s", err.text);
}

const char *const start_state_words[] = { "ready", "starting", "incomplete" };

enum start_state
start_state_at(const struct start *start, int64_t gap_ns, int64_t now_ns)
{
	if (start->ready_ns != START_UNKNOWN)
		return START_READY;
	return now_ns > start->sign_ns && now_ns - start->sign_ns > gap_ns
		   ? START_INCOMPLETE
		   : START_STARTING;
}

/* Names of starts may be cut to seconds. */
static bool
had_begun(const struct start *start, int64_t at_ns)
{
	return start->begin_ns < at_ns + NS_PER_SECOND;
}

/* The number of the start; 0: none had begun. */
static uint32_t
find(const struct starts *starts, int64_t start_ns)
{
	uint32_t number = 0;

	if (start_ns == STARTS_NEWEST)
		return starts->count;
	while (
	    number < starts->count && had_begun(&starts->at[number], start_ns))
		number++;
	return number;
}

static void
take_start(struct starts_chosen *chosen, const struct starts *starts,
    uint32_t number, bool is_whole, int64_t *from_ns, int64_t *to_ns)
{
	const struct start *start = &starts->at[number - 1];

	*chosen = (struct starts_chosen){ .begin_ns = start->begin_ns,
		.number = number,
		.count = starts->count,
		.nodes = start->nodes };
	/* Then no other start can be mistaken for it, and what is known of
	 * nodes whose begin is not is a part of it. */
	if (is_whole)
		return;
	*from_ns = start->begin_ns;
	if (number < starts->count)
		*to_ns = starts->at[number].begin_ns;
}

int
starts_choose(struct starts_chosen *chosen, struct source *source,
    struct text partition, const struct starts_options *options,
    const char *model, bool by_default, int64_t *from_ns, int64_t *to_ns,
    struct err *err)
{
	const struct starts_query query = { .model = model,
		.falls_back = true,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.gap_ns = options->gap_ns };
	bool is_all = *from_ns == TIME_MIN_NS && *to_ns == TIME_MAX_NS;
	bool is_given = options->start_ns != TIME_MIN_NS;
	int64_t start_ns = is_given ? options->start_ns : STARTS_NEWEST;
	char text[CLOCK_TEXT_BYTES];
	struct starts starts;
	uint32_t number;
	int rc;

	*chosen = (struct starts_chosen){ .begin_ns = START_UNKNOWN,
		.is_all = start_ns == STARTS_ALL };
	if (chosen->is_all || !is_all || (!is_given && !by_default))
		return 0;
	rc = read_any(&starts, source, partition, &query, err);
	number = rc == 0 ? find(&starts, start_ns) : 0;
	if (rc == 0 && number > 0)
		take_start(chosen, &starts, number,
		    start_ns == STARTS_NEWEST && starts.count == 1, from_ns,
		    to_ns);
	else if (rc == 0 && start_ns != STARTS_NEWEST)
		rc = starts.count == 0
			 ? refuse(source, partition, &query, err)
			 : err_set(err, "the first start began later, at %s",
			       clock_text(text, starts.at[0].begin_ns, 3));
	starts_clear(&starts);
	return rc;
}

static const char *
ordinal_end(uint32_t number)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };

	if (number % 100 / 10 == 1 || number % 10 > 3)
		return ends[0];
	return ends[number % 10];
}

const char *
starts_words(
    char to[static STARTS_WORDS_BYTES], const struct starts_chosen *chosen)
{
	char begin[CLOCK_TEXT_BYTES];

	to[0] = '\0';
	if (chosen->is_all)
		snprintf(to, STARTS_WORDS_BYTES, "all starts");
	else if (chosen->count > 1)
		snprintf(to, STARTS_WORDS_BYTES,
		    "start of %s, %" PRIu32 "%s of %" PRIu32 ", with %" PRIu32
		    " node%s",
		    clock_text(begin, chosen->begin_ns, 0), chosen->number,
		    ordinal_end(chosen->number), chosen->count, chosen->nodes,
		    chosen->nodes == 1 ? "" : "s");
	return to;
}
