/*
 * What is answered and counted when an agent refuses.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/request.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/accept/local_listen.h"
#include "agents/receiver/otlp/deltas.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];

static void
serve(int client, enum wire_reason reason)
{
	static unsigned char packet[WIRE_PUT_BYTES_MAX], frame[256];
	struct wire_header header, nack = { .type = WIRE_NACK };
	ssize_t n;

	while ((n = recv(client, packet, sizeof(packet), 0)) > 0 &&
	       wire_peek((struct text){ (const char *)packet, (uint32_t)n },
		   &header) == WIRE_OK) {
		nack.seq = header.seq;
		nack.reason = reason;
		n = (ssize_t)wire_frame(
		    frame, sizeof(frame), &nack, (struct text){ 0 });
		send(client, frame, (size_t)n, MSG_NOSIGNAL);
	}
}

/* An agent that refuses everything for this reason. */
static pid_t
start_agent(enum wire_reason reason)
{
	struct lockfile lockfile = { .path = NULL };
	struct err err = { 0 };
	pid_t pid;
	int fd = -1;

	scratch_make(dir);
	snprintf(path, sizeof(path), "%s/agent.sock", dir);
	if (local_listen(&fd, &lockfile, path, SOCK_SEQPACKET, &err) != 0)
		fail_msg("%s", err.text);
	pid = fork();
	assert_true(pid >= 0);
	while (pid == 0) {
		struct pollfd waiting = { .fd = fd, .events = POLLIN };
		int client;

		poll(&waiting, 1, -1);
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0) {
			serve(client, reason);
			close(client);
		}
	}
	close(fd);
	lockfile_release(&lockfile);
	return pid;
}

static void
stop_agent(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	scratch_remove(dir);
}

static const char body[] =
    "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":["
    "{\"name\":\"n\",\"gauge\":{\"dataPoints\":["
    "{\"timeUnixNano\":\"5\",\"asInt\":\"1\"},"
    "{\"timeUnixNano\":\"6\",\"asInt\":\"2\"}]}}]}]}]}";

/* Send the two numbers, each a group, to an agent that refuses them. */
static void
refuse_two(enum wire_reason reason, struct receiver_report *report)
{
	pid_t agent = start_agent(reason);
	const struct submit_options submit = {
		.socket = path,
		.quiet = true,
		.timeout_ns = 10 * NS_PER_SECOND,
	};
	struct otlp_worker_options options = {
		.report = report,
		.submit = &submit,
		.boot = 1,
	};
	const struct otlp_head head = {
		.method = "POST",
		.path = "/v1/metrics",
		.host = "localhost",
		.type = "application/json",
	};
	struct otlp_request request;
	struct otlp_worker *worker;
	struct buffer answer = { 0 };
	struct err err;

	receiver_report_init(report, "otlp");
	otlp_deltas_new(&options.deltas);
	otlp_worker_new(&worker, &options);
	assert_int_equal(
	    otlp_request_read(&head, false, &request, &err), OTLP_OK);
	assert_int_equal(
	    otlp_worker_answer(worker, &request, text_of(body), &answer),
	    OTLP_OK);
	buffer_put(&answer, "", 1);
	assert_non_null(
	    strstr((const char *)answer.at, "\"rejectedDataPoints\":\"2\""));
	otlp_worker_free(&worker);
	otlp_deltas_free(&options.deltas);
	buffer_clear(&answer);
	stop_agent(agent);
}

static void
groups_that_are_refused_together_are_counted_by_their_numbers(void **state)
{
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	struct receiver_report report;

	(void)state;
	refuse_two(WIRE_NACK_UNSUPPORTED, &report);
	assert_int_equal(report.taken, 0);
	assert_int_equal(report.refused, 0);
	assert_int_equal(report_read_bad(&report, bad), 1);
	assert_string_equal(bad[0].reason, "refused");
	assert_int_equal(bad[0].count, 2);
}

static void
groups_that_are_refused_one_by_one_are_counted_once(void **state)
{
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	struct receiver_refused most;
	struct receiver_report report;

	(void)state;
	refuse_two(WIRE_NACK_MALFORMED, &report);
	assert_int_equal(report.taken, 0);
	assert_int_equal(report.refused, 2);
	assert_int_equal(report_read_bad(&report, bad), 0);
	assert_true(report_take_refused(&report, &most));
	assert_string_equal(most.name, "n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    groups_that_are_refused_together_are_counted_by_their_numbers),
		cmocka_unit_test(
		    groups_that_are_refused_one_by_one_are_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
