/*
 * runs - read the runs of a model, one after another.
 *
 * The statistics of the store first give the names of a run's events and
 * steps; a stored run has only the numbers of its events (roles).
 *
 * A stored run has the times of the clocks of its nodes, of which each may be
 * off by another offset.  They are put on one clock as the source shows times
 * (--clock): the steps of a run pass from node to node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUNS_H
#define EXPORTERS_RUNS_RUNS_H

#include "exporters/runs/descriptions.h"
#include "exporters/source/source.h"
#include "proto/answer/answer.h"
#include "proto/config/opt.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"
#include "proto/record/run.h"

struct runs_step {
	struct text name; /* name of the phase, without the model's */
	struct run_step of;
	int64_t position; /* position in the model file */
	bool spans; /* begins with the begin and ends with the end of other
		       steps */
};

/* Which runs are wanted, by what is known of them. */
struct runs_wanted {
	const char *of[RUNS_PROPERTIES]; /* patterns; NULL: all */
	int state; /* 0: all; 1 + enum run_state, of those without an error;
		      RUNS_FAILED */
};
enum { RUNS_FAILED = 1 + RUN_STATES };

/* The events and steps of a run of the model. */
struct runs {
	struct source *source;
	struct text partition, model; /* owned by the caller */
	struct string_table texts;
	/* Indexed by role; prefixed with the source if there are several. */
	struct text events[RUN_ROLES_MAX];
	struct text full[RUN_ROLES_MAX]; /* "source:name" */
	uint32_t event_count;
	bool one_source;                       /* `events` are without it */
	struct runs_step steps[RUN_STEPS_MAX]; /* in the order of the model */
	uint32_t step_count;
	struct runs_wanted wanted;
	/* Of all runs, if `describe_all` is set before runs_select, or if one
	 * of them is wanted. */
	struct runs_descriptions descriptions;
	bool describe_all;
	/* runs_next returns runs whose first event is in [from_ns, to_ns);
	 * unless both are all of time, none without events. */
	int64_t from_ns, to_ns;
	uint64_t newest;   /* > 0: only this number, the newest first */
	uint64_t passed;   /* of the newest */
	struct text after; /* not empty: only those after this run */
	bool is_behind;    /* it was passed */

	char pattern[2 * NAME_BYTES_MAX +
		     2]; /* arguments of the last runs_select */
	char group[2 * (2 * NAME_BYTES_MAX + 1)]; /* as a list */
};

/* A run; a view, valid until the next call. */
struct runs_run {
	struct text id, group; /* group: empty if it has none */
	bool known, error; /* known: it has a description; error: it ended with
			      an error */
	enum run_state state;
	bool has_time; /* it has events */
	int64_t time_ns;
	struct run_events events;
};

struct runs_options;

/* Read the events and steps of the model and the clocks of the nodes, and note
 * the window.  -1 also when it has no runs.  Clear it in any case. */
int runs_open(struct runs *runs, struct source *source, struct text partition,
    const struct runs_options *options, struct err *err);
void runs_clear(struct runs *runs);

/* Select all runs, or those of matching groups (a pattern, or empty) or with
 * matching ids (a pattern, or empty), in the order of their appearance, or the
 * newest of them. */
int runs_select(
    struct runs *runs, struct text id, struct text group, struct err *err);
/* Like source_next.  The events are in the order of their corrected times. */
int runs_next(struct runs *runs, struct runs_run *run, struct err *err);

/* Is any clock corrected?  Then the statistics of the store, which go by the
 * stored times, are not those of the runs. */
bool runs_are_corrected(const struct runs *runs);

/* How many events of a role there are, with those of which only the number is
 * stored. */
uint64_t runs_count(
    const struct runs *runs, const struct runs_run *run, uint32_t role);
/* The name of another event as it is shown.  Empty: it has a role. */
struct text runs_other_name(const struct runs *runs, struct text event);
/* Other events beyond the names that a run can have are shown by this name. */
#define RUNS_OTHERS "_other"

/* The time of a run in a step: the sum of its iterations.  False: it does not
 * have the step. */
