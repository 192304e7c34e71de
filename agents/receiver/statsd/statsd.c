/*
 * statsd - numbers that programs send as datagrams of statsd or DogStatsD.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/statsd.h"

#include <poll.h>
#include <stdlib.h>

#include "agents/receiver/statsd/event.h"
#include "agents/receiver/statsd/series.h"
#include "agents/receiver/statsd/socket.h"
#include "agents/submit/prometheus_page.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* A sender that never ends must not hold up the stop. */
#define DRAIN_NS NS_PER_SECOND

enum {
	/* Calls for a socket, before the clock is looked at. */
	ROUNDS = 16,
	SOCKETS = 2,
};

struct statsd {
	struct receiver_source source; /* first: freed with it */
	char path[INSTANCE_PATH_BYTES];
	struct statsd_socket socket[SOCKETS];
	struct statsd_batch *batch;
	struct statsd_series *series;
	/* A submission has events or numbers. */
	struct submit *numbers, *events;
	uint64_t pending; /* events that are not submitted yet */
	bool one_by_one;  /* submit each group alone */
	/* When that was logged. */
	int64_t lost_ns, waits_ns;
	struct compose compose;
};

/* ---- lines ---- */

static bool
is_on_disk(enum submit_result result)
{
	return result == SUBMIT_DONE || result == SUBMIT_FORBIDDEN;
}

static bool
take_event(
    struct statsd *statsd, const struct statsd_line *line, struct text text)
{
	enum submit_result result;
	struct err err = { 0 };

	if (statsd_event_compose(&statsd->compose, line, &err) != 0) {
		report_bad(&statsd->source.report, "event", text, err.text, 1);
		return false;
	}
	result = submit_add(statsd->events, &statsd->compose, &err);
	if (!is_on_disk(result)) {
		/* Those before it went with the submission. */
		report_bad(&statsd->source.report, "agent", text, err.text,
		    statsd->pending + 1);
		statsd->pending = 0;
		return false;
	}
	statsd->pending++;
	return true;
}

static bool
take_line(struct statsd *statsd, struct text text, int64_t now_ns)
{
	struct receiver_report *report = &statsd->source.report;
	struct statsd_line line;
	enum statsd_fault fault = statsd_line_parse(&line, text);

	if (fault == STATSD_OK &&
	    (line.type == STATSD_EVENT || line.type == STATSD_CHECK))
		return take_event(statsd, &line, text);
	if (fault == STATSD_OK)
		fault = statsd_series_add(statsd->series, &line, now_ns);
	if (fault == STATSD_SERIES)
		report_refused(report, line.name, 1);
	else if (fault != STATSD_OK)
		report_bad(report, statsd_fault_word(fault), text,
		    statsd_fault_sentence(fault), 1);
	return fault == STATSD_OK;
}

static uint64_t
take_datagram(struct statsd *statsd, struct text rest, int64_t now_ns)
{
	uint64_t taken = 0;
	struct text text;

	while (text_next_line(&rest, &text)) {
		if (text.bytes > 0 && text.at[text.bytes - 1] == '\r')
			text.bytes--;
		if (text.bytes > 0)
			taken += take_line(statsd, text, now_ns);
	}
	return taken;
}

/* Returns how many datagrams there were. */
static uint32_t
receive(struct statsd *statsd, const struct statsd_socket *from)
{
	uint32_t count = statsd_batch_receive(statsd->batch, from);
	int64_t now_ns = clock_monotonic_ns();
	uint64_t taken = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool is_cut;
		struct text datagram =
		    statsd_batch_datagram(statsd->batch, i, &is_cut);

		if (is_cut)
			report_bad(&statsd->source.report, "datagram", datagram,
			    "a datagram has at most 64 KiB", 1);
		else
			taken += take_datagram(statsd, datagram, now_ns);
	}
	report_taken(&statsd->source.report, taken);
	return count;
}

static void
flush_events(struct statsd *statsd)
{
	struct err err = { 0 };

	enum submit_result result = submit_flush(statsd->events, &err);

	if (!is_on_disk(result))
		report_bad(&statsd->source.report, "agent", text_of("events"),
		    err.text, statsd->pending);
	statsd->pending = 0;
}

/* Is there more to receive? */
static bool
receive_all(struct statsd *statsd)
{
	bool more = false;

	for (int i = 0; i < SOCKETS; i++) {
		uint32_t count = 0;

		for (int k = 0; k < ROUNDS && statsd->socket[i].fd >= 0; k++) {
			count = receive(statsd, &statsd->socket[i]);
			if (count == 0)
				break;
		}
		more |= count > 0;
	}
	flush_events(statsd);
	return more;
}

/* ---- numbers ---- */

struct passing {
	struct statsd *statsd;
	enum submit_result result;
	struct err err;
};

static enum statsd_put
on_group(void *arg, const struct dynamic_group *group)
{
	struct passing *passing = arg;
	struct statsd *statsd = passing->statsd;
	enum submit_result result = prometheus_page_add(
	    statsd->numbers, &statsd->compose, group, &passing->err);

	if (statsd->one_by_one && result == SUBMIT_DONE)
		result = submit_flush(statsd->numbers, &passing->err);
	if (statsd->one_by_one && result == SUBMIT_FAILED) {
		report_refused(&statsd->source.report, group->number[0].name,
		    group->numbers);
		return STATSD_PUT_REFUSED;
	}
	passing->result = result;
	return is_on_disk(result) ? STATSD_PUT : STATSD_PUT_END;
}

