/*
 * question_whatif - when a pool would have been ready if something had been
 * another.
 *
 * run.h says what is kept as it was.  How much faster or slower phases are when
 * more of them run at once is not known, so there are two answers: at best each
 * takes as long as it did, at worst all together get no more than before.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/critical/bytes.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

enum { SHOWN_BYTES = 300 };

struct row {
	struct text what, node, phase, key;
	int64_t ready, earlier;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member)
#define TEXT(member)    ANSWER_AT_TEXT(struct row, member)

static const struct answer_column columns[] = {
	{ "what", "WHAT", TEXT(what),
	    "recorded: as it was; best: as it would have been if each phase "
	    "had taken as long as it did, or all of it went with the size; "
	    "worst: if all that run at once got no more together than the most "
	    "that was, or only what more bytes cost went with the size" },
	{ "ready", "READY", SECONDS(ready),
	    "when the last node that the pool needs was ready, after the "
	    "start; unknown: a node waits in vain, or until after the year "
	    "2200" },
	{ "earlier", "EARLIER", SECONDS(earlier),
	    "how much earlier that is than it was; negative: later" },
	{ "node", "NODE", TEXT(node), "which node it is" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes became ready" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "whatif", columns },
	{ "head", head }, { .name = NULL } };

/* All phases of a name that move bytes. */
struct moving {
	double cost, most; /* bytes.h; as recorded */
	double at_once;    /* how many can run at once */
	bool is_crowded;   /* that is more than could */
};

struct asking {
	const struct question_asked *asked;
	struct answer *answer;
	struct critical_start of;
	const struct starts *starts;
	const struct start *start;
	int64_t *best_ns, *worst_ns; /* lengths, by phase */
	int64_t *shift_ns;
	bool *without;
	uint32_t *places;
	uint32_t needed; /* nodes, of those that are left */
	uint32_t *sizes; /* by group of CRITICAL_KEY */
	double *more;    /* by phase: how many times as many run at once */
	struct critical_bytes bytes;
	struct moving *moving; /* by number of the name of a phase */
	bool is_unsure;        /* the worst is another one */
	uint64_t no_bytes, no_cost;
};

/* A length beyond all time is the longest one. */
static int64_t
length_of(double ns)
{
	return ns < (double)INT64_MAX ? (int64_t)llround(ns) : INT64_MAX;
}

static void
scale(int64_t *length_ns, double factor)
{
	*length_ns = length_of((double)*length_ns * factor);
}

/* ---- what is asked ---- */

/* "WHAT=VALUE" in two. */
static int
split(const char *given, const char *option, struct text *what,
    struct text *value, struct err *err)
{
	struct text text = text_of(given);
	char shown[SHOWN_BYTES];
	uint32_t at = text.bytes;

	/* A key may have '='. */
	while (at > 0 && text.at[at - 1] != '=')
		at--;
	if (at < 2)
		return err_set_option(err, option, "'%s' has no '='",
		    text_quote(shown, sizeof(shown), text));
	*what = (struct text){ text.at, at - 1 };
	*value = (struct text){ text.at + at, text.bytes - at };
	return 0;
}

static int
refuse(const char *option, struct text what, const char *words, struct err *err)
{
	char shown[SHOWN_BYTES];

	return err_set_option(err, option, "'%s' %s",
	    text_quote(shown, sizeof(shown), what), words);
}

/* The same, with a number from 0 to `most`. */
static int
split_number(const char *given, const char *option, const char *most,
    struct text *what, double *number, struct err *err)
{
	struct text value;
	char words[40];

	if (split(given, option, what, &value, err) != 0)
		return -1;
	if (number_parse_double(value, number, err) != 0)
		return err_prefix(err, "--%s", option);
	snprintf(words, sizeof(words), "is not from 0 to %s", most);
	return *number >= 0 && *number <= strtod(most, NULL)
		   ? 0
		   : refuse(option, value, words, err);
}

static struct text
key_of(const struct asking *asking, const struct critical_item *item)
{
	return asking->of.phases.keys.names[item->key];
}

/* How many times as many of `size` phases can run at once; 0: no more. */
static double
crowd(uint32_t size, uint32_t before, uint32_t places)
{
	uint32_t now = places < size ? places : size;

	return now > before ? (double)now / before : 0;
}