bool runs_total(const struct runs_run *run, const struct runs_step *step,
    enum run_clock clock, int64_t *ns);

/* How many durations by the times of receipt cannot be what happened: they
 * differ from those by the times of emission by more than half.  A spool that
 * is sent at once makes them all nearly 0. */
struct runs_doubt {
	uint64_t durations, doubtful;
};
bool runs_is_doubtful(double received, double emitted);
void runs_doubt_add(struct runs_doubt *doubt, const struct runs_run *run,
    const struct runs_step *step);
/* Log it if there are any; `what` they are: "durations". */
void runs_doubt_warn(const struct runs_doubt *doubt, const char *what);

/* Are the wanted runs chosen by their descriptions? */
bool runs_wants_some(const struct runs_wanted *wanted);

/* Is there a window? */
bool runs_has_window(int64_t from_ns, int64_t to_ns);

/* Parse a record of the statistics. */
int64_t runs_get_int(const struct record *record, const char *key);

/*
 * Selection of runs and of their times: options shared by statistics and
 * pictures.
 */
enum runs_option {
	RUNS_MODEL,
	RUNS_TIME,
	RUNS_GROUP,
	RUNS_RUN,
	RUNS_NEWEST,
	RUNS_AFTER
};

/* Initialize it with RUNS_DEFAULT. */
struct runs_options {
	const char *model, *group; /* group: NULL for all */
	int time;                  /* enum run_clock */
	int64_t from_ns, to_ns;    /* the window; set by the program */
	uint64_t newest;           /* 0: all */
	const char *after;         /* of the newest; NULL: from the first on */
	struct opt_list ids;       /* none: all runs */
	struct runs_wanted wanted;
};
#define RUNS_DEFAULT                                                           \
	{                                                                      \
		.model = "testrun", .time = RUN_EMIT, .from_ns = TIME_MIN_NS,  \
		.to_ns = TIME_MAX_NS                                           \
	}

/* --model, --time, --group, --run, --newest, --after, indexed by enum
 * runs_option; bound to struct runs_options. */
extern const struct opt runs_options[];

/* Was it given on the command line? */
bool runs_option_is_given(enum runs_option option);

/*
 * run_rows - what answers about test runs have in common: which runs, the
 * columns of their steps, and what they note about all rows.
 */

/* A column for each step, in the order of the model. */
#define RUN_ROWS_STEP_COLUMNS                                                  \
	ANSWER_FAMILY("step.*", ANSWER_SECONDS, "s",                           \
	    "how long the step of this name took; unknown: it has no such "    \
	    "step")
void run_rows_add_steps(const struct runs *runs, struct answer *answer);

/* In the head: the model, and which of the two times of an event counts; the
 * line above a table says it after `what` the rows are. */
extern const struct answer_column run_rows_head[];
void run_rows_put_head(const struct runs *runs,
    const struct runs_options *options, const char *what,
    struct answer *answer);

/* The options that choose runs.  -1: they do not fit together. */
#define RUN_ROWS_OPTIONS                                                       \
	"model group queue configuration requestor error state run newest "    \
	"after start gap from to sort top columns"
int run_rows_check(const struct runs_options *options, struct err *err);

/* Call `put` for each of the runs; it returns 0 to go on.  -1 also when there
 * is none, or not one that is named. */
int run_rows_each(struct runs *runs, const struct runs_options *options,
    int (*put)(void *arg, const struct runs_run *run), void *arg,
    struct err *err);

/* The group of a run; unknown: nothing describes the run. */
struct text run_rows_group(const struct runs_run *run);

/* Note it if durations cannot be what happened; `what` they are. */
void run_rows_note_doubt(
    const struct runs_doubt *doubt, const char *what, struct answer *answer);

/* How many events of each name a run has. */

struct run_tally {
	struct text name;
	uint64_t count;
};

/* Of each role, then of the other names. */
struct run_tallies {
	struct run_tally at[RUN_ROLES_MAX + RUN_NAMES_MAX + 1];
	uint32_t roles, count;
	uint64_t events; /* of all names */
};

void run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run);

#endif
