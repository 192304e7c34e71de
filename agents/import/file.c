/*
 * import_file - lines of a file that is read more than once.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/import/row.h"
#include "proto/base/memory.h"
#include "proto/os/file_io.h"

enum { BUFFER_BYTES = IMPORT_LINE_BYTES_MAX + (64 << 10) };

static ssize_t
read_some(int fd, void *to, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, to, bytes);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Read all of `from` into the digest and, if it cannot be read again, into
 * `copy` (else -1). */
static int
read_once(struct import_file *file, int from, int copy, struct err *err)
{
	crypto_generichash_state state;
	ssize_t n;

	crypto_generichash_init(&state, NULL, 0, sizeof(file->digest));
	file->bytes = 0;
	while ((n = read_some(from, file->buffer, BUFFER_BYTES)) > 0) {
		crypto_generichash_update(&state,
		    (const unsigned char *)file->buffer, (unsigned long long)n);
		if (copy >= 0 && file_io_write_all(copy, file->buffer,
				     (uint32_t)n, file->bytes) != 0)
			return err_set(err, "temporary copy of %s: %s",
			    file->name, strerror(errno));
		file->bytes += (uint64_t)n;
	}
	if (n < 0)
		return err_set(err, "%s: %s", file->name, strerror(errno));
	crypto_generichash_final(&state, file->digest, sizeof(file->digest));
	return 0;
}

static bool
is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

enum origin {
	GIVEN, /* opened by the caller: any file */
	FOUND, /* found in a folder */
	STDIN,
};

/* Read all of file->fd once; a copy replaces it if it cannot be read again. */
static int
begin(struct import_file *file, enum origin origin, struct err *err)
{
	/* The position of standard input may be anywhere in its file. */
	bool again = origin != STDIN && S_ISREG(file->before.st_mode);
	int copy = again ? -1 : file_io_nameless(err);
	int rc = !again && copy < 0 ? -1 : 0;

	file->buffer = memory_alloc(BUFFER_BYTES);
	if (rc == 0)
		rc = read_once(file, file->fd, copy, err);
	if (copy >= 0) {
		close(file->fd);
		file->fd = copy;
		fstat(copy, &file->before);
	}
	if (rc != 0)
		import_file_close(file);
	else
		import_file_rewind(file);
	return rc;
}

/* `fd` was opened for the file; negative: errno has the reason. */
static int
open_as(struct import_file *file, const char *name, int fd, enum origin origin,
    struct err *err)
{
	const char *why = NULL;

	memset(file, 0, sizeof(*file));
	file->name = name;
	file->fd = fd;
	if (fd < 0 || fstat(fd, &file->before) != 0)
		why = strerror(errno);
	else if (S_ISDIR(file->before.st_mode))
		why = strerror(EISDIR);
	else if (origin == FOUND && !S_ISREG(file->before.st_mode))
		why = "is not a regular file";
	else if (sodium_init() < 0) /* calling it again is harmless */
		why = "libsodium does not start";
	if (why == NULL)
		return begin(file, origin, err);
	if (fd >= 0)
		close(fd);
	return err_set(err, "%s: %s", name, why);
}

int
import_file_open(struct import_file *file, const char *path, struct err *err)
{
	if (is_stdin(path))
		return open_as(file, "stdin",
		    fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), STDIN, err);
	return open_as(
	    file, path, open(path, O_RDONLY | O_CLOEXEC), GIVEN, err);
}

int
import_file_open_found(
    struct import_file *file, const char *path, struct err *err)
{
	/* Do not wait for the writer of a pipe. */
	return open_as(file, path,
	    open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), FOUND,
	    err);
}

void
import_file_sandbox(struct sandbox *sandbox, const char *path)
{
	struct stat st;
	bool copied = true;

	if (!is_stdin(path)) {
		sandbox_read(sandbox, path);
		copied = stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
			 !S_ISDIR(st.st_mode);
	}
	if (copied)
		sandbox_write(sandbox, file_io_temporary_dir());
}

void
import_file_close(struct import_file *file)
{
	if (file->buffer == NULL)
		return;
	close(file->fd);
	free(file->buffer);
	file->buffer = NULL;
}

void
import_file_rewind(struct import_file *file)
{
	lseek(file->fd, 0, SEEK_SET);
	file->used = file->at = 0;
	file->offset = file->line = 0;
	file->end = false;
}

/* Move the rest to the start of the buffer and read more. */
static int
fill(struct import_file *file, struct err *err)
{
	struct stat now;
	ssize_t n;

	file->used -= file->at;
	memmove(file->buffer, file->buffer + file->at, file->used);
	file->at = 0;
	n = read_some(
	    file->fd, file->buffer + file->used, BUFFER_BYTES - file->used);
	if (n < 0)
		return err_set(err, "%s: %s", file->name, strerror(errno));
	file->used += (size_t)n;
	file->end = n == 0;
	/* The session names the content: it must not have changed. */
	if (file->end &&
	    (fstat(file->fd, &now) != 0 ||
		now.st_size != file->before.st_size ||
		now.st_mtim.tv_sec != file->before.st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != file->before.st_mtim.tv_nsec))
		return err_set(
		    err, "%s: was changed while it was read", file->name);
	return 0;
}

enum import_next
import_file_next(struct import_file *file, struct text *line, struct err *err)
{
	bool too_long = false;

	for (;;) {
		char *from = file->buffer + file->at;
		size_t there = file->used - file->at;
		char *newline = there > 0 ? memchr(from, '\n', there) : NULL;
		size_t bytes =
		    newline != NULL ? (size_t)(newline - from) : there;

		if (newline == NULL && !file->end) {
			if (bytes > IMPORT_LINE_BYTES_MAX) {
				too_long = true;
				file->at = file->used;
				file->offset += bytes;
			}
			if (fill(file, err) != 0)
				return IMPORT_FAILED;
			continue;
		}
		if (newline == NULL && bytes == 0 && !too_long)
			return IMPORT_END;
		file->line++;
		file->at += bytes + (newline != NULL);
		file->offset += bytes + (newline != NULL);
		if (too_long || bytes > IMPORT_LINE_BYTES_MAX)
			return IMPORT_TOO_LONG;
		if (bytes > 0 && from[bytes - 1] == '\r')
			bytes--;
		*line = (struct text){ from, (uint32_t)bytes };
		return IMPORT_LINE;
	}
}

int
import_file_see(
    struct import_file *file, size_t least, struct text *view, struct err *err)
{
	assert(least <= BUFFER_BYTES);
	if (file->line == 0)
		file->line = 1;
	while (file->used - file->at < least && !file->end)
		if (fill(file, err) != 0)
			return -1;
	*view = (struct text){ file->buffer + file->at,
		(uint32_t)(file->used - file->at) };
	return 0;
}

void
import_file_take(struct import_file *file, size_t bytes)
{
	const char *from = file->buffer + file->at, *to = from + bytes;

	assert(bytes <= file->used - file->at);
	while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
		file->line++;
		from++;
	}
	file->at += bytes;
	file->offset += bytes;
}
