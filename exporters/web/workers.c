/*
 * web_workers - threads that answer questions while the loop goes on.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/workers.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/known.h"
#include "exporters/web/reply.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/thread.h"

/* Of this process: nobody can make two questions with the same tag. */
static struct hash_key keys[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
make_keys(void)
{
	keys[0] = hash_key_random();
	keys[1] = hash_key_random();
}

struct sum {
	uint64_t at[2];
};

static void
begin(struct sum *sum)
{
	pthread_once(&once, make_keys);
	sum->at[0] = sum->at[1] = 0;
}

static void
add(struct sum *sum, const void *at, size_t bytes)
{
	for (int i = 0; i < 2; i++) {
		struct hash_key key = { keys[i].k0 ^ sum->at[i], keys[i].k1 };

		sum->at[i] = hash_bytes(key, at, bytes);
	}
}

static void
put_tag(char to[static WEB_TAG_BYTES], const struct sum *sum)
{
	snprintf(to, WEB_TAG_BYTES, "\"%016" PRIx64 "%016" PRIx64 "\"",
	    sum->at[0], sum->at[1]);
}

/* Of a question about a pool; -1: the source did not answer. */
static int
tag_of_pool(char to[static WEB_TAG_BYTES], struct source *source,
    const struct web_question *question, const struct web_url *url,
    struct err *err)
{
	char id[sizeof("partition:") + NAME_BYTES_MAX];
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	int64_t second = clock_wall_ns() / NS_PER_SECOND;
	struct record record;
	uint64_t generation;
	struct sum sum;
	int rc;

	snprintf(id, sizeof(id), "partition:%.*s",
	    (int)question->partition.bytes, question->partition.at);
	query.name = text_of(id);
	begin(&sum);
	add(&sum, url->decoded, url->used);
	if (web_route_ages(question->route) || question->query.is_relative)
		add(&sum, &second, sizeof(second));
	if (source_select(source, SOURCE_STATUS, text_of(""), &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (record.kind == RECORD_ENTITY)
			add(&sum, record.pairs.at, record.pairs.bytes);
	generation = source_generation(source);
	add(&sum, &generation, sizeof(generation));
	put_tag(to, &sum);
	return rc;
}

/* Of the bytes of an answer. */
static void
tag_of_bytes(char to[static WEB_TAG_BYTES], const void *at, size_t bytes)
{
	struct sum sum;

	begin(&sum);
	add(&sum, at, bytes);
	put_tag(to, &sum);
}

bool
web_tag_is_in(const char *tag, const char *none_match)
{
	return none_match != NULL && tag[0] != '\0' &&
	       strstr(none_match, tag) != NULL;
}

struct entry {
	char tag[WEB_TAG_BYTES];
	struct web_body *body;
	uint64_t used; /* when it was asked for last, as a number */
};

struct web_cache {
	pthread_mutex_t lock;
	struct entry at[WEB_CACHE_ENTRIES_MAX];
	uint32_t count;
	uint64_t bytes, bytes_max, uses;
};

struct web_cache *
web_cache_new(uint64_t bytes_max)
{
	struct web_cache *cache = memory_zero(1, sizeof(*cache));

	pthread_mutex_init(&cache->lock, NULL);
	cache->bytes_max = bytes_max;
	return cache;
}

static void
remove_entry(struct web_cache *cache, uint32_t at)
{
	cache->bytes -= web_body_memory(cache->at[at].body);
	web_body_drop(&cache->at[at].body);
	cache->at[at] = cache->at[--cache->count];
}

void
web_cache_free(struct web_cache **cache)
{
	struct web_cache *old = *cache;

	*cache = NULL;
	if (old == NULL)
		return;
	while (old->count > 0)
		remove_entry(old, 0);
	pthread_mutex_destroy(&old->lock);
	free(old);
}

static struct entry *
find(struct web_cache *cache, const char *tag)
{
	for (uint32_t i = 0; i < cache->count; i++)
		if (strcmp(cache->at[i].tag, tag) == 0)
			return &cache->at[i];
	return NULL;
}

struct web_body *
web_cache_get(struct web_cache *cache, const char *tag)
{
	struct web_body *body = NULL;
	struct entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, tag);
	if (entry != NULL) {
		entry->used = ++cache->uses;
		body = entry->body;
		web_body_hold(body);
	}
	pthread_mutex_unlock(&cache->lock);
	return body;
}

static uint32_t
oldest(const struct web_cache *cache)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < cache->count; i++)
		if (cache->at[i].used < cache->at[found].used)
			found = i;
	return found;
}

