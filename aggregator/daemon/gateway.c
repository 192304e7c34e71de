/*
 * gateway - an aggregator without a store: readers read an archive through it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/gateway.h"

#include <stdlib.h>

#include "aggregator/archive/read/read.h"
#include "aggregator/daemon/status.h"
#include "aggregator/query/server.h"
#include "proto/auth/auth.h"
#include "proto/base/memory.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { QUEUE = 4 }; /* messages */

#define LOOK_NS (5 * NS_PER_SECOND)

struct gateway {
	const struct aggregator_settings_given *given;
	struct aggregator_settings settings;
	struct auth *auth;
	struct archive_read_state *state;
	struct reader *reader; /* those of the threads are opened next to it */
	struct query_server *query_server;
	struct loop *loop;
	struct loop_timer look;
	bool is_failing; /* and the log says so */
};

/* ---- for the query server, in any of its threads ---- */

static void
put_status(void *arg, const struct query_server_status *query_server,
    struct wire_writer *w)
{
	struct gateway *gateway = arg;
	struct archive_read_status read;
	struct auth_counters auth;

	archive_read_look(gateway->state, &read);
	auth_counters(gateway->auth, &auth);
	status_put_gateway(w, text_of(gateway->settings.node), &read,
	    query_server, &auth, gateway->given->insecure);
}

/* ---- start and stop ---- */

static int
open_auth(struct gateway *gateway, struct loop *loop, struct err *err)
{
	const struct opt_list *listen = &gateway->given->reader;
	const struct auth_options how = {
		.server_key = gateway->given->server_key,
		.listeners = !gateway->given->insecure &&
			     endpoint_any_tcp(listen->at, listen->count),
		.watcher = loop_watcher(loop),
	};

	return auth_open(&gateway->auth, &how, err);
}

static int
open_archive(struct gateway *gateway, struct err *err)
{
	const struct archive_read_options how = {
		.clickhouse = aggregator_settings_clickhouse(gateway->given),
		.option = "archive-only",
		.state = gateway->state,
	};

	return archive_read_open(&gateway->reader, &how, err);
}

static int
open_server(struct gateway *gateway, struct err *err)
{
	const struct query_server_source source = {
		.reader = gateway->reader,
		.status = put_status,
		.arg = gateway,
	};
	const struct query_server_options how = {
		.auth = gateway->auth,
		.listen = &gateway->given->reader,
		.queue_messages = QUEUE,
		.insecure = gateway->given->insecure,
		.connects_per_second = (uint32_t)gateway->given->connects,
		.generation = reader_generation(gateway->reader),
	};

	return query_server_open(&gateway->query_server, &how, &source, err);
}

/* The log says once that answers get old, and once that they do not any more.
 */
static void
on_look(void *arg, struct loop_timer *timer)
{
	struct gateway *gateway = arg;
	char when[CLOCK_TEXT_BYTES];
	struct archive_read_status status;
	bool is_failing;

	(void)timer;
	archive_read_look(gateway->state, &status);
	is_failing = status.error[0] != '\0';
	if (is_failing && !gateway->is_failing)
		log_warn("the archive is not read, answers are as of %s; "
			 "trying again: %s",
		    clock_text(when, status.until_ns, 0), status.error);
	else if (!is_failing && gateway->is_failing)
		log_info("the archive is read again");
	gateway->is_failing = is_failing;
}

static void
log_start(struct gateway *gateway)
{
	struct archive_read_status status;

	archive_read_look(gateway->state, &status);
	log_info("reading an archive of %llu partitions",
	    (unsigned long long)status.partitions);
	for (uint32_t i = 0; i < gateway->given->reader.count; i++)
		log_info("listening for readers on %s",
		    gateway->given->reader.at[i]);
}

int
gateway_open(struct gateway **to, struct aggregator_settings_given *given,
    struct loop *loop, struct err *err)
{
	const struct thread_watcher watcher = loop_watcher(loop);
	struct gateway *gateway = *to = memory_zero(1, sizeof(*gateway));

	gateway->state = archive_read_state_new();
	gateway->given = given;
	gateway->loop = loop;
	gateway->look =
	    (struct loop_timer){ .on_timer = on_look, .arg = gateway };
	if (aggregator_settings_resolve(given, &gateway->settings, err) != 0 ||
	    aggregator_settings_readers(given, &gateway->settings, err) != 0 ||
	    open_auth(gateway, loop, err) != 0 ||
	    open_archive(gateway, err) != 0 || open_server(gateway, err) != 0)
		return -1;
	log_start(gateway);
	loop_set_timer(
	    loop, &gateway->look, clock_monotonic_ns() + LOOK_NS, LOOK_NS);
	return query_server_start(gateway->query_server, &watcher, err);
}

void
gateway_close(struct gateway **gateway)
{
	struct gateway *old = *gateway;

	if (old == NULL)
		return;
	loop_stop_timer(old->loop, &old->look);
	query_server_close(&old->query_server);
	reader_close(&old->reader);
	archive_read_state_free(&old->state);
	auth_close(&old->auth);
	free(old);
	*gateway = NULL;
}

int
gateway_renew_auth(struct gateway *gateway, struct err *err)
{
	bool rekeyed = false;

	if (auth_reload(gateway->auth, &rekeyed, err) != 0)
		return -1;
	if (rekeyed) {
		log_info("the server key has changed: binding the TCP "
			 "listeners again");
		query_server_rekey(gateway->query_server);
	}
	return 0;
}
