/*
 * Tests of proto/net/loop/loop.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"
#include "tests/unit/scratch.h"

#define MS INT64_C(1000000)

static struct loop *loop;

static int
set_up(void **state)
{
	struct err err;

	return loop_new(&loop, &err);
}

static int
tear_down(void **state)
{
	loop_free(&loop);
	assert_null(loop);
	loop_free(&loop);
	return 0;
}

static struct loop_timer
timer_of(void (*on_timer)(void *arg, struct loop_timer *timer), void *arg)
{
	return (struct loop_timer){ .on_timer = on_timer, .arg = arg };
}

static void
quit(void *arg, struct loop_timer *timer)
{
	loop_quit(loop, *(int *)arg);
}

/* ---- timers ---- */

static void
the_status_of_quit_is_what_run_returns(void **state)
{
	int status = 7;
	struct loop_timer timer = timer_of(quit, &status);

	loop_set_timer(loop, &timer, clock_monotonic_ns(), 0);
	assert_int_equal(loop_run(loop), 7);
	status = 3;
	loop_set_timer(loop, &timer, clock_monotonic_ns() + 1, 0);
	assert_int_equal(loop_run(loop), 3);
	assert_int_equal(timer.at_ns, 0);
	assert_int_equal(timer.slot, 0);
}

struct order {
	int at[8];
	int count;
	struct loop_timer timer[4];
};

static void
note_order(void *arg, struct loop_timer *timer)
{
	struct order *order = arg;

	order->at[order->count++] = (int)(timer - order->timer);
	if (order->count == 3)
		loop_quit(loop, 0);
}

static void
timers_fire_in_the_order_of_their_times(void **state)
{
	struct order order = { .count = 0 };
	int64_t now = clock_monotonic_ns();
	int i;

	for (i = 0; i < 4; i++)
		order.timer[i] = timer_of(note_order, &order);
	loop_set_timer(loop, &order.timer[0], now + 9 * MS, 0);
	loop_set_timer(loop, &order.timer[1], now + 3 * MS, 0);
	loop_set_timer(loop, &order.timer[2], now + 4 * MS, 0);
	loop_set_timer(loop, &order.timer[3], now + 6 * MS, 0);
	loop_stop_timer(loop, &order.timer[2]);
	loop_stop_timer(loop, &order.timer[2]);
	loop_run(loop);
	assert_true(clock_monotonic_ns() >= now + 9 * MS);
	assert_int_equal(order.at[0], 1);
	assert_int_equal(order.at[1], 3);
	assert_int_equal(order.at[2], 0);
}

struct periodic {
	int64_t begin_ns, last_ns;
	int calls, stalls;
};

static void
on_period(void *arg, struct loop_timer *timer)
{
	struct periodic *periodic = arg;
	int64_t now = clock_monotonic_ns();

	/* The next time is on the grid, and ahead of the last. */
	assert_int_equal((timer->at_ns - periodic->begin_ns) % (2 * MS), 0);
	assert_true(timer->at_ns > periodic->last_ns);
	periodic->last_ns = timer->at_ns;
	if (++periodic->calls == 3)
		while (clock_monotonic_ns() < now + 21 * MS)
			periodic->stalls++;
	if (periodic->calls == 6)
		loop_quit(loop, 0);
}

static void
a_period_stays_on_its_grid_and_skips_what_it_missed(void **state)
{
	struct periodic periodic = { clock_monotonic_ns(), 0, 0, 0 };
	struct loop_timer timer = timer_of(on_period, &periodic);

	loop_set_timer(loop, &timer, periodic.begin_ns, 2 * MS);
	loop_run(loop);
	/* At 0, 2, 4; the stall till 25; then one late call, at 26, at 28. */
	assert_true(clock_monotonic_ns() - periodic.begin_ns >= 28 * MS);
	loop_stop_timer(loop, &timer);
}

struct many {
	struct loop_timer timer[LOOP_TIMERS_MAX];
	uint64_t seed;
	int fired, left;
};

