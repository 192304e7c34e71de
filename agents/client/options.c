/*
 * client_options - the options of this process: from the program, the
 * environment, or the defaults.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/client/client_private.h"
#include "proto/hash/hash.h"
#include "proto/config/default_dir.h"
#include "proto/os/clock.h"

enum {
	RING_BYTES_MIN = 16
			 << 10, /* a record of any length fits in half of it */
	RING_BYTES = 256 << 10,
	RING_BYTES_MAX = 1 << 30,
	TOTAL_BYTES = 16 << 20,
};

#define PERIOD_NS   (NS_PER_SECOND / 20)
#define COUNTERS_NS NS_PER_SECOND

/* The option, else the variable, "" for none; -1 when it is not a valid
 * name. */
static int
take_name(char to[static NAME_BYTES_MAX + 1], const char *option,
    const char *variable)
{
	const char *name = option != NULL ? option : secure_getenv(variable);

	to[0] = '\0';
	if (name == NULL || *name == '\0')
		return 0;
	if (text_check_name(text_of(name)) != TEXT_OK)
		return -1;
	strcpy(to, name);
	return 0;
}

/* account$pool, or account/pool; other names are a mistake: a shell has
 * replaced $pool. */
static int
take_partition(const char *option)
{
	char *slash;

	if (take_name(client.partition, option, "POOLSCOPE_PARTITION") != 0)
		return -1;
	if (client.partition[0] == '\0' ||
	    strchr(client.partition, '$') != NULL)
		return 0;
	slash = strchr(client.partition, '/');
	if (slash == NULL)
		return -1;
	*slash = '$';
	return 0;
}

static int
take_socket(const char *option)
{
	const char *path =
	    option != NULL ? option : secure_getenv("POOLSCOPE_SOCKET");
	char dir[DEFAULT_DIR_BYTES];
	int n;

	if (path != NULL && *path != '\0')
		n = snprintf(client.socket, sizeof(client.socket), "%s", path);
	else if (default_dir(dir, NULL, NULL) == 0)
		n = snprintf(client.socket, sizeof(client.socket),
		    "%s/run/agent.sock", dir);
	else
		return -1;
	return n >= 0 && n < (int)sizeof(client.socket) ? 0 : -1;
}

static uint32_t
ring_bytes(size_t wanted)
{
	uint32_t bytes = RING_BYTES_MIN;

	while (bytes < wanted && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

int
client_configure(const struct poolscope_options *options)
{
	const char *program = options->program != NULL
				  ? options->program
				  : program_invocation_short_name;

	if (take_partition(options->partition) != 0 ||
	    take_name(client.node, options->node, "POOLSCOPE_NODE") != 0 ||
	    take_socket(options->socket) != 0) {
		errno = EINVAL;
		return -1;
	}
	client_take_part(client.program, text_of(program));
	client.ring_bytes =
	    ring_bytes(options->ring_bytes ? options->ring_bytes : RING_BYTES);
	client.total_bytes =
	    options->total_bytes ? options->total_bytes : TOTAL_BYTES;
	client.period_ns =
	    options->period_ns > 0 ? options->period_ns : PERIOD_NS;
	client.counters_ns =
	    options->counters_ns > 0 ? options->counters_ns : COUNTERS_NS;
	client.quiet = options->quiet != 0;
	client.pid = getpid();
	return 0;
}

void
client_take_trace(void)
{
	const char *parent = secure_getenv("TRACEPARENT");

	if (parent == NULL || !trace_context_parse(&client.root, parent))
		trace_context_random(&client.root);
	do
		hash_random_bytes(&client.own, sizeof(client.own));
	while (client.own == 0);
}
