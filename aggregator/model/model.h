/*
 * model - what a kind of pool does: its phases, test runs and views, defined
 * in a file.
 *
 * A model is the file DIR/NAME.conf (poolscope-model(5)).  A phase is a pair
 * of events that are matched by node or run and by the value of an attribute.
 * The current phases are also stored in the tables (model_put_phase), so
 * readers of a store need no model file.
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
#include "proto/record/run.h"

enum {
	MODEL_PHASES_MAX = 256, /* in all models together */
	MODEL_ROLES_MAX = 8,    /* phases that one event may start or end */
	MODEL_FILE_BYTES_MAX = 256 << 10,
	MODEL_WAIT_BYTES_MAX = 1000, /* of the names in after and its like */
	MODEL_PLACES_MAX = 1000000,
	MODEL_SHARE_ALL = 1000000, /* parts of all nodes */
};

/* The end of which phases it waits for. */
enum model_wait {
	MODEL_AFTER,     /* to begin: of its node, and of its key */
	MODEL_AFTER_ANY, /* to begin: of any node, and of its key */
	MODEL_END_AFTER, /* to end: of its node */
	MODEL_WAITS
};
extern const char *const model_wait_words[MODEL_WAITS];

/* When a pool is ready, and what parts two starts. */
struct model_pool {
	uint64_t gap_ns; /* 0: what programs take by themselves */
	unsigned share;  /* of MODEL_SHARE_ALL that must be ready; 0: all */
};

struct model_phase {
	struct text id;    /* "model:phase" */
	struct text start; /* "source:name" */
	struct text end;
	/* Attribute that names the run; empty: match by node. */
	struct text run;
	/* Attribute whose value both events share; may be empty. */
	struct text key;
	struct text measured; /* attribute of the end event that gives the
				 duration in seconds; empty: end - start */
	bool kv;              /* search the message for attributes too */
	bool required;        /* a node without this phase is incomplete */
	bool ignore_unmatched;
	unsigned place; /* of its file, after those of earlier files */
	bool fifo; /* spans of one key overlap: see aggregator/phases/phase.h */
	/* What it waits for: names of phases of its model, with a newline
	 * between them. */
	struct text waits[MODEL_WAITS];
	unsigned places;   /* of one key in the pool at once; 0: any number */
	struct text bytes; /* attribute: how many it moves; may be empty */
	struct model_pool pool; /* of its model */
};

struct model_view {
	struct text id;   /* "model:view" */
	struct text *sum; /* the phases that it adds up ("model:phase") */
	unsigned sums;
};

/* What a test run consists of, in a model whose phases are steps of runs. */
struct model_run {
	struct text model;
	struct text attribute; /* of an event: names its run */
	struct text kind;      /* kind of the entities that describe runs */
	/* Attributes of these entities; each may be empty: the group for
	 * statistics, the requestor to count, and the one that says that the
	 * run ended in an error. */
	struct text group, requestor, error;
	/* Attributes of events that are also properties of their run. */
	struct text *property;
	unsigned properties;
	/* The events of the steps, and those that change the state, by role. */
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
	struct model_run *run; /* at most one for each model */
	unsigned runs;
	struct text *owned; /* the memory that all texts point into */
	unsigned owners;
};

/* Read all DIR/NAME.conf in the order of their names; a missing directory is
 * an error.  Replaces the contents of `set`; free it with model_set_clear. */
int model_load(struct model_set *set, const char *dir, struct err *err);

/* Add one model from the file PATH/NAME.conf; errors as in model_parse. */
int model_add_file(struct model_set *set, const char *path, struct err *err);
/* The name of the model in a file; empty: the file is not called NAME.conf. */
struct text model_file_name(const char *path);

/* Add one model from its text.  An error is "FILE:LINE: what"; nothing is
 * added then. */
int model_parse(struct model_set *set, const char *path, struct text name,
    struct text text, struct err *err);
void model_set_clear(struct model_set *set);
/* Join three texts; the result lives as long as the set. */
struct text model_set_own(
    struct model_set *set, struct text a, const char *between, struct text b);
/* Add a copy of a phase. */
void model_set_add(struct model_set *set, const struct model_phase *phase);

/* Add a copy of a run definition without its roles and steps; these come from
 * the phases that the model has already.  -1: there are too many. */
int model_set_add_run(struct model_set *set, const struct model_run *run,
    struct text begun, struct text ended, struct err *err);
/* The role of an event; RUN_ROLES_MAX: it has none. */
unsigned model_run_role(const struct model_run *run, struct text event);

/* Has a phase or a run an event of this source? */
bool model_names_source(const struct model_set *set, struct text source);
/* The same of one run. */
bool model_run_names_source(const struct model_run *run, struct text source);

/* Is the phase a step of test runs? */
bool model_is_step(const struct model_set *set, struct text phase);

/* A hash that is equal for two sets with the same phases in the same order. */
uint64_t model_set_hash(const struct model_set *set);

/* Encode and decode a phase.  The decoded one is a view. */
void model_put_phase(struct buffer *to, const struct model_phase *phase);
bool model_get_phase(struct text from, struct model_phase *phase);
/* Encode and decode a run definition; decode it after the phases of its
 * model. */
void model_put_run(struct buffer *to, const struct model_run *run);
bool model_get_run(struct model_set *set, struct text from);

#endif
