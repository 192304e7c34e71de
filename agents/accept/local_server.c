/*
 * local_server - the agent's side of the local listener: clients, checks,
 * answers.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/local_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/accept/local_listen.h"
#include "agents/accept/put_check.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"

enum {
	PACKETS_A_TURN = 16, /* before the other clients have their turn */
	BAD_PACKETS_MAX = 3, /* one after the other, of a client */
	ANSWER_BYTES_MAX = WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX,
};

/* The idle time after which a client may be evicted. */
#define IDLE_NS (5 * NS_PER_SECOND)
/* The pause before the next search for an idle client. */
#define RETRY_NS (1 * NS_PER_SECOND)

/* A client is named by its slot and the slot's use count, so that an answer
 * cannot reach the slot's next client. */
struct client {
	int fd; /* -1: free */
	uint32_t uses;
	uint32_t bad; /* packets, since the last good one */
	int64_t active_ns, since_ns;
	pid_t pid;
	uid_t uid;
};

struct local_server {
	struct local_server_options options;
	struct lockfile lockfile;
	struct held_file *held; /* the socket */
	int fd;
	bool full, stopped;
	struct loop_timer retry;
	uint32_t clients;
	uint32_t places; /* as many as descriptors permit */
	struct client client[LOCAL_SERVER_CLIENTS_MAX];
	int64_t logged_ns, full_logged_ns;
	struct wire_room room;
	struct local_server_counters counters;
	char packet[WIRE_PUT_BYTES_MAX];
};

static uint64_t
id_of(const struct local_server *local_server, const struct client *client)
{
	return (uint64_t)client->uses << 32 |
	       (uint64_t)(client - local_server->client);
}

static struct client *
client_of(struct local_server *local_server, uint64_t id)
{
	return local_server_has(local_server, id)
		   ? &local_server->client[(uint32_t)id]
		   : NULL;
}

static void
listen_again(struct local_server *local_server)
{
	if (!local_server->full || local_server->stopped)
		return;
	local_server->full = false;
	loop_stop_timer(local_server->options.loop, &local_server->retry);
	loop_change_fd(local_server->options.loop, local_server->fd, EPOLLIN);
}

static void
close_client(struct local_server *local_server, struct client *client)
{
	if (!local_server->stopped)
		loop_remove_fd(local_server->options.loop, client->fd);
	close(client->fd);
	client->fd = -1;
	local_server->clients--;
}

