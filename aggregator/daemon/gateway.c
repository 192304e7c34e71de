/*
 * gateway - an aggregator without a store: readers read an archive through it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/gateway.h"

#include <stdlib.h>

#include "aggregator/archive/mirror/mirror.h"
#include "aggregator/daemon/status.h"
#include "aggregator/query/server.h"
#include "proto/auth/auth.h"
#include "proto/base/memory.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { QUEUE = 4 }; /* messages */

#define LOOK_NS (5 * NS_PER_SECOND)
#define LATE_NS (6 * MIRROR_FOLLOW_NS)

struct gateway {
	const struct aggregator_settings_given *given;
	struct aggregator_settings settings;
	char dir[INSTANCE_PATH_BYTES];
	struct auth *auth;
	struct mirror *mirror;
	struct reader *reader; /* those of the threads are opened next to it */
	struct query_server *query_server;
	struct loop *loop;
	struct loop_timer look;
	bool is_failing; /* and the log says so */
};

/* ---- for the query server, in any of its threads ---- */

static int
answer(void *arg, struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    int64_t wait_ns, struct err *err)
{
	struct gateway *gateway = arg;
	int rc = mirror_answer(
	    gateway->mirror, reader, header, query, w, last, wait_ns, err);

	if (rc == MIRROR_FETCHING)
		return QUERY_SERVER_FETCHING;
	return rc == MIRROR_DONE ? 0 : -1;
}

static void
put_status(void *arg, const struct query_server_status *query_server,
    struct wire_writer *w)
{
	struct gateway *gateway = arg;
	struct mirror_status mirror;
	struct auth_counters auth;

	mirror_status(gateway->mirror, &mirror);
	auth_counters(gateway->auth, &auth);
	status_put_gateway(w, text_of(gateway->settings.node), &mirror,
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
open_mirror(struct gateway *gateway, struct err *err)
{
	const struct mirror_options how = {
		.clickhouse = aggregator_settings_clickhouse(gateway->given),
		.option = "archive-only",
		.dir = gateway->dir,
		.bytes = gateway->given->archive_bytes,
		.follows = true,
	};

	if (instance_path(gateway->dir, "run", err) != 0 ||
	    instance_make_dir(gateway->dir, err) != 0 ||
	    mirror_open(&gateway->mirror, &how, err) != 0)
		return -1;
	return mirror_reader(gateway->mirror, &gateway->reader, err);
}

static int
open_server(struct gateway *gateway, struct err *err)
{
	const struct query_server_source source = {
		.reader = gateway->reader,
		.answer = answer,
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
	struct mirror_status status;
	bool is_failing;

	(void)timer;
	mirror_status(gateway->mirror, &status);
	is_failing = clock_wall_ns() - status.until_ns > LATE_NS;
	if (is_failing && !gateway->is_failing)
		log_warn("the archive is not read, answers are as of %s; "
			 "trying again: %s",
		    clock_text(when, status.until_ns, 0),
		    status.error[0] != '\0' ? status.error : "it takes long");
	else if (!is_failing && gateway->is_failing)
		log_info("the archive is read again");
	gateway->is_failing = is_failing;
}

static void
log_start(const struct gateway *gateway)
{
	struct mirror_status status;

	mirror_status(gateway->mirror, &status);
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

	gateway->given = given;
	gateway->loop = loop;
	gateway->look =
	    (struct loop_timer){ .on_timer = on_look, .arg = gateway };
	if (aggregator_settings_resolve(given, &gateway->settings, err) != 0 ||
	    aggregator_settings_readers(given, &gateway->settings, err) != 0 ||
	    open_auth(gateway, loop, err) != 0 ||
	    open_mirror(gateway, err) != 0 || open_server(gateway, err) != 0)
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
	mirror_close(&old->mirror);
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