static void
on_many(void *arg, struct loop_timer *timer)
{
	struct many *many = arg;
	struct loop_timer *other =
	    &many->timer[check_random(&many->seed) % LOOP_TIMERS_MAX];
	int64_t now = clock_monotonic_ns();

	many->fired++;
	if (other->slot != 0 && check_random(&many->seed) % 2)
		loop_stop_timer(loop, other);
	else
		loop_set_timer(loop, other,
		    now + (int64_t)(check_random(&many->seed) % MS), 0);
	if (many->fired > 3000) {
		loop_quit(loop, 0);
		return;
	}
	other = &many->timer[check_random(&many->seed) % LOOP_TIMERS_MAX];
	loop_set_timer(loop, other, now - 1, 0);
}

static void
timers_may_set_and_stop_each_other(void **state)
{
	static struct many many;
	int i;

	many.seed = check_seed();
	for (i = 0; i < LOOP_TIMERS_MAX; i++) {
		many.timer[i] = timer_of(on_many, &many);
		loop_set_timer(loop, &many.timer[i], clock_monotonic_ns(), 0);
	}
	loop_run(loop);
	for (i = 0; i < LOOP_TIMERS_MAX; i++)
		loop_stop_timer(loop, &many.timer[i]);
	assert_true(many.fired > 3000);
}

struct greedy {
	struct loop_timer timer;
	int calls;
	int pipe[2];
};

static void
on_greedy(void *arg, struct loop_timer *timer)
{
	struct greedy *greedy = arg;

	greedy->calls++;
	loop_set_timer(loop, timer, 1, 0);
}

static void
on_greedy_fd(void *arg, int fd, uint32_t events)
{
	loop_quit(loop, 0);
}

static void
a_timer_set_to_the_past_starves_nobody(void **state)
{
	struct greedy greedy = { .calls = 0 };
	struct err err;

	greedy.timer = timer_of(on_greedy, &greedy);
	assert_int_equal(pipe(greedy.pipe), 0);
	assert_int_equal(write(greedy.pipe[1], "x", 1), 1);
	loop_set_timer(loop, &greedy.timer, 1, 0);
	loop_add_fd(loop, greedy.pipe[0], EPOLLIN, on_greedy_fd, NULL, &err);
	loop_run(loop);
	loop_stop_timer(loop, &greedy.timer);
	loop_remove_fd(loop, greedy.pipe[0]);
	close(greedy.pipe[0]);
	close(greedy.pipe[1]);
}

/* ---- file descriptors ---- */

struct pair {
	int fd[2][2];
	int calls;
};

/* Whoever comes first closes the other and opens a new one in its place:
 * the event that waits for the old one must not reach the new. */
static void
on_newcomer(void *arg, int fd, uint32_t events)
{
	fail_msg("an event of a closed file descriptor was delivered");
}

static void
on_pair(void *arg, int fd, uint32_t events)
{
	struct pair *pair = arg;
	int other = fd == pair->fd[0][0] ? 1 : 0;
	struct err err;

	assert_true(events & EPOLLIN);
	pair->calls++;
	loop_remove_fd(loop, pair->fd[other][0]);
	close(pair->fd[other][0]);
	close(pair->fd[other][1]);
	assert_int_equal(pipe(pair->fd[other]), 0);
	loop_add_fd(loop, pair->fd[other][0], EPOLLIN, on_newcomer, pair, &err);
	loop_remove_fd(loop, fd);
	loop_remove_fd(loop, fd);
	loop_quit(loop, 0);
}

static void
a_closed_file_descriptor_gets_no_event(void **state)
{
	struct pair pair = { .calls = 0 };
	struct err err;
	int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(pipe(pair.fd[i]), 0);
		assert_int_equal(write(pair.fd[i][1], "x", 1), 1);
		loop_add_fd(loop, pair.fd[i][0], EPOLLIN, on_pair, &pair, &err);
	}
	loop_run(loop);
	assert_int_equal(pair.calls, 1);
	for (i = 0; i < 2; i++) {
		loop_remove_fd(loop, pair.fd[i][0]);
		close(pair.fd[i][0]);
		close(pair.fd[i][1]);
	}
}

static void
on_writable(void *arg, int fd, uint32_t events)
{
	int *seen = arg;

	if (events & EPOLLOUT) {
		(*seen)++;
		loop_change_fd(loop, fd, 0);
	}
	loop_quit(loop, 0);
}

