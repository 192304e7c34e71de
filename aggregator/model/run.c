/*
 * run - what a test run consists of: roles and steps, found in the phases of a
 * model.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "aggregator/model/model.h"
#include "proto/base/memory.h"

unsigned
model_run_role(const struct model_run *run, struct text event)
{
	unsigned role = 0;

	while (role < run->events && !text_equal(run->event[role], event))
		role++;
	return role < run->events ? role : RUN_ROLES_MAX;
}

/* The role of an event; adds one if it has none. */
static int
give_role(
    struct model_run *run, struct text event, unsigned *role, struct err *err)
{
	*role = RUN_ROLES_MAX;
	if (event.bytes == 0)
		return 0;
	*role = model_run_role(run, event);
	if (*role < RUN_ROLES_MAX)
		return 0;
	if (run->events == RUN_ROLES_MAX)
		return err_set(err,
		    "the steps of a run have more than %d "
		    "events",
		    RUN_ROLES_MAX);
	*role = run->events;
	run->event[run->events++] = event;
	return 0;
}

/* A step is a phase of the model that is matched by the run and by nothing
 * else, and whose spans do not overlap. */
static bool
is_step(const struct model_run *run, const struct model_phase *phase)
{
	return phase->id.bytes > run->model.bytes &&
	       memcmp(phase->id.at, run->model.at, run->model.bytes) == 0 &&
	       phase->id.at[run->model.bytes] == ':' &&
	       text_equal(phase->run, run->attribute) &&
	       phase->key.bytes == 0 && phase->measured.bytes == 0 &&
	       !phase->fifo;
}

static int
add_step(
    struct model_run *run, const struct model_phase *phase, struct err *err)
{
	struct model_step *step = &run->step[run->steps];
	unsigned begin, end;

	if (run->steps == RUN_STEPS_MAX)
		return err_set(
		    err, "a run has more than %d steps", RUN_STEPS_MAX);
	if (give_role(run, phase->start, &begin, err) != 0 ||
	    give_role(run, phase->end, &end, err) != 0)
		return -1;
	step->phase = phase->id;
	step->of.begin = (uint8_t)begin;
	step->of.end = (uint8_t)end;
	run->steps++;
	return 0;
}

/* Find all steps, in the order of the file. */
static int
find_steps(const struct model_set *set, struct model_run *run, struct err *err)
{
	for (unsigned i = 0; i < set->phases; i++)
		if (is_step(run, &set->phase[i]) &&
		    add_step(run, &set->phase[i], err) != 0)
			return -1;
	return 0;
}

/* Add the phase of this name, if it is a step. */
static int
find_step(const struct model_set *set, struct model_run *run, struct text id,
    struct err *err)
{
	for (unsigned i = 0; i < set->phases; i++)
		if (text_equal(set->phase[i].id, id) &&
		    is_step(run, &set->phase[i]))
			return add_step(run, &set->phase[i], err);
	return 0;
}

static struct text
own(struct model_set *set, struct text t)
{
	return t.bytes ? model_set_own(set, t, "", text_of("")) : t;
}

/* Copy everything except the steps. */
static struct model_run
copy_of(struct model_set *set, const struct model_run *from)
{
	struct model_run run = *from;

	run.events = run.steps = 0;
	run.model = own(set, from->model);
	run.attribute = own(set, from->attribute);
	run.kind = own(set, from->kind);
	run.group = own(set, from->group);
	run.requestor = own(set, from->requestor);
	run.error = own(set, from->error);
	run.property = memory_zero(run.properties + 1, sizeof(*run.property));
	for (unsigned i = 0; i < run.properties; i++)
		run.property[i] = own(set, from->property[i]);
	return run;
}

