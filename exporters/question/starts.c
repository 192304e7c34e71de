/*
 * question_starts - the newest starts of a pool, a row each, the newest first.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>

#include "exporters/question/question.h"
#include "proto/os/clock.h"

enum { NEWEST = 20 }; /* if --newest is not given */

struct row {
	int64_t start, next;
	struct text state;
	uint64_t nodes, ready, again;
	double last_begin, first_ready, last_ready, duration;
};

#define TIME(member)   ANSWER_AT_TIME(struct row, member)
#define COUNT(member)  ANSWER_AT_COUNT(struct row, member)
#define NUMBER(member) .unit = "s", ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "start", "START", TIME(start),
	    "when its first node began; names the start in --start" },
	{ "next", NULL, TIME(next),
	    "when the next one began; unknown: it is the newest" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state),
	    "ready, starting or incomplete" },
	{ "nodes", "NODES", COUNT(nodes), "how many nodes began" },
	{ "ready", "READY", COUNT(ready), "how many became ready" },
	{ "again", "AGAIN", COUNT(again),
	    "how often a node of it began once more", .traits = ANSWER_SPARE },
	{ "last_begin", "BEGUN", NUMBER(last_begin),
	    "when its last node began, after the start",
	    .traits = ANSWER_SPARE },
	{ "first_ready", "FIRST", NUMBER(first_ready),
	    "when its first node was ready, after the start",
	    .traits = ANSWER_SPARE },
	{ "last_ready", "LAST", NUMBER(last_ready),
	    "when its last node was ready, after the start" },
	{ "duration", NULL, NUMBER(duration),
	    "when the pool was ready, after the start: all its nodes, or as "
	    "many as ready_share says; unknown: too few" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT),
	    "the model whose required phases are looked at" },
	QUESTION_CLOCK_MEMBER,
	{ "gap", ANSWER_HEAD(ANSWER_DURATION),
	    "a longer pause begins a new start", "s" },
	{ "ready_share", ANSWER_HEAD(ANSWER_NUMBER),
	    "the share of its nodes that makes a pool ready" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "starts", columns },
	{ "head", head }, { .name = NULL } };

/* Seconds after the begin; NaN: unknown. */
static double
after(const struct start *start, int64_t at_ns)
{
	return at_ns == START_UNKNOWN
		   ? NAN
		   : (double)(at_ns - start->begin_ns) / (double)NS_PER_SECOND;
}

static void
put_head(const struct question_asked *asked, const struct starts *starts,
    struct answer *answer)
{
	char words[QUESTION_CLOCK_BYTES], shown[300];
	const char *clock;

	answer_head(answer, "model", answer_string(starts->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "gap", answer_duration(starts->pool.gap_ns));
	answer_head(answer, "ready_share",
	    answer_number((double)starts->pool.share / STARTS_SHARE_ALL));
	answer_title(answer, "starts of %s, in seconds%s",
	    text_quote(shown, sizeof(shown), asked->partition), clock);
}

/* `next`: NULL if it is the newest one. */
static void
put(struct answer *answer, const struct start *start, const struct start *next,
    enum start_state state)
{
	struct row row = { .start = start->begin_ns,
		.next = next == NULL ? ANSWER_NO_NS : next->begin_ns,
		.state = text_of(start_state_words[state]),
		.nodes = start->nodes,
		.ready = start->ready,
		.again = start->again,
		.last_begin = after(start, start->last_begin_ns),
		.first_ready = after(start, start->first_ready_ns),
		.last_ready = after(start, start->last_ready_ns),
		.duration = after(start, start->ready_ns) };

	answer_row(answer, &row, NULL);
}

static void
put_rows(const struct question_values *values, const struct starts *starts,
    struct answer *answer)
{
	uint64_t newest =
	    values->runs.newest > 0 ? values->runs.newest : NEWEST;
	uint32_t first =
	    starts->count > newest ? starts->count - (uint32_t)newest : 0;
	uint64_t top = values->answer.top, shown = starts->count - first;
	int64_t now_ns = clock_wall_ns();

	for (uint32_t i = starts->count; i-- > first;)
		put(answer, &starts->at[i],
		    i + 1 < starts->count ? &starts->at[i + 1] : NULL,
		    start_state_at(
			&starts->at[i], starts->pool.gap_ns, now_ns));
	if (top > 0 && top < shown)
		shown = top;
	if (shown < starts->count)
		answer_note(answer, "left_out", starts->count - shown,
		    "%" PRIu64 " start%s left out (--newest)",
		    starts->count - shown,
		    starts->count - shown == 1 ? " is" : "s are");
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct question_values *values = asked->values;
	const struct starts_query query = question_starts_query(values, false);
	struct starts starts;
	int rc =
	    starts_read(&starts, asked->source, asked->partition, &query, err);

	if (rc == 0) {
		put_head(asked, &starts, answer);
		put_rows(values, &starts, answer);
	}
	starts_clear(&starts);
	return rc;
}

const struct question question_starts = { .word = "starts",
	.summary = "the starts of a pool: how many nodes, ready when",
	.options = "model newest gap from to sort top columns",
	.examples = "poolscope stats starts -p 'acct$pool'\n"
		    "poolscope stats starts --newest 5 --gap 30m\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT,
	.ages = true,
	.ask = ask };