static int
take_places(struct asking *asking, const char *given, struct err *err)
{
	const struct critical_waits *waits = &asking->of.waits;
	struct text what, value;
	uint64_t number;
	bool is_more, any = false;

	if (split(given, "places", &what, &value, err) != 0)
		return -1;
	is_more = value.bytes > 0 && value.at[0] == '+';
	if (is_more)
		value = (struct text){ value.at + 1, value.bytes - 1 };
	if (number_parse_u64(value, &number, err) != 0)
		return err_prefix(err, "--places");
	if (number > 1000000 || (number == 0 && !is_more))
		return refuse("places", what,
		    "has 1 place at least and 1,000,000 at most", err);
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];
		uint32_t group = item->group[CRITICAL_KEY];
		uint32_t before = asking->of.run.places[group];

		if (before == 0 || !text_match(what, key_of(asking, item)))
			continue;
		any = true;
		asking->places[group] =
		    (is_more ? before : 0) + (uint32_t)number;
		asking->more[i] =
		    crowd(asking->sizes[group], before, asking->places[group]);
		asking->is_unsure = asking->is_unsure || asking->more[i] > 0;
	}
	return any ? 0
		   : refuse("places", what,
			 "is no key of a phase with places in this start", err);
}

static int
take_length(struct asking *asking, const char *given, struct err *err)
{
	const struct critical_waits *waits = &asking->of.waits;
	struct text what, phase, key;
	double factor;
	bool any = false;

	if (split_number(given, "length", "1000", &what, &factor, err) != 0)
		return -1;
	phase = text_before(what, ',');
	key = phase.bytes < what.bytes ? text_after(what, ',') : text_of("*");
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];
		struct text name = asking->of.names.phases.names[item->phase];

		if ((!text_match(phase, name) &&
			!text_match(phase, text_after(name, ':'))) ||
		    !text_match(key, key_of(asking, item)))
			continue;
		any = true;
		scale(&asking->best_ns[i], factor);
		scale(&asking->worst_ns[i], factor);
	}
	return any ? 0
		   : refuse("length", what, "is no phase of the start", err);
}

/* The part of it that moves its bytes; what a byte costs may be unknown. */
static void
scale_part(int64_t *length_ns, double moves_ns, double factor)
{
	double length = (double)*length_ns;

	if (moves_ns > 0)
		scale(length_ns, 1 + (factor - 1) * fmin(moves_ns, length) /
					 fmax(length, 1));
}

/* All of it goes with the size, or only what more bytes cost: which of both is
 * shorter depends on the factor. */
static void
resize(struct asking *asking, uint32_t i, double factor)
{
	uint32_t phase = asking->of.waits.at[i].phase;
	double moves_ns = asking->bytes.at[i] * asking->moving[phase].cost;
	bool less = factor < 1;

	scale(less ? &asking->best_ns[i] : &asking->worst_ns[i], factor);
	scale_part(less ? &asking->worst_ns[i] : &asking->best_ns[i], moves_ns,
	    factor);
	asking->bytes.at[i] *= factor;
	asking->no_cost += isnan(asking->moving[phase].cost);
	asking->is_unsure = true;
}

static int
take_size(struct asking *asking, const char *given, struct err *err)
{
	const struct critical_waits *waits = &asking->of.waits;
	struct text what;
	double factor;
	bool any = false;

	if (split_number(given, "size", "1000", &what, &factor, err) != 0)
		return -1;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];

		if (asking->of.rules.bytes[item->phase] == NULL ||
		    !text_match(what, key_of(asking, item)))
			continue;
		if (isnan(asking->bytes.at[i])) {
			asking->no_bytes++;
			continue;
		}
		any = true;
		resize(asking, i, factor);
	}
	return any ? 0
		   : refuse("size", what,
			 "is no key of a phase whose bytes are known in this "
			 "start (bytes: poolscope-model(5))",
			 err);
}

static int
take_begin(struct asking *asking, const char *given, struct err *err)
{
	const struct critical_waits *waits = &asking->of.waits;
	struct text what;
	double seconds;
	bool any = false;

	if (split_number(given, "begin", "1e9", &what, &seconds, err) != 0)
		return -1;
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_item *item = &waits->at[i];

		if (!node_list_match(
			what, asking->of.phases.nodes.names[item->node]))
			continue;
		any = true;
		asking->shift_ns[item->node] =
		    asking->start->begin_ns - item->node_ns +
		    (int64_t)llround(seconds * (double)NS_PER_SECOND);
	}
	return any ? 0 : refuse("begin", what, "is no node of the start", err);
}

