/*
 * local_server - the agent's side of the local door: clients, checks, answers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/local_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/accept/local_listen.h"
#include "agents/accept/put_check.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"

enum {
	PACKETS_A_TURN = 16, /* then the other clients have theirs */
	ANSWER_BYTES_MAX = WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX,
};

#define IDLE_NS     (5 * NS_PER_SECOND)  /* may be evicted */
#define RETRY_NS    (1 * NS_PER_SECOND)  /* look for an idle one again */
#define COMPLAIN_NS (60 * NS_PER_SECOND) /* log lines about bad packets */

/* A client is named by its place and how often the place was used, so that an
 * answer cannot reach the next one there. */
struct client {
	int fd; /* -1: free */
	uint32_t uses;
	int64_t active_ns;
	pid_t pid;
	uid_t uid;
};

struct door {
	struct door_options options;
	struct lock lock;
	int fd;
	bool full, stopped;
	struct loop_timer retry;
	uint32_t clients;
	struct client client[DOOR_CLIENTS_MAX];
	int64_t complained_ns;
	struct wire_room room;
	struct door_counters counters;
	char packet[WIRE_PUT_BYTES_MAX];
};

static uint64_t
id_of(const struct door *door, const struct client *client)
{
	return (uint64_t)client->uses << 32 | (uint64_t)(client - door->client);
}

static struct client *
client_of(struct door *door, uint64_t id)
{
	return door_has(door, id) ? &door->client[(uint32_t)id] : NULL;
}

static void
listen_again(struct door *door)
{
	if (!door->full || door->stopped)
		return;
	door->full = false;
	loop_stop_timer(door->options.loop, &door->retry);
	loop_change_fd(door->options.loop, door->fd, EPOLLIN);
}

static void
close_client(struct door *door, struct client *client)
{
	if (!door->stopped)
		loop_remove_fd(door->options.loop, client->fd);
	close(client->fd);
	client->fd = -1;
	door->clients--;
	listen_again(door);
}

void
door_answer(struct door *door, const struct door_answer *answer)
{
	struct client *client = client_of(door, answer->client);
	unsigned char packet[ANSWER_BYTES_MAX];
	struct wire_header header = {
		.type = answer->reason ? WIRE_NACK : WIRE_ACK,
		.flags = answer->stored ? WIRE_FLAG_STORED : 0,
		.partition = door->options.partition,
		.node = door->options.node,
		.seq = answer->seq,
		.sent_ns = answer->sent_ns,
		.reason = answer->reason,
		.answered_ns = clock_wall_ns(),
	};
	size_t bytes;
	ssize_t n;

	if (client == NULL)
		return;
	bytes = wire_frame(
	    packet, sizeof(packet), &header, (struct text){ NULL, 0 });
	do
		n = send(
		    client->fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)bytes)
		return;
	/* Hundreds of answers lie unread, or the client has gone. */
	if (n < 0 && errno == EAGAIN)
		door->counters.slow++;
	close_client(door, client);
}

/* One line a minute at most; the counters have the rest. */
static void
complain(struct door *door, const struct client *client, const char *what)
{
	int64_t now_ns = clock_monotonic_ns();

	if (door->complained_ns != 0 &&
	    now_ns - door->complained_ns < COMPLAIN_NS)
		return;
	door->complained_ns = now_ns;
	log_warn(
	    "bad packet at the local door: %s pid=%ld uid=%ld refused=%llu",
	    what, (long)client->pid, (long)client->uid,
	    (unsigned long long)door->counters.refused);
}

static enum wire_reason
reason_of(enum wire_fault fault)
{
	switch (fault) {
	case WIRE_OTHER_VERSION:
	case WIRE_TYPE: return WIRE_NACK_UNSUPPORTED;
	default: return WIRE_NACK_MALFORMED;
	}
}

static void
refuse(struct door *door, struct client *client,
    const struct wire_header *header, enum wire_reason reason,
    enum wire_fault fault)
{
	struct door_answer answer = {
		.client = id_of(door, client),
		.seq = header->seq,
		.sent_ns = header->sent_ns,
		.reason = reason,
	};

	door->counters.refused++;
	door->counters.faults[fault]++;
	complain(door, client, wire_fault_name(fault));
	door_answer(door, &answer);
}

static void
take_packet(struct door *door, struct client *client, size_t bytes)
{
	struct text frame = { door->packet, (uint32_t)bytes }, plain;
	struct wire_header header = { 0 };
	enum wire_fault fault;

	if (bytes > sizeof(door->packet)) {
		refuse(door, client, &header, WIRE_NACK_TOO_BIG, WIRE_LENGTH);
		return;
	}
	fault = put_check(frame, &door->room, &header, &plain);
	if (fault != WIRE_OK) {
		refuse(door, client, &header, reason_of(fault), fault);
		return;
	}
	door->counters.puts++;
	door->counters.bytes += bytes;
	door->options.on_put(door->options.arg, id_of(door, client),
	    client->uid, &header, plain);
}