static int
finish(struct model_set *set, struct model_run *run, struct text begun,
    struct text ended, struct err *err)
{
	if (give_role(run, own(set, begun), &run->begun, err) != 0 ||
	    give_role(run, own(set, ended), &run->ended, err) != 0) {
		free(run->property);
		return -1;
	}
	set->run = memory_resize(set->run, (set->runs + 1) * sizeof(*set->run));
	set->run[set->runs++] = *run;
	return 0;
}

int
model_set_add_run(struct model_set *set, const struct model_run *from,
    struct text begun, struct text ended, struct err *err)
{
	struct model_run run = copy_of(set, from);

	if (find_steps(set, &run, err) != 0) {
		free(run.property);
		return -1;
	}
	return finish(set, &run, begun, ended, err);
}

/* Is it "source:..."? */
static bool
is_of_source(struct text event, struct text source)
{
	return event.bytes > source.bytes &&
	       memcmp(event.at, source.at, source.bytes) == 0 &&
	       event.at[source.bytes] == ':';
}

bool
model_run_names_source(const struct model_run *run, struct text source)
{
	unsigned role = 0;

	while (role < run->events && !is_of_source(run->event[role], source))
		role++;
	return role < run->events;
}

bool
model_names_source(const struct model_set *set, struct text source)
{
	for (unsigned i = 0; i < set->phases; i++)
		if (is_of_source(set->phase[i].start, source) ||
		    is_of_source(set->phase[i].end, source))
			return true;
	for (unsigned i = 0; i < set->runs; i++)
		if (model_run_names_source(&set->run[i], source))
			return true;
	return false;
}

bool
model_is_step(const struct model_set *set, struct text phase)
{
	for (unsigned i = 0; i < set->runs; i++)
		for (unsigned step = 0; step < set->run[i].steps; step++)
			if (text_equal(set->run[i].step[step].phase, phase))
				return true;
	return false;
}

/* ---- encoding ---- */

static struct text
event_of(const struct model_run *run, unsigned role)
{
	return role < RUN_ROLES_MAX ? run->event[role]
				    : (struct text){ NULL, 0 };
}

void
model_put_run(struct buffer *to, const struct model_run *run)
{
	varint_put_text(to, run->model);
	varint_put_text(to, run->attribute);
	varint_put_text(to, run->kind);
	varint_put_text(to, run->group);
	varint_put_text(to, run->requestor);
	varint_put_text(to, run->error);
	varint_put_text(to, event_of(run, run->begun));
	varint_put_text(to, event_of(run, run->ended));
	varint_put(to, run->properties);
	for (unsigned i = 0; i < run->properties; i++)
		varint_put_text(to, run->property[i]);
	/* Stored phases may be in another order. */
	varint_put(to, run->steps);
	for (unsigned i = 0; i < run->steps; i++)
		varint_put_text(to, run->step[i].phase);
}

bool
model_get_run(struct model_set *set, struct text from)
{
	struct text property[RECORD_ATTRIBUTES_MAX], begun, ended;
	struct model_run run = { .property = property };
	struct varint_reader u = varint_reader_of(from);
	struct err err = { 0 };
	unsigned steps;

	run.model = varint_get_text(&u);
	run.attribute = varint_get_text(&u);
	run.kind = varint_get_text(&u);
	run.group = varint_get_text(&u);
	run.requestor = varint_get_text(&u);
	run.error = varint_get_text(&u);
	begun = varint_get_text(&u);
	ended = varint_get_text(&u);
	run.properties = (unsigned)varint_get_max(&u, RECORD_ATTRIBUTES_MAX);
	for (unsigned i = 0; i < run.properties; i++)
		property[i] = varint_get_text(&u);
	steps = (unsigned)varint_get_max(&u, RUN_STEPS_MAX);
	run = copy_of(set, &run);
	for (unsigned i = 0; i < steps; i++)
		if (find_step(set, &run, varint_get_text(&u), &err) != 0)
			u.bad = true;
	if (u.bad) {
		free(run.property);
		return false;
	}
	return finish(set, &run, begun, ended, &err) == 0;
}
