/*
 * show - print what models define, for the author of a model.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/model/show.h"

#include <string.h>
#include <unistd.h>

#include "proto/os/clock.h"

/* Text from a store may contain any bytes. */
static void
put(FILE *to, struct text t)
{
	char quoted[4 * NAME_BYTES_MAX];

	if (text_check_name(t) == TEXT_OK)
		fprintf(to, "%.*s", (int)t.bytes, t.at);
	else
		fputs(text_quote(quoted, sizeof(quoted), t), to);
}

static void
put_what(FILE *to, const char *what)
{
	fprintf(to, "  %-11s", what);
}

/* Print a line, unless the value is empty. */
static void
put_line(FILE *to, const char *what, struct text t)
{
	if (t.bytes == 0)
		return;
	put_what(to, what);
	putc(' ', to);
	put(to, t);
	putc('\n', to);
}

static void
put_after(FILE *to, const char *words, struct text t)
{
	if (t.bytes == 0)
		return;
	fputs(words, to);
	put(to, t);
}

/* ---- the parts of a model ---- */

static struct text
model_of(struct text id)
{
	const char *colon = id.bytes > 0 ? memchr(id.at, ':', id.bytes) : NULL;

	return (struct text){ id.at,
		colon != NULL ? (uint32_t)(colon - id.at) : id.bytes };
}

static struct text
name_of(struct text id)
{
	uint32_t front = model_of(id).bytes + 1;

	return front < id.bytes
		   ? (struct text){ id.at + front, id.bytes - front }
		   : id;
}

static const struct model_run *
run_of(const struct model_set *set, struct text model)
{
	for (unsigned i = 0; i < set->runs; i++)
		if (text_equal(set->run[i].model, model))
			return &set->run[i];
	return NULL;
}

static const struct model_phase *
phase_of(const struct model_set *set, struct text id)
{
	for (unsigned i = 0; i < set->phases; i++)
		if (text_equal(set->phase[i].id, id))
			return &set->phase[i];
	return NULL;
}

static bool
is_step(const struct model_run *run, struct text id)
{
	for (unsigned i = 0; run != NULL && i < run->steps; i++)
		if (text_equal(run->step[i].phase, id))
			return true;
	return false;
}

/* ", after nodeprep and save" */
static void
show_waits(const struct model_phase *phase, FILE *to)
{
	static const char *const words[] = { ", after ", ", after any ",
		", ends after " };

	for (int i = 0; i < MODEL_WAITS; i++) {
		struct text rest = phase->waits[i];
		const char *between = words[i];
		struct text name;

		for (; text_next_line(&rest, &name); between = " and ")
			put_after(to, between, name);
	}
	if (phase->places > 0)
		fprintf(to, ", %u of a key at once", phase->places);
	put_after(to, ", bytes in ", phase->bytes);
}

static void
show_phase(const struct model_phase *phase, bool step, FILE *to)
{
	put_what(to, step ? "step" : "phase");
	putc(' ', to);
	put(to, name_of(phase->id));
	fputs(": ", to);
	put(to, phase->start);
	fputs(" to ", to);
	put(to, phase->end);
	if (!step) {
		fputs(phase->run.bytes == 0 ? ", by node" : "", to);
		put_after(to, ", by run ", phase->run);
		put_after(to, " and ", phase->key);
		put_after(to, ", measured by ", phase->measured);
	}
	fputs(phase->fifo ? ", first start first" : "", to);
	fputs(phase->required ? ", required" : "", to);
	fputs(phase->ignore_unmatched ? ", unmatched ignored" : "", to);
	show_waits(phase, to);
	putc('\n', to);
}

/* Without words what programs take by themselves. */
static void
show_pool(const struct model_pool *pool, FILE *to)
{
	unsigned share = pool->share > 0 ? pool->share : MODEL_SHARE_ALL;

	put_what(to, "pool");
	fprintf(to, " ready when %g %% of its nodes are, a pause of ",
	    share / (MODEL_SHARE_ALL / 100.0));
	if (pool->gap_ns > 0)
		fprintf(to, "%g s", (double)pool->gap_ns / NS_PER_SECOND);
	else
		fputs("10 min", to);
	fputs(" parts two starts\n", to);
}

