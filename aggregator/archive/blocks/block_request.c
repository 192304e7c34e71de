/*
 * block_request - a block on its way to a shard, in a thread of its own.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/blocks/block_request.h"

#include "proto/os/heartbeat.h"

/* One replica after another, beginning with the one that took the last. */
static void
send_block(void *arg)
{
	struct block_request *request = arg;
	unsigned order[CLICKHOUSE_REPLICAS_MAX];
	unsigned replicas =
	    clickhouse_cluster(request->client)->shard[request->shard].replicas;

	request->resends = 0;
	request->is_stored = false;
	err_set(&request->err, "shard %u has no replica", request->shard + 1);
	(void)clickhouse_order(
	    request->client, request->shard, request->replica, order);
	for (unsigned i = 0; i < replicas; i++) {
		request->replica = order[i];
		request->is_stored =
		    clickhouse_insert(request->client, request->shard,
			request->replica, request->table,
			buffer_text(&request->block), &request->err) == 0;
		if (request->is_stored)
			return;
		request->resends++;
	}
}

void
block_request_await(struct block_request *request)
{
	if (request->worker == NULL)
		return;
	/* A replica may take longer than the watchdog waits. */
	heartbeat_rest();
	worker_await(request->worker);
	heartbeat_beat();
}

bool
block_request_is_idle(const struct block_request *request)
{
	return request->worker == NULL || worker_is_idle(request->worker);
}

int
block_request_begin(struct block_request *request,
    const struct clickhouse *client, struct err *err)
{
	if (request->client == NULL &&
	    clickhouse_open_again(&request->client, client, err) != 0)
		return -1;
	if (request->worker == NULL)
		request->worker = worker_new(send_block, request);
	clickhouse_take_cluster(request->client, client);
	worker_begin(request->worker);
	return 0;
}

void
block_request_clear(struct block_request *request)
{
	worker_free(&request->worker);
	clickhouse_close(&request->client);
	buffer_clear(&request->block);
}
