/*
 * log - the recording that shim.c writes through record.c, and replay.c plays.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_STATES_LOG_H
#define TESTS_FAULT_STATES_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum op_kind {
	OP_WRITE,    /* bytes at offset */
	OP_GROW,     /* the size is at least offset */
	OP_SIZE,     /* the size is offset */
	OP_SYNC,     /* of the file */
	OP_DOOM,     /* a sync of the file failed */
	OP_SYNC_DIR, /* of the directory `path` */
	OP_CREATE,   /* path, file */
	OP_FOLDER,   /* path */
	OP_RENAME,   /* path -> to */
	OP_EXCHANGE, /* path <-> to */
	OP_UNLINK,   /* path */
};

struct op {
	enum op_kind kind;
	uint32_t file;
	bool synced; /* a write through O_DSYNC */
	uint64_t offset;
	uint32_t bytes;
	char *path, *to; /* below the root */
	unsigned char *data;
};

struct log {
	struct op *ops;
	uint64_t count, room;
	uint64_t base; /* operations that were there at the start */
};

extern struct log states_log;
extern bool states_recording;

/* Valid until the next. */
struct op *states_add(enum op_kind kind, uint32_t file);
void states_note_write(int fd, const void *data, size_t bytes, uint64_t offset);
uint32_t states_new_file(ino_t ino);
/* The file behind a descriptor; -1: not below the root, or not a file. */
int64_t states_file(int fd);
/* The path below the root of dir/name, malloc'd; NULL: it is somewhere else.
 * `name` NULL: of the descriptor itself. */
char *states_path(int dir, const char *name);
/* Does the process count as killed?  Is it this operation's turn to fail? */
bool states_dead(void);
bool states_fails(void);

#endif
