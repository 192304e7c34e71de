/*
 * reported_files - files of which something was said.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/reported_files.h"

#include <stdlib.h>
#include <string.h>

/* When there are more all is said again. */
enum { SLOTS = 1 << 17, SLOTS_USED_MAX = SLOTS / 2 };

struct slot {
	ino_t ino; /* 0: free */
	int64_t mtime_ns;
	uint64_t bytes;
	bool bad;
};

struct told {
	uint32_t used;
	struct slot slot[SLOTS];
};

struct told *
told_new(void)
{
	struct told *told = calloc(1, sizeof(*told));

	if (told == NULL)
		abort(); /* out of memory */
	return told;
}

void
told_free(struct told **told)
{
	free(*told);
	*told = NULL;
}

static uint32_t
find(const struct told *told, ino_t ino)
{
	uint32_t i =
	    (uint32_t)((uint64_t)ino * UINT64_C(0x9E3779B97F4A7C15) >> 40) %
	    SLOTS;

	while (told->slot[i].ino != 0 && told->slot[i].ino != ino)
		i = (i + 1) % SLOTS;
	return i;
}

void
told_add(struct told *told, const struct folder_file *file, bool bad)
{
	struct slot *slot;

	if (told->used == SLOTS_USED_MAX)
		memset(told, 0, sizeof(*told));
	slot = &told->slot[find(told, file->ino)];
	told->used += slot->ino == 0;
	*slot = (struct slot){ file->ino, file->mtime_ns, file->bytes, bad };
}

bool
told_has(const struct told *told, const struct folder_file *file, bool *bad)
{
	const struct slot *slot;

	*bad = false;
	if (told->used == 0)
		return false; /* without a look at all that memory */
	slot = &told->slot[find(told, file->ino)];
	*bad = slot->bad;
	return slot->ino != 0 && slot->mtime_ns == file->mtime_ns &&
	       slot->bytes == file->bytes;
}
