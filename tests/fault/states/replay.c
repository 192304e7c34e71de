/*
 * replay - plays a recording into a directory, as a crash might leave it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/states/states.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/hash/prng.h"
#include "tests/fault/states/log.h"

enum { SECTOR = 512 };

/* How the writes fare that were not synced. */
enum fate { NONE, ALL, SOME, TORN, FATES };

struct image {
	unsigned char *at;
	uint64_t size, room;
	bool syncs; /* while walking backwards: the next sync succeeds */
};

struct name {
	char *path;
	uint32_t file;
	bool folder;
};

struct build {
	bool *durable; /* by operation */
	struct image *images;
	uint32_t files;
	struct name *names;
	uint32_t names_count, names_room;
};

uint64_t
states_random(uint64_t *random)
{
	return prng_bits(random);
}

static void *
grown(void *at, size_t bytes)
{
	void *more = realloc(at, bytes);

	if (more == NULL)
		abort();
	return more;
}

/* ---- contents ---- */

static void
resize(struct image *image, uint64_t size)
{
	if (size > image->room) {
		image->at = grown(image->at, size);
		image->room = size;
	}
	if (size > image->size)
		memset(image->at + image->size, 0, size - image->size);
	image->size = size;
}

static void
put(struct image *image, const struct op *op, uint32_t from, uint32_t bytes)
{
	uint64_t end = op->offset + from + bytes;

	if (end > image->size)
		resize(image, end);
	memcpy(image->at + op->offset + from, op->data + from, bytes);
}

/* By sectors of the disk, not of the write. */
static void
put_torn(struct image *image, const struct op *op, uint64_t *random)
{
	for (uint32_t o = 0, n; o < op->bytes; o += n) {
		n = SECTOR - (uint32_t)((op->offset + o) % SECTOR);
		if (n > op->bytes - o)
			n = op->bytes - o;
		if ((states_random(random) & 1) != 0)
			put(image, op, o, n);
	}
}

static void
play_content(struct image *image, const struct op *op, bool durable,
    enum fate fate, uint64_t *random)
{
	enum fate f = durable ? ALL : fate;

	if (f == NONE || (f == SOME && (states_random(random) & 1) == 0))
		return;
	if (op->kind == OP_WRITE && f == TORN)
		put_torn(image, op, random);
	else if (op->kind == OP_WRITE)
		put(image, op, 0, op->bytes);
	else if (f == TORN && (states_random(random) & 1) == 0)
		return;
	else if (op->kind == OP_SIZE || op->offset > image->size)
		resize(image, op->offset);
}

/* Which writes are on disk: those that a sync followed, unless the first
 * one that did failed. */
static void
find_syncs(struct build *b, uint64_t end)
{
	const struct op *ops = states_log.ops;

	for (uint64_t i = 0; i < end; i++) {
		if (ops[i].file >= b->files)
			b->files = ops[i].file + 1;
	}
	b->images = calloc(b->files + 1, sizeof(*b->images));
	b->durable = calloc(end + 1, sizeof(*b->durable));
	if (b->images == NULL || b->durable == NULL)
		abort();
	for (uint64_t i = end; i-- > 0;) {
		struct image *image = &b->images[ops[i].file];

		if (ops[i].kind == OP_SYNC || ops[i].kind == OP_DOOM)
			image->syncs = ops[i].kind == OP_SYNC;
		b->durable[i] = image->syncs || ops[i].synced;
	}
}

static void
play_contents(struct build *b, uint64_t end, uint64_t *random)
{
	for (uint64_t i = 0; i < end; i++) {
		const struct op *op = &states_log.ops[i];
		enum fate fate = (enum fate)(states_random(random) % FATES);

		if (op->kind == OP_WRITE || op->kind == OP_GROW ||
		    op->kind == OP_SIZE)
			play_content(&b->images[op->file], op, b->durable[i],
			    fate, random);
	}
}

/* ---- names ---- */

static struct name *
find_name(struct build *b, const char *path)
{
	for (uint32_t i = 0; i < b->names_count; i++) {
		if (strcmp(b->names[i].path, path) == 0)
			return &b->names[i];
	}
	return NULL;
}

static void
remove_name(struct build *b, const char *path)
{
	struct name *n = find_name(b, path);

	if (n == NULL)
		return;
	free(n->path);
	*n = b->names[--b->names_count];
}

static void
add_name(struct build *b, const char *path, uint32_t file, bool folder)
{
	remove_name(b, path);
	if (b->names_count == b->names_room) {
		b->names_room = b->names_room > 0 ? 2 * b->names_room : 64;
		b->names = grown(b->names, b->names_room * sizeof(*b->names));
	}
	b->names[b->names_count++] =
	    (struct name){ strdup(path), file, folder };
}

/* A file that is on disk under its new name was made, also when the folder of
 * its old one was never synced. */
static struct name *
make_again(struct build *b, const struct op *rename)
{
	for (const struct op *op = rename; op-- > states_log.ops;)
		if (op->kind == OP_CREATE &&
		    strcmp(op->path, rename->path) == 0) {
			add_name(b, op->path, op->file, false);
			break;
		}
	return find_name(b, rename->path);
}

