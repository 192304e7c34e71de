/*
 * silence - servers that did not answer within their time.
 * SPDX-License-Identifier: MIT
 */
#include "proto/clickhouse/silence.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

struct silent {
	struct clickhouse_host host; /* port 0: none */
	int64_t since_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct silent all[SILENCE_HOSTS_MAX];

static struct silent *
find(const struct clickhouse_host *host)
{
	for (unsigned i = 0; i < SILENCE_HOSTS_MAX; i++)
		if (all[i].host.port == host->port &&
		    strcasecmp(all[i].host.name, host->name) == 0)
			return &all[i];
	return NULL;
}

/* One that is free, otherwise the oldest. */
static struct silent *
find_room(void)
{
	struct silent *room = &all[0];

	for (unsigned i = 1; i < SILENCE_HOSTS_MAX && room->host.port != 0; i++)
		if (all[i].host.port == 0 || all[i].since_ns < room->since_ns)
			room = &all[i];
	return room;
}

void
silence_begin(const struct clickhouse_host *host, int64_t now_ns)
{
	struct silent *silent;

	pthread_mutex_lock(&lock);
	silent = find(host);
	if (silent == NULL)
		silent = find_room();
	*silent = (struct silent){ *host, now_ns };
	pthread_mutex_unlock(&lock);
}

void
silence_end(const struct clickhouse_host *host)
{
	struct silent *silent;

	pthread_mutex_lock(&lock);
	silent = find(host);
	if (silent != NULL)
		silent->host = (struct clickhouse_host){ .port = 0 };
	pthread_mutex_unlock(&lock);
}

bool
silence_is(const struct clickhouse_host *host, int64_t at_ns)
{
	const struct silent *silent;
	bool is;

	pthread_mutex_lock(&lock);
	silent = find(host);
	is = silent != NULL && silent->since_ns <= at_ns &&
	     at_ns < silent->since_ns + SILENCE_NS;
	pthread_mutex_unlock(&lock);
	return is;
}