void
web_cache_put(struct web_cache *cache, const char *tag, struct web_body *body)
{
	uint64_t bytes = web_body_memory(body);
	struct entry *entry;

	if (bytes > cache->bytes_max / 4)
		return;
	pthread_mutex_lock(&cache->lock);
	if (find(cache, tag) == NULL) {
		while (cache->count == WEB_CACHE_ENTRIES_MAX ||
		       cache->bytes + bytes > cache->bytes_max)
			remove_entry(cache, oldest(cache));
		entry = &cache->at[cache->count++];
		snprintf(entry->tag, sizeof(entry->tag), "%s", tag);
		entry->body = body;
		entry->used = ++cache->uses;
		cache->bytes += bytes;
		web_body_hold(body);
	}
	pthread_mutex_unlock(&cache->lock);
}

struct web_reader {
	const struct source_options *options;
	struct web_cache *cache;
	struct source *source;     /* NULL: not open */
	struct question_kept kept; /* of this source */
	bool is_store;
};

/* One token has all workers but one at most, so that its slow questions hold up
 * nobody else. */
enum { WEB_WORKERS = 3, WEB_TASKS_MAX = 256, WEB_TASKS_OF_TOKEN_MAX = 64 };

/* Answer a question from the source. */

/* ---- a stream into memory, with a bound ---- */

struct bounded {
	struct buffer buffer;
	bool is_full;
};

static ssize_t
put(void *arg, const char *from, size_t bytes)
{
	struct bounded *to = arg;

	if (to->buffer.bytes + bytes > WEB_ANSWER_BYTES_MAX)
		to->is_full = true;
	if (to->is_full) {
		errno = EFBIG;
		return 0;
	}
	buffer_put(&to->buffer, from, bytes);
	return (ssize_t)bytes;
}

static FILE *
open_bounded(struct bounded *to)
{
	const cookie_io_functions_t calls = { .write = put };

	*to = (struct bounded){ .is_full = false };
	return memory_must(fopencookie(to, "w", calls));
}

/* ---- the source ---- */

static void
web_reader_close(struct web_reader *reader)
{
	question_kept_clear(&reader->kept);
	source_close(&reader->source);
}

/* An aggregator that was started has the store now; without it, the store can
 * be read. */
static int
open_source(struct web_reader *reader, struct err *err)
{
	bool is_store = source_reads_store(reader->options);

	if (reader->source != NULL && reader->is_store != is_store)
		web_reader_close(reader);
	reader->is_store = is_store;
	if (reader->source == NULL)
		return source_open(&reader->source, reader->options, err);
	source_renew(reader->source);
	return 0;
}

/* ---- the answer ---- */

static int
answer(struct web_reader *reader, struct web_task *task, FILE *file, bool *bad)
{
	struct web_question *question = &task->question;
	struct source *source = reader->source;
	/* A question checks what exists itself. */
	bool checks =
	    question->partition.bytes > 0 && question->route->asks == NULL;
	int rc = 0;

	question->kept = &reader->kept;
	source_limit(source, question->limit);
	if (checks)
		rc = known_check_nodes(source, question->partition,
		    text_of(question->query.window.node.list), &task->err);
	if (rc == 0)
		rc = web_route_answer(source, question, file, bad, &task->err);
	if (checks && !*bad)
		rc = known_check_partition(
		    source, question->partition, rc, &task->err);
	source_limit(source, NULL);
	return rc;
}