static int
take_without(struct asking *asking, const char *given, struct err *err)
{
	const struct string_table *nodes = &asking->of.phases.nodes;
	struct text what = text_of(given);
	bool any = false;

	for (uint32_t i = 0; i < nodes->count; i++)
		if (node_list_match(what, nodes->names[i]))
			any = asking->without[i] = true;
	return any ? 0
		   : refuse("without", what, "is no node of the start", err);
}

/* How many of each name can run at once, and whether that is more than did. */
static void
count_at_once(struct asking *asking)
{
	const struct critical_waits *waits = &asking->of.waits;
	bool *seen =
	    memory_zero((size_t)waits->groups[CRITICAL_KEY] + 1, sizeof(*seen));

	for (uint32_t i = 0; i < waits->count; i++) {
		struct moving *moving = &asking->moving[waits->at[i].phase];
		uint32_t group = waits->at[i].group[CRITICAL_KEY];

		moving->is_crowded = moving->is_crowded || asking->more[i] > 0;
		if (seen[group])
			continue;
		seen[group] = true;
		moving->at_once += asking->places[group] < asking->sizes[group]
				       ? asking->places[group]
				       : asking->sizes[group];
	}
	free(seen);
}

static int
read_bytes(struct asking *asking, struct err *err)
{
	const struct critical_start *of = &asking->of;
	const struct question_asked *asked = asking->asked;

	asking->moving =
	    memory_zero((size_t)of->rules.phases + 1, sizeof(*asking->moving));
	if (critical_bytes_read(&asking->bytes, of, asked->source,
		asked->partition, asking->start, asked->values->window.to_ns,
		err) != 0)
		return -1;
	for (uint32_t i = 0; i < of->rules.phases; i++) {
		if (of->rules.bytes[i] == NULL)
			continue;
		asking->moving[i].cost =
		    critical_bytes_cost(&asking->bytes, &of->waits, i);
		asking->moving[i].most =
		    critical_bytes_most(&asking->bytes, &of->waits, i);
	}
	count_at_once(asking);
	return 0;
}

/* At worst all that can run at once share the most that they ever got, or, if
 * their bytes are not known, what they got before. */
static void
crowd_lengths(struct asking *asking)
{
	const struct critical_waits *waits = &asking->of.waits;

	for (uint32_t i = 0; asking->moving != NULL && i < waits->count; i++) {
		const struct moving *moving =
		    &asking->moving[waits->at[i].phase];
		double shared_ns =
		    asking->bytes.at[i] / moving->most * moving->at_once;
		int64_t *length_ns = &asking->worst_ns[i];

		if (!moving->is_crowded)
			continue;
		if (isnan(shared_ns) && asking->more[i] > 0)
			scale(length_ns, asking->more[i]);
		else if (shared_ns > (double)*length_ns)
			*length_ns = length_of(shared_ns);
	}
}

/* Of the nodes that are left, the same share makes it ready. */
static void
count_needed(struct asking *asking)
{
	const struct phases_read *phases = &asking->of.phases;
	bool *left_out =
	    memory_copy(asking->without, (size_t)asking->of.waits.nodes + 1);
	uint32_t nodes = asking->start->nodes;

	for (uint32_t i = 0; i < phases->count; i++) {
		const struct phases_item *item = &phases->items[i];

		if (item->phase != asking->of.rules.first)
			continue;
		nodes -= left_out[item->node];
		left_out[item->node] = false;
	}
	asking->needed = starts_needed(&asking->starts->pool, nodes);
	free(left_out);
}