/* What is below a folder goes with it. */
static void
rename_name(struct build *b, const struct op *op)
{
	const char *path = op->path, *to = op->to;
	struct name *from = find_name(b, path);
	size_t n = strlen(path);
	uint32_t file;
	bool folder;

	if (from == NULL)
		from = make_again(b, op);
	if (from == NULL)
		return;
	file = from->file;
	folder = from->folder;
	remove_name(b, path);
	add_name(b, to, file, folder);
	for (uint32_t i = 0; folder && i < b->names_count; i++) {
		char *old = b->names[i].path, *new;

		if (strncmp(old, path, n) != 0 || old[n] != '/')
			continue;
		if (asprintf(&new, "%s%s", to, old + n) < 0)
			abort();
		free(old);
		b->names[i].path = new;
	}
}

static void
play_name(struct build *b, const struct op *op)
{
	struct name *from, *to;
	uint32_t file;

	switch (op->kind) {
	case OP_CREATE: add_name(b, op->path, op->file, false); return;
	case OP_FOLDER: add_name(b, op->path, 0, true); return;
	case OP_UNLINK: remove_name(b, op->path); return;
	case OP_RENAME: rename_name(b, op); return;
	case OP_EXCHANGE:
		from = find_name(b, op->path);
		to = find_name(b, op->to);
		if (from == NULL || to == NULL)
			return;
		file = from->file;
		from->file = to->file;
		to->file = file;
		return;
	default: return;
	}
}

/* Is `path` a name directly in the folder? */
static bool
is_in(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	if (n == 0)
		return strchr(path, '/') == NULL;
	return strncmp(path, folder, n) == 0 && path[n] == '/' &&
	       strchr(path + n + 1, '/') == NULL;
}

static bool
same_folder(const char *a, const char *b)
{
	const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
	size_t n = x != NULL ? (size_t)(x - a) : 0;
	size_t m = y != NULL ? (size_t)(y - b) : 0;

	return n == m && strncmp(a, b, n) == 0;
}

/* A change of names is there when it was synced, or when it is not behind
 * the first of its folder that is not: in order, up to some point. */
static void
play_names(struct build *b, uint64_t end, uint64_t *random)
{
	const struct op *ops = states_log.ops;
	bool *stopped = calloc(end + 1, sizeof(*stopped));
	enum fate fate = (enum fate)(states_random(random) % 3);

	if (stopped == NULL)
		abort();
	for (uint64_t i = 0; i < end; i++) {
		bool synced = false;

		if (ops[i].kind < OP_CREATE)
			continue;
		for (uint64_t k = i; k < end && !synced; k++)
			synced = ops[k].kind == OP_SYNC_DIR &&
				 (is_in(ops[k].path, ops[i].path) ||
				     (ops[i].kind == OP_RENAME &&
					 is_in(ops[k].path, ops[i].to)));
		if (!synced && !stopped[i] &&
		    (fate == NONE ||
			(fate == SOME && (states_random(random) & 3) == 0))) {
			for (uint64_t k = i; k < end; k++)
				stopped[k] |=
				    ops[k].kind >= OP_CREATE &&
				    same_folder(ops[i].path, ops[k].path);
		}
		if (synced || !stopped[i])
			play_name(b, &ops[i]);
	}
	free(stopped);
}

/* ---- the directory ---- */

static void
empty_folder(int dir)
{
	DIR *d = fdopendir(dir);
	const struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		int sub;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0)
			continue;
		sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY);
		if (sub >= 0)
			empty_folder(sub);
		unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d != NULL)
		closedir(d);
}

static void
write_file(int dir, const char *path, const struct image *image)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		return; /* its folder did not come into being */
	if (pwrite(fd, image->at, image->size, 0) != (ssize_t)image->size)
		abort();
	close(fd);
}

static void
write_all(const struct build *b, const char *path)
{
	int dir;

	mkdir(path, 0700);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		abort();
	empty_folder(dup(dir));
	for (uint32_t i = 0; i < b->names_count; i++) {
		if (b->names[i].folder)
			mkdirat(dir, b->names[i].path, 0700);
	}
	for (uint32_t i = 0; i < b->names_count; i++) {
		if (!b->names[i].folder)
			write_file(dir, b->names[i].path,
			    &b->images[b->names[i].file]);
	}
	close(dir);
}

void
states_build(const char *dir, uint64_t position, uint64_t *random)
{
	uint64_t end = states_log.base + position;
	struct build b = { 0 };

	states_stop();
	find_syncs(&b, end);
	play_contents(&b, end, random);
	play_names(&b, end, random);
	write_all(&b, dir);
	for (uint32_t i = 0; i < b.names_count; i++)
		free(b.names[i].path);
	for (uint32_t i = 0; i < b.files; i++)
		free(b.images[i].at);
	free(b.names);
	free(b.images);
	free(b.durable);
}