/* Is the answer known, to the client or to us?  -1: that is not known
 * either. */
static int
look_up(struct web_reader *reader, struct web_task *task)
{
	struct err ignored;

	task->tag[0] = '\0';
	if (task->question.partition.bytes == 0)
		return -1;
	if (tag_of_pool(task->tag, reader->source, &task->question, &task->url,
		&ignored) != 0) {
		task->tag[0] = '\0';
		return -1;
	}
	if (web_tag_is_in(task->tag, task->none_match)) {
		task->status = WEB_NOT_MODIFIED;
		return 0;
	}
	if (!web_route_is_trace(task->question.route))
		task->body = web_cache_get(reader->cache, task->tag);
	if (task->body == NULL)
		return -1;
	task->status = WEB_OK;
	return 0;
}

static void
take_answer(
    struct web_reader *reader, struct web_task *task, struct bounded *to)
{
	size_t bytes = to->buffer.bytes;

	task->status = WEB_OK;
	/* The buffer may have room for twice as much. */
	task->body = web_body_new(memory_resize(to->buffer.at, bytes), bytes);
	if (task->tag[0] != '\0') {
		if (!web_route_is_trace(task->question.route))
			web_cache_put(reader->cache, task->tag, task->body);
		return;
	}
	tag_of_bytes(task->tag, task->body->at, task->body->bytes);
	if (!web_tag_is_in(task->tag, task->none_match))
		return;
	task->status = WEB_NOT_MODIFIED;
	web_body_drop(&task->body);
}

/* What the answer has: all; or what lacks, since the aggregator that would
 * receive and index it does not run or is behind. */
static void
put_shown(struct web_reader *reader, struct web_task *task)
{
	int64_t complete_ns = source_complete_ns(reader->source);
	char until[CLOCK_TEXT_BYTES];

	if (reader->is_store && !source_is_named(reader->options))
		snprintf(task->shown, sizeof(task->shown),
		    "the store: the aggregator does not run");
	else if (complete_ns != INT64_MAX)
		snprintf(task->shown, sizeof(task->shown),
		    "until %s: what came later is not indexed",
		    clock_text(until, complete_ns, 0));
	else if (task->shown[0] == '\0')
		snprintf(task->shown, sizeof(task->shown), "all");
}

static struct source *
open_for_tool(void *arg, struct err *err)
{
	struct web_reader *reader = arg;

	return open_source(reader, err) == 0 ? reader->source : NULL;
}

/* A message is answered even if the source is not: by an error.  Of the errors
 * some have a status of their own. */
static void
answer_message(struct web_reader *reader, struct web_task *task)
{
	const struct mcp_server server = { .options = reader->options,
		.open = open_for_tool,
		.arg = reader,
		.limit = task->question.limit,
		.command = "",
		.kept = &reader->kept };
	struct buffer out = { .at = NULL };
	enum mcp_code code =
	    mcp_answer(&server, task->message, &task->fields, &out);

	if (reader->source != NULL && source_has_failed(reader->source))
		web_reader_close(reader);
	task->status = WEB_OK;
	if (out.bytes == 0)
		task->status = WEB_ACCEPTED;
	else if (mcp_is_bad_request(code))
		task->status = WEB_BAD;
	else if (code == MCP_METHOD_NOT_FOUND && task->fields.method != NULL)
		task->status = WEB_MISSING; /* from 2026-07-28 on */
	if (out.bytes > 0)
		task->body = web_body_new((char *)out.at, out.bytes);
}