static int
take_all(struct asking *asking, struct err *err)
{
	const struct whatif_values *values = &asking->asked->values->whatif;
	const struct critical_waits *waits = &asking->of.waits;
	uint32_t keys = waits->groups[CRITICAL_KEY];
	int rc = 0;

	asking->best_ns = memory_zero((size_t)waits->count + 1, 8);
	asking->worst_ns = memory_zero((size_t)waits->count + 1, 8);
	asking->more = memory_zero((size_t)waits->count + 1, 8);
	asking->shift_ns = memory_zero((size_t)waits->nodes + 1, 8);
	asking->without = memory_zero((size_t)waits->nodes + 1, 1);
	asking->places = memory_copy(asking->of.run.places,
	    ((size_t)keys + 1) * sizeof(*asking->places));
	asking->sizes = memory_zero((size_t)keys + 1, sizeof(*asking->sizes));
	for (uint32_t i = 0; i < waits->count; i++) {
		asking->best_ns[i] = asking->worst_ns[i] =
		    waits->at[i].end_ns - waits->at[i].begin_ns;
		asking->sizes[waits->at[i].group[CRITICAL_KEY]]++;
	}
	for (uint32_t i = 0; rc == 0 && i < values->places.count; i++)
		rc = take_places(asking, values->places.at[i], err);
	for (uint32_t i = 0; rc == 0 && i < values->lengths.count; i++)
		rc = take_length(asking, values->lengths.at[i], err);
	if (rc == 0 && (asking->is_unsure || values->sizes.count > 0))
		rc = read_bytes(asking, err);
	for (uint32_t i = 0; rc == 0 && i < values->sizes.count; i++)
		rc = take_size(asking, values->sizes.at[i], err);
	for (uint32_t i = 0; rc == 0 && i < values->begins.count; i++)
		rc = take_begin(asking, values->begins.at[i], err);
	for (uint32_t i = 0; rc == 0 && i < values->without.count; i++)
		rc = take_without(asking, values->without.at[i], err);
	count_needed(asking);
	return rc;
}

/* ---- answers ---- */

static void
put(const struct asking *asking, const char *what,
    const struct critical_run *run)
{
	struct row row = { .what = text_of(what),
		.ready = ANSWER_NO_NS,
		.earlier = ANSWER_NO_NS };

	if (run->missing == 0 && run->last != CRITICAL_NONE &&
	    run->ready_ns <= TIME_MAX_NS) {
		const struct critical_item *last =
		    &asking->of.waits.at[run->last];

		row.ready = run->ready_ns - asking->start->begin_ns;
		row.earlier = asking->of.run.ready_ns - run->ready_ns;
		row.node = asking->of.phases.nodes.names[last->node];
	}
	answer_row(asking->answer, &row, NULL);
}

static void
run_one(struct asking *asking, const char *what, const int64_t *length_ns,
    struct critical_run *run)
{
	struct critical_change change = { length_ns, asking->shift_ns,
		asking->without, asking->places, asking->needed };

	critical_run_changed(run, &asking->of.waits, &asking->of.run, &change);
	put(asking, what, run);
}

/* Without a change each phase begins and ends when it did. */
static int
check_replay(const struct asking *asking, struct err *err)
{
	struct critical_change none = { .length_ns = NULL };
	const struct critical_waits *waits = &asking->of.waits;
	struct critical_run run;
	uint64_t other = 0;

	critical_run_changed(&run, waits, &asking->of.run, &none);
	for (uint32_t i = 0; i < waits->count; i++)
		other += run.at[i].begin_ns != waits->at[i].begin_ns ||
			 run.at[i].end_ns != waits->at[i].end_ns;
	critical_run_clear(&run);
	return other == 0 ? 0
			  : err_set(err,
				"the replay of the start is not what was "
				"recorded (%" PRIu64
				" phases differ): there is no answer",
				other);
}

static void
put_head(const struct asking *asking)
{
	char words[QUESTION_CLOCK_BYTES], shown[SHOWN_BYTES];
	char model[PHASES_MODEL_BYTES];
	struct answer *answer = asking->answer;
	const char *clock;

	answer_head(answer, "model", answer_text(asking->of.model));
	clock = question_put_clock(words, asking->asked, answer);
	answer_head(answer, "nodes", answer_count(asking->start->ready));
	answer_title(answer, "when %s would have been ready, by %s%s",
	    text_quote(shown, sizeof(shown), asking->asked->partition),
	    phases_model_words(model, asking->of.model), clock);
}

