/*
 * spool_window - reads a segment through one bounded buffer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/window.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/memory.h"

enum { AHEAD_FIRST = 4096 };

void
spool_window_move(struct spool_window *window, int fd, uint64_t number)
{
	window->fd = fd;
	window->number = number;
	window->base = window->bytes = 0;
	window->ahead = AHEAD_FIRST;
}

void
spool_window_clear(struct spool_window *window)
{
	free(window->at);
	*window = (struct spool_window){ .fd = -1 };
}

static void
make_room(struct spool_window *window, uint32_t bytes)
{
	if (bytes <= window->room)
		return;
	free(window->at);
	window->at = memory_alloc(bytes);
	window->room = bytes;
}

/* Fill the buffer from `offset` on; less at the end of the file or of its
 * readable part. */
static void
fill(struct spool_window *window, uint32_t offset, uint32_t bytes)
{
	make_room(window, bytes);
	window->base = offset;
	window->bytes = 0;
	errno = 0;
	while (window->bytes < bytes) {
		ssize_t n = pread(window->fd, window->at + window->bytes,
		    bytes - window->bytes, offset + window->bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		window->bytes += (uint32_t)n;
	}
}

const unsigned char *
spool_window_view(
    struct spool_window *window, uint32_t offset, uint32_t bytes, uint32_t end)
{
	uint32_t ahead;
	bool follows;

	assert(bytes <= SPOOL_WINDOW_BYTES);
	if (offset > end || bytes > end - offset) {
		errno = 0;
		return NULL;
	}
	if (offset >= window->base && offset - window->base <= window->bytes &&
	    bytes <= window->bytes - (offset - window->base))
		return window->at + (offset - window->base);
	follows =
	    offset >= window->base && offset - window->base <= window->bytes;
	if (!follows)
		window->ahead = AHEAD_FIRST;
	else if (window->ahead < SPOOL_WINDOW_BYTES / 2)
		window->ahead *= 2;
	else
		window->ahead = SPOOL_WINDOW_BYTES;
	ahead = window->ahead > bytes ? window->ahead : bytes;
	if (ahead > end - offset)
		ahead = end - offset;
	fill(window, offset, ahead);
	return window->bytes >= bytes ? window->at : NULL;
}
