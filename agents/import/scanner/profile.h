/*
 * import_profile - what one process of a Scanner job recorded: its threads,
 * their intervals and counters.
 *
 * The file has no magic, no version and no lengths, so everything in it is
 * checked against what must stand there: types and tags of the threads in
 * their order, ids against the thread's dictionary, times against the range of
 * a timestamp.  At the first thing that does not fit, reading ends with its
 * offset; what came before it counts.  Read as a stream: in memory is one
 * buffer of the file and one dictionary.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_SCANNER_PROFILE_H
#define AGENTS_IMPORT_SCANNER_PROFILE_H

#include "agents/import/clean_name.h"
#include "agents/import/file.h"
#include "proto/record/scanner.h"

enum {
	PROFILE_COUNTERS_MAX = 1000000, /* of a thread; more is corruption */
	PROFILE_NAME_BYTES_MAX = 64 << 10,
	PROFILE_HEAD_BYTES = 16, /* start and end of the job here */
};

enum profile_item {
	PROFILE_ON,     /* never given */
	PROFILE_THREAD, /* begins: `thread` and the dictionary are known */
	PROFILE_INTERVAL,
	PROFILE_COUNTER,
	PROFILE_THREAD_END,
	PROFILE_NOTE,    /* err says what is wrong, and where; it goes on */
	PROFILE_DAMAGED, /* the same, and nothing is read behind it */
	PROFILE_END,
	PROFILE_FAILED, /* the file could not be read, or is another by now */
};

struct import_profile {
	struct import_file *file;
	int64_t base_ns; /* what times in the file are relative to */

	/* What was read last. */
	int64_t begin_ns, end_ns; /* of the job here; range checked */
	struct scanner_shape shape;
	struct scanner_thread thread;
	int64_t node;                    /* as the thread says */
	uint8_t id;                      /* interval: its key */
	int64_t from_ns, to_ns;          /* interval, since the epoch */
	struct import_name counter_name; /* counter */
	int64_t value;

	/* The reader's own. */
	int state;
	struct text view;  /* of the file */
	uint32_t at;       /* in it */
	uint64_t left, of; /* intervals or counters: to come, in all */
	bool has_thread;   /* its end was not reported */
	bool renamed;      /* a name was changed: to be reported at the end */
	struct import_name keys[SCANNER_KEYS_MAX];
};

/* `file` stands at its beginning and must live as long.  `is_master`: it is
 * the master's. */
void import_profile_init(struct import_profile *profile,
    struct import_file *file, bool is_master, int64_t base_ns);

enum profile_item import_profile_next(
    struct import_profile *profile, struct err *err);

/* How many bytes of the file were read so far. */
uint64_t import_profile_offset(const struct import_profile *profile);

/* The begin and end in the first bytes of a file.  -1: they are none. */
int import_profile_head(const unsigned char head[static PROFILE_HEAD_BYTES],
    int64_t *begin_ns, int64_t *end_ns, struct err *err);

#endif
