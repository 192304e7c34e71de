/*
 * run_rows - what answers about test runs share.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/run_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static void
add(struct run_tallies *tallies, struct text name, uint64_t count)
{
	tallies->at[tallies->count++] = (struct run_tally){ name, count };
	tallies->events += count;
}

void
run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run)
{
	const struct run_events *events = &run->events;
	uint64_t unnamed = events->overflow;

	tallies->count = 0;
	tallies->events = 0;
	for (uint32_t i = 0; i < runs->event_count; i++)
		add(tallies, runs->events[i], runs_count(runs, run, i));
	tallies->roles = tallies->count;
	for (uint32_t i = 0; i < events->others; i++) {
		struct text name =
		    runs_other_name(runs, events->other[i].event);

		if (text_equal(name, text_of(RUNS_OTHERS)))
			unnamed += events->other[i].count;
		else if (name.bytes > 0)
			add(tallies, name, events->other[i].count);
	}
	if (unnamed > 0)
		add(tallies, text_of(RUNS_OTHERS), unnamed);
}

/* ---- columns and head ---- */

void
run_rows_add_steps(const struct runs *runs, struct answer *answer)
{
	for (uint32_t i = 0; i < runs->step_count; i++) {
		struct text name = runs->steps[i].name;
		char *key =
		    memory_format("step.%.*s", (int)name.bytes, name.at);

		answer_add_column(answer, text_of(key), key + strlen("step."),
		    ANSWER_SECONDS, "s");
		free(key);
	}
}

const struct answer_column run_rows_head[] = {
	{ "model", NULL, ANSWER_TEXT, 0, NULL,
	    "the model that says which events and steps a run has", false,
	    NULL },
	{ "time", NULL, ANSWER_TEXT, 0, NULL,
	    "which time of an event counts: emit or receive", false, NULL },
	{ .key = NULL },
};

void
run_rows_put_head(const struct runs *runs, const struct runs_options *options,
    const char *what, struct answer *answer)
{
	bool emitted = options->time == RUN_EMIT;
	char shown[300];

	answer_head(answer, "model", answer_text(runs->model));
	answer_head(
	    answer, "time", answer_string(emitted ? "emit" : "receive"));
	answer_title(answer, "%s of %s, seconds between events as %s", what,
	    text_quote(shown, sizeof(shown), runs->partition),
	    emitted ? "emitted" : "received");
}

struct text
run_rows_group(const struct runs_run *run)
{
	return run->known ? run->group : (struct text){ NULL, 0 };
}

void
run_rows_note_doubt(
    const struct runs_doubt *doubt, const char *what, struct answer *answer)
{
	if (doubt->doubtful > 0)
		answer_note(answer, "doubtful", doubt->doubtful,
		    "--time receive: %" PRIu64 " of %" PRIu64
		    " %s are not credible: events were delayed for longer than "
		    "half of the step; use --time emit, and see the delays "
		    "with 'stats skew'",
		    doubt->doubtful, doubt->durations, what);
}

/* ---- which runs ---- */

int
run_rows_check(const struct runs_options *options, struct err *err)
{
	const struct opt_list *ids = &options->ids;

	for (uint32_t i = 0; i < ids->count; i++)
		if (ids->at[i][0] == '\0' ||
		    strlen(ids->at[i]) > NAME_BYTES_MAX)
			return err_set_option(err, "run",
			    "takes the id of a run, of 1 to %d bytes",
			    NAME_BYTES_MAX);
	if (ids->count > 0 && options->newest > 0)
		return err_set_option(
		    err, "newest", "is for all runs, not for those of --run");
	if (options->after != NULL &&
	    (options->newest == 0 || options->after[0] == '\0'))
		return err_set_option(err, "after",
		    "takes the id of a run, and goes with --newest");
	return 0;
}

struct selecting {
	struct runs *runs;
	const struct runs_options *options;
	int (*put)(void *arg, const struct runs_run *run);
	void *arg;
};

static const char *
in_window(const struct runs_options *options)
{
	return runs_has_window(options->from_ns, options->to_ns)
		   ? " that began in that time"
		   : "";
}

static const char *
in_group(const struct runs_options *options)
{
	const struct runs_wanted *wanted = &options->wanted;

	if (wanted->state != 0 || runs_wants_some(wanted))
		return " with these properties";
	return options->group != NULL ? " in a matching group" : "";
}

/* `id`: empty for all. */
static int
select_runs(const struct selecting *selecting, struct text id, struct err *err)
{
	const struct runs_options *options = selecting->options;
	uint64_t count = 0;
	struct runs_run run;
	char shown[300];
	int rc;

	if (runs_select(selecting->runs, id, text_of(options->group), err) != 0)
		return -1;
	while ((rc = runs_next(selecting->runs, &run, err)) > 0) {
		/* The id may be a pattern, too. */
		if (id.bytes > 0 && !text_equal(run.id, id))
			continue;
		count++;
		if (selecting->put(selecting->arg, &run) != 0)
			return 0;
	}
	if (rc < 0 || count > 0)
		return rc;
	if (id.bytes > 0)
		return err_set(err, "no run '%s' of model %s%s%s",
		    text_quote(shown, sizeof(shown), id), options->model,
		    in_group(options), in_window(options));
	/* Behind the last run there is none, which is an answer. */
	return options->after != NULL
		   ? 0
		   : err_set(err, "no runs%s%s", in_group(options),
			 in_window(options));
}

static bool
is_repeated(const struct opt_list *list, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (strcmp(list->at[i], list->at[at]) == 0)
			return true;
	return false;
}

int
run_rows_each(struct runs *runs, const struct runs_options *options,
    int (*put)(void *arg, const struct runs_run *run), void *arg,
    struct err *err)
{
	const struct selecting selecting = { runs, options, put, arg };
	const struct opt_list *ids = &options->ids;
	int rc = 0;

	if (ids->count == 0)
		return select_runs(&selecting, text_of(""), err);
	for (uint32_t i = 0; rc == 0 && i < ids->count; i++)
		if (!is_repeated(ids, i))
			rc = select_runs(&selecting, text_of(ids->at[i]), err);
	return rc;
}
