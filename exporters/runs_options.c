/*
 * runs_options - which runs, and which of their times.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs_options.h"

#include "proto/run.h"

struct runs_values runs_values = { .model = "testrun", .time = RUN_RECEIVE };

const struct opt runs_options[] = {
	[RUNS_MODEL] = { "model", 0, OPT_TEXT, &runs_values.model, "NAME",
	    "testrun: the model of the runs (testrun)", NULL, false },
	[RUNS_TIME] = { "time", 0, OPT_CHOICE, &runs_values.time, "WHICH",
	    "testrun: of the events, when emitted or (default) received",
	    "emit|receive", false },
	[RUNS_GROUP] = { "group", 0, OPT_TEXT, &runs_values.group, "PATTERN",
	    "testrun: only runs of groups like this", NULL, false },
	{ .name = NULL },
};

bool
runs_option_is_given(enum runs_option option)
{
	return opt_origin(&runs_options[option]) == OPT_COMMAND_LINE;
}
