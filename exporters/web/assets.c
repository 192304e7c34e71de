/*
 * web_assets - the files of the page.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/assets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"
#include "proto/hash/hash.h"

enum { FILES_MAX = 64, FILE_BYTES_MAX = 1 << 20 };

struct web_assets {
	int dir; /* -1: the files of the program */
	const char *viewer;
	struct web_body *bodies[FILES_MAX];
	char tag[24];
};

static const struct {
	const char *suffix, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
	{ ".json", "application/json" },
};

static const char *
type_of(const char *name)
{
	const char *suffix = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (suffix != NULL && strcmp(suffix, types[i].suffix) == 0)
			return types[i].type;
	return NULL;
}

/* Takes `at`. */
static struct web_body *
put_viewer(const struct web_assets *assets, char *at, size_t bytes)
{
	static const char place[] = "\"" WEB_ASSETS_VIEWER "\"";
	size_t room = strlen(assets->viewer), before, cut = sizeof(place) - 3;
	const char *found = memmem(at, bytes, place, sizeof(place) - 1);
	char *to;

	if (found == NULL)
		return web_body_new(at, bytes);
	before = (size_t)(found - at) + 1;
	to = memory_alloc(bytes - cut + room);
	memcpy(to, at, before);
	memcpy(to + before, assets->viewer, room);
	memcpy(to + before + room, at + before + cut, bytes - before - cut);
	free(at);
	return web_body_new(to, bytes - cut + room);
}

static struct web_body *
make_body(const struct web_assets *assets, const struct web_page_file *file)
{
	size_t bytes = (size_t)(file->end - file->at);
	char *at;

	if (strcmp(file->name, "index.html") != 0)
		return web_body_new_static(file->at, bytes);
	at = memory_alloc(bytes);
	memcpy(at, file->at, bytes);
	return put_viewer(assets, at, bytes);
}

/* They are compressed once. */
static void
load(struct web_assets *assets)
{
	struct hash_key key = { 0, 0 };

	for (int i = 0; i < FILES_MAX && web_page_files[i].name != NULL; i++) {
		struct web_body *body = make_body(assets, &web_page_files[i]);

		assets->bodies[i] = body;
		key.k0 = hash_bytes(key, body->at, body->bytes);
	}
	snprintf(assets->tag, sizeof(assets->tag), "\"%016llx\"",
	    (unsigned long long)key.k0);
}

int
web_assets_open(struct web_assets **made, const char *dir, const char *viewer,
    struct err *err)
{
	struct web_assets *assets = *made = memory_zero(1, sizeof(*assets));

	assets->dir = -1;
	assets->viewer = viewer;
	load(assets);
	if (dir == NULL)
		return 0;
	assets->tag[0] = '\0';
	assets->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (assets->dir < 0)
		return err_set(err, "--assets %s: %s", dir, strerror(errno));
	return 0;
}

void
web_assets_close(struct web_assets **assets)
{
	struct web_assets *old = *assets;

	*assets = NULL;
	if (old == NULL)
		return;
	for (int i = 0; i < FILES_MAX; i++)
		web_body_drop(&old->bodies[i]);
	if (old->dir >= 0)
		close(old->dir);
	free(old);
}

static struct web_body *
read_file(const struct web_assets *assets, const char *name)
{
	int fd = openat(
	    assets->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	size_t used = 0;
	ssize_t n = 1;
	char *at;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return NULL;
	}
	at = memory_alloc(FILE_BYTES_MAX);
	while (n > 0 && used < FILE_BYTES_MAX) {
		n = read(fd, at + used, FILE_BYTES_MAX - used);
		used += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (strcmp(name, "index.html") == 0)
		return put_viewer(assets, at, used);
	return web_body_new(at, used);
}

struct web_body *
web_assets_get(struct web_assets *assets, const char *name, const char **type)
{
	*type = type_of(name);
	if (*type == NULL || name[0] == '.' || strchr(name, '/') != NULL)
		return NULL;
	if (assets->dir >= 0 && strcmp(name, WEB_ASSETS_API) != 0)
		return read_file(assets, name);
	for (int i = 0; i < FILES_MAX && web_page_files[i].name != NULL; i++) {
		if (strcmp(web_page_files[i].name, name) != 0)
			continue;
		web_body_hold(assets->bodies[i]);
		return assets->bodies[i];
	}
	return NULL;
}

const char *
web_assets_tag(const struct web_assets *assets)
{
	return assets->tag;
}
