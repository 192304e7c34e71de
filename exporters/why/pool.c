/*
 * why_pool - what is reported of a pool: is it ready, what did that take, what
 * is wrong, what would help, and what is not known.
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/why/facts.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum {
	PIECES_SAID = 4,  /* of a path; the rest is one */
	TEXT_BYTES = 500, /* no further names after that many */
};

/* Less would be 0.0 s. */
#define SHOWN_NS (INT64_C(50000000))

#define NOTHING .time_ns = ANSWER_NO_NS, .usual_ns = ANSWER_NO_NS

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void
why_put_ns(FILE *file, int64_t ns)
{
	char shown[QUANTITY_TEXT_BYTES];

	fputs(quantity_time(shown, (double)ns), file);
}

void
why_put_time(FILE *file, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	fputs(clock_text(text, ns, 0), file);
}

void
why_put_times(FILE *file, int64_t from_ns, int64_t to_ns)
{
	char from[CLOCK_TEXT_BYTES], to[CLOCK_TEXT_BYTES];

	clock_text(from, from_ns, 0);
	clock_text(to, to_ns, 0);
	if (strcmp(from, to) == 0)
		fprintf(file, "at %s", from);
	else
		fprintf(file, "from %s to %s", from, to);
}

static const char *
or_empty(const char *text)
{
	return text != NULL ? text : "";
}

static void
put_string(FILE *file, const char *name)
{
	why_put_name(file, text_of(name));
}

/* ---- the start ---- */

/* How long those before the newest one took. */
static void
put_before(FILE *file, const struct why_facts *f)
{
	int64_t low_ns = INT64_MAX, high_ns = INT64_MIN;
	int count = 0;

	for (uint32_t i = 1; i < f->start_count; i++) {
		int64_t took_ns = f->starts[i].duration_ns;

		if (took_ns == ANSWER_NO_NS)
			continue;
		count++;
		low_ns = took_ns < low_ns ? took_ns : low_ns;
		high_ns = took_ns > high_ns ? took_ns : high_ns;
	}
	if (count == 0)
		return;
	if (count == 1)
		fputs(" The start before took ", file);
	else
		fprintf(file, " The %d starts before took ", count);
	why_put_ns(file, low_ns);
	if (high_ns > low_ns) {
		fputs(" to ", file);
		why_put_ns(file, high_ns);
	}
	putc('.', file);
}

static void
put_ready(FILE *file, const struct why_start *s)
{
	bool one = s->nodes == 1;

	if (one)
		fputs("The node is", file);
	else if (s->ready < s->nodes || s->duration_ns < s->last_ready_ns)
		fputs("The pool is", file);
	else if (s->nodes == 2)
		fputs("Both nodes are", file);
	else
		fprintf(file, "All %" PRIu64 " nodes are", s->nodes);
	fputs(" ready since ", file);
	why_put_time(file, s->begin_ns + s->duration_ns);
	fputs(", ", file);
	why_put_ns(file, s->duration_ns);
	fprintf(file, " after %s began.", one ? "it" : "the first");
}

static void
put_not_ready(FILE *file, const struct why_start *s)
{
	bool starts = strcmp(s->state, "starting") == 0;

	fputs(starts ? "Starting since " : "The start of ", file);
	why_put_time(file, s->begin_ns);
	fputs(starts ? ": " : " is incomplete: ", file);
	if (s->nodes == 1)
		fprintf(file, "the node %s ready",
		    starts ? "is not" : "did not become");
	else
		fprintf(file, "%" PRIu64 " of %" PRIu64 " nodes %s ready",
		    s->ready, s->nodes,
		    !starts         ? "became"
		    : s->ready == 1 ? "is"
				    : "are");
	if (s->ready > 0) {
		fputs(", the last of them after ", file);
		why_put_ns(file, s->last_ready_ns);
	}
	putc('.', file);
}

