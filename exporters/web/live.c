/*
 * web_live - streams of server-sent events: what came in a pool.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/nodes/partition_rows.h"
#include "exporters/web/reply.h"
#include "proto/base/memory.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

#define PERIOD_NS (NS_PER_SECOND / 4)
#define QUIET_NS  (5 * NS_PER_SECOND) /* then a comment is sent */

/* What a worker found out. */
struct tick {
	uint64_t generation, entry, records_of[RECORD_KINDS];
	int64_t newest_ns, now_ns;
};

struct client {
	struct client *next, **link;
	struct watch *watch;
	struct web_http_request *request; /* until the stream begins */
	struct web_http_stream *stream;
	struct web_right right;
	int64_t sent_ns;
};

struct watch {
	struct watch *next;
	struct web_live *live;
	char partition[NAME_BYTES_MAX + 1];
	struct client *clients;
	bool asked, answered, silent;
	struct tick last, now; /* `now` belongs to the worker while `asked` */
};

struct web_live {
	struct loop *loop;
	struct web_workers *workers;
	struct web_access *access;
	const struct source_options *options;
	struct loop_timer timer;
	struct watch *watches;
	uint32_t streams;
	bool stopped;
};

/* ---- the question ---- */

static int
answer_tick(struct source *source, struct web_question *question, FILE *file,
    bool *bad, struct err *err)
{
	struct tick *tick = question->tick;
	struct partition_row row;

	(void)file;
	(void)bad;
	if (partition_rows_read_one(
		&row, source, text_of(question->query.name), err) != 0)
		return -1;
	if (row.name.bytes == 0)
		return err_set(
		    err, "there is no partition %.200s", question->query.name);
	*tick = (struct tick){ .generation = row.generation,
		.entry = row.last_entry,
		.newest_ns = row.last_ns,
		.now_ns = clock_wall_ns() };
	memcpy(tick->records_of, row.records_of, sizeof(tick->records_of));
	return 0;
}

static const struct web_route tick_route = { "tick", "", true, answer_tick,
	NULL };

static void
ask(struct watch *watch)
{
	struct web_task *task = memory_zero(1, sizeof(*task));
	struct err ignored;

	task->question.route = &tick_route;
	task->question.options = watch->live->options;
	task->question.query.name = watch->partition;
	task->question.tick = &watch->now;
	task->data = watch;
	watch->asked =
	    web_workers_begin(watch->live->workers, task, &ignored) == 0;
	if (!watch->asked)
		web_task_free(&task); /* the next period will do */
}

/* ---- events ---- */

/* Bits of enum record_kind on which the answers of a route depend. */
static uint32_t
kinds_of(const struct web_route *route)
{
	uint32_t entities = 1u << RECORD_ENTITY;

	if (route->asks != NULL)
		return route->asks->kinds;
	return strcmp(route->word, "results") == 0
		   ? entities
		   : entities | 1u << RECORD_EVENT;
}

static void
put_changed(struct json *json, const struct tick *a, const struct tick *b)
{
	uint32_t kinds = 0;

	for (int i = 0; i < RECORD_KINDS; i++)
		if (a == NULL || a->generation != b->generation ||
		    a->records_of[i] != b->records_of[i])
			kinds |= 1u << i;
	json_add_array(json, "changed");
	for (const struct web_route *route = web_pool_routes;
	     route->word != NULL; route++)
		/* Whatever comes, its node is heard. */
		if ((kinds_of(route) & kinds) != 0 ||
		    route->asks == &question_nodes)
			json_string(json, route->word);
	json_end_array(json);
}

static void
put_numbers(struct json *json, const struct tick *tick)
{
	char text[CLOCK_TEXT_BYTES];

	snprintf(text, sizeof(text), "%" PRIu64, tick->entry);
	json_add_string(json, "entry", text);
	json_add_time(json, "now", tick->now_ns, 3);
	json_add_time(json, "newest", tick->newest_ns, 3);
	json_name(json, "age");
	if (tick->newest_ns == INT64_MIN)
		json_null(json);
	else
		json_float(json, (double)(tick->now_ns / 1000000 -
					  tick->newest_ns / 1000000) /
				     1000);
}

/* `last` is NULL for a reset.  Returns a new text. */
static char *
make_event(const struct tick *last, const struct tick *now)
{
	struct json_memory memory;
	char *event;

	json_memory_begin(&memory, JSON_LINE | JSON_STRICT);
	json_begin_object(&memory.to);
	put_numbers(&memory.to, now);
	put_changed(&memory.to, last, now);
	json_end_object(&memory.to);
	(void)json_memory_end(&memory);
	event = memory_format("id: %" PRIu64 ":%" PRIu64
			      "\nevent: %s\ndata: %s\n\n",
	    now->generation, now->entry, last == NULL ? "reset" : "tick",
	    memory.text);
	free(memory.text);
	return event;
}

static char *
make_silent(const char *why)
{
	struct json_memory memory;
	char *event;

	json_memory_begin(&memory, JSON_LINE | JSON_STRICT);
	json_begin_object(&memory.to);
	json_add_string(&memory.to, "detail", why);
	json_end_object(&memory.to);
	(void)json_memory_end(&memory);
	event = memory_format("event: silent\ndata: %s\n\n", memory.text);
	free(memory.text);
	return event;
}

static void
send_event(struct client *client, const char *event)
{
	if (client->stream == NULL)
		return;
	client->sent_ns = clock_monotonic_ns();
	(void)web_http_stream_put(client->stream, text_of(event));
}

static void
send_all(struct watch *watch, const char *event)
{
	for (struct client *c = watch->clients; c != NULL; c = c->next)
		send_event(c, event);
}

