/*
 * local_socket - the client's side of the agent's local listener.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/local_socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/os/owner/trusted_dir.h"

/* An answer is a header and nothing more. */
enum { ANSWER_BYTES_MAX = WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX };

/* The backlog of a busy agent is full only for moments. */
enum { BACKLOG_WAIT_MS = 20 };

/* Send an unanswered submission again after this, or half of the remaining
 * time: a healthy agent answers in milliseconds. */
#define TRY_NS (3 * NS_PER_SECOND)

void
local_socket_init(struct local_socket *local_socket, const char *path)
{
	local_socket->path = path;
	local_socket->fd = -1;
	local_socket->connects = 0;
	local_socket->partition[0] = '\0';
	local_socket->node[0] = '\0';
	local_socket->forbidden[0] = '\0';
}

void
local_socket_clear(struct local_socket *local_socket)
{
	if (local_socket->fd >= 0)
		close(local_socket->fd);
	local_socket->fd = -1;
}

static int
left_ms(int64_t deadline_ns)
{
	int64_t left = deadline_ns - clock_monotonic_ns();

	if (left <= 0)
		return 0;
	left = (left + 999999) / 1000000;
	return left > INT32_MAX ? INT32_MAX : (int)left;
}

static enum local_socket_result
connect_once(struct local_socket *local_socket, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(local_socket->path) >= sizeof(address.sun_path)) {
		err_set(err, "%s: a socket's path has at most %zu bytes",
		    local_socket->path, sizeof(address.sun_path) - 1);
		return LOCAL_SOCKET_ERROR;
	}
	strcpy(address.sun_path, local_socket->path);
	local_socket->fd =
	    socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (local_socket->fd < 0) {
		err_set(err, "socket: %s", strerror(errno));
		return LOCAL_SOCKET_ERROR;
	}
	if (connect(local_socket->fd, (struct sockaddr *)&address,
		sizeof(address)) == 0) {
		if (trusted_dir_peer(
			local_socket->path, local_socket->fd, err) != 0) {
			local_socket_clear(local_socket);
			return LOCAL_SOCKET_ERROR;
		}
		local_socket->connects++;
		return LOCAL_SOCKET_DONE;
	}
	local_socket_clear(local_socket);
	if (errno == ENOENT || errno == ECONNREFUSED)
		return LOCAL_SOCKET_ABSENT;
	if (errno == EAGAIN)
		return LOCAL_SOCKET_TIMEOUT;
	if (errno == EACCES)
		err_set(err,
		    "%s: permission denied: the agent is another user's, who "
		    "can share it (poolscope up --share GROUP)",
		    local_socket->path);
	else
		err_set(err, "%s: %s", local_socket->path, strerror(errno));
	return LOCAL_SOCKET_ERROR;
}

static enum local_socket_result
connect_until(
    struct local_socket *local_socket, int64_t deadline_ns, struct err *err)
{
	enum local_socket_result result;

	if (local_socket->fd >= 0)
		return LOCAL_SOCKET_DONE;
	while ((result = connect_once(local_socket, err)) ==
	       LOCAL_SOCKET_TIMEOUT) {
		int ms = left_ms(deadline_ns);

		if (ms == 0)
			break;
		poll(NULL, 0, ms < BACKLOG_WAIT_MS ? ms : BACKLOG_WAIT_MS);
	}
	return result;
}

/* The deadline ends it, even if there is always something to read. */
static enum local_socket_result
wait_for(struct local_socket *local_socket, short events, int64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = local_socket->fd, .events = events };
	int ms, n;

	do {
		ms = left_ms(deadline_ns);
		n = ms > 0 ? poll(&pollfd, 1, ms) : 0;
	} while (n < 0 && errno == EINTR);
	return n > 0 ? LOCAL_SOCKET_DONE : LOCAL_SOCKET_TIMEOUT;
}

