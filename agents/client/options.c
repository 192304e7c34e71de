/*
 * client_options - what holds for this process: as the program says, else the
 * environment, else the defaults.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/client/client_private.h"
#include "proto/base/hash.h"
#include "proto/config/default_dir.h"
#include "proto/os/clock.h"

enum {
	RING_BYTES_MIN = 16 << 10, /* a record of any length fits half of it */
	RING_BYTES = 256 << 10,
	RING_BYTES_MAX = 1 << 30,
	TOTAL_BYTES = 16 << 20,
};

#define PERIOD_NS   (NS_PER_SECOND / 20)
#define COUNTERS_NS NS_PER_SECOND

/* The option, else the variable, "" for none; -1 when it is no name. */
static int
take_name(char to[static NAME_BYTES_MAX + 1], const char *option,
    const char *variable)
{
	const char *name = option != NULL ? option : getenv(variable);

	to[0] = '\0';
	if (name == NULL || *name == '\0')
		return 0;
	if (text_check_name(text_of(name)) != TEXT_OK)
		return -1;
	strcpy(to, name);
	return 0;
}

static int
take_socket(const char *option)
{
	const char *path = option != NULL ? option : getenv("POOLSCOPE_SOCKET");
	char dir[PLACE_BYTES];
	int n;

	if (path != NULL && *path != '\0')
		n = snprintf(lib.socket, sizeof(lib.socket), "%s", path);
	else if (place_dir(dir, NULL, NULL) == 0)
		n = snprintf(
		    lib.socket, sizeof(lib.socket), "%s/run/agent.sock", dir);
	else
		return -1;
	return n >= 0 && n < (int)sizeof(lib.socket) ? 0 : -1;
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
lib_configure(const struct poolscope_options *options)
{
	const char *program = options->program != NULL
				  ? options->program
				  : program_invocation_short_name;

	if (take_name(lib.partition, options->partition,
		"POOLSCOPE_PARTITION") != 0 ||
	    take_name(lib.node, options->node, "POOLSCOPE_NODE") != 0 ||
	    take_socket(options->socket) != 0) {
		errno = EINVAL;
		return -1;
	}
	lib_take_part(lib.program, text_of(program));
	lib.ring_bytes =
	    ring_bytes(options->ring_bytes ? options->ring_bytes : RING_BYTES);
	lib.total_bytes =
	    options->total_bytes ? options->total_bytes : TOTAL_BYTES;
	lib.period_ns = options->period_ns > 0 ? options->period_ns : PERIOD_NS;
	lib.counters_ns =
	    options->counters_ns > 0 ? options->counters_ns : COUNTERS_NS;
	lib.quiet = options->quiet != 0;
	lib.pid = getpid();
	return 0;
}

void
lib_take_trace(void)
{
	const char *parent = getenv("TRACEPARENT");

	if (parent == NULL || !trace_parse(&lib.root, parent))
		trace_random(&lib.root);
	do
		random_bytes(&lib.own, sizeof(lib.own));
	while (lib.own == 0);
}
