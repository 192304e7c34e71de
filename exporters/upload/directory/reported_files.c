/*
 * reported_files - remember files that were already reported.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/directory/reported_files.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* With more files, all are forgotten and reported again. */
enum { SLOTS = 1 << 17, SLOTS_USED_MAX = SLOTS / 2 };

struct slot {
	ino_t ino; /* 0: free */
	int64_t mtime_ns;
	uint64_t bytes;
	bool bad;
};

struct reported_files {
	uint32_t used;
	struct slot slot[SLOTS];
};

struct reported_files *
reported_files_new(void)
{
	struct reported_files *reported_files =
	    memory_zero(1, sizeof(*reported_files));

	return reported_files;
}

void
reported_files_free(struct reported_files **reported_files)
{
	free(*reported_files);
	*reported_files = NULL;
}

static uint32_t
find(const struct reported_files *reported_files, ino_t ino)
{
	uint32_t i =
	    (uint32_t)((uint64_t)ino * UINT64_C(0x9E3779B97F4A7C15) >> 40) %
	    SLOTS;

	while (reported_files->slot[i].ino != 0 &&
	       reported_files->slot[i].ino != ino)
		i = (i + 1) % SLOTS;
	return i;
}

void
reported_files_add(struct reported_files *reported_files,
    const struct inbox_file *file, bool bad)
{
	struct slot *slot;

	if (reported_files->used == SLOTS_USED_MAX)
		memset(reported_files, 0, sizeof(*reported_files));
	slot = &reported_files->slot[find(reported_files, file->ino)];
	reported_files->used += slot->ino == 0;
	*slot = (struct slot){ file->ino, file->mtime_ns, file->bytes, bad };
}

bool
reported_files_has(const struct reported_files *reported_files,
    const struct inbox_file *file, bool *bad)
{
	const struct slot *slot;

	*bad = false;
	if (reported_files->used == 0)
		return false; /* free without touching all of that memory */
	slot = &reported_files->slot[find(reported_files, file->ino)];
	*bad = slot->bad;
	return slot->ino != 0 && slot->mtime_ns == file->mtime_ns &&
	       slot->bytes == file->bytes;
}