void
local_server_answer(
    struct local_server *local_server, const struct local_server_answer *answer)
{
	struct client *client = client_of(local_server, answer->client);
	unsigned char packet[ANSWER_BYTES_MAX];
	struct wire_header header = {
		.type = answer->reason ? WIRE_NACK : WIRE_ACK,
		.flags = answer->stored ? WIRE_FLAG_STORED : 0,
		.partition = local_server->options.partition,
		.node = local_server->options.node,
		.seq = answer->seq,
		.sent_ns = answer->sent_ns,
		.reason = answer->reason,
		.detail = answer->detail,
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
	/* Hundreds of answers are unread, or the client has gone. */
	if (n < 0 && errno == EAGAIN)
		local_server->counters.slow++;
	close_client(local_server, client);
}

/* Log one line a minute at most; the counters have the rest. */
static void
complain(struct local_server *local_server, const struct client *client,
    const char *what)
{
	if (!log_is_due(&local_server->logged_ns))
		return;
	log_warn("refused a bad packet at the local socket: %s pid=%ld uid=%ld "
		 "refused=%llu",
	    what, (long)client->pid, (long)client->uid,
	    (unsigned long long)local_server->counters.refused);
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

void
local_server_refuse(struct local_server *local_server,
    const struct local_server_answer *answer, const char *what)
{
	const struct client *client = client_of(local_server, answer->client);

	local_server->counters.refused++;
	if (client != NULL)
		complain(local_server, client, what);
	local_server_answer(local_server, answer);
}

static void
refuse(struct local_server *local_server, struct client *client,
    const struct wire_header *header, enum wire_reason reason,
    enum wire_fault fault)
{
	struct local_server_answer answer = {
		.client = id_of(local_server, client),
		.seq = header->seq,
		.sent_ns = header->sent_ns,
		.reason = reason,
	};

	local_server->counters.faults[fault]++;
	client->bad++;
	local_server_refuse(local_server, &answer, wire_fault_name(fault));
	client = client_of(local_server, answer.client);
	if (client != NULL && client->bad >= BAD_PACKETS_MAX)
		close_client(local_server, client);
}

static void
take_packet(
    struct local_server *local_server, struct client *client, size_t bytes)
{
	struct text frame = { local_server->packet, (uint32_t)bytes }, plain;
	struct wire_header header = { 0 };
	enum wire_fault fault;

	if (bytes > sizeof(local_server->packet)) {
		refuse(local_server, client, &header, WIRE_NACK_TOO_BIG,
		    WIRE_LENGTH);
		return;
	}
	fault = put_check(frame, &local_server->room, &header, &plain);
	if (fault != WIRE_OK) {
		refuse(local_server, client, &header, reason_of(fault), fault);
		return;
	}
	client->bad = 0;
	local_server->counters.puts++;
	local_server->counters.bytes += bytes;
	local_server->options.on_put(local_server->options.arg,
	    id_of(local_server, client), client->uid, &header, plain);
}

static void
on_client(void *arg, int fd, uint32_t events)
{
	struct local_server *local_server = arg;
	struct client *client = local_server->client;
	uint64_t id;

	(void)events;
	while (client < local_server->client + LOCAL_SERVER_CLIENTS_MAX &&
	       client->fd != fd)
		client++;
	if (client == local_server->client + LOCAL_SERVER_CLIENTS_MAX)
		return;
	id = id_of(local_server, client);
	client->active_ns = clock_monotonic_ns();
	/* Each step may disconnect the client. */
	for (int i = 0; i < PACKETS_A_TURN && client_of(local_server, id);
	     i++) {
		ssize_t n = recv(fd, local_server->packet,
		    sizeof(local_server->packet), MSG_DONTWAIT | MSG_TRUNC);

		if (n > 0) {
			take_packet(local_server, client, (size_t)n);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || errno != EAGAIN)
			close_client(local_server, client);
		return;
	}
}

/* ---- places ---- */

static uint32_t
clients_of(const struct local_server *local_server, uid_t uid)
{
	uint32_t count = 0;

	for (int i = 0; i < LOCAL_SERVER_CLIENTS_MAX; i++)
		count += local_server->client[i].fd >= 0 &&
			 local_server->client[i].uid == uid;
	return count;
}

/* The user who has most clients. */
static uid_t
greediest(const struct local_server *local_server)
{
	uint32_t most = 0;
	uid_t uid = (uid_t)-1;

	for (int i = 0; i < LOCAL_SERVER_CLIENTS_MAX; i++) {
		const struct client *at = &local_server->client[i];
		uint32_t count =
		    at->fd < 0 ? 0 : clients_of(local_server, at->uid);

		if (count > most) {
			most = count;
			uid = at->uid;
		}
	}
	return uid;
}

/* The client of `*uid` or, NULL, of any user that is idle for longest, if that
 * is long enough; or that is connected for longest.  NULL: there is none. */
static struct client *
find(struct local_server *local_server, const uid_t *uid, bool idle)
{
	int64_t first_ns =
	    idle ? clock_monotonic_ns() - IDLE_NS + 1 : INT64_MAX;
	struct client *found = NULL;

	for (struct client *at = local_server->client;
	     at < local_server->client + LOCAL_SERVER_CLIENTS_MAX; at++) {
		int64_t ns = idle ? at->active_ns : at->since_ns;

		if (at->fd >= 0 && (uid == NULL || at->uid == *uid) &&
		    ns < first_ns) {
			first_ns = ns;
			found = at;
		}
	}
	return found;
}

static struct client *
find_free(struct local_server *local_server)
{
	struct client *at = local_server->client;

	while (
	    at < local_server->client + LOCAL_SERVER_CLIENTS_MAX && at->fd >= 0)
		at++;
	return at;
}

/* A place for a client of this user; NULL: he has his share. */
static struct client *
make_place(struct local_server *local_server, uid_t uid)
{
	uint32_t own = clients_of(local_server, uid);
	bool shared = own >= local_server->places / 3 * 2;
	struct client *gone;
	uid_t most;

	if (!shared && local_server->clients < local_server->places)
		return find_free(local_server);
	gone = find(local_server, shared ? &uid : NULL, true);
	if (gone == NULL && !shared) {
		most = greediest(local_server);
		gone = most != uid ? find(local_server, &most, false) : NULL;
	}
	local_server->counters.evicted++;
	if (log_is_due(&local_server->full_logged_ns))
		log_warn("the local socket is full: %s clients=%u uid=%ld "
			 "of_this_user=%u evicted=%llu",
		    gone != NULL
			? "an idle client, or the oldest of the user who has "
			  "most, makes room"
			: "disconnected a client whose user has his share",
		    local_server->clients, (long)uid, own,
		    (unsigned long long)local_server->counters.evicted);
	if (gone != NULL)
		close_client(local_server, gone);
	return gone;
}

static void
welcome(struct local_server *local_server, int fd)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t bytes = sizeof(peer);
	struct client *client;
	struct err err = { 0 };

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
	client = make_place(local_server, peer.uid);
	if (client == NULL) {
		close(fd);
		return;
	}
	if (loop_add_fd(local_server->options.loop, fd, EPOLLIN, on_client,
		local_server, &err) != 0) {
		log_warn("%s", err.text);
		close(fd);
		return;
	}
	*client = (struct client){ .fd = fd,
		.uses = client->uses + 1,
		.active_ns = clock_monotonic_ns(),
		.since_ns = clock_monotonic_ns(),
		.pid = peer.pid,
		.uid = peer.uid };
	local_server->clients++;
	local_server->counters.accepted++;
	log_debug("client pid=%ld uid=%ld", (long)peer.pid, (long)peer.uid);
}

/* No descriptor: leave clients in the backlog for a while. */
static void
wait_for_descriptor(struct local_server *local_server)
{
	local_server->full = true;
	loop_change_fd(local_server->options.loop, local_server->fd, 0);
	loop_set_timer(local_server->options.loop, &local_server->retry,
	    clock_monotonic_ns() + RETRY_NS, 0);
}

static void
on_listener(void *arg, int listener, uint32_t events)
{
	struct local_server *local_server = arg;

	(void)events;
	for (int i = 0; i < PACKETS_A_TURN; i++) {
		int fd =
		    accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			welcome(local_server, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN) {
			if (log_is_due(&local_server->full_logged_ns))
				log_warn("the local socket accepts nobody for "
					 "now: %s",
				    strerror(errno));
			wait_for_descriptor(local_server);
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

/* Somebody has removed the socket: make it again.  Clients stay. */
static int
listen_anew(void *arg, struct err *err)
{
	struct local_server *local_server = arg;
	struct loop *loop = local_server->options.loop;
	int fd;

	if (local_listen_bind(
		&fd, local_server->options.path, SOCK_SEQPACKET, err) != 0)
		return -1;
	loop_remove_fd(loop, local_server->fd);
	close(local_server->fd);
	local_server->fd = fd;
	return loop_add_fd(loop, fd, local_server->full ? 0 : EPOLLIN,
	    on_listener, local_server, err);
}

/* Descriptors are kept back for the spool. */
static uint32_t
places(void)
{
	struct rlimit limit;
	rlim_t most = LOCAL_SERVER_CLIENTS_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur >= most + LOCAL_SERVER_DESCRIPTORS_KEPT)
		return LOCAL_SERVER_CLIENTS_MAX;
	most = limit.rlim_cur > LOCAL_SERVER_DESCRIPTORS_KEPT
		   ? limit.rlim_cur - LOCAL_SERVER_DESCRIPTORS_KEPT
		   : 0;
	return most > LOCAL_SERVER_CLIENTS_MIN ? (uint32_t)most
					       : LOCAL_SERVER_CLIENTS_MIN;
}

int
local_server_open(struct local_server **made,
    const struct local_server_options *options, struct err *err)
{
	struct local_server *local_server =
	    memory_zero(1, sizeof(*local_server));

	local_server->options = *options;
	local_server->fd = -1;
	local_server->places = places();
	local_server->retry.on_timer = on_retry;
	local_server->retry.arg = local_server;
	for (int i = 0; i < LOCAL_SERVER_CLIENTS_MAX; i++)
		local_server->client[i].fd = -1;
	if (local_listen(&local_server->fd, &local_server->lockfile,
		options->path, SOCK_SEQPACKET, err) != 0 ||
	    loop_add_fd(options->loop, local_server->fd, EPOLLIN, on_listener,
		local_server, err) != 0) {
		local_server_close(&local_server);
		return -1;
	}
	local_server->held =
	    held_file_add(options->path, listen_anew, local_server);
	*made = local_server;
	return 0;
}

void
local_server_stop(struct local_server *local_server)
{
	if (local_server->stopped)
		return;
	loop_stop_timer(local_server->options.loop, &local_server->retry);
	loop_remove_fd(local_server->options.loop, local_server->fd);
	for (int i = 0; i < LOCAL_SERVER_CLIENTS_MAX; i++)
		if (local_server->client[i].fd >= 0)
			loop_remove_fd(local_server->options.loop,
			    local_server->client[i].fd);
	local_server->stopped = true;
	held_file_drop(&local_server->held);
	/* New clients are refused from now on, and use the fallback queue. */
	unlink(local_server->options.path);
	close(local_server->fd);
	local_server->fd = -1;
}

void
local_server_close(struct local_server **gone)
{
	struct local_server *local_server = *gone;

	*gone = NULL;
	if (local_server == NULL)
		return;
	if (local_server->fd >= 0)
		local_server_stop(local_server);
	for (int i = 0; i < LOCAL_SERVER_CLIENTS_MAX; i++)
		if (local_server->client[i].fd >= 0)
			close_client(local_server, &local_server->client[i]);
	lockfile_release(&local_server->lockfile);
	wire_room_clear(&local_server->room);
	free(local_server);
}

bool
local_server_has(const struct local_server *local_server, uint64_t client)
{
	uint32_t slot = (uint32_t)client;

	return slot < LOCAL_SERVER_CLIENTS_MAX &&
	       local_server->client[slot].fd >= 0 &&
	       local_server->client[slot].uses == client >> 32;
}

uint32_t
local_server_clients(const struct local_server *local_server)
{
	return local_server->clients;
}

const struct local_server_counters *
local_server_counters(const struct local_server *local_server)
{
	return &local_server->counters;
}
