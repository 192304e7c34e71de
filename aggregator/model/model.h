/*
 * model - what a kind of pool does: its phases and views, from a file.
 *
 * A model is DIR/NAME.conf (poolscope-model(5)).  A phase is a pair of events,
 * matched by node or run and by the value of an attribute.  The phases in
 * force are kept with the tables too (model_put_phase), so that whoever reads
 * a store needs no model file.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MODEL_MODEL_H
#define AGGREGATOR_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/base/varint.h"
#include "proto/record/record.h"
#include "proto/record/run_events.h"

enum {
	MODEL_PHASES_MAX = 256, /* of all models together */
	MODEL_ROLES_MAX = 8,    /* phases that one event may begin or end */
	MODEL_FILE_BYTES_MAX = 256 << 10,
};

struct model_phase {
	struct text id;    /* "model:phase" */
	struct text start; /* "source:name" */
	struct text end;
	struct text run; /* attribute that names the run; empty: by node */
	struct text key; /* attribute that pairs must share; may be empty */
	struct text measured; /* attribute of the end event: the duration in
				 seconds; empty: end - start */
	bool kv;              /* attributes are also sought in the message */
	bool required;        /* a node without it is incomplete */
	bool ignore_unmatched;
};

struct model_view {
	struct text id;   /* "model:view" */
	struct text *sum; /* of these phases ("model:phase") */
	unsigned sums;
};

/* What a run is made of, in a model whose phases are steps of runs. */
struct model_run {
	struct text model;
	struct text attribute; /* of an event: the run that it is of */
	struct text kind;      /* of the entities that describe runs */
	/* Properties of those; may be empty: by which statistics are grouped,
	 * who is counted, and what says that the run ended in an error. */
	struct text group, requestor, error;
	/* Attributes of events that are properties of their run, too. */
	struct text *property;
	unsigned properties;
	/* The events of the steps, by role, and those between states. */
	struct text event[RUN_ROLES_MAX]; /* "source:name" */
	unsigned events;
	unsigned begun, ended; /* roles; RUN_ROLES_MAX: none */
	struct model_step {
		struct text phase; /* "model:phase" */
		struct run_step of;
	} step[RUN_STEPS_MAX];
	unsigned steps;
};

struct model_set {
	struct model_phase *phase;
	unsigned phases;
	struct model_view *view;
	unsigned views;
	struct model_run *run; /* by model */
	unsigned runs;
	struct text *owned; /* what all the texts point into */
	unsigned owners;
};

/* All of DIR/NAME.conf, in the order of their names; no such directory: an
 * error.  Replaces what was in `set`; clear it with model_set_clear. */
int model_load(struct model_set *set, const char *dir, struct err *err);

/* Add one model from its file, PATH/NAME.conf; errors as model_parse says. */
int model_add_file(struct model_set *set, const char *path, struct err *err);
/* The name of the model in a file; empty: the file is not NAME.conf. */
struct text model_file_name(const char *path);

/* Add one model from its text.  "FILE:LINE: what" when something is wrong:
 * then nothing was added. */
int model_parse(struct model_set *set, const char *path, struct text name,
    struct text text, struct err *err);
void model_set_clear(struct model_set *set);
/* `a`, `between` and `b` as one text that lives as long as the set. */
struct text model_set_own(
    struct model_set *set, struct text a, const char *between, struct text b);
/* Add a copy of one phase. */
void model_set_add(struct model_set *set, const struct model_phase *phase);

/* Add a copy of what runs are, without roles and steps: those come from the
 * phases of the model that are there.  -1: there are too many. */
int model_set_add_run(struct model_set *set, const struct model_run *run,
    struct text begun, struct text ended, struct err *err);
/* The role of an event; RUN_ROLES_MAX: none. */
unsigned model_run_role(const struct model_run *run, struct text event);

/* Is the phase a step of runs? */
bool model_is_step(const struct model_set *set, struct text phase);

/* The same for two sets that define the same phases in the same order. */
uint64_t model_set_hash(const struct model_set *set);

/* A phase at rest.  The decoded one is a view. */
void model_put_phase(struct buffer *to, const struct model_phase *phase);
bool model_get_phase(struct text from, struct model_phase *phase);
/* What runs are, at rest; read after the phases of its model. */
void model_put_run(struct buffer *to, const struct model_run *run);
bool model_get_run(struct model_set *set, struct text from);

#endif