/* Answer it; opens the source when needed, and again after a failure. */
static void
web_ask(struct web_reader *reader, struct web_task *task)
{
	struct bounded to;
	bool bad = false, failed, whole;
	FILE *file;
	int rc;

	if (task->question.route == &web_mcp_route) {
		answer_message(reader, task);
		return;
	}
	task->status = WEB_UNAVAILABLE;
	if (open_source(reader, &task->err) != 0)
		return;
	rc = look_up(reader, task);
	put_shown(reader, task);
	if (rc == 0)
		return;
	source_renew(reader->source);
	file = open_bounded(&to);
	rc = answer(reader, task, file, &bad);
	put_shown(reader, task);
	fclose(file);
	failed = source_has_failed(reader->source);
	whole =
	    rc != 0 || source_check_damage(reader->source, rc, &task->err) == 0;
	if (failed)
		web_reader_close(reader);
	if (rc == 0 && whole && !to.is_full) {
		take_answer(reader, task, &to);
		return;
	}
	buffer_clear(&to.buffer);
	task->tag[0] = '\0';
	if (to.is_full && whole) {
		err_set(&task->err,
		    "the answer is larger than %d MiB; ask for less, with top, "
		    "max-size, node, from and to where the route has them",
		    WEB_ANSWER_BYTES_MAX >> 20);
		bad = true;
	}
	if (rc != 0 && task->err.code == ERR_OPTION)
		bad = true;
	task->status = !whole   ? WEB_BROKEN
		       : bad    ? WEB_BAD
		       : failed ? WEB_UNAVAILABLE
		       : task->question.query.runs.after != NULL ? WEB_GONE
								 : WEB_MISSING;
}

void
web_task_free(struct web_task **task)
{
	struct web_task *old = *task;

	*task = NULL;
	if (old == NULL)
		return;
	web_body_drop(&old->body);
	free(old);
}

struct queue {
	struct web_task *first, **end;
	uint32_t count;
};

struct member {
	struct web_workers *of;
	struct thread thread;
	struct web_reader reader;
	const struct web_task *task; /* that it answers; NULL: none */
};

struct web_workers {
	struct loop *loop;
	void (*on_done)(void *arg, struct web_task *task);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue waiting, done;
	bool stopping;
	pthread_mutex_t store; /* held by the worker that reads one */
	struct member members[WEB_WORKERS];
};

static void
queue_init(struct queue *queue)
{
	*queue = (struct queue){ .end = &queue->first };
}

static void
queue_put(struct queue *queue, struct web_task *task)
{
	task->next = NULL;
	*queue->end = task;
	queue->end = &task->next;
	queue->count++;
}

static struct web_task *
queue_take_at(struct queue *queue, struct web_task **link)
{
	struct web_task *task = *link;

	if (task == NULL)
		return NULL;
	*link = task->next;
	if (*link == NULL)
		queue->end = link;
	queue->count--;
	return task;
}

static struct web_task *
queue_take(struct queue *queue)
{
	return queue_take_at(queue, &queue->first);
}

static bool
is_of_same_token(const struct web_task *a, const struct web_task *b)
{
	return memcmp(a->question.right.token, b->question.right.token,
		   sizeof(a->question.right.token)) == 0;
}

/* ---- a worker ---- */

static void
ask(struct member *member, struct web_task *task)
{
	bool is_store = source_reads_store(member->reader.options);

	if (!is_store) {
		web_ask(&member->reader, task);
		return;
	}
	pthread_mutex_lock(&member->of->store);
	web_ask(&member->reader, task);
	web_reader_close(&member->reader);
	pthread_mutex_unlock(&member->of->store);
}

/* Of its token. */
static unsigned
count_begun(const struct web_workers *workers, const struct web_task *task)
{
	unsigned count = 0;

	for (int i = 0; i < WEB_WORKERS; i++)
		count += workers->members[i].task != NULL &&
			 is_of_same_token(workers->members[i].task, task);
	return count;
}

/* The oldest one that may begin; NULL: none. */
static struct web_task *
next_task(struct web_workers *workers)
{
	struct web_task **link = &workers->waiting.first;

	while (*link != NULL && count_begun(workers, *link) == WEB_WORKERS - 1)
		link = &(*link)->next;
	return queue_take_at(&workers->waiting, link);
}

