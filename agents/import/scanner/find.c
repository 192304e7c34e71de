/*
 * import_scanner_find - finds the job and its files.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/import/scanner/descriptor.h"
#include "agents/import/scanner/job_private.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/hash/prng.h"

/* ---- the job ---- */

static int put_path(char to[static PATH_MAX], struct err *err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

static int
put_path(char to[static PATH_MAX], struct err *err, const char *format, ...)
{
	va_list ap;
	int bytes;

	va_start(ap, format);
	bytes = vsnprintf(to, PATH_MAX, format, ap);
	va_end(ap);
	return bytes < PATH_MAX ? 0 : err_set(err, "a path is too long");
}

int
import_scanner_path(const struct import_scanner *s,
    const struct scanner_file *file, char to[static PATH_MAX], struct err *err)
{
	if (file->worker < 0)
		return put_path(to, err,
		    "%s/jobs/%" PRId32 "/profile_master.bin", s->db, s->id);
	return put_path(to, err, "%s/jobs/%" PRId32 "/profile_%" PRId32 ".bin",
	    s->db, s->id, file->worker);
}

/* 0 .. INT32_MAX without signs and leading zeros; else -1. */
static int32_t
parse_number(struct text digits)
{
	uint64_t value;

	if (digits.bytes == 0 || digits.bytes > 10 ||
	    (digits.at[0] == '0' && digits.bytes > 1) ||
	    number_parse_u64(digits, &value, NULL) != 0 || value > INT32_MAX)
		return -1;
	return (int32_t)value;
}

static int
find_by_name(struct import_scanner *s, const char *job, struct err *err)
{
	char path[PATH_MAX];
	struct import_file file;
	char shown[300];
	int found;

	if (put_path(path, err, "%s/db_metadata.bin", s->db) != 0 ||
	    import_file_open_found(&file, path, err) != 0)
		return err_prefix(err, "cannot look up job '%s' by its name",
		    text_quote(shown, sizeof(shown), text_of(job)));
	found = import_descriptor_find(&file, text_of(job), &s->id, err);
	import_file_close(&file);
	if (found < 0)
		return err_prefix(err, "%s", path);
	if (found == 0)
		return err_set(err, "%s: no job is called '%s'", path,
		    text_quote(shown, sizeof(shown), text_of(job)));
	return s->id >= 0
		   ? 0
		   : err_set(err, "%s: job '%s' has id %" PRId32, path,
			 text_quote(shown, sizeof(shown), text_of(job)), s->id);
}

static int
find_job(struct import_scanner *s, const char *job, struct err *err)
{
	char path[PATH_MAX];

	s->id = parse_number(text_of(job));
	if (s->id >= 0) {
		if (put_path(path, err, "%s/jobs/%" PRId32, s->db, s->id) != 0)
			return -1;
		if (access(path, F_OK) == 0)
			return 0;
		/* A name may look like a number. */
		if (find_by_name(s, job, NULL) == 0)
			return 0;
		return err_set(err, "%s: %s", path, strerror(ENOENT));
	}
	return find_by_name(s, job, err);
}

/* ---- its files ---- */

static void
read_descriptor(struct import_scanner *s)
{
	struct import_descriptor descriptor = { .id = 0 };
	char path[PATH_MAX];
	struct import_file file;
	struct err err = { 0 };
	int rc;

	s->nodes = -1;
	if (put_path(path, &err, "%s/jobs/%" PRId32 "/descriptor.bin", s->db,
		s->id) != 0)
		return;
	rc = import_file_open_found(&file, path, &err);
	if (rc == 0) {
		rc = import_descriptor_read(&descriptor, &file, &err);
		import_file_close(&file);
		s->name = descriptor.name;
		if (rc != 0)
			err_prefix(&err, "%s", path);
		else if (descriptor.nodes < 0)
			rc = err_set(&err,
			    "%s: invalid number of nodes: %" PRId32, path,
			    descriptor.nodes);
		else
			s->nodes = descriptor.nodes;
	}
	if (rc == 0)
		return;
	s->notes++;
	fprintf(stderr, "%s; importing all profiles of the job\n", err.text);
	buffer_put(&s->why, "descriptor.bin is damaged\n", 26);
}

/* The number in "profile_12.bin"; -1: the master's, -2: not a profile. */
static int32_t
parse_file_name(const char *name)
{
	struct text rest = text_of(name);

	if (strcmp(name, "profile_master.bin") == 0)
		return -1;
	if (rest.bytes <= 12 || strncmp(name, "profile_", 8) != 0 ||
	    strcmp(name + rest.bytes - 4, ".bin") != 0)
		return -2;
	rest = (struct text){ name + 8, rest.bytes - 12 };
	return parse_number(rest) < 0 ? -2 : parse_number(rest);
}

static int
by_worker(const void *left, const void *right)
{
	const struct scanner_file *a = left, *b = right;

	return a->worker < b->worker ? -1 : a->worker > b->worker;
}

static int
list_files(struct import_scanner *s, struct err *err)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	uint32_t room = 0;
	DIR *dir;

	if (put_path(path, err, "%s/jobs/%" PRId32, s->db, s->id) != 0)
		return -1;
	dir = opendir(path);
	if (dir == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		int32_t worker = parse_file_name(entry->d_name);

		if (worker < -1 || worker >= SCANNER_WORKERS_MAX ||
		    (s->nodes >= 0 && worker >= s->nodes))
			continue;
		*MEMORY_ADD(s->files, room, s->count) =
		    (struct scanner_file){ .worker = worker };
	}
	closedir(dir);
	if (s->count == 0)
		return err_set(err, "%s: has no profiles", path);
	qsort(s->files, s->count, sizeof(*s->files), by_worker);
	return 0;
}

/* Select `wanted` of the workers, with equal probability. */
static void
sample(struct import_scanner *s, uint64_t wanted, uint64_t seed)
{
	uint32_t from = s->files[0].worker < 0, kept = from;

	for (uint32_t i = from; i < s->count && wanted > 0; i++) {
		if (prng_bits(&seed) % (s->count - i) >= wanted)
			continue;
		s->files[kept++] = s->files[i];
		wanted--;
	}
	s->count = kept;
}

int
import_scanner_find(struct import_scanner *s,
    const struct import_scanner_options *options, struct err *err)
{
	if (find_job(s, options->job, err) != 0)
		return -1;
	read_descriptor(s);
	if (list_files(s, err) != 0)
		return -1;
	if (options->subsample > 0)
		sample(s, options->subsample, options->seed);
	return 0;
}
