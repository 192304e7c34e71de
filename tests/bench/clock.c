/*
 * clock - a line that takes its time: bytes from a TCP port to a Unix socket
 * and back, each way as late as it is reported.
 *
 *	clock PORT PATH MICROSECONDS
 *
 * For clock.py.  It never sleeps while bytes wait: no timer is as precise as
 * the delay of a local network.
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/os/clock.h"

enum { WAYS = 32, CHUNKS = 64, CHUNK_BYTES = 64 << 10 };

/* One way of a connection; number ^ 1 is the other. */
static struct way {
	int from, to; /* 0: free */
	uint32_t first, count;
	struct chunk {
		int64_t due_ns;
		size_t bytes;
		char at[CHUNK_BYTES];
	} chunks[CHUNKS];
} ways[WAYS];

static int64_t delay_ns;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static void
accept_one(int listener, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int near = accept(listener, NULL, NULL), on = 1;
	int far = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (near < 0 || far < 0 ||
	    connect(far, (struct sockaddr *)&address, sizeof(address)) != 0)
		die(path);
	setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (int i = 0; i < WAYS; i += 2) {
		if (ways[i].from != 0)
			continue;
		ways[i].from = ways[i + 1].to = near;
		ways[i].to = ways[i + 1].from = far;
		ways[i].count = ways[i + 1].count = 0;
		return;
	}
	close(near);
	close(far);
}

static void
hang_up(int number)
{
	struct way *way = &ways[number], *back = &ways[number ^ 1];

	close(way->from);
	close(way->to);
	way->from = way->to = back->from = back->to = 0;
	way->count = back->count = 0;
}

static void
take(int number)
{
	struct way *way = &ways[number];
	struct chunk *chunk = &way->chunks[(way->first + way->count) % CHUNKS];
	ssize_t n = recv(way->from, chunk->at, sizeof(chunk->at), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(number);
		return;
	}
	chunk->bytes = (size_t)n;
	chunk->due_ns = clock_monotonic_ns() + delay_ns;
	way->count++;
}

/* True while something waits. */
static bool
give(int number)
{
	struct way *way = &ways[number];
	struct chunk *chunk = &way->chunks[way->first];

	if (way->count == 0)
		return false;
	if (clock_monotonic_ns() < chunk->due_ns)
		return true;
	for (size_t sent = 0; sent < chunk->bytes;) {
		ssize_t n = send(way->to, chunk->at + sent, chunk->bytes - sent,
		    MSG_NOSIGNAL);

		if (n < 0) {
			hang_up(number);
			return false;
		}
		sent += (size_t)n;
	}
	way->first = (way->first + 1) % CHUNKS;
	return --way->count > 0;
}

static void
round_of(int listener, const char *path, bool wait)
{
	struct pollfd fds[WAYS + 1] = { { .fd = listener, .events = POLLIN } };

	for (int i = 0; i < WAYS; i++) {
		bool open = ways[i].from != 0 && ways[i].count < CHUNKS;

		fds[i + 1] = (struct pollfd){ .fd = open ? ways[i].from : -1,
			.events = POLLIN };
	}
	if (poll(fds, WAYS + 1, wait ? -1 : 0) <= 0)
		return;
	if (fds[0].revents != 0)
		accept_one(listener, path);
	for (int i = 0; i < WAYS; i++)
		if (fds[i + 1].revents != 0 && ways[i].from == fds[i + 1].fd)
			take(i);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (argc != 4) {
		fprintf(stderr, "clock PORT PATH MICROSECONDS\n");
		return 2;
	}
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	delay_ns = atoll(argv[3]) * 1000;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 8) != 0)
		die(argv[1]);
	puts("ready");
	fflush(stdout);
	for (bool waiting = false;;) {
		round_of(listener, argv[2], !waiting);
		waiting = false;
		for (int i = 0; i < WAYS; i++)
			waiting = give(i) || waiting;
	}
}