static void
events_can_be_changed(void **state)
{
	int fds[2], seen = 0, status = 5;
	struct loop_timer timer = timer_of(quit, &status);
	struct err err;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(loop_change_fd(loop, fds[1], EPOLLOUT), -1);
	loop_add_fd(loop, fds[1], 0, on_writable, &seen, &err);
	assert_int_equal(loop_change_fd(loop, fds[1], EPOLLOUT), 0);
	assert_int_equal(loop_run(loop), 0);
	loop_set_timer(loop, &timer, clock_monotonic_ns() + 5 * MS, 0);
	assert_int_equal(loop_run(loop), 5);
	assert_int_equal(seen, 1);
	loop_remove_fd(loop, fds[1]);
	close(fds[0]);
	close(fds[1]);
}

static void
a_regular_file_is_refused_with_a_sentence(void **state)
{
	FILE *file = tmpfile();
	struct err err = { 0 };

	assert_non_null(file);
	assert_int_equal(
	    loop_add_fd(loop, fileno(file), EPOLLIN, on_writable, NULL, &err),
	    -1);
	assert_true(strlen(err.text) > 0);
	fclose(file);
}

/* ---- signals, wake-ups, idle ---- */

static int signals_seen[65];

static void
on_signal(void *arg, int signo)
{
	if (++signals_seen[signo] == 1 && signo == SIGUSR2)
		loop_quit(loop, 0);
}

static void
signals_arrive_through_the_loop(void **state)
{
	struct err err;

	assert_int_equal(
	    loop_add_signal(loop, SIGUSR1, on_signal, NULL, &err), 0);
	assert_int_equal(
	    loop_add_signal(loop, SIGUSR2, on_signal, NULL, &err), 0);
	raise(SIGUSR1);
	raise(SIGUSR2);
	loop_run(loop);
	assert_int_equal(signals_seen[SIGUSR1], 1);
	assert_int_equal(signals_seen[SIGUSR2], 1);
}

enum { WAKES = 20000 };

struct baton {
	pthread_mutex_t lock;
	uint64_t given, taken;
};

static void *
give(void *arg)
{
	struct baton *baton = arg;
	int i;

	for (i = 0; i < WAKES; i++) {
		pthread_mutex_lock(&baton->lock);
		baton->given++;
		pthread_mutex_unlock(&baton->lock);
		loop_wake(loop);
	}
	return NULL;
}

static void
on_wake(void *arg)
{
	struct baton *baton = arg;

	pthread_mutex_lock(&baton->lock);
	baton->taken += baton->given;
	baton->given = 0;
	pthread_mutex_unlock(&baton->lock);
	if (baton->taken == 2 * WAKES)
		loop_quit(loop, 0);
}

static void
no_wake_up_from_other_threads_is_lost(void **state)
{
	struct baton baton = { .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t thread[2];

	loop_set_wake(loop, on_wake, &baton);
	pthread_create(&thread[0], NULL, give, &baton);
	pthread_create(&thread[1], NULL, give, &baton);
	loop_run(loop);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	assert_int_equal(baton.taken, 2 * WAKES);
}

static void
on_idle(void *arg)
{
	int *idle = arg;

	(*idle)++;
}

static void
idle_is_called_before_each_sleep_and_after_the_last_round(void **state)
{
	int idle = 0, status = 0;
	struct loop_timer timer = timer_of(quit, &status);
	struct rusage before, after;

	loop_set_idle(loop, on_idle, &idle);
	loop_set_timer(loop, &timer, clock_monotonic_ns() + 50 * MS, 0);
	getrusage(RUSAGE_THREAD, &before);
	loop_run(loop);
	getrusage(RUSAGE_THREAD, &after);
	/* Once before it slept, once after the timer; it slept, not polled. */
	assert_in_range(idle, 2, 3);
	assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 2);
}

/* ---- ports ---- */

static struct zsock *
open_port(enum zsock_kind kind, uint32_t queue)
{
	struct zsock_options options = { .kind = kind,
		.insecure = true,
		.queue_messages = queue,
		.frame_bytes_max = 1 << 16 };
	struct zsock *zsock;
	struct err err;

	assert_int_equal(zsock_open(&zsock, &options, &err), 0);
	return zsock;
}

enum { ROUNDS = 20000 };

struct rally {
	struct zsock *listener, *line;
	struct zsock_message message;
	uint64_t sent, echoed, back;
	uint64_t seed;
};

