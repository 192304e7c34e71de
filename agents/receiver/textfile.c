/*
 * textfile - numbers that programs leave in files.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/textfile.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

static void
run(struct receiver_source *source)
{
	int64_t period_ns = source->receiver->settings.textfile_period_ns;
	int64_t next_ns = clock_monotonic_ns();

	while (receiver_sleep(source, next_ns))
		next_ns += period_ns;
}

static void
close_it(struct receiver_source *source)
{
	free(source);
}

int
textfile_check(const struct receiver_settings *settings, struct err *err)
{
	if (settings->textfile_period_ns < NS_PER_SECOND)
		return err_set_option(
		    err, "textfile-period", "must be at least 1s");
	return 0;
}

int
textfile_add(struct receiver *receiver, struct err *err)
{
	struct receiver_source *source = memory_zero(1, sizeof(*source));

	source->name = "textfile";
	source->run = run;
	source->close = close_it;
	return receiver_add(receiver, source, err);
}

void
textfile_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox)
{
	sandbox_read_or(sandbox, settings->textfile, "metrics.d");
}
