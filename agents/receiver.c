/*
 * poolscope-receiver - takes the numbers of other programs on this host and
 * hands them to the agent.
 *
 * A thread for each source, and the loop of every service.  It has no key, no
 * spool and no state: what it has answered with success is in the agent's
 * spool, and what it had not is its clients' still.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agents/receiver/otlp/otlp.h"
#include "agents/receiver/publish.h"
#include "agents/receiver/receiver.h"
#include "agents/receiver/scrape.h"
#include "agents/receiver/script.h"
#include "agents/receiver/statsd/statsd.h"
#include "agents/receiver/textfile.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/thread.h"
#include "proto/service/service.h"

/* How often the end of the threads is looked for. */
#define STOP_POLL_NS (NS_PER_SECOND / 100)

/* The kinds of sources.  What publishes their reports comes last. */
static const struct receiver_kind kinds[] = {
	{ textfile_check, textfile_add, textfile_declare },
	{ script_check, script_add, NULL },
	{ scrape_check, scrape_add, scrape_declare },
	{ statsd_check, statsd_add, statsd_declare },
	{ otlp_check_settings, otlp_add, NULL },
	{ NULL, publish_add, NULL },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

struct process {
	struct receiver receiver; /* first: the values of options */
	struct thread thread[RECEIVER_SOURCES_MAX];
	struct thread_watcher watcher;
	struct loop_timer stopping;
	struct loop *loop;
	uint32_t opened; /* sources */
};

static int
check(const void *values, struct err *err)
{
	const struct receiver_settings *settings = values;

	if (settings->timeout_ns <= 0)
		return err_set_option(err, "timeout", "must be greater than 0");
	if (settings->period_ns < NS_PER_SECOND / 10)
		return err_set_option(err, "period", "must be at least 100ms");
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].check != NULL &&
		    kinds[i].check(settings, err) != 0)
			return -1;
	return 0;
}

static int
prepare(void *arg, struct err *err)
{
	struct process *process = arg;
	struct receiver *receiver = &process->receiver;
	const char *socket = receiver->settings.socket;

	if (socket == NULL) {
		if (instance_path(receiver->socket, "run/agent.sock", err) != 0)
			return -1;
		socket = receiver->socket;
	}
	receiver->submit = (struct submit_options){
		.socket = socket,
		.quiet = true,
		.timeout_ns = receiver->settings.timeout_ns,
	};
	receiver->boot = (uint64_t)clock_wall_ns();
	receiver->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (receiver->stop_fd < 0)
		return err_set(err, "eventfd: %s", strerror(errno));
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].add(receiver, err) != 0)
			return -1;
	return 0;
}

static bool
declare_files(const void *values, struct sandbox *sandbox)
{
	const struct receiver_settings *settings = values;

	for (int i = 0; i < KINDS; i++)
		if (kinds[i].declare != NULL)
			kinds[i].declare(settings, sandbox);
	return true;
}

static int
run(void *arg, struct err *err)
{
	struct receiver_source *source = arg;

	source->run(source);
	return receiver_is_stopping(source)
		   ? 0
		   : err_set(err, "ended unexpectedly");
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct process *process = arg;
	struct receiver *receiver = &process->receiver;

	process->loop = loop;
	process->watcher = loop_watcher(loop);
	for (; process->opened < receiver->sources; process->opened++) {
		struct receiver_source *source =
		    receiver->source[process->opened];

		if (source->open != NULL && source->open(source, err) != 0)
			return err_prefix(err, "%s", source->name);
	}
	for (uint32_t i = 0; i < receiver->sources; i++) {
		const struct thread_options options = {
			.name = receiver->source[i]->name,
			.run = run,
			.arg = receiver->source[i],
		};

		if (thread_start(&process->thread[i], &options,
			&process->watcher, err) != 0)
			return -1;
	}
	return 0;
}

static bool
is_running(const struct process *process)
{
	for (uint32_t i = 0; i < process->receiver.sources; i++)
		if (thread_is_running(&process->thread[i]))
			return true;
	return false;
}

static void
on_stopping(void *arg, struct loop_timer *timer)
{
	struct process *process = arg;

	(void)timer;
	if (!is_running(process))
		loop_quit(process->loop, EXIT_SUCCESS);
}

static void
signal_stop(struct process *process)
{
	const uint64_t one = 1;

	atomic_store(&process->receiver.stopping, true);
	(void)!write(process->receiver.stop_fd, &one, sizeof(one));
}

/* A source that waits for an agent may take a while: --stop-timeout ends it. */
static void
stop(void *arg, struct loop *loop)
{
	struct process *process = arg;

	signal_stop(process);
	process->stopping.on_timer = on_stopping;
	process->stopping.arg = process;
	loop_set_timer(
	    loop, &process->stopping, clock_monotonic_ns(), STOP_POLL_NS);
}

static void
clear(void *arg)
{
	struct process *process = arg;
	struct receiver *receiver = &process->receiver;

	signal_stop(process);
	for (uint32_t i = receiver->sources; i-- > 0;) {
		struct receiver_source *source = receiver->source[i];
		struct thread *thread = &process->thread[i];

		/* The process ends without it. */
		if (thread_is_running(thread))
			continue;
		thread_stop(thread);
		if (source->close != NULL)
			source->close(source);
	}
}

int
main(int argc, char **argv)
{
	/* A thread that does not stop in time has it when main returns. */
	struct process *process = memory_zero(1, sizeof(*process));
	const struct service service = {
		.name = "poolscope-receiver",
		.summary = "take the numbers of other programs on this host "
			   "and hand them to the agent",
		.examples = "poolscope receiver\n"
			    "poolscope receiver --textfile "
			    "/var/lib/prometheus/node-exporter\n",
		.options = receiver_settings_table,
		.values = &process->receiver.settings,
		.arg = process,
		.check = check,
		.prepare = prepare,
		.declare_files = declare_files,
		.start = start,
		.stop = stop,
		.clear = clear,
	};

	process->receiver.settings = receiver_settings_default;
	return service_main(&service, argc, argv);
}