/* Send the whole packet, or nothing of it. */
static enum local_socket_result
send_until(
    struct local_socket *local_socket, struct text frame, int64_t deadline_ns)
{
	for (;;) {
		ssize_t n =
		    send(local_socket->fd, frame.at, frame.bytes, MSG_NOSIGNAL);

		if (n == (ssize_t)frame.bytes)
			return LOCAL_SOCKET_DONE;
		if (n < 0 && errno == EINTR)
			continue;
		if (n >= 0 || errno != EAGAIN)
			return LOCAL_SOCKET_LOST;
		if (wait_for(local_socket, POLLOUT, deadline_ns) !=
		    LOCAL_SOCKET_DONE)
			return LOCAL_SOCKET_TIMEOUT;
	}
}

static void
note(char to[static NAME_BYTES_MAX + 1], struct text name)
{
	if (name.bytes == 0 || text_check_name(name) != TEXT_OK)
		return;
	memcpy(to, name.at, name.bytes);
	to[name.bytes] = '\0';
}

static void
note_answer(struct local_socket *local_socket, const struct wire_header *header)
{
	/* For clients that set none. */
	note(local_socket->partition, header->partition);
	note(local_socket->node, header->node);
	local_socket->forbidden[0] = '\0';
	note(local_socket->forbidden, header->detail);
}

static void
note_detail(struct text detail, struct err *err)
{
	if (err == NULL)
		return;
	err_clear(err);
	if (detail.bytes > 0 && text_check_name(detail) == TEXT_OK)
		err_set(err, "%.*s", (int)detail.bytes, detail.at);
}

/* The answer to `seq` that has (or has not) flag `stored`; answers to
 * abandoned submissions are skipped. */
static enum local_socket_result
answer_until(struct local_socket *local_socket, uint64_t seq, bool stored,
    int64_t deadline_ns, enum wire_reason *reason, struct err *err)
{
	char packet[ANSWER_BYTES_MAX];
	struct wire_header header;
	struct text body;
	ssize_t n;

	for (;;) {
		if (wait_for(local_socket, POLLIN, deadline_ns) !=
		    LOCAL_SOCKET_DONE)
			return LOCAL_SOCKET_TIMEOUT;
		n = recv(local_socket->fd, packet, sizeof(packet), 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return LOCAL_SOCKET_LOST;
		if (wire_open((struct text){ packet, (uint32_t)n }, &header,
			&body) != WIRE_OK)
			return LOCAL_SOCKET_LOST;
		if (header.seq != seq)
			continue;
		note_answer(local_socket, &header);
		if (header.type == WIRE_NACK) {
			*reason = (enum wire_reason)header.reason;
			note_detail(header.detail, err);
			return LOCAL_SOCKET_REFUSED;
		}
		if (header.type == WIRE_ACK &&
		    !!(header.flags & WIRE_FLAG_STORED) == stored)
			return LOCAL_SOCKET_DONE;
	}
}

enum local_socket_result
local_socket_put(struct local_socket *local_socket, struct text frame,
    uint64_t seq, int64_t deadline_ns, enum wire_reason *reason,
    struct err *err)
{
	enum local_socket_result result;

	for (;;) {
		int64_t now = clock_monotonic_ns();
		int64_t half = now + (deadline_ns - now) / 2;
		int64_t try_ns = now + TRY_NS < half ? now + TRY_NS : half;

		result = connect_until(local_socket, deadline_ns, err);
		if (result != LOCAL_SOCKET_DONE)
			return result;
		result = send_until(local_socket, frame, try_ns);
		if (result == LOCAL_SOCKET_DONE)
			result = answer_until(
			    local_socket, seq, false, try_ns, reason, err);
		if (result == LOCAL_SOCKET_DONE ||
		    result == LOCAL_SOCKET_REFUSED)
			return result;
		local_socket_clear(local_socket);
		if (left_ms(deadline_ns) <= 1)
			return LOCAL_SOCKET_TIMEOUT;
	}
}

enum local_socket_result
local_socket_wait(struct local_socket *local_socket, uint64_t seq,
    int64_t deadline_ns, enum wire_reason *reason)
{
	enum local_socket_result result;

	if (local_socket->fd < 0)
		return LOCAL_SOCKET_LOST;
	result =
	    answer_until(local_socket, seq, true, deadline_ns, reason, NULL);
	if (result == LOCAL_SOCKET_LOST)
		local_socket_clear(local_socket);
	return result;
}