static void
say_start(struct why_sentences *all, const struct why_facts *f)
{
	const struct why_start *s = &f->starts[0];
	FILE *file = why_begin(all);
	int64_t usual_ns =
	    f->start_count > 1 ? f->starts[1].duration_ns : ANSWER_NO_NS;

	if (strcmp(s->state, "ready") == 0)
		put_ready(file, s);
	else
		put_not_ready(file, s);
	put_before(file, f);
	why_end(all, WHY_START,
	    &(struct why_proof){ .question = "stats starts",
		.view = "timeline",
		.time_ns = s->duration_ns,
		.usual_ns = usual_ns });
}

/* What the pool is, if it is not known to start. */
static void
say_records(struct why_sentences *all, const struct why_facts *f)
{
	FILE *file = why_begin(all);
	bool has_times = f->newest_ns != ANSWER_NO_NS;

	if (f->records == 0) {
		fputs("The pool has no records.", file);
	} else if (!has_times) {
		fprintf(file,
		    "%" PRIu64 " record%s without a time of a node, such as "
		    "results of benchmarks.",
		    f->records, plural(f->records));
	} else {
		fprintf(file, "%" PRIu64 " record%s of %" PRIu64 " node%s ",
		    f->records, plural(f->records), f->all_nodes,
		    plural(f->all_nodes));
		why_put_times(file, f->oldest_ns, f->newest_ns);
		fputs("; no start of the pool ", file);
		if (f->start_count > 0) {
			fputs("began in this time, the newest began at ", file);
			why_put_time(file, f->starts[0].begin_ns);
		} else {
			fputs("is known", file);
		}
		putc('.', file);
	}
	why_end(all, WHY_RECORDS,
	    &(struct why_proof){
		.question = has_times ? "stats pools" : "results tests",
		.view = has_times ? "" : "results",
		NOTHING });
}

/* ---- the path ---- */

