/*
 * question_straggler_ranks - the ranks of a job.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/straggler_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "proto/format/quantity.h"

enum { SHOWN = 10 };

struct row {
	struct text node, rank, verdict;
	uint64_t steps, last, certain;
	double expected, chance;
	int64_t waited, alone;
};

const struct answer_column straggler_rank_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "rank", "RANK", ANSWER_AT_TEXT(struct row, rank),
	    "the rank: attribute rank of its spans, or their track" },
	{ "verdict", "VERDICT", ANSWER_AT_TEXT(struct row, verdict),
	    "late: it came last more often, or by more, than by chance; clock: "
	    "it seems so, but clocks may be off by more; chance: neither" },
	{ "steps", "STEPS", ANSWER_AT_COUNT(struct row, steps),
	    "in how many steps it was" },
	{ "last", "LAST", ANSWER_AT_COUNT(struct row, last),
	    "in how many it came last" },
	{ "certain", "CERTAIN", ANSWER_AT_COUNT(struct row, certain),
	    "in how many of these by more than clocks may be off" },
	{ "expected", "BY CHANCE", ANSWER_AT_NUMBER(struct row, expected),
	    "how often it would be last by chance" },
	{ "chance", NULL, ANSWER_AT_NUMBER(struct row, chance),
	    "the probability that by chance any rank is last as often, or by "
	    "as much, is at most this" },
	{ "waited", "WAITED", ANSWER_AT_DURATION(struct row, waited),
	    "how long the others waited for it where it was last, all "
	    "together" },
	{ "alone", "ALONE", ANSWER_AT_DURATION(struct row, alone),
	    "how much earlier these steps would have ended without it" },
	{ .key = NULL },
};

static const char *const verdicts[] = { [RANKS_CHANCE] = "chance",
	[RANKS_CLOCK] = "clock",
	[RANKS_LATE] = "late" };

static void
put_rows(const struct rank_spans *spans, struct answer *answer)
{
	uint32_t shown = 0;

	answer_begin_table(answer, "ranks");
	for (uint32_t i = 0; i < spans->ranks.count; i++) {
		const struct ranks_rank *of = &spans->ranks.at[i];
		const struct row row = { spans->nodes.names[of->node],
			rank_spans_name(spans, of->rank),
			text_of(verdicts[of->verdict]), of->steps, of->last,
			of->certain, of->expected, of->chance, of->waited_ns,
			of->alone_ns };

		/* A person looks for those that are not like the others. */
		if (answer_is_for_people(answer) && shown >= SHOWN &&
		    of->verdict == RANKS_CHANCE)
			break;
		shown++;
		answer_row(answer, &row, NULL);
	}
	if (shown < spans->ranks.count)
		answer_note(answer, "left_out", spans->ranks.count - shown,
		    "%" PRIu32 " ranks that the others waited less for are "
		    "not shown: --table ranks --format csv has all",
		    spans->ranks.count - shown);
}

/* Who is late, and who would be if clocks were right. */
static void
note_ranks(const struct rank_spans *spans, struct answer *answer)
{
	uint64_t said[RANKS_LATE + 1] = { 0 };

	for (uint32_t i = 0; i < spans->ranks.count; i++) {
		const struct ranks_rank *of = &spans->ranks.at[i];
		struct text node = spans->nodes.names[of->node];
		struct text rank = rank_spans_name(spans, of->rank);
		char waited[QUANTITY_TEXT_BYTES], alone[QUANTITY_TEXT_BYTES];

		if (of->verdict == RANKS_CHANCE || said[of->verdict]++ >= 3)
			continue;
		quantity_time(waited, (double)of->waited_ns);
		quantity_time(alone, (double)of->alone_ns);
		if (of->verdict == RANKS_LATE)
			answer_note(answer, "late", of->last,
			    "rank %.*s on %.*s came last in %" PRIu64
			    " of %" PRIu64 " steps (by chance in %.1f): the "
			    "others waited %s for it, all together, and "
			    "without it the steps would have ended %s earlier",
			    (int)rank.bytes, rank.at, (int)node.bytes, node.at,
			    of->last, of->steps, of->expected, waited, alone);
		else
			answer_note(answer, "clock", of->last,
			    "cannot decide whether rank %.*s on %.*s is late: "
			    "it seems to come last in %" PRIu64 " of %" PRIu64
			    " steps, but only in %" PRIu64
			    " by more than clocks may be off",
			    (int)rank.bytes, rank.at, (int)node.bytes, node.at,
			    of->last, of->steps, of->certain);
	}
}

static void
note_verdict(const struct ranks *ranks, struct answer *answer)
{
	bool is_chance =
	    ranks->count == 0 || ranks->at[0].verdict == RANKS_CHANCE;

	if (ranks->steps == 0)
		answer_note(answer, "no_steps", ANSWER_NO_COUNT,
		    "cannot decide who is late: no step has the spans of two "
		    "ranks (are they matched by attribute step, or are clocks "
		    "off by more than a step?)");
	else if (is_chance && ranks->steps < ranks->steps_needed)
		answer_note(answer, "few_steps", ranks->steps,
		    "cannot decide who is late: %" PRIu64
		    " step%s cannot part a slow rank of %" PRIu32
		    " from chance, it takes %" PRIu64 " at least",
		    ranks->steps, ranks->steps == 1 ? "" : "s", ranks->count,
		    ranks->steps_needed);
	else if (is_chance)
		answer_note(answer, "none_late", ANSWER_NO_COUNT,
		    "no rank comes last more often, or by more, than by "
		    "chance");
}

static void
note_lacks(const struct rank_spans *spans, struct answer *answer)
{
	const struct ranks *ranks = &spans->ranks;

	if (ranks->steps > 0)
		answer_note(answer, "matched", ANSWER_NO_COUNT,
		    spans->by_step
			? "the steps of the ranks are matched by attribute step"
			: "the steps of the ranks are matched by time, as not "
			  "all spans have attribute step");
	if (ranks->incomplete > 0)
		answer_note(answer, "incomplete", ranks->incomplete,
		    "in %" PRIu64 " of %" PRIu64
		    " steps spans of some ranks are missing: whoever is "
		    "there is compared",
		    ranks->incomplete, ranks->steps);
	if (ranks->uncertain > 0)
		answer_note(answer, "uncertain", ranks->uncertain,
		    "in %" PRIu64 " of %" PRIu64
		    " steps the last ranks came closer to each other than "
		    "clocks may be off: for them it is not known who was last",
		    ranks->uncertain, ranks->steps);
	if (spans->no_clocks > 0 && spans->nodes.count > 1)
		answer_note(answer, "no_clocks", spans->no_clocks,
		    "nothing is known of the clock of %" PRIu32
		    " node%s: --clock-error says how far it may be off",
		    spans->no_clocks, spans->no_clocks == 1 ? "" : "s");
	if (spans->no_wait > 0)
		answer_note(answer, "no_wait", spans->no_wait,
		    "no wait follows %" PRIu64
		    " work span%s: these ranks count as waiting from their "
		    "arrival to the last one",
		    spans->no_wait, spans->no_wait == 1 ? "" : "s");
}

void
straggler_ranks_put(const struct rank_spans *spans, struct answer *answer)
{
	put_rows(spans, answer);
	note_ranks(spans, answer);
	note_verdict(&spans->ranks, answer);
	note_lacks(spans, answer);
}
