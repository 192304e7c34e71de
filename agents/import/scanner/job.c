/*
 * import_scanner - checks the files of a job.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/job.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/import/scanner/job_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/file_io.h"
#include "proto/os/thread.h"

/* ---- damage ---- */

static void
add_note(struct import_scanner *s, struct scanner_file *file, const char *why)
{
	file->notes++;
	if (atomic_fetch_add(&s->notes_stored, 1) >= SCANNER_NOTES_SHOWN)
		return;
	buffer_put(&file->why, why, strlen(why));
	buffer_put(&file->why, "\n", 1);
}

/* Report the damage and remember it. */
static void
report(struct import_scanner *s, const char *path, struct text why)
{
	while (why.bytes > 0) {
		const char *end = memchr(why.at, '\n', why.bytes);
		struct text line = { why.at, (uint32_t)(end - why.at) };
		const char *name = strrchr(path, '/') + 1;

		fprintf(stderr, "%s: %.*s\n", path, (int)line.bytes, line.at);
		if (s->why.bytes + strlen(name) + line.bytes + 3 <
		    SCANNER_NOTES_BYTES) {
			buffer_put(&s->why, name, strlen(name));
			buffer_put(&s->why, ": ", 2);
			buffer_put(&s->why, line.at, line.bytes + 1);
		}
		why.at = end + 1;
		why.bytes -= line.bytes + 1;
	}
}

static void
report_all(struct import_scanner *s)
{
	char path[PATH_MAX];

	for (uint32_t i = 0; i < s->count; i++) {
		struct scanner_file *f = &s->files[i];

		s->notes += f->notes;
		if (f->why.bytes > 0 &&
		    import_scanner_path(s, f, path, NULL) == 0)
			report(s, path, buffer_text(&f->why));
		buffer_clear(&f->why);
	}
	if (s->notes > SCANNER_NOTES_SHOWN)
		fprintf(stderr,
		    "%s: and %" PRIu64 " more damaged place%s of this job\n",
		    s->db, s->notes - SCANNER_NOTES_SHOWN,
		    s->notes - SCANNER_NOTES_SHOWN == 1 ? "" : "s");
}

/* ---- times ---- */

