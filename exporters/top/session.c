/*
 * top_session - the live view.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/session.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "exporters/top/draw.h"
#include "exporters/top/screen.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"

/* The line that says for how long there was no answer changes alone. */
#define TICK_NS NS_PER_SECOND

enum { MMAP_BYTES = 128 << 10 };

struct session {
	struct loop *loop;
	struct collector *collector;
	struct top_state state;
	struct loop_timer tick;
	int64_t drawn_ns;
	const char *page;
	char link[LINK_BYTES]; /* shown until the next key; "": none */
};

static unsigned
parts_of(enum top_view_number view)
{
	return view == VIEW_RUNS       ? COLLECT_RUNS | COLLECT_LINES
	       : view == VIEW_POOLS    ? COLLECT_POOLS
	       : view == VIEW_PIPELINE ? COLLECT_LINES
				       : 0;
}

static void
draw(struct session *session)
{
	session->drawn_ns = clock_monotonic_ns();
	draw_state(&session->state, clock_wall_ns(),
	    session->link[0] != '\0' ? session->link : NULL);
}

/* In the thread of the collector. */
static void
on_snapshot(void *arg)
{
	struct session *session = arg;

	loop_wake(session->loop);
}

static void
on_wake(void *arg)
{
	struct session *session = arg;
	struct top_snapshot *snapshot = collector_take(session->collector);

	if (snapshot == NULL)
		return;
	top_state_take(&session->state, snapshot);
	draw(session);
}

/* Enter in the view of pools. */
static void
open_pool(struct session *session)
{
	struct top_state *state = &session->state;
	char name[NAME_BYTES_MAX + 1];
	uint32_t row;

	state->opens_pool = false;
	if (!top_state_row(state, &row))
		return;
	snprintf(name, sizeof(name), "%.*s",
	    (int)view_pools.name_of(state->shown, row).bytes,
	    view_pools.name_of(state->shown, row).at);
	top_state_forget(state);
	state->view = VIEW_NODES;
	state->of[VIEW_NODES].selected[0] = '\0';
	state->of[VIEW_RUNS].selected[0] = '\0';
	collector_change(session->collector, text_of(name));
}

static void
copy_link(struct session *session)
{
	session->state.copies_link = false;
	top_state_link(&session->state, session->page, session->link);
	screen_copy(session->link);
}

static void
on_keys(void *arg, int fd, uint32_t events)
{
	struct session *session = arg;
	struct top_state *state = &session->state;
	enum top_view_number before = state->view;
	uint32_t key;

	(void)fd;
	/* The terminal is gone. */
	if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		loop_quit(session->loop, 1);
		return;
	}
	while (!state->quits && (key = screen_key()) != TOP_KEY_NONE) {
		session->link[0] = '\0';
		top_state_key(state, key);
		if (state->copies_link)
			copy_link(session);
		if (state->opens_pool)
			open_pool(session);
		/* What the next key does depends on the rows. */
		top_state_fit(state, state->page);
	}
	if (state->view != before)
		collector_want(session->collector, parts_of(state->view));
	if (state->quits)
		loop_quit(session->loop, 0);
	else
		draw(session);
}

static void
on_end_signal(void *arg, int signo)
{
	struct session *session = arg;

	loop_quit(session->loop, signo == SIGINT ? 0 : 128 + signo);
}

static void
on_resize(void *arg, int signo)
{
	struct session *session = arg;

	(void)signo;
	screen_resize();
	draw(session);
}

static void
on_tick(void *arg, struct loop_timer *timer)
{
	struct session *session = arg;

	(void)timer;
	if (clock_monotonic_ns() - session->drawn_ns >= TICK_NS)
		draw(session);
}

static int
prepare(struct session *session, struct err *err)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	int rc = loop_new(&session->loop, err);

	for (size_t i = 0; rc == 0 && i < sizeof(ends) / sizeof(*ends); i++)
		rc = loop_add_signal(
		    session->loop, ends[i], on_end_signal, session, err);
	if (rc == 0)
		rc = loop_add_signal(
		    session->loop, SIGWINCH, on_resize, session, err);
	if (rc != 0)
		return -1;
	loop_set_wake(session->loop, on_wake, session);
	session->tick.on_timer = on_tick;
	session->tick.arg = session;
	loop_set_timer(session->loop, &session->tick,
	    clock_monotonic_ns() + TICK_NS, TICK_NS);
	return 0;
}

int
session_run(struct source *source, const struct source_options *options,
    const char *partition, const char *model, enum top_view_number view,
    const char *page, struct err *err)
{
	struct session session = { .page = page };
	const struct collector_options how = { .source = source,
		.source_options = options,
		.partition = partition,
		.model = model,
		.on_snapshot = on_snapshot,
		.arg = &session };
	int rc;

	/* Arrays of nodes that were freed are given back, however often they
	 * come: without a limit malloc learns to keep them. */
	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	top_state_init(&session.state, view);
	if (prepare(&session, err) != 0 || screen_open(err) != 0) {
		source_close(&source);
		loop_free(&session.loop);
		return -1;
	}
	draw(&session);
	rc = collector_start(&session.collector, &how, err);
	if (rc == 0) {
		collector_want(session.collector, parts_of(view));
		rc = loop_add_fd(session.loop, STDIN_FILENO, EPOLLIN, on_keys,
		    &session, err);
	}
	if (rc == 0)
		rc = loop_run(session.loop);
	screen_close();
	/* Its thread waits for an answer that may never come. */
	if (!collector_stop(&session.collector))
		_exit(rc < 0 ? 1 : rc);
	top_state_clear(&session.state);
	loop_free(&session.loop);
	return rc;
}
