/*
 * Tests of broker/relay/relay_drop_log.h: a whole relay, and a peer that sends
 * it rubbish.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/proto/net/zsock_help.h"

#include "broker/relay/relay.h"
#include "tests/unit/stderr_text.h"

static struct relay relay;
static struct routes routes;
static struct loop *loop;
static uint64_t wanted;

static void
start_relay(void)
{
	const struct relay_options how = { .queue_messages = QUEUE,
		.memory_bytes_max = UINT64_C(1) << 30,
		.insecure = true };
	char up[ENDPOINT_BYTES_MAX];
	struct err err = { 0 };

	memset(&relay, 0, sizeof(relay));
	memset(&routes, 0, sizeof(routes));
	snprintf(up, sizeof(up), "ipc://%s/up", dir);
	if (loop_new(&loop, &err) != 0 ||
	    routes_add(&routes, text_of("*"), up, &err) != 0 ||
	    relay_start(&relay, loop, &routes, &how, &err) != 0 ||
	    zsock_bind(relay.listener, where, &err) != 0)
		fail_msg("%s", err.text);
}

static void
stop_relay(void)
{
	relay_stop(&relay);
	relay_clear(&relay);
	loop_free(&loop);
}

static void
on_idle(void *arg)
{
	if (relay.counters.refused >= wanted)
		loop_quit(loop, 0);
}

static void
on_late(void *arg, struct loop_timer *timer)
{
	loop_quit(loop, 1);
}

/* Until `refused` messages were refused. */
static int
run_until(uint64_t refused)
{
	struct loop_timer late = { .on_timer = on_late };
	int status;

	wanted = refused;
	loop_set_idle(loop, on_idle, NULL);
	loop_set_timer(loop, &late,
	    clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000, 0);
	status = loop_run(loop);
	loop_stop_timer(loop, &late);
	return status;
}

static void
what_is_dropped_counts_once_whatever_the_reason(void **state)
{
	struct zsock *line;

	start_relay();
	line = open_line();
	assert_int_equal(relay_drop_log_sum(&relay.drop_log), 0);
	assert_int_equal(relay.drop_log.summary.at_ns, 0);
	assert_int_equal(
	    zsock_send(line, &no_route, text_of("rubbish")), ZSOCK_DONE);
	assert_int_equal(
	    zsock_send(line, &no_route, text_of("more of it")), ZSOCK_DONE);
	assert_int_equal(run_until(2), 0);
	assert_int_equal(relay_drop_log_sum(&relay.drop_log), 2);
	assert_true(relay.drop_log.summary.at_ns > clock_monotonic_ns());
	zsock_close(&line);
	stop_relay();
}

static void
summarize(void)
{
	struct loop_timer *summary = &relay.drop_log.summary;

	loop_stop_timer(loop, summary);
	summary->on_timer(summary->arg, summary);
}

static void
the_log_hears_of_them_in_a_minute_and_then_of_no_more(void **state)
{
	const char *text;

	start_relay();
	relay.counters.owner = 3;
	relay.counters.unforwarded = 1;
	relay.counters.invalid = 4;
	relay_drop_log_note(&relay.drop_log);
	assert_true(relay.drop_log.summary.at_ns > clock_monotonic_ns());
	text = stderr_text(summarize);
	assert_non_null(strstr(text, "dropped 8 messages in the last minute"));
	assert_non_null(strstr(text, " owner=3 "));
	assert_non_null(strstr(text, " unforwarded=1 malformed=4 "));
	relay_drop_log_note(&relay.drop_log);
	assert_int_equal(relay.drop_log.summary.at_ns, 0);
	stop_relay();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_dropped_counts_once_whatever_the_reason),
		TEST(the_log_hears_of_them_in_a_minute_and_then_of_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