static const struct route no_route;

static void
serve(struct rally *rally)
{
	/* Bursts of random size, so that queues fill and empty. */
	uint64_t burst = 1 + check_random(&rally->seed) % 8;

	while (burst-- > 0 && rally->sent < ROUNDS)
		if (zsock_send(rally->line, &no_route, text_of("ball")) ==
		    ZSOCK_DONE)
			rally->sent++;
}

static void
on_rally_listener(void *arg, struct zsock *listener)
{
	struct rally *rally = arg;

	while (zsock_recv(listener, &rally->message) == ZSOCK_DONE)
		if (zsock_forward(listener, &rally->message) == ZSOCK_DONE)
			rally->echoed++;
}

static void
on_rally_line(void *arg, struct zsock *line)
{
	struct rally *rally = arg;
	struct zsock_message message;

	zsock_message_init(&message);
	while (zsock_recv(line, &message) == ZSOCK_DONE)
		rally->back++;
	zsock_message_clear(&message);
	if (rally->back == ROUNDS)
		loop_quit(loop, 0);
	else if (rally->back == rally->sent)
		serve(rally);
}

static void
on_hang(void *arg, struct loop_timer *timer)
{
	struct rally *rally = arg;

	fail_msg("hangs: sent %llu echoed %llu back %llu",
	    (unsigned long long)rally->sent, (unsigned long long)rally->echoed,
	    (unsigned long long)rally->back);
}

/* Both ends in one loop: any wake-up that is lost stops the ball for good.
 * The line waits for nothing but the loop, also for its connection. */
static void
rally_over(const char *endpoint)
{
	struct rally rally = { .seed = check_seed() };
	struct loop_timer timer = timer_of(on_hang, &rally);
	struct err err = { 0 };

	rally.listener = open_port(ZSOCK_LISTENER, 64);
	rally.line = open_port(ZSOCK_CONNECTION, 64);
	zsock_message_init(&rally.message);
	if (zsock_bind(rally.listener, endpoint, &err) != 0)
		fail_msg("%s", err.text);
	zsock_connect(rally.line, zsock_endpoint(rally.listener), &err);
	loop_add_zsock(loop, rally.listener, on_rally_listener, &rally, &err);
	loop_add_zsock(loop, rally.line, on_rally_line, &rally, &err);
	loop_set_timer(loop, &timer, clock_monotonic_ns() + 100000 * MS, 0);
	serve(&rally); /* says "again": not connected */
	loop_run(loop);
	loop_stop_timer(loop, &timer);
	loop_remove_zsock(loop, rally.listener);
	loop_remove_zsock(loop, rally.line);
	zsock_message_clear(&rally.message);
	zsock_close(&rally.line);
	zsock_close(&rally.listener);
}

static void
no_wake_up_of_a_port_is_lost(void **state)
{
	char dir[SCRATCH_BYTES], endpoint[SCRATCH_BYTES + 16];

	rally_over("tcp://127.0.0.1:*");
	snprintf(
	    endpoint, sizeof(endpoint), "ipc://%s/door", scratch_make(dir));
	rally_over(endpoint);
	scratch_remove(dir);
}

struct flood {
	struct zsock *listener, *line;
	struct zsock_message message;
	uint64_t sent, again, arrived;
	bool slow;
};

enum { FLOOD = 2000 };

static void
pour(struct flood *flood)
{
	static const char body[4096];

	while (flood->sent < FLOOD) {
		if (zsock_send(flood->line, &no_route,
			(struct text){ body, sizeof(body) }) != ZSOCK_DONE) {
			flood->again++;
			return;
		}
		flood->sent++;
	}
}

static void
on_flood_line(void *arg, struct zsock *line)
{
	pour(arg);
}

static void
on_flood_listener(void *arg, struct zsock *listener)
{
	struct flood *flood = arg;

	/* One at a time: the loop must come again for the rest. */
	if (zsock_recv(listener, &flood->message) == ZSOCK_DONE)
		flood->arrived++;
	if (flood->arrived == FLOOD)
		loop_quit(loop, 0);
}

