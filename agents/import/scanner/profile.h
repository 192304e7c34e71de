/*
 * import_profile - reads the records of one process of a Scanner job: its
 * threads, their intervals and counters.
 *
 * The file has no magic, no version and no lengths, so every part is checked
 * against what must be there: types and tags of the threads in their order,
 * ids against the thread's dictionary, times against the range of a timestamp.
 * Reading ends at the first mismatch, with its offset; everything before it
 * counts.  The file is read as a stream: memory has one buffer of the file and
 * one dictionary.
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
	PROFILE_ON,     /* never returned */
	PROFILE_THREAD, /* begins: `thread` and the dictionary are known */
	PROFILE_INTERVAL,
	PROFILE_COUNTER,
	PROFILE_THREAD_END,
	PROFILE_NOTE, /* `err` has the error and its place; reading continues */
	PROFILE_DAMAGED, /* the same, but nothing is read after it */
	PROFILE_END,
	PROFILE_FAILED, /* the file cannot be read, or has changed */
};

struct import_profile {
	struct import_file *file;
	int64_t base_ns; /* base of the times in the file */

	/* The item that was read last. */
	int64_t begin_ns,
	    end_ns; /* of the job, in this process; range checked */
	struct scanner_shape shape;
	struct scanner_thread thread;
	int64_t node;                    /* from the head of the thread */
	uint8_t id;                      /* interval: its key */
	int64_t from_ns, to_ns;          /* interval, since the epoch */
	struct import_name counter_name; /* counter */
	int64_t value;

	/* private */
	int state;
	struct text view;  /* of the file */
	uint32_t at;       /* in it */
	uint64_t left, of; /* intervals or counters: remaining, total */
	bool has_thread;   /* the end of the thread was not returned yet */
	bool renamed;      /* a name was changed: to be reported at the end */
	struct import_name keys[SCANNER_KEYS_MAX];
};

/* `file` is at its beginning and must outlive the profile.  `is_master`: it is
 * the profile of the master. */
void import_profile_init(struct import_profile *profile,
    struct import_file *file, bool is_master, int64_t base_ns);

enum profile_item import_profile_next(
    struct import_profile *profile, struct err *err);

/* The number of bytes read so far. */
uint64_t import_profile_offset(const struct import_profile *profile);

/* The begin and end in the first bytes of a file.  -1: they are invalid. */
int import_profile_head(const unsigned char head[static PROFILE_HEAD_BYTES],
    int64_t *begin_ns, int64_t *end_ns, struct err *err);

#endif
