/*
 * pack_block - pieces of memory, each compressed as a whole.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/pack_block.h"

#include <assert.h>
#include <libdeflate.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of traces, 2 takes twice as long for a twentieth less. */
enum { LEVEL = 1 };

/* BEGUN is the thread's, everything else ours. */
enum state { NOTHING, BEGUN, DONE, OVER };

struct room {
	unsigned char *at;
	size_t bytes, room;
};

struct pack_block {
	struct libdeflate_compressor *deflate;
	enum pack_format format;
	struct room in, out;

	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of the state */
	pthread_cond_t changed;
	enum state state;
};

static void
make_room(struct room *room, size_t bytes)
{
	if (room->room >= bytes)
		return;
	free(room->at);
	room->at = malloc(bytes);
	if (room->at == NULL)
		abort(); /* out of memory */
	room->room = bytes;
}

static void
compress(struct pack_block *pack)
{
	struct room *in = &pack->in, *out = &pack->out;

	if (pack->format == PACK_GZIP) {
		make_room(out,
		    libdeflate_gzip_compress_bound(pack->deflate, in->bytes));
		out->bytes = libdeflate_gzip_compress(
		    pack->deflate, in->at, in->bytes, out->at, out->room);
	} else {
		make_room(out,
		    libdeflate_zlib_compress_bound(pack->deflate, in->bytes));
		out->bytes = libdeflate_zlib_compress(
		    pack->deflate, in->at, in->bytes, out->at, out->room);
	}
	assert(out->bytes > 0);
}

/* ---- the thread ---- */

static void
set_state(struct pack_block *pack, enum state state)
{
	pthread_mutex_lock(&pack->lock);
	pack->state = state;
	pthread_cond_signal(&pack->changed);
	pthread_mutex_unlock(&pack->lock);
}

/* Waits until it is, or is not, the thread's turn; returns whose it is. */
static enum state
await(struct pack_block *pack, bool begun)
{
	enum state state;

	pthread_mutex_lock(&pack->lock);
	while ((pack->state == BEGUN) != begun && pack->state != OVER)
		pthread_cond_wait(&pack->changed, &pack->lock);
	state = pack->state;
	pthread_mutex_unlock(&pack->lock);
	return state;
}

static void *
run(void *arg)
{
	struct pack_block *pack = arg;

	while (await(pack, true) == BEGUN) {
		compress(pack);
		set_state(pack, DONE);
	}
	return NULL;
}

static void
start_thread(struct pack_block *pack)
{
	sigset_t all, before;

	/* Signals are for the thread that everything else is done in. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pack->has_thread = pthread_create(&pack->thread, NULL, run, pack) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the one who has something to compress ---- */

struct pack_block *
pack_block_new(enum pack_format format)
{
	struct pack_block *pack = calloc(1, sizeof(*pack));

	if (pack != NULL)
		pack->deflate = libdeflate_alloc_compressor(LEVEL);
	if (pack == NULL || pack->deflate == NULL)
		abort(); /* out of memory */
	pack->format = format;
	pthread_mutex_init(&pack->lock, NULL);
	pthread_cond_init(&pack->changed, NULL);
	start_thread(pack);
	return pack;
}

void
pack_block_free(struct pack_block **pack)
{
	struct pack_block *old = *pack;

	if (old == NULL)
		return;
	if (old->has_thread) {
		await(old, false);
		set_state(old, OVER);
		pthread_join(old->thread, NULL);
	}
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	libdeflate_free_compressor(old->deflate);
	free(old->in.at);
	free(old->out.at);
	free(old);
	*pack = NULL;
}

void
pack_block_begin(struct pack_block *pack, const void *bytes, size_t count)
{
	enum state state = await(pack, false);

	assert(state == NOTHING);
	(void)state;
	make_room(&pack->in, count);
	memcpy(pack->in.at, bytes, count);
	pack->in.bytes = count;
	if (pack->has_thread) {
		set_state(pack, BEGUN);
		return;
	}
	compress(pack);
	pack->state = DONE;
}

struct text
pack_block_take(struct pack_block *pack)
{
	if (await(pack, false) != DONE)
		return (struct text){ NULL, 0 };
	set_state(pack, NOTHING);
	return (struct text){ (const char *)pack->out.at,
		(uint32_t)pack->out.bytes };
}