static void
show_states(const struct model_run *run, FILE *to)
{
	if (run->begun >= run->events && run->ended >= run->events)
		return;
	put_what(to, "states");
	if (run->begun < run->events) {
		fputs(" queued until ", to);
		put(to, run->event[run->begun]);
	} else {
		fputs(" ongoing", to);
	}
	if (run->ended < run->events)
		put_after(to, ", finished with ", run->event[run->ended]);
	putc('\n', to);
}

static void
show_run(const struct model_set *set, const struct model_run *run, FILE *to)
{
	put_what(to, "runs");
	fputs(" by attribute ", to);
	put(to, run->attribute);
	put_after(to, ", described by entities of kind ", run->kind);
	putc('\n', to);
	put_line(to, "group", run->group);
	put_line(to, "requestor", run->requestor);
	put_line(to, "error", run->error);
	show_states(run, to);
	if (run->properties > 0)
		put_what(to, "properties");
	for (unsigned i = 0; i < run->properties; i++) {
		fputs(i > 0 ? ", " : " ", to);
		put(to, run->property[i]);
	}
	fputs(run->properties > 0 ? "\n" : "", to);
	for (unsigned i = 0; i < run->steps; i++)
		show_phase(phase_of(set, run->step[i].phase), true, to);
}

static void
show_view(const struct model_view *view, FILE *to)
{
	put_what(to, "view");
	putc(' ', to);
	put(to, name_of(view->id));
	for (unsigned i = 0; i < view->sums; i++) {
		fputs(i > 0 ? " + " : ": ", to);
		put(to, name_of(view->sum[i]));
	}
	putc('\n', to);
}

/* Print every event once, in the order of the file. */
struct seen {
	struct text event[2 * MODEL_PHASES_MAX + 2];
	unsigned events;
};

static void
show_event(struct seen *seen, struct text event, FILE *to)
{
	for (unsigned i = 0; i < seen->events; i++)
		if (text_equal(seen->event[i], event))
			return;
	if (seen->events == sizeof(seen->event) / sizeof(*seen->event))
		return;
	if (seen->events == 0)
		put_what(to, "events");
	fputs(seen->events > 0 ? ", " : " ", to);
	put(to, event);
	seen->event[seen->events++] = event;
}

static void
show_events(const struct model_set *set, struct text model,
    const struct model_run *run, FILE *to)
{
	struct seen seen = { .events = 0 };

	for (unsigned i = 0; run != NULL && i < run->events; i++)
		show_event(&seen, run->event[i], to);
	for (unsigned i = 0; i < set->phases; i++) {
		if (!text_equal(model_of(set->phase[i].id), model))
			continue;
		show_event(&seen, set->phase[i].start, to);
		show_event(&seen, set->phase[i].end, to);
	}
	fputs(seen.events > 0 ? "\n" : "", to);
}

void
model_show(const struct model_set *set, struct text name, FILE *to)
{
	const struct model_run *run = run_of(set, name);
	const struct model_phase *phase;
	const struct model_pool *pool = NULL;
	bool kv = false;

	if (run != NULL)
		show_run(set, run, to);
	for (unsigned i = 0; i < set->phases; i++) {
		phase = &set->phase[i];
		if (!text_equal(model_of(phase->id), name))
			continue;
		if (!is_step(run, phase->id))
			show_phase(phase, false, to);
		kv = kv || phase->kv;
		if (phase->required)
			pool = &phase->pool;
	}
	if (pool != NULL)
		show_pool(pool, to);
	for (unsigned i = 0; i < set->views; i++)
		if (text_equal(model_of(set->view[i].id), name))
			show_view(&set->view[i], to);
	show_events(set, name, run, to);
	if (kv)
		fputs("  the message is searched for attributes too\n", to);
}

static void
show_headed(const struct model_set *set, struct text name, FILE *to)
{
	fputs("model ", to);
	put(to, name);
	putc('\n', to);
	model_show(set, name, to);
}

void
model_show_all(const struct model_set *set, FILE *to)
{
	struct text last = { NULL, 0 }, name;

	/* The phases of one model are consecutive. */
	for (unsigned i = 0; i < set->phases; i++) {
		name = model_of(set->phase[i].id);
		if (!text_equal(name, last))
			show_headed(set, name, to);
		last = name;
	}
}

/* ---- files ---- */