static void
read_head(struct import_scanner *s, struct scanner_file *f)
{
	unsigned char head[PROFILE_HEAD_BYTES];
	char path[PATH_MAX];
	struct err err = { 0 };
	int fd = -1, rc = import_scanner_path(s, f, path, &err);

	if (rc == 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		rc = fd >= 0 ? file_io_read_all(fd, head, sizeof(head), 0) : -1;
		if (rc != 0)
			err_set(&err, "%s",
			    errno == ENODATA ? "offset 0: the file ends before "
					       "the job's start and end"
					     : strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		rc = import_profile_head(head, &f->begin_ns, &f->end_ns, &err);
	f->is_usable = rc == 0;
	if (rc != 0)
		add_note(s, f, err.text);
}

static int
find_times(struct import_scanner *s, struct err *err)
{
	bool has_master = false;

	s->begin_ns = TIME_MAX_NS;
	s->end_ns = TIME_MIN_NS;
	for (uint32_t i = 0; i < s->count; i++) {
		struct scanner_file *f = &s->files[i];

		read_head(s, f);
		if (!f->is_usable)
			continue;
		if (f->begin_ns < s->begin_ns)
			s->begin_ns = f->begin_ns;
		if (f->end_ns > s->end_ns)
			s->end_ns = f->end_ns;
		if (f->worker < 0) {
			has_master = true;
			s->base_ns = f->begin_ns;
		}
	}
	if (s->begin_ns == TIME_MAX_NS) {
		report_all(s);
		return err_set(err,
		    "%s: job %" PRId32 " has no profile that can be read",
		    s->db, s->id);
	}
	if (!has_master)
		s->base_ns = s->begin_ns;
	return 0;
}

/* ---- checking all files ---- */

static void
check_file(struct import_scanner *s, struct scanner_file *f)
{
	struct import_profile profile;
	struct import_file file;
	enum profile_item item;
	char path[PATH_MAX];
	struct err err;

	if (import_scanner_path(s, f, path, &err) != 0 ||
	    import_file_open_found(&file, path, &err) != 0) {
		f->is_usable = false;
		add_note(s, f, err.text);
		return;
	}
	f->bytes = file.bytes;
	memcpy(f->digest, file.digest, sizeof(f->digest));
	import_profile_init(&profile, &file, f->worker < 0, s->base_ns);
	do {
		item = import_profile_next(&profile, &err);
		f->intervals += item == PROFILE_INTERVAL;
		if (item == PROFILE_NOTE || item == PROFILE_DAMAGED ||
		    item == PROFILE_FAILED)
			add_note(s, f, err.text);
	} while (item != PROFILE_END && item != PROFILE_FAILED);
	f->is_usable = item == PROFILE_END;
	import_file_close(&file);
}

static int
check_some(void *arg, struct err *err)
{
	struct import_scanner *s = arg;
	uint32_t i;

	(void)err;
	while ((i = atomic_fetch_add(&s->next_file, 1)) < s->count)
		if (s->files[i].is_usable)
			check_file(s, &s->files[i]);
	return 0;
}

static void
check_all(struct import_scanner *s)
{
	const struct thread_options how = {
		.name = "a reader of profiles", .run = check_some, .arg = s
	};
	struct thread threads[IMPORT_SCANNER_READERS] = { 0 };
	uint32_t count = 0;

	/* This thread reads as well: if no other starts, it does all the
	 * work. */
	while (count + 1 < IMPORT_SCANNER_READERS && count + 1 < s->count &&
	       thread_start(&threads[count], &how, NULL, NULL) == 0)
		count++;
	check_some(s, NULL);
	while (count > 0)
		thread_stop(&threads[--count]);
}

/* The digest covers the imported content, which identifies the import. */
static void
make_digest(struct import_scanner *s)
{
	crypto_generichash_state state;
	int64_t numbers[] = { s->id, s->nodes, s->base_ns };

	crypto_generichash_init(&state, NULL, 0, sizeof(s->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)numbers, sizeof(numbers));
	crypto_generichash_update(
	    &state, (const unsigned char *)s->name.at, s->name.bytes);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct scanner_file *f = &s->files[i];
		int32_t which[] = { f->worker, f->is_usable };

		crypto_generichash_update(
		    &state, (const unsigned char *)which, sizeof(which));
		crypto_generichash_update(&state, f->digest, sizeof(f->digest));
		s->bytes += f->is_usable ? f->bytes : 0;
		s->intervals += f->is_usable ? f->intervals : 0;
	}
	crypto_generichash_final(&state, s->digest, sizeof(s->digest));
}

/* ---- open and close ---- */

static int
find_job_and_times(struct import_scanner *s, const char *db,
    const struct import_scanner_options *options, struct err *err)
{
	strcpy(s->db, db); /* import_scanner_open has checked the length */
	if (import_scanner_find(s, options, err) != 0 ||
	    find_times(s, err) != 0)
		return -1;
	check_all(s);
	report_all(s);
	make_digest(s);
	snprintf(s->id_text, sizeof(s->id_text), "%" PRId32, s->id);
	return 0;
}

static void
close_job(struct import_scanner **scanner)
{
	struct import_scanner *s = *scanner;

	if (s == NULL)
		return;
	if (s->opened)
		import_file_close(&s->file);
	for (uint32_t i = 0; i < s->count; i++)
		buffer_clear(&s->files[i].why);
	buffer_clear(&s->why);
	buffer_clear(&s->sums.lines);
	free(s->files);
	free(s);
	*scanner = NULL;
}

int
import_scanner_open(struct import_scanner **scanner, const char *db,
    const struct import_scanner_options *options, struct err *err)
{
	struct import_scanner *s = memory_zero(1, sizeof(*s));

	*scanner = NULL;
	if (sodium_init() < 0) /* calling it again is harmless */
		err_set(err, "libsodium does not start");
	else if (strlen(db) >= sizeof(s->db))
		err_set(err, "the path of the database is too long");
	else if (find_job_and_times(s, db, options, err) == 0)
		*scanner = s;
	if (*scanner == NULL)
		close_job(&s);
	return *scanner != NULL ? 0 : -1;
}

static uint64_t
no_line(const void *arg)
{
	(void)arg;
	return 0;
}

static void
close_scanner(void *arg)
{
	struct import_scanner *s = arg;

	close_job(&s);
}

struct import_source
import_scanner_source(struct import_scanner *s)
{
	return (struct import_source){
		.kind = IMPORT_SCANNER,
		.name = s->db,
		.bytes = s->bytes,
		.digest = s->digest,
		.bad = s->notes,
		.next = import_scanner_next,
		.offset = import_scanner_offset,
		.line = no_line,
		.rewind = import_scanner_rewind,
		.close = close_scanner,
		.arg = s,
	};
}
