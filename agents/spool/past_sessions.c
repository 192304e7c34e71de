/*
 * spool_past_sessions - the file of previous sessions: what was acknowledged
 * under them.  It lets the agent notice when a store that was restored is
 * missing some of it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/spool_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"

enum {
	FORMAT = 1,
	HEAD_BYTES = 16,
	ENTRY_FIXED = 16 + 8 + 8 + 2,
	FILE_MAX = HEAD_BYTES +
		   SPOOL_PAST_SESSIONS_MAX * (ENTRY_FIXED + NAME_BYTES_MAX) + 4,
};

/* Oldest first, as the file has them. */
struct spool_past_sessions {
	uint32_t count;
	struct spool_past_session at[SPOOL_PAST_SESSIONS_MAX];
};

uint32_t
spool_past_sessions(const struct spool *spool)
{
	return spool->past_sessions->count;
}

struct spool_past_session *
spool_past_session(struct spool *spool, uint32_t i)
{
	return &spool->past_sessions->at[i];
}

static void
drop(struct spool_past_sessions *f, uint32_t i)
{
	f->count--;
	memmove(&f->at[i], &f->at[i + 1], (f->count - i) * sizeof(f->at[0]));
}

/* Make room: drop the oldest. */
static void
add(struct spool *spool, const char *partition, uint64_t known)
{
	struct spool_past_sessions *f = spool->past_sessions;
	struct spool_past_session *new;

	/* The entry exists if this is another attempt. */
	for (uint32_t i = 0; i < f->count; i++)
		if (session_equal(&f->at[i].session, &spool->meta.session) &&
		    strcmp(f->at[i].partition, partition) == 0)
			return;
	if (f->count == SPOOL_PAST_SESSIONS_MAX) {
		drop(f, 0);
		spool->counters->past_sessions_dropped++;
	}
	new = &f->at[f->count++];
	memset(new, 0, sizeof(*new));
	new->session = spool->meta.session;
	new->known = known;
	snprintf(new->partition, sizeof(new->partition), "%s", partition);
}

/* ---- the file ---- */

static uint32_t
encode(const struct spool_past_sessions *f, unsigned char *to)
{
	uint32_t n = HEAD_BYTES;

	memcpy(to, "PSFO", 4);
	spool_put32(to + 4, FORMAT);
	spool_put32(to + 12, f->count);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct spool_past_session *e = &f->at[i];
		uint32_t bytes = (uint32_t)strlen(e->partition);

		memcpy(to + n, e->session.bytes, 16);
		spool_put64(to + n + 16, e->known);
		spool_put64(to + n + 24, (uint64_t)e->since_ns);
		to[n + 32] = (unsigned char)bytes;
		to[n + 33] = (unsigned char)(bytes >> 8);
		memcpy(to + n + ENTRY_FIXED, e->partition, bytes);
		n += ENTRY_FIXED + bytes;
	}
	spool_put32(to + 8, n + 4);
	spool_put32(to + n, crc32c(0, to, n));
	return n + 4;
}

static bool
decode(struct spool_past_sessions *f, const unsigned char *at, uint32_t bytes)
{
	uint32_t all, count, n = HEAD_BYTES;

	if (bytes < HEAD_BYTES + 4 || memcmp(at, "PSFO", 4) != 0 ||
	    spool_get32(at + 4) != FORMAT)
		return false;
	all = spool_get32(at + 8);
	count = spool_get32(at + 12);
	if (all < HEAD_BYTES + 4 || all > bytes ||
	    count > SPOOL_PAST_SESSIONS_MAX ||
	    spool_get32(at + all - 4) != crc32c(0, at, all - 4))
		return false;
	all -= 4;
	for (f->count = 0; f->count < count; f->count++) {
		struct spool_past_session *e = &f->at[f->count];
		uint32_t name;

		if (all - n < ENTRY_FIXED)
			return false;
		name = at[n + 32] | (uint32_t)at[n + 33] << 8;
		if (name == 0 || name > NAME_BYTES_MAX ||
		    name > all - n - ENTRY_FIXED ||
		    memchr(at + n + ENTRY_FIXED, '\0', name) != NULL)
			return false;
		memset(e, 0, sizeof(*e));
		memcpy(e->session.bytes, at + n, 16);
		e->known = spool_get64(at + n + 16);
		e->since_ns = (int64_t)spool_get64(at + n + 24);
		memcpy(e->partition, at + n + ENTRY_FIXED, name);
		n += ENTRY_FIXED + name;
	}
	return n == all;
}

void
spool_past_sessions_load(struct spool *spool)
{
	struct spool_past_sessions *f = memory_zero(1, sizeof(*f));
	unsigned char *at = memory_alloc(FILE_MAX);
	ssize_t bytes;

	bytes = spool_read_file(spool->dir, "FORMER", at, FILE_MAX);
	if (bytes < 0 || !decode(f, at, (uint32_t)bytes))
		f->count = 0;
	/* A crash interrupted the end of this session, which is therefore the
	 * current one. */
	for (uint32_t i = f->count; i-- > 0;)
		if (session_equal(&f->at[i].session, &spool->meta.session))
			drop(f, i);
	free(at);
	spool->past_sessions = f;
}

int
spool_past_sessions_save(struct spool *spool, struct err *err)
{
	unsigned char *at = memory_alloc(FILE_MAX);
	uint32_t bytes;
	int fd, rc = -1;

	for (uint32_t i = spool->past_sessions->count; i-- > 0;)
		if (spool->past_sessions->at[i].forget)
			drop(spool->past_sessions, i);
	bytes = encode(spool->past_sessions, at);
	fd = spool_open_file(spool->dir, "FORMER.tmp", O_RDWR | O_CREAT);
	if (fd >= 0 && file_io_write_all(fd, at, bytes, 0) == 0 &&
	    fsync(fd) == 0 &&
	    renameat(spool->dir, "FORMER.tmp", spool->dir, "FORMER") == 0 &&
	    fsync(spool->dir) == 0)
		rc = 0;
	if (rc != 0)
		err_set(err, "FORMER: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	free(at);
	return rc;
}

void
spool_past_sessions_add_current(struct spool *spool)
{
	struct err err;
	bool any = false;

	for (uint32_t i = 0; i < spool->streams_count; i++) {
		const struct spool_stream *s = spool->streams[i];

		/* Also if nothing was acknowledged: a copy of the spool may
		 * have had batches of this session acknowledged. */
		if (s->committed == 1)
			continue;
		add(spool, s->partition, s->acked);
		any = true;
	}
	/* Continue on a full disk: the next save writes it. */
	if (any && spool_past_sessions_save(spool, &err) != 0)
		spool->counters->io_errors++;
}

int
spool_report_gap(struct spool *spool, struct text partition, uint64_t count,
    uint32_t reason, struct err *err)
{
	struct spool_gap gap = { .reason = reason };
	uint32_t stream;

	if (spool_commit(spool, err) != SPOOL_OK ||
	    spool_stream(spool, partition, &stream, err) != 0)
		return -1;
	gap.stream = stream;
	gap.first = spool->streams[stream]->next;
	gap.last = gap.first + count - 1;
	gap.chain = spool->streams[stream]->chain;
	return spool_append_gaps(spool, &gap, 1, err) == SPOOL_OK ? 0 : -1;
}