static int
work(void *arg, struct err *err)
{
	struct member *member = arg;
	struct web_workers *workers = member->of;
	struct web_task *task;

	(void)err;
	pthread_mutex_lock(&workers->lock);
	while (!workers->stopping) {
		member->task = task = next_task(workers);
		if (task == NULL) {
			pthread_cond_wait(&workers->changed, &workers->lock);
			continue;
		}
		pthread_mutex_unlock(&workers->lock);
		ask(member, task);
		pthread_mutex_lock(&workers->lock);
		member->task = NULL;
		queue_put(&workers->done, task);
		loop_wake(workers->loop);
	}
	pthread_mutex_unlock(&workers->lock);
	web_reader_close(&member->reader);
	return 0;
}

static void
stop(void *arg)
{
	struct member *member = arg;
	struct web_workers *workers = member->of;

	pthread_mutex_lock(&workers->lock);
	workers->stopping = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

/* ---- the loop's side ---- */

static void
on_wake(void *arg)
{
	struct web_workers *workers = arg;
	struct web_task *task;

	do {
		pthread_mutex_lock(&workers->lock);
		task = queue_take(&workers->done);
		pthread_mutex_unlock(&workers->lock);
		if (task != NULL)
			workers->on_done(workers->arg, task);
	} while (task != NULL);
}

unsigned
web_workers_begin(
    struct web_workers *workers, struct web_task *task, struct err *err)
{
	unsigned status = 0, same;

	pthread_mutex_lock(&workers->lock);
	same = count_begun(workers, task);
	for (const struct web_task *of = workers->waiting.first; of != NULL;
	     of = of->next)
		same += is_of_same_token(of, task);
	if (same >= WEB_TASKS_OF_TOKEN_MAX)
		status = WEB_TOO_MANY;
	else if (workers->waiting.count >= WEB_TASKS_MAX)
		status = WEB_UNAVAILABLE;
	else
		queue_put(&workers->waiting, task);
	pthread_cond_signal(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
	if (status == WEB_TOO_MANY)
		err_set(err,
		    "%d questions of the token are not answered yet; ask again "
		    "when some are",
		    WEB_TASKS_OF_TOKEN_MAX);
	else if (status != 0)
		err_set(err,
		    "%d questions wait; ask again when some are answered",
		    WEB_TASKS_MAX);
	return status;
}

int
web_workers_start(struct web_workers **made, struct loop *loop,
    const struct source_options *options, struct web_cache *cache,
    void (*on_done)(void *arg, struct web_task *task), void *arg,
    struct err *err)
{
	struct web_workers *workers = *made = memory_zero(1, sizeof(*workers));
	struct thread_watcher watcher = loop_watcher(loop);

	workers->loop = loop;
	workers->on_done = on_done;
	workers->arg = arg;
	pthread_mutex_init(&workers->lock, NULL);
	pthread_mutex_init(&workers->store, NULL);
	pthread_cond_init(&workers->changed, NULL);
	queue_init(&workers->waiting);
	queue_init(&workers->done);
	loop_set_wake(loop, on_wake, workers);
	for (int i = 0; i < WEB_WORKERS; i++) {
		struct member *member = &workers->members[i];
		const struct thread_options how = { .name = "a worker",
			.run = work,
			.stop = stop,
			.arg = member };

		member->of = workers;
		member->reader.options = options;
		member->reader.cache = cache;
		if (thread_start(&member->thread, &how, &watcher, err) != 0)
			return -1;
	}
	return 0;
}

void
web_workers_stop(struct web_workers **stopped)
{
	struct web_workers *workers = *stopped;
	struct web_task *task;

	if (workers == NULL)
		return;
	for (int i = 0; i < WEB_WORKERS; i++)
		thread_stop(&workers->members[i].thread);
	on_wake(workers);
	while ((task = queue_take(&workers->waiting)) != NULL) {
		task->status = 503;
		err_set(&task->err, "the server stops");
		workers->on_done(workers->arg, task);
	}
	loop_set_wake(workers->loop, NULL, NULL);
	pthread_cond_destroy(&workers->changed);
	pthread_mutex_destroy(&workers->store);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
	*stopped = NULL;
}
