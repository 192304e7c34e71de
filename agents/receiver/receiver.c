/*
 * receiver - what the sources of the receiver have in common.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/receiver.h"

#include <errno.h>
#include <poll.h>

#include "proto/os/clock.h"

int
receiver_add(
    struct receiver *receiver, struct receiver_source *source, struct err *err)
{
	if (receiver->sources == RECEIVER_SOURCES_MAX)
		return err_set(
		    err, "more than %d sources", RECEIVER_SOURCES_MAX);
	source->receiver = receiver;
	receiver_report_init(&source->report, source->name);
	receiver->source[receiver->sources++] = source;
	return 0;
}

static bool
stops_within(const struct receiver_source *source, int64_t ns)
{
	struct pollfd pollfd = { source->receiver->stop_fd, POLLIN, 0 };
	struct timespec time = { ns / NS_PER_SECOND, ns % NS_PER_SECOND };

	return ppoll(&pollfd, 1, &time, NULL) > 0;
}

bool
receiver_is_stopping(const struct receiver_source *source)
{
	return stops_within(source, 0);
}

bool
receiver_sleep(const struct receiver_source *source, int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_monotonic_ns();

	do
		if (stops_within(source, left_ns > 0 ? left_ns : 0))
			return false;
	while ((left_ns = until_ns - clock_monotonic_ns()) > 0);
	return true;
}