/* ---- clients ---- */

static void
remove_client(struct client *client)
{
	*client->link = client->next;
	if (client->next != NULL)
		client->next->link = client->link;
	client->watch->live->streams--;
	free(client);
}

static void
on_stream_end(void *arg)
{
	remove_client(arg);
}

/* Those that came since the last answer: begin their streams, or refuse. */
static void
begin_streams(
    struct watch *watch, unsigned status, const char *why, const char *reset)
{
	struct client *next;

	for (struct client *c = watch->clients; c != NULL; c = next) {
		struct web_http_request *request = c->request;

		next = c->next;
		if (request == NULL)
			continue;
		c->request = NULL;
		if (status != WEB_OK) {
			remove_client(c);
			web_refuse(request, status, why);
			continue;
		}
		c->stream = web_reply_events(request, on_stream_end, c);
		send_event(c, reset);
	}
}

static struct watch *
find_watch(struct web_live *live, struct text partition)
{
	struct watch *watch = live->watches;

	while (
	    watch != NULL && !text_equal(text_of(watch->partition), partition))
		watch = watch->next;
	if (watch != NULL)
		return watch;
	watch = memory_zero(1, sizeof(*watch));
	watch->live = live;
	snprintf(watch->partition, sizeof(watch->partition), "%.*s",
	    (int)partition.bytes, partition.at);
	watch->next = live->watches;
	live->watches = watch;
	return watch;
}

void
web_live_add(struct web_live *live, struct web_http_request *request,
    struct text partition, const struct web_right *right)
{
	struct client *client;
	struct watch *watch;

	if (live->streams == WEB_LIVE_STREAMS_MAX || live->stopped) {
		web_refuse(request, WEB_UNAVAILABLE,
		    "64 streams are open; close a page that is not looked at");
		return;
	}
	watch = find_watch(live, partition);
	client = memory_zero(1, sizeof(*client));
	client->watch = watch;
	client->request = request;
	client->right = *right;
	client->link = &watch->clients;
	client->next = watch->clients;
	if (client->next != NULL)
		client->next->link = &client->next;
	watch->clients = client;
	live->streams++;
	if (!watch->asked)
		ask(watch);
	if (live->timer.at_ns == 0)
		loop_set_timer(live->loop, &live->timer,
		    clock_monotonic_ns() + PERIOD_NS, PERIOD_NS);
}

/* ---- answers ---- */

static void
take_tick(struct watch *watch)
{
	const struct tick *now = &watch->now;
	bool again = watch->answered && !watch->silent &&
		     watch->last.generation == now->generation;
	char *reset = make_event(NULL, now), *tick;

	if (!again)
		send_all(watch, reset);
	else if (watch->last.entry != now->entry ||
		 memcmp(watch->last.records_of, now->records_of,
		     sizeof(now->records_of)) != 0) {
		tick = make_event(&watch->last, now);
		send_all(watch, tick);
		free(tick);
	}
	begin_streams(watch, WEB_OK, NULL, reset);
	free(reset);
	watch->last = *now;
	watch->answered = true;
	watch->silent = false;
}

bool
web_live_take(struct web_live *live, struct web_task *task)
{
	struct watch *watch = task->data;
	char *event;

	(void)live;
	if (task->question.route != &tick_route)
		return false;
	watch->asked = false;
	if (task->status == WEB_OK) {
		take_tick(watch);
	} else {
		if (!watch->silent) {
			event = make_silent(task->err.text);
			send_all(watch, event);
			free(event);
		}
		watch->silent = true;
		begin_streams(watch, task->status, task->err.text, NULL);
	}
	web_task_free(&task);
	return true;
}

/* ---- each period ---- */

static void
look_after(struct watch *watch)
{
	int64_t now_ns = clock_monotonic_ns();

	for (struct client *c = watch->clients; c != NULL; c = c->next) {
		if (c->stream == NULL)
			continue;
		if (!web_access_holds(watch->live->access, &c->right))
			web_http_stream_end(c->stream);
		else if (now_ns - c->sent_ns > QUIET_NS)
			send_event(c, ":\n\n");
	}
	if (!watch->asked && watch->clients != NULL)
		ask(watch);
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct web_live *live = arg;
	struct watch **link = &live->watches, *watch;

	while ((watch = *link) != NULL) {
		look_after(watch);
		if (watch->clients != NULL || watch->asked) {
			link = &watch->next;
			continue;
		}
		*link = watch->next;
		free(watch);
	}
	if (live->watches == NULL)
		loop_stop_timer(live->loop, timer);
}

/* ---- opening and closing ---- */

struct web_live *
web_live_new(struct loop *loop, struct web_workers *workers,
    struct web_access *access, const struct source_options *options)
{
	struct web_live *live = memory_zero(1, sizeof(*live));

	live->loop = loop;
	live->workers = workers;
	live->access = access;
	live->options = options;
	live->timer = (struct loop_timer){ .on_timer = on_timer, .arg = live };
	return live;
}

void
web_live_stop(struct web_live *live)
{
	live->stopped = true;
	loop_stop_timer(live->loop, &live->timer);
	for (struct watch *w = live->watches; w != NULL; w = w->next)
		for (struct client *c = w->clients; c != NULL; c = c->next)
			if (c->stream != NULL)
				web_http_stream_end(c->stream);
}

void
web_live_free(struct web_live **live)
{
	struct web_live *old = *live;
	struct watch *next;

	*live = NULL;
	if (old == NULL)
		return;
	for (struct watch *w = old->watches; w != NULL; w = next) {
		next = w->next;
		free(w);
	}
	free(old);
}
