/*
 * import_scanner - finds the files of a job and looks through them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_scanner.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agents/import_descriptor.h"
#include "agents/import_scanner_private.h"
#include "agents/io.h"
#include "proto/clock.h"
#include "proto/log.h"
#include "proto/number.h"

/* ---- which job ---------------------------------------------------------- */

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

/* 0 .. INT32_MAX without signs and leading zeros, or -1. */
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
	    import_file_open(&file, path, err) != 0)
		return err_prefix(err, "job '%s' is looked up by its name",
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

/* ---- what is wrong ------------------------------------------------------ */

static void
add_note(struct import_scanner *s, struct scanner_file *file, const char *why)
{
	file->notes++;
	if (atomic_fetch_add(&s->notes_kept, 1) >= SCANNER_NOTES_SHOWN)
		return;
	put_bytes(&file->why, why, strlen(why));
	put_bytes(&file->why, "\n", 1);
}

/* Say and keep what was found. */
static void
tell(struct import_scanner *s, const char *path, struct text why)
{
	while (why.bytes > 0) {
		const char *end = memchr(why.at, '\n', why.bytes);
		struct text line = { why.at, (uint32_t)(end - why.at) };
		const char *name = strrchr(path, '/') + 1;

		fprintf(stderr, "%s: %.*s\n", path, (int)line.bytes, line.at);
		if (s->why.bytes + strlen(name) + line.bytes + 3 <
		    SCANNER_NOTES_BYTES) {
			put_bytes(&s->why, name, strlen(name));
			put_bytes(&s->why, ": ", 2);
			put_bytes(&s->why, line.at, line.bytes + 1);
		}
		why.at = end + 1;
		why.bytes -= line.bytes + 1;
	}
}

static void
tell_all(struct import_scanner *s)
{
	char path[PATH_MAX];

	for (uint32_t i = 0; i < s->count; i++) {
		struct scanner_file *f = &s->files[i];

		s->notes += f->notes;
		if (f->why.bytes > 0 &&
		    import_scanner_path(s, f, path, NULL) == 0)
			tell(s, path, buffer_text(&f->why));
		buffer_clear(&f->why);
	}
	if (s->notes > SCANNER_NOTES_SHOWN)
		fprintf(stderr,
		    "%s: and %" PRIu64 " more damaged places of this job\n",
		    s->db, s->notes - SCANNER_NOTES_SHOWN);
}

/* ---- which files -------------------------------------------------------- */

static void
read_descriptor(struct import_scanner *s)
{
	struct import_descriptor descriptor = { .id = 0 };
	char path[PATH_MAX];
	struct import_file file;
	struct err err = { "" };
	int rc;

	s->nodes = -1;
	if (put_path(path, &err, "%s/jobs/%" PRId32 "/descriptor.bin", s->db,
		s->id) != 0)
		return;
	rc = import_file_open(&file, path, &err);
	if (rc == 0) {
		rc = import_descriptor_read(&descriptor, &file, &err);
		import_file_close(&file);
		s->name = descriptor.name;
		if (rc != 0)
			err_prefix(&err, "%s", path);
		else if (descriptor.nodes < 0)
			rc = err_set(&err, "%s: it says %" PRId32 " nodes",
			    path, descriptor.nodes);
		else
			s->nodes = descriptor.nodes;
	}
	if (rc == 0)
		return;
	s->notes++;
	fprintf(stderr, "%s; all profiles there are read\n", err.text);
	put_bytes(&s->why, "descriptor.bin is damaged\n", 26);
}

/* The number in "profile_12.bin", -1 for the master's, -2: not a profile. */
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
		if (s->count == room) {
			room = 2 * room + 16;
			s->files = realloc(s->files, room * sizeof(*s->files));
			assert(s->files != NULL);
		}
		s->files[s->count++] =
		    (struct scanner_file){ .worker = worker };
	}
	closedir(dir);
	if (s->count == 0)
		return err_set(err, "%s: no profiles are in it", path);
	qsort(s->files, s->count, sizeof(*s->files), by_worker);
	return 0;
}