static void
put_notes(const struct asking *asking, const struct critical_run *best)
{
	struct answer *answer = asking->answer;
	const struct critical_run *recorded = &asking->of.run;

	if (best->missing > 0)
		answer_note(answer, "missing", best->missing,
		    "%" PRIu64
		    " phase%s in vain: nothing else gives %s what %s waited "
		    "for",
		    best->missing, best->missing == 1 ? " waits" : "s wait",
		    best->missing == 1 ? "it" : "them",
		    best->missing == 1 ? "it" : "they");
	else if (best->last == CRITICAL_NONE)
		answer_note(answer, "none_left", ANSWER_NO_COUNT,
		    "no node is left that could be ready");
	else if (best->ready_ns == recorded->ready_ns)
		answer_note(answer, "no_change", ANSWER_NO_COUNT,
		    "the pool would have been ready when it was: what is asked "
		    "for is not on its critical path (poolscope stats "
		    "critical)");
	if (recorded->over > 0)
		answer_note(answer, "over_places", recorded->over,
		    "%" PRIu64
		    " phase%s began though the model says that no place was "
		    "free: there were as many places as were had",
		    recorded->over, recorded->over == 1 ? "" : "s");
	if (asking->no_bytes > 0)
		answer_note(answer, "no_bytes", asking->no_bytes,
		    "%" PRIu64 " phase%s of unknown bytes: as long as recorded",
		    asking->no_bytes, asking->no_bytes == 1 ? "" : "s");
	if (asking->no_cost > 0)
		answer_note(answer, "no_cost", asking->no_cost,
		    "how much of the time of %" PRIu64
		    " phase%s goes with the size is not known, as no node "
		    "moved two different ones: worst is that none does",
		    asking->no_cost, asking->no_cost == 1 ? "" : "s");
}

static void
put_all(struct asking *asking)
{
	struct critical_run best, worst = { .at = NULL };

	put_head(asking);
	put(asking, "recorded", &asking->of.run);
	run_one(asking, "best", asking->best_ns, &best);
	crowd_lengths(asking);
	if (asking->is_unsure)
		run_one(asking, "worst", asking->worst_ns, &worst);
	put_notes(asking, &best);
	critical_run_clear(&best);
	critical_run_clear(&worst);
}

static int
read_start(struct asking *asking, const struct starts *starts, struct err *err)
{
	const struct question_values *values = asking->asked->values;

	asking->starts = starts;
	asking->start = &starts->at[starts->count - 1];
	if (asking->start->ready == 0)
		return err_set(err, "no node of the start became ready");
	if (critical_start_read(&asking->of, asking->asked->source,
		asking->asked->partition, starts, asking->start,
		values->window.to_ns, err) != 0)
		return -1;
	if (!asking->of.rules.any)
		return err_set(err,
		    "the model does not say what phases wait for (after, "
		    "after_any, end_after, places: poolscope-model(5))");
	return check_replay(asking, err);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = { .asked = asked, .answer = answer };
	const struct starts_query query =
	    question_starts_query(asked->values, false);
	struct starts starts;
	int rc =
	    starts_read(&starts, asked->source, asked->partition, &query, err);

	if (rc == 0)
		rc = read_start(&asking, &starts, err);
	if (rc == 0)
		rc = take_all(&asking, err);
	if (rc == 0)
		put_all(&asking);
	free(asking.best_ns);
	free(asking.worst_ns);
	free(asking.moving);
	critical_bytes_clear(&asking.bytes);
	free(asking.shift_ns);
	free(asking.without);
	free(asking.places);
	free(asking.sizes);
	free(asking.more);
	critical_start_clear(&asking.of);
	starts_clear(&starts);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	const struct whatif_values *asked = &values->whatif;

	if (asked->places.count + asked->lengths.count + asked->sizes.count +
		asked->begins.count + asked->without.count ==
	    0)
		return err_set(err,
		    "what would be another? give --places, --length, --size, "
		    "--begin or --without");
	return 0;
}

const struct question question_whatif = { .word = "whatif",
	.summary = "when a pool would have been ready, had something differed",
	.options =
	    "model places length size begin without start gap from to sort "
	    "top columns",
	.examples = "poolscope stats whatif -p 'acct$pool' --places '*=+5'\n"
		    "poolscope stats whatif --length 'pull,*tensorflow*=0.5'\n"
		    "poolscope stats whatif --size '*tensorflow*=0.5'\n"
		    "poolscope stats whatif --begin cn21=0 --without cn07\n",
	.tables = tables,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.check = check,
	.ask = ask };
