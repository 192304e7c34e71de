/*
 * local_socket - the client's side of the local listener, against agents that
 * misbehave.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/local_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include "agents/accept/put_check.h"
#include "agents/submit/submit.h"
#include "proto/os/clock.h"
#include "tests/unit/fake_agent.h"

static struct text
frame_of(unsigned char to[static 256], enum wire_type type, uint64_t seq)
{
	struct wire_header header = { .type = type, .seq = seq };

	return (struct text){ (const char *)to,
		(uint32_t)wire_frame(to, 256, &header, (struct text){ 0 }) };
}

/* Answers without end, none of them to what was put. */
static void
babble(int client)
{
	unsigned char frame[256];
	struct text answer = frame_of(frame, WIRE_ACK, 99);

	while (send(client, answer.at, answer.bytes, MSG_NOSIGNAL) > 0)
		;
}

static void
the_deadline_is_kept_whatever_the_agent_says(void **state)
{
	pid_t agent = fake_agent_start(babble);
	enum wire_reason reason;
	unsigned char frame[256];
	struct local_socket local_socket;
	struct err err;

	local_socket_init(&local_socket, fake_agent_path);
	assert_int_equal(
	    local_socket_put(&local_socket, frame_of(frame, WIRE_PUT, 1), 1,
		clock_monotonic_ns() + NS_PER_SECOND / 10, &reason, &err),
	    LOCAL_SOCKET_TIMEOUT);
	local_socket_clear(&local_socket);
	fake_agent_stop(agent);
}

/* Takes what comes and goes away. */
static void
hang_up(int client)
{
}

static void
an_agent_that_hangs_up_is_asked_until_the_deadline(void **state)
{
	pid_t agent = fake_agent_start(hang_up);
	enum wire_reason reason;
	unsigned char frame[256];
	struct local_socket local_socket;
	struct err err;

	local_socket_init(&local_socket, fake_agent_path);
	assert_int_equal(
	    local_socket_put(&local_socket, frame_of(frame, WIRE_PUT, 1), 1,
		clock_monotonic_ns() + NS_PER_SECOND / 10, &reason, &err),
	    LOCAL_SOCKET_TIMEOUT);
	assert_int_equal(
	    local_socket_wait(&local_socket, 1, clock_monotonic_ns(), &reason),
	    LOCAL_SOCKET_LOST);
	local_socket_clear(&local_socket);
	fake_agent_stop(agent);
}

/* Takes a put, says so, and goes away before it is stored. */
static void
take_and_hang_up(int client)
{
	unsigned char frame[256];
	char packet[4096];
	struct pollfd waiting = { .fd = client, .events = POLLIN };
	struct wire_header header;
	struct text answer;
	ssize_t n;

	poll(&waiting, 1, -1);
	n = recv(client, packet, sizeof(packet), 0);
	if (n <= 0 ||
	    wire_peek((struct text){ packet, (uint32_t)n }, &header) != WIRE_OK)
		return;
	answer = frame_of(frame, WIRE_ACK, header.seq);
	send(client, answer.at, answer.bytes, MSG_NOSIGNAL);
}

static void
what_is_taken_again_and_again_and_never_stored_has_an_end(void **state)
{
	static struct compose compose;
	pid_t agent = fake_agent_start(take_and_hang_up);
	struct submit_options options = {
		.socket = fake_agent_path,
		.fallback = fake_agent_dir,
		.stored = true,
		.quiet = true,
		.timeout_ns = NS_PER_SECOND / 10,
	};
	struct submit *submit;
	struct err err;

	submit_new(&submit, &options);
	assert_int_equal(
	    compose_event(&compose, text_of("s"), text_of("e"), &err), 0);
	assert_int_equal(compose_end(&compose, &err), 0);
	assert_int_equal(submit_add(submit, &compose, &err), SUBMIT_DONE);
	assert_int_equal(submit_finish(submit, &err), SUBMIT_LATER);
	assert_non_null(strstr(err.text, "not stored"));
	submit_free(&submit);
	fake_agent_stop(agent);
}

static void
nobody_there_is_reported_at_once(void **state)
{
	enum wire_reason reason;
	unsigned char frame[256];
	struct local_socket local_socket;
	struct err err;

	local_socket_init(
	    &local_socket, "/tmp/poolscope-there-is-no-such/agent.sock");
	assert_int_equal(
	    local_socket_put(&local_socket, frame_of(frame, WIRE_PUT, 1), 1,
		clock_monotonic_ns() + 3600 * NS_PER_SECOND, &reason, &err),
	    LOCAL_SOCKET_ABSENT);
	local_socket_clear(&local_socket);
}

/* What this agent does not speak is still answered under its number. */
static void
a_frame_of_an_unknown_type_keeps_its_number(void **state)
{
	unsigned char frame[256];
	struct text put = frame_of(frame, (enum wire_type)77, 5);
	struct wire_room room = { 0 };
	struct wire_header header;
	struct text plain;

	assert_int_equal(put_check(put, &room, &header, &plain), WIRE_TYPE);
	assert_int_equal(header.seq, 5);
	wire_room_clear(&room);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_deadline_is_kept_whatever_the_agent_says),
		cmocka_unit_test(
		    an_agent_that_hangs_up_is_asked_until_the_deadline),
		cmocka_unit_test(
		    what_is_taken_again_and_again_and_never_stored_has_an_end),
		cmocka_unit_test(nobody_there_is_reported_at_once),
		cmocka_unit_test(a_frame_of_an_unknown_type_keeps_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
