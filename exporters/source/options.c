/*
 * starts_options - which start, and what parts two starts.
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>

#include "exporters/source/starts.h"
#include "proto/os/clock.h"

const struct opt starts_options[] = {
	{ "start", 0, OPT_TIME, OPT_TO(struct starts_options, start_ns), "TIME",
	    "only what belongs to the start that had begun at TIME, or to the "
	    "newest one, or to all",
	    "newest|all", false },
	{ "gap", 0, OPT_DURATION, OPT_TO(struct starts_options, gap_ns), "TIME",
	    "a pause longer than TIME parts two starts (default: 10m)", NULL,
	    false },
	{ .name = NULL },
};

int
starts_options_judge(const struct starts_options *options, int64_t from_ns,
    int64_t to_ns, struct err *err)
{
	if (options->gap_ns < NS_PER_SECOND)
		return err_set(err, "gap: a pause has at least 1s");
	if (options->start_ns != TIME_MIN_NS &&
	    (from_ns != TIME_MIN_NS || to_ns != TIME_MAX_NS))
		return err_set(
		    err, "start: is a window of its own, without from and to");
	return 0;
}

void
starts_options_check(
    const struct starts_options *options, int64_t from_ns, int64_t to_ns)
{
	struct err err = { 0 };

	if (starts_options_judge(options, from_ns, to_ns, &err) != 0)
		opt_usage("--%s", err.text);
}