static void
a_line_that_was_full_is_reported_when_there_is_room(void **state)
{
	struct flood flood = { .sent = 0 };
	struct err err;

	zsock_message_init(&flood.message);
	flood.listener = open_port(ZSOCK_LISTENER, 2);
	flood.line = open_port(ZSOCK_CONNECTION, 2);
	zsock_bind(flood.listener, "tcp://127.0.0.1:*", &err);
	zsock_connect(flood.line, zsock_endpoint(flood.listener), &err);
	loop_add_zsock(loop, flood.listener, on_flood_listener, &flood, &err);
	loop_add_zsock(loop, flood.line, on_flood_line, &flood, &err);
	loop_run(loop);
	assert_int_equal(flood.sent, FLOOD);
	assert_true(flood.again > 1);
	zsock_message_clear(&flood.message);
	loop_remove_zsock(loop, flood.listener);
	loop_remove_zsock(loop, flood.line);
	zsock_close(&flood.line);
	zsock_close(&flood.listener);
}

struct removal {
	struct zsock *listener[2], *line[2];
	int calls;
};

static void
on_removal(void *arg, struct zsock *zsock)
{
	struct removal *removal = arg;
	struct zsock_message message;
	bool got;

	zsock_message_init(&message);
	got = zsock_recv(zsock, &message) == ZSOCK_DONE;
	zsock_message_clear(&message);
	if (!got)
		return; /* a peer came */
	removal->calls++;
	loop_remove_zsock(loop, removal->listener[0]);
	loop_remove_zsock(loop, removal->listener[1]);
	zsock_close(&removal->listener[0]);
	zsock_close(&removal->listener[1]);
	loop_quit(loop, 0);
}

static void
on_line(void *arg, struct zsock *line)
{
	zsock_send(line, &no_route, text_of("x"));
}

static void
a_port_may_be_removed_and_closed_by_any_callback(void **state)
{
	struct removal removal = { .calls = 0 };
	struct err err;
	int i;

	for (i = 0; i < 2; i++) {
		removal.listener[i] = open_port(ZSOCK_LISTENER, 4);
		removal.line[i] = open_port(ZSOCK_CONNECTION, 4);
		zsock_bind(removal.listener[i], "tcp://127.0.0.1:*", &err);
		zsock_connect(
		    removal.line[i], zsock_endpoint(removal.listener[i]), &err);
		loop_add_zsock(
		    loop, removal.listener[i], on_removal, &removal, &err);
		loop_add_zsock(loop, removal.line[i], on_line, &removal, &err);
	}
	loop_run(loop);
	assert_int_equal(removal.calls, 1);
	for (i = 0; i < 2; i++) {
		loop_remove_zsock(loop, removal.line[i]);
		zsock_close(&removal.line[i]);
	}
}

static void
more_ports_than_there_is_room_for_are_refused(void **state)
{
	struct zsock *zsock[LOOP_ZSOCKS_MAX + 1];
	struct err err = { 0 };
	int i;

	for (i = 0; i <= LOOP_ZSOCKS_MAX; i++) {
		zsock[i] = open_port(ZSOCK_CONNECTION, 1);
		assert_int_equal(
		    loop_add_zsock(loop, zsock[i], on_line, NULL, &err),
		    i < LOOP_ZSOCKS_MAX ? 0 : -1);
	}
	assert_string_equal(err.text, "more than 16 ZeroMQ sockets");
	for (i = 0; i <= LOOP_ZSOCKS_MAX; i++) {
		loop_remove_zsock(loop, zsock[i]);
		zsock_close(&zsock[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_status_of_quit_is_what_run_returns),
		TEST(timers_fire_in_the_order_of_their_times),
		TEST(a_period_stays_on_its_grid_and_skips_what_it_missed),
		TEST(timers_may_set_and_stop_each_other),
		TEST(a_timer_set_to_the_past_starves_nobody),
		TEST(a_closed_file_descriptor_gets_no_event),
		TEST(events_can_be_changed),
		TEST(a_regular_file_is_refused_with_a_sentence),
		TEST(signals_arrive_through_the_loop),
		TEST(no_wake_up_from_other_threads_is_lost),
		TEST(idle_is_called_before_each_sleep_and_after_the_last_round),
		TEST(no_wake_up_of_a_port_is_lost),
		TEST(a_line_that_was_full_is_reported_when_there_is_room),
		TEST(a_port_may_be_removed_and_closed_by_any_callback),
		TEST(more_ports_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