static int
by_length(const void *left, const void *right)
{
	const struct why_piece *a = left, *b = right;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* "pull of redis" */
static void
put_phase(FILE *file, const char *phase, const char *key)
{
	why_put_name(file, text_after(text_of(phase), ':'));
	if (key == NULL)
		return;
	fputs(" of ", file);
	put_string(file, key);
}

static void
put_piece(FILE *file, const struct why_piece *piece)
{
	char shown[QUANTITY_TEXT_BYTES];
	bool is_place = strcmp(piece->kind, "place") == 0;
	bool is_in = strcmp(piece->kind, "in") == 0;

	fprintf(file, "%s ", why_seconds(shown, piece->ns));
	if (strcmp(piece->kind, "began") == 0) {
		fputs("until ", file);
		put_string(file, piece->node);
		fputs(" began", file);
		return;
	}
	if (is_place)
		fputs("for a place of ", file);
	else if (!is_in)
		fputs("until ", file);
	put_phase(file, piece->phase, piece->key);
	if (is_place)
		fputs(", which others had", file);
	else if (!is_in)
		fputs(strcmp(piece->kind, "wait") == 0 ? " began" : " ended",
		    file);
}

/* "438.0 s until 21 was ready: 230.2 s until 21 began, ..." */
static void
say_path(struct why_sentences *all, const struct why_facts *f)
{
	struct why_piece pieces[WHY_PIECES];
	char shown[QUANTITY_TEXT_BYTES];
	int64_t rest_ns = f->path_ns;
	uint32_t said = 0;
	FILE *file;

	if (f->piece_count < 2)
		return;
	memcpy(pieces, f->pieces, f->piece_count * sizeof(*pieces));
	qsort(pieces, f->piece_count, sizeof(*pieces), by_length);
	file = why_begin(all);
	fprintf(file, "%s until ", why_seconds(shown, f->path_ns));
	put_string(file, f->last_node);
	fputs(" was ready: ", file);
	while (said < f->piece_count && said < PIECES_SAID &&
	       pieces[said].ns >= SHOWN_NS && ftell(file) < TEXT_BYTES) {
		fputs(said > 0 ? ", " : "", file);
		put_piece(file, &pieces[said]);
		rest_ns -= pieces[said++].ns;
	}
	if (rest_ns >= SHOWN_NS)
		fprintf(file, ", %s in what is shorter",
		    why_seconds(shown, rest_ns));
	putc('.', file);
	why_end(all, WHY_PATH,
	    &(struct why_proof){ .question = "stats critical",
		.view = "timeline",
		.phase = text_of(pieces[0].phase),
		.key = text_of(pieces[0].key),
		.time_ns = f->path_ns,
		.usual_ns = ANSWER_NO_NS });
}

/* ---- nodes ---- */

/* "pull of redis took 60.0 s, " */
static void
put_time(
    FILE *file, const char *phase, const char *key, int64_t ns, bool is_open)
{
	put_phase(file, phase, key);
	fputs(is_open ? " had taken " : " took ", file);
	why_put_ns(file, ns);
	fputs(is_open ? " at its last record, " : ", ", file);
}

/* What it was slow in; a begin has no more than its clause. */
static void
put_straggler(FILE *file, const struct why_straggler *s)
{
	put_time(file, s->phase, s->key, s->time_ns, s->is_open);
	fputs(s->is_of_node ? "in its earlier starts " : "on its peers ", file);
	why_put_ns(file, s->usual_ns);
	fputs(": ", file);
}

static void
say_straggler(
    struct why_sentences *all, const struct why_facts *f, uint32_t number)
{
	const struct why_straggler *s = &f->stragglers[number];
	bool began = strcmp(or_empty(s->cause), "began") == 0;
	FILE *file = why_begin(all);

	put_string(file, s->node);
	fputs(": ", file);
	if (!began)
		put_straggler(file, s);
	put_string(file, or_empty(s->why));
	if (!began && s->share >= 0)
		fprintf(file, " (%.0f %% of what it lost)", 100 * s->share);
	putc('.', file);
	if (s->drag_ns > 0) {
		fputs(" That cost the pool ", file);
		why_put_ns(file, s->drag_ns);
		putc('.', file);
	}
	if (number + 1 == WHY_NAMED && f->more_stragglers > 0)
		fprintf(file, " %" PRIu64 " more phase%s slow%s.",
		    f->more_stragglers,
		    f->more_stragglers == 1 ? " was" : "s were",
		    f->only.bytes > 0 ? "" : " on other nodes");
	why_end(all, WHY_SLOW,
	    &(struct why_proof){ .question = "stats stragglers",
		.view = "node",
		.item = text_of(s->node),
		.phase = text_of(s->phase),
		.key = text_of(s->key),
		.cause = s->why,
		.time_ns = s->time_ns,
		.usual_ns = s->usual_ns });
}

static void
say_slow(struct why_sentences *all, const struct why_facts *f, uint32_t number)
{
	const struct why_slow *s = &f->slow[number];
	FILE *file = why_begin(all);

	put_string(file, s->node);
	fputs(number == 0 && f->straggler_count == 0 ? " lost most: " : ": ",
	    file);
	put_time(file, s->phase, s->key, s->time_ns, s->is_open);
	fputs("usually ", file);
	why_put_ns(file, s->usual_ns);
	if (s->is_of_phase && s->key != NULL)
		fputs(", whatever is its key", file);
	if (s->is_outer)
		fputs(", without what began in it", file);
	if (number + 1 == WHY_NAMED && f->slower > WHY_NAMED)
		fprintf(file, "; %" PRIu64 " other %s%s slower, too",
		    f->slower - WHY_NAMED, f->only.bytes > 0 ? "phase" : "node",
		    f->slower == WHY_NAMED + 1 ? " was" : "s were");
	putc('.', file);
	why_end(all, WHY_SLOW,
	    &(struct why_proof){ .question = "stats slow",
		.view = "node",
		.item = text_of(s->node),
		.phase = text_of(s->phase),
		.key = text_of(s->key),
		.time_ns = s->time_ns,
		.usual_ns = s->usual_ns });
}

void
why_say_slow(struct why_sentences *all, const struct why_facts *f)
{
	for (uint32_t i = 0; i < f->straggler_count; i++)
		say_straggler(all, f, i);
	/* Of nodes that can be compared these are within what is usual. */
	if (f->straggler_count > 0 && !f->has_not_judged)
		return;
	for (uint32_t i = 0; i < f->slower && i < WHY_NAMED; i++)
		if (why_straggler_of(f, text_of(f->slow[i].node)) == NULL)
			say_slow(all, f, i);
	if (f->judged == 0 || f->slower > 0 || f->straggler_count > 0 ||
	    f->has_attended)
		return;
	fprintf(why_begin(all), "%s was much slower than usual.",
	    f->only.bytes > 0 ? "Nothing of it" : "No node");
	why_end(all, WHY_SLOW,
	    &(struct why_proof){
		.question = "stats slow", .view = "map", NOTHING });
}

static void
put_attended(FILE *file, const struct why_facts *f)
{
	uint32_t named = 0;

	fprintf(file, "%" PRIu64 " of %" PRIu64 " node%s need%s attention: ",
	    f->attention, f->all_nodes, plural(f->all_nodes),
	    f->attention == 1 ? "s" : "");
	while (named < f->node_count && f->nodes[named].attention &&
	       (named == 0 || ftell(file) < TEXT_BYTES)) {
		fputs(named > 0 ? ", " : "", file);
		put_string(file, f->nodes[named].node);
		fputs(" (", file);
		put_string(file, f->nodes[named++].wrong);
		putc(')', file);
	}
	if (f->attention > named)
		fprintf(file, " and %" PRIu64 " more", f->attention - named);
	putc('.', file);
}

static void
say_nodes(struct why_sentences *all, const struct why_facts *f)
{
	const struct why_node *first = &f->nodes[0];
	FILE *file = why_begin(all);

	if (f->all_nodes > f->imported && f->heard == 0 && f->records > 0 &&
	    f->newest_ns != ANSWER_NO_NS) {
		fputs("Nothing was heard since ", file);
		why_put_time(file, f->newest_ns);
		fputs(", ", file);
		why_put_ns(file, f->age_ns);
		fputs(" before this answer.", file);
	}
	if (ftell(file) > 0 && (f->attention > 0 || f->expected > 0))
		putc(' ', file);
	if (f->attention > 0)
		put_attended(file, f);
	else if (f->expected > 0)
		fputs(f->all_nodes == 1 ? "The node needs no attention."
					: "No node needs attention.",
		    file);
	why_end(all, WHY_NODES,
	    &(struct why_proof){ .question = "nodes",
		.view = f->attention > 0 ? "node" : "map",
		.item = f->attention > 0 ? text_of(first->node) : text_of(""),
		.time_ns = f->attention > 0 ? first->open_ns : ANSWER_NO_NS,
		.usual_ns =
		    f->attention > 0 ? first->usual_ns : ANSWER_NO_NS });
}

/* ---- the rest ---- */

static void
say_runs(struct why_sentences *all, const struct why_facts *f)
{
	uint64_t ended = f->finished + f->errors;
	FILE *file;

	if (f->runs == 0)
		return;
	file = why_begin(all);
	fprintf(file,
	    "%" PRIu64 " run%s in %" PRIu64 " group%s: %" PRIu64
	    " finished, %" PRIu64 " with an error",
	    f->runs, plural(f->runs), f->groups, plural(f->groups), f->finished,
	    f->errors);
	if (f->errors > 0 && ended > 0)
		fprintf(file, " (%.1f %% of those that ended)",
		    100.0 * (double)f->errors / (double)ended);
	fprintf(file, ", %" PRIu64 " ongoing, %" PRIu64 " queued.", f->ongoing,
	    f->queued);
	why_end(all, WHY_RUNS,
	    &(struct why_proof){
		.question = f->errors > 0 ? "stats runs" : "stats groups",
		.more = f->errors > 0 ? " --state failed" : NULL,
		.view = f->errors > 0 ? "runs" : "groups",
		NOTHING });
}

/* At best that of the one whose worst case is best. */
static const struct why_help *
best_help(const struct why_pool *pool)
{
	const struct why_help *best = NULL;

	for (uint32_t i = 0; i < pool->help_count; i++) {
		const struct why_help *help = &pool->helps[i];

		if (help->worst_ns > 0 &&
		    (best == NULL || help->worst_ns > best->worst_ns))
			best = help;
	}
	return best;
}

static void
put_helps(FILE *file, const struct why_pool *pool)
{
	fputs("Alone, it would not surely have been ready earlier ", file);
	for (uint32_t i = 0; i < pool->help_count; i++) {
		fputs(i == 0                     ? ""
		      : i + 1 < pool->help_count ? ", "
						 : " or ",
		    file);
		put_string(file, pool->helps[i].words);
	}
	putc('.', file);
}

static void
put_help(FILE *file, const struct why_help *help)
{
	char shown[QUANTITY_TEXT_BYTES];

	fputs("It would have been ready ", file);
	if (help->worst_ns < help->best_ns)
		fprintf(file, "%s to ", why_seconds(shown, help->worst_ns));
	fprintf(file, "%s earlier ", why_seconds(shown, help->best_ns));
	put_string(file, help->words);
	fputs(", all else being as it was.", file);
}

static void
say_help(struct why_sentences *all, const struct why_pool *pool)
{
	const struct why_help *best = best_help(pool),
			      *help = best != NULL ? best : pool->helps;
	char *option;
	size_t bytes;
	FILE *file;

	if (pool->help_count == 0)
		return;
	file = memory_stream(&option, &bytes);
	fprintf(file, " --%s ", help->option);
	why_put_word(file, text_of(help->argument));
	memory_stream_end(&file);
	if (best != NULL)
		put_help(why_begin(all), best);
	else
		put_helps(why_begin(all), pool);
	why_end(all, WHY_HELP,
	    &(struct why_proof){ .question = "stats whatif",
		.more = option,
		.view = "timeline",
		.time_ns = help->best_ns,
		.usual_ns = ANSWER_NO_NS });
	free(option);
}

static void
say_untold(struct why_sentences *all, const struct why_pool *pool)
{
	const struct why_facts *f = pool->facts;

	if (pool->no_help != NULL) {
		fprintf(why_begin(all), "It is not known what would help: %s.",
		    pool->no_help);
		why_end(all, WHY_UNTOLD,
		    &(struct why_proof){ .question = "stats critical",
			.view = "timeline",
			NOTHING });
	}
	if (f->has_no_words) {
		fputs("What nodes waited for of each other is not known: the "
		      "model does not say it (after, after_any, end_after, "
		      "places).",
		    why_begin(all));
		why_end(all, WHY_UNTOLD,
		    &(struct why_proof){ .question = "stats critical",
			.view = "timeline",
			NOTHING });
	}
	if (f->nodes_left_out != NULL) {
		fprintf(why_begin(all), "%s.", f->nodes_left_out);
		why_end(all, WHY_UNTOLD,
		    &(struct why_proof){
			.question = "nodes", .view = "map", NOTHING });
	}
}

void
why_say_lost(struct why_sentences *all, const char *lost, const char *clocks)
{
	FILE *file = why_begin(all);

	if (lost != NULL)
		fprintf(file, "%s.", lost);
	else
		fputs("No records were lost.", file);
	why_end(all, WHY_LOST,
	    &(struct why_proof){ .question = lost != NULL ? "dump" : NULL,
		.more = " --kind gap",
		NOTHING });
	if (clocks == NULL)
		return;
	fprintf(why_begin(all), "%c%s.", toupper(*clocks), clocks + 1);
	why_end(all, WHY_UNTOLD,
	    &(struct why_proof){ .question = "stats clocks", NOTHING });
}

void
why_say_pool(struct why_sentences *all, const struct why_pool *pool)
{
	const struct why_facts *f = pool->facts;
	bool starts =
	    f->start_count > 0 && f->starts[0].begin_ns >= pool->from_ns;

	if (starts)
		say_start(all, f);
	else if (f->runs == 0)
		say_records(all, f);
	if (starts)
		say_path(all, f);
	if (f->attention > 0)
		say_nodes(all, f);
	say_runs(all, f);
	why_say_slow(all, f);
	say_help(all, pool);
	if (f->attention == 0)
		say_nodes(all, f);
	why_say_lost(all, pool->lost, pool->clocks);
	say_untold(all, pool);
}

const char *
why_seconds(char to[static QUANTITY_TEXT_BYTES], int64_t ns)
{
	if (ns >= 10 * NS_PER_SECOND)
		return quantity_time(to, (double)ns);
	snprintf(to, QUANTITY_TEXT_BYTES, "%.1f s", (double)ns / 1e9);
	return to;
}