static void
tell_losses(struct statsd *statsd)
{
	uint64_t lost = 0;

	for (int i = 0; i < SOCKETS; i++)
		if (statsd->socket[i].fd >= 0)
			lost += statsd_socket_lost(&statsd->socket[i]);
	report_lost(&statsd->source.report, lost);
	if (lost > 0 && log_is_due(&statsd->lost_ns))
		log_warn("statsd: %llu datagrams were lost for want of room at "
			 "the UDP socket; the Unix socket loses none, a larger "
			 "sysctl net.core.rmem_max makes room",
		    (unsigned long long)lost);
}

/* Until its numbers are on disk the period goes on.  When the agent refuses a
 * submission, the next one has one group only, to find those that it refuses.
 */
static void
publish(struct statsd *statsd)
{
	struct passing passing = { .statsd = statsd, .result = SUBMIT_DONE };
	int64_t now_ns = clock_monotonic_ns();

	tell_losses(statsd);
	if (statsd_series_put(statsd->series, statsd->source.receiver->boot,
		now_ns, clock_wall_ns(), on_group, &passing) == 0)
		passing.result = submit_flush(statsd->numbers, &passing.err);
	statsd->one_by_one = passing.result == SUBMIT_FAILED;
	if (is_on_disk(passing.result))
		statsd_series_next_period(statsd->series, now_ns);
	else if (log_is_due(&statsd->waits_ns))
		log_warn("statsd: the numbers of this period wait for the "
			 "next: %s",
		    passing.err.text);
}

/* ---- the source ---- */

static void
wait_for_some(const struct statsd *statsd, int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_monotonic_ns();
	struct timespec time = { .tv_sec = 0 };
	struct pollfd pollfd[SOCKETS + 1];

	pollfd[SOCKETS] =
	    (struct pollfd){ statsd->source.receiver->stop_fd, POLLIN, 0 };
	for (int i = 0; i < SOCKETS; i++)
		pollfd[i] = (struct pollfd){ statsd->socket[i].fd, POLLIN, 0 };
	/* A second at most: a socket that was made again is another one. */
	if (left_ns >= NS_PER_SECOND)
		time.tv_sec = 1;
	else if (left_ns > 0)
		time.tv_nsec = left_ns;
	(void)ppoll(pollfd, SOCKETS + 1, &time, NULL);
}

static void
run(struct receiver_source *source)
{
	struct statsd *statsd = source->arg;
	int64_t period_ns = source->receiver->settings.period_ns;
	int64_t next_ns = clock_monotonic_ns() + period_ns, now_ns;

	while (!receiver_is_stopping(source)) {
		wait_for_some(statsd, next_ns);
		receive_all(statsd);
		now_ns = clock_monotonic_ns();
		if (now_ns < next_ns)
			continue;
		publish(statsd);
		/* After a stall one period, not a burst. */
		next_ns += period_ns;
		if (next_ns < now_ns)
			next_ns = now_ns + period_ns;
	}
	now_ns = clock_monotonic_ns();
	while (receive_all(statsd) && clock_monotonic_ns() - now_ns < DRAIN_NS)
		;
	publish(statsd);
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct statsd *statsd = source->arg;
	const struct receiver_settings *settings = &source->receiver->settings;

	if (statsd_socket_open_unix(&statsd->socket[0], statsd->path, err) != 0)
		return -1;
	return settings->statsd_udp != NULL
		   ? statsd_socket_open_udp(
			 &statsd->socket[1], settings->statsd_udp, err)
		   : 0;
}

static void
close_it(struct receiver_source *source)
{
	struct statsd *statsd = source->arg;

	for (int i = 0; i < SOCKETS; i++)
		statsd_socket_close(&statsd->socket[i]);
	statsd_batch_free(&statsd->batch);
	statsd_series_free(&statsd->series);
	submit_free(&statsd->numbers);
	submit_free(&statsd->events);
	free(statsd);
}

int
statsd_check(const struct receiver_settings *settings, struct err *err)
{
	if (settings->statsd_udp != NULL &&
	    statsd_socket_check(settings->statsd_udp, err) != 0)
		return err_prefix_option(err, "statsd-udp");
	return 0;
}

int
statsd_add(struct receiver *receiver, struct err *err)
{
	const char *path = receiver->settings.statsd_socket;
	struct statsd *statsd = memory_zero(1, sizeof(*statsd));

	statsd->source = (struct receiver_source){ .name = "statsd",
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = statsd };
	for (int i = 0; i < SOCKETS; i++)
		statsd->socket[i].fd = -1;
	statsd_batch_new(&statsd->batch);
	statsd_series_new(&statsd->series);
	submit_new(&statsd->numbers, &receiver->submit);
	submit_new(&statsd->events, &receiver->submit);
	if (path == NULL &&
	    instance_path(statsd->path, "run/statsd.sock", err) != 0)
		return -1;
	if (path != NULL)
		snprintf(statsd->path, sizeof(statsd->path), "%s", path);
	return receiver_add(receiver, &statsd->source, err);
}

void
statsd_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox)
{
	sandbox_socket_or(sandbox, settings->statsd_socket, "run/statsd.sock");
}
