/*
 * runs - the runs of a model, one after another as they are read.
 *
 * What a run's events and steps are called comes first, from the statistics
 * of the store: what is kept of a run are the numbers of its events (roles).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUNS_H
#define EXPORTERS_RUNS_RUNS_H

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"
#include "proto/config/opt.h"
#include "proto/record/run.h"

struct runs_step {
	struct text name; /* of the phase, without the model's */
	struct run_step of;
	int64_t place; /* in the model's file */
	bool spans;    /* begins with one of the others and ends with another */
};

/* What a run of the model is made of. */
struct runs {
	struct source *source;
	struct text partition, model; /* the caller's */
	struct string_table texts;
	/* By role; the source is in front where there are several. */
	struct text events[RUN_ROLES_MAX];
	struct text full[RUN_ROLES_MAX]; /* "source:name" */
	uint32_t event_count;
	struct runs_step steps[RUN_STEPS_MAX]; /* in the model's order */
	uint32_t step_count;

	char pattern[2 * NAME_BYTES_MAX + 2]; /* of the last runs_select */
	char group[2 * NAME_BYTES_MAX + 2];
};

/* One of them; a view, valid until the next. */
struct runs_run {
	struct text id, group; /* group: empty when it has none */
	bool known, error;     /* it was described; with an error */
	enum run_state state;
	bool has_time; /* it has events */
	int64_t time_ns;
	struct run_events events;
};

/* Read what the model's runs are made of.  -1 also when there are none.
 * Clear it in any case. */
int runs_open(struct runs *runs, struct source *source, struct text partition,
    struct text model, struct err *err);
void runs_clear(struct runs *runs);

/* All runs, of these groups (a pattern, or empty), or those whose id is like
 * `id` (a pattern, or empty), in the order of their appearance. */
int runs_select(
    struct runs *runs, struct text id, struct text group, struct err *err);
/* As source_next. */
int runs_next(struct runs *runs, struct runs_run *run, struct err *err);

/* What a run spent in a step: the sum over its iterations.  False: it has
 * none. */
bool runs_total(const struct runs_run *run, const struct runs_step *step,
    enum run_clock clock, int64_t *ns);

/* What a record of the statistics says. */
int64_t runs_get_int(const struct record *record, const char *key);

/*
 * Which runs, and which of their times: the options that
 * numbers and pictures of runs share.
 */
enum runs_option { RUNS_MODEL, RUNS_TIME, RUNS_GROUP };

/* Begins as RUNS_DEFAULT. */
struct runs_options {
	const char *model, *group; /* group: NULL for all */
	int time;                  /* enum run_clock */
};
#define RUNS_DEFAULT                                                           \
	{                                                                      \
		.model = "testrun", .time = RUN_RECEIVE                        \
	}

/* --model, --time, --group; by enum runs_option; bound to struct runs_options.
 */
extern const struct opt runs_options[];

/* Was it given on the command line? */
bool runs_option_is_given(enum runs_option option);

#endif
