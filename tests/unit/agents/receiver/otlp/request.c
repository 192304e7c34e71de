/*
 * What is answered and counted when an agent refuses.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/request.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agents/receiver/otlp/deltas.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/fake_agent.h"

static enum wire_reason reason; /* why the agent refuses everything */

static void
serve(int client)
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

static const char body[] =
    "{\"resourceMetrics\":[{\"scopeMetrics\":[{\"metrics\":["
    "{\"name\":\"n\",\"gauge\":{\"dataPoints\":["
    "{\"timeUnixNano\":\"5\",\"asInt\":\"1\"},"
    "{\"timeUnixNano\":\"6\",\"asInt\":\"2\"}]}}]}]}]}";

/* Send the two numbers, each a group, to an agent that refuses them. */
static void
refuse_two(enum wire_reason why, struct receiver_report *report)
{
	const struct submit_options submit = {
		.socket = fake_agent_path,
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
	pid_t agent;

	reason = why;
	agent = fake_agent_start(serve);
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
	fake_agent_stop(agent);
}

static void
groups_that_are_refused_together_are_counted_by_their_numbers(void **state)
{
	struct receiver_bad bad[RECEIVER_REASONS_MAX];
	struct receiver_report report;

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