static void
on_client(void *arg, int fd, uint32_t events)
{
	struct door *door = arg;
	struct client *client = door->client;
	uint64_t id;

	(void)events;
	while (client < door->client + DOOR_CLIENTS_MAX && client->fd != fd)
		client++;
	if (client == door->client + DOOR_CLIENTS_MAX)
		return;
	id = id_of(door, client);
	client->active_ns = clock_monotonic_ns();
	/* The client may go at any step. */
	for (int i = 0; i < PACKETS_A_TURN && client_of(door, id); i++) {
		ssize_t n = recv(fd, door->packet, sizeof(door->packet),
		    MSG_DONTWAIT | MSG_TRUNC);

		if (n > 0) {
			take_packet(door, client, (size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || errno != EAGAIN)
			close_client(door, client);
		return;
	}
}

/* A free place, or that of the client that was idle longest. */
static struct client *
find_place(struct door *door)
{
	int64_t now_ns = clock_monotonic_ns();
	struct client *idle = NULL;

	for (struct client *at = door->client;
	     at < door->client + DOOR_CLIENTS_MAX; at++) {
		if (at->fd < 0)
			return at;
		if (now_ns - at->active_ns >= IDLE_NS &&
		    (idle == NULL || at->active_ns < idle->active_ns))
			idle = at;
	}
	if (idle != NULL) {
		door->counters.evicted++;
		close_client(door, idle);
	}
	return idle;
}

static void
welcome(struct door *door, struct client *client, int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof(peer);
	struct err err = { "" };

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
	if (loop_add_fd(
		door->options.loop, fd, EPOLLIN, on_client, door, &err) != 0) {
		log_warn("%s", err.text);
		close(fd);
		return;
	}
	client->fd = fd;
	client->uses++;
	client->active_ns = clock_monotonic_ns();
	client->pid = peer.pid;
	client->uid = peer.uid;
	door->clients++;
	door->counters.accepted++;
	log_debug("client pid=%ld uid=%ld", (long)peer.pid, (long)peer.uid);
}

/* No place, or no descriptor: let them wait in the backlog for a while. */
static void
wait_for_place(struct door *door)
{
	door->full = true;
	loop_change_fd(door->options.loop, door->fd, 0);
	loop_set_timer(door->options.loop, &door->retry,
	    clock_monotonic_ns() + RETRY_NS, 0);
}

static void
on_listener(void *arg, int listener, uint32_t events)
{
	struct door *door = arg;

	(void)events;
	for (int i = 0; i < PACKETS_A_TURN; i++) {
		struct client *place = find_place(door);
		int fd;

		if (place == NULL) {
			wait_for_place(door);
			return;
		}
		fd =
		    accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			welcome(door, place, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN) {
			log_warn("accept: %s", strerror(errno));
			wait_for_place(door);
		}
		return;
	}
}

static void
on_retry(void *arg, struct loop_timer *timer)
{
	(void)timer;
	listen_again(arg);
}

int
door_open(
    struct door **made, const struct door_options *options, struct err *err)
{
	struct door *door = calloc(1, sizeof(*door));

	if (door == NULL)
		abort();
	door->options = *options;
	door->fd = -1;
	door->retry.on_timer = on_retry;
	door->retry.arg = door;
	for (int i = 0; i < DOOR_CLIENTS_MAX; i++)
		door->client[i].fd = -1;
	if (local_listen(&door->fd, &door->lock, options->path, err) != 0 ||
	    loop_add_fd(options->loop, door->fd, EPOLLIN, on_listener, door,
		err) != 0) {
		door_close(&door);
		return -1;
	}
	*made = door;
	return 0;
}

void
door_stop(struct door *door)
{
	if (door->stopped)
		return;
	loop_stop_timer(door->options.loop, &door->retry);
	loop_remove_fd(door->options.loop, door->fd);
	for (int i = 0; i < DOOR_CLIENTS_MAX; i++)
		if (door->client[i].fd >= 0)
			loop_remove_fd(door->options.loop, door->client[i].fd);
	door->stopped = true;
	/* Who comes now finds nobody, and knows what to do about it. */
	unlink(door->options.path);
	close(door->fd);
	door->fd = -1;
}

void
door_close(struct door **gone)
{
	struct door *door = *gone;

	*gone = NULL;
	if (door == NULL)
		return;
	if (door->fd >= 0)
		door_stop(door);
	for (int i = 0; i < DOOR_CLIENTS_MAX; i++)
		if (door->client[i].fd >= 0)
			close_client(door, &door->client[i]);
	lock_release(&door->lock);
	wire_room_clear(&door->room);
	free(door);
}

bool
door_has(const struct door *door, uint64_t client)
{
	uint32_t place = (uint32_t)client;

	return place < DOOR_CLIENTS_MAX && door->client[place].fd >= 0 &&
	       door->client[place].uses == client >> 32;
}

uint32_t
door_clients(const struct door *door)
{
	return door->clients;
}

const struct door_counters *
door_counters(const struct door *door)
{
	return &door->counters;
}