/* splitmix64 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* Keep `wanted` of the workers, each as likely as any other. */
static void
sample(struct import_scanner *s, uint64_t wanted, uint64_t seed)
{
	uint32_t from = s->files[0].worker < 0, kept = from;

	for (uint32_t i = from; i < s->count && wanted > 0; i++) {
		if (next_random(&seed) % (s->count - i) >= wanted)
			continue;
		s->files[kept++] = s->files[i];
		wanted--;
	}
	s->count = kept;
}

/* ---- times -------------------------------------------------------------- */

static void
read_head(struct import_scanner *s, struct scanner_file *f)
{
	unsigned char head[PROFILE_HEAD_BYTES];
	char path[PATH_MAX];
	struct err err = { "" };
	int fd = -1, rc = import_scanner_path(s, f, path, &err);

	if (rc == 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		rc = fd >= 0 ? io_read_all(fd, head, sizeof(head), 0) : -1;
		if (rc != 0)
			err_set(&err, "%s",
			    errno == ENODATA
				? "offset 0: the file ends, and the job's "
				  "start and end follow"
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
		tell_all(s);
		return err_set(err,
		    "%s: job %" PRId32 " has no profile that can be read",
		    s->db, s->id);
	}
	if (!has_master)
		s->base_ns = s->begin_ns;
	return 0;
}

/* ---- looking through all of it ------------------------------------------ */

static void
check_file(struct import_scanner *s, struct scanner_file *f)
{
	struct import_profile profile;
	struct import_file file;
	enum profile_item item;
	char path[PATH_MAX];
	struct err err;

	if (import_scanner_path(s, f, path, &err) != 0 ||
	    import_file_open(&file, path, &err) != 0) {
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

static void *
check_some(void *arg)
{
	struct import_scanner *s = arg;
	uint32_t i;

	while ((i = atomic_fetch_add(&s->next_file, 1)) < s->count)
		if (s->files[i].is_usable)
			check_file(s, &s->files[i]);
	return NULL;
}

static void
check_all(struct import_scanner *s)
{
	pthread_t threads[IMPORT_SCANNER_READERS];
	uint32_t count = 0;

	/* This one is a reader too; without the others it does it alone. */
	while (count + 1 < IMPORT_SCANNER_READERS && count + 1 < s->count &&
	       pthread_create(&threads[count], NULL, check_some, s) == 0)
		count++;
	check_some(s);
	while (count > 0)
		pthread_join(threads[--count], NULL);
}

/* What is imported, and so what the import is. */
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

/* ---- open and close ----------------------------------------------------- */

static int
look(struct import_scanner *s, const struct import_scanner_options *options,
    struct err *err)
{
	if (find_job(s, options->job, err) != 0)
		return -1;
	read_descriptor(s);
	if (list_files(s, err) != 0)
		return -1;
	if (options->subsample > 0)
		sample(s, options->subsample, options->seed);
	if (find_times(s, err) != 0)
		return -1;
	check_all(s);
	tell_all(s);
	make_digest(s);
	snprintf(s->id_text, sizeof(s->id_text), "%" PRId32, s->id);
	return 0;
}

int
import_scanner_open(struct import_scanner **scanner, const char *db,
    const struct import_scanner_options *options, struct err *err)
{
	struct import_scanner *s = calloc(1, sizeof(*s));

	assert(s != NULL);
	*scanner = NULL;
	if (sodium_init() < 0) /* again is no harm */
		err_set(err, "libsodium does not start");
	else if (put_path(s->db, err, "%s", db) == 0 &&
		 look(s, options, err) == 0)
		*scanner = s;
	if (*scanner == NULL)
		import_scanner_close(&s);
	return *scanner != NULL ? 0 : -1;
}

void
import_scanner_close(struct import_scanner **scanner)
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

uint64_t
import_scanner_bad(const struct import_scanner *s)
{
	return s->notes;
}

static uint64_t
no_line(const void *arg)
{
	(void)arg;
	return 0;
}

struct import_source
import_scanner_source(struct import_scanner *s)
{
	return (struct import_source){
		.kind = IMPORT_SCANNER,
		.name = s->db,
		.bytes = s->bytes,
		.digest = s->digest,
		.next = import_scanner_next,
		.offset = import_scanner_offset,
		.line = no_line,
		.rewind = import_scanner_rewind,
		.arg = s,
	};
}