/* What answers cannot be given, and by which word they could. */
enum lack { NO_REQUIRED, NO_WAITS, NO_ANY, NO_PLACES, NO_BYTES, LACKS };
static const char *const lacks[LACKS] = {
	[NO_REQUIRED] = "required: poolscope stats starts, critical, whatif "
			"and compare do not know the starts of a pool",
	[NO_WAITS] = "after, after_any, end_after or places: poolscope stats "
		     "critical shows the path of one node, stats whatif says "
		     "nothing, and stats stragglers not what one cost the pool",
	[NO_ANY] = "after_any: poolscope stats critical and whatif do not know "
		   "what a node waits for of another, but for places",
	[NO_PLACES] = "places: poolscope stats whatif --places has nothing to "
		      "change, and stats stragglers does not know who waited "
		      "for one",
	[NO_BYTES] = "bytes: poolscope stats whatif --size has nothing to "
		     "change, and stats stragglers does not know who had more "
		     "to fetch",
};

/* Of a model whose phases are steps of runs nothing is asked but these. */
static void
show_lacks(const struct model_set *set, struct text name, FILE *to)
{
	bool requires = false, keys = false, any = false;
	bool has[LACKS] = { [NO_REQUIRED] = false };

	for (unsigned i = 0; i < set->phases; i++) {
		const struct model_phase *phase = &set->phase[i];

		if (!text_equal(model_of(phase->id), name) ||
		    phase->run.bytes > 0)
			continue;
		any = true;
		requires = requires || phase->required;
		keys = keys || phase->key.bytes > 0;
		has[NO_PLACES] = has[NO_PLACES] || phase->places > 0;
		has[NO_BYTES] = has[NO_BYTES] || phase->bytes.bytes > 0;
		has[NO_ANY] =
		    has[NO_ANY] || phase->waits[MODEL_AFTER_ANY].bytes > 0;
		for (int wait = 0; wait < MODEL_WAITS; wait++)
			has[NO_WAITS] =
			    has[NO_WAITS] || phase->waits[wait].bytes > 0;
	}
	has[NO_WAITS] = has[NO_WAITS] || has[NO_PLACES];
	has[NO_REQUIRED] = requires;
	for (int lack = 0; any && lack < LACKS; lack++) {
		bool is_asked = lack == NO_REQUIRED ? run_of(set, name) == NULL
				: lack == NO_WAITS
				    ? requires
				    : requires && keys && has[NO_WAITS];

		if (is_asked && !has[lack])
			fprintf(to, "  no %s\n", lacks[lack]);
	}
}

/* Definitions that an aggregator accepts, but that are surely a mistake. */
static void
show_doubts(const struct model_set *set, struct text name, FILE *to)
{
	const struct model_run *run = run_of(set, name);
	bool any = false;

	for (unsigned i = 0; i < set->phases; i++)
		any = any || text_equal(model_of(set->phase[i].id), name);
	show_lacks(set, name, to);
	if (!any)
		fputs("  no phases: this model derives nothing\n", to);
	else if (run != NULL && run->steps == 0)
		fputs("  no steps: a step is a phase with scope \"run\", the "
		      "attribute of runs, no key and no measured\n",
		    to);
}

static int
check_name(const struct opt_list *files, uint32_t number, struct err *err)
{
	struct text name = model_file_name(files->at[number]);

	for (uint32_t i = 0; name.bytes > 0 && i < number; i++)
		if (text_equal(model_file_name(files->at[i]), name))
			return err_set(err,
			    "%s:1: a model of this name is already in %s",
			    files->at[number], files->at[i]);
	return 0;
}

int
model_check(const struct opt_list *files, FILE *to, struct err *err)
{
	struct model_set set = { .phase = NULL };
	struct err wrong;
	bool unread = false;
	uint32_t bad = 0;

	for (uint32_t i = 0; i < files->count; i++) {
		unread |= access(files->at[i], R_OK) != 0;
		wrong = (struct err){ 0 };
		if (check_name(files, i, &wrong) != 0 ||
		    model_add_file(&set, files->at[i], &wrong) != 0) {
			fflush(to);
			fprintf(stderr, "%s\n", wrong.text);
			bad++;
			continue;
		}
		fprintf(to, "%s: ", files->at[i]);
		show_headed(&set, model_file_name(files->at[i]), to);
		show_doubts(&set, model_file_name(files->at[i]), to);
	}
	model_set_clear(&set);
	if (fflush(to) != 0 || ferror(to))
		return err_set(err, "the models cannot be printed");
	if (bad > 0)
		return err_set_code(err, unread ? ERR_FAILED : ERR_FOUND,
		    "%u of %u models cannot be used", bad, files->count);
	return 0;
}
