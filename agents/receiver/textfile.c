/*
 * textfile - numbers that programs leave in files.
 *
 * Programs of other users write these files: only regular files are read, none
 * through a link, each up to FILE_BYTES_MAX, and opening one never waits.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/textfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/receiver/outlet.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/sort.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	FILES_MAX = 1000,
	FILE_BYTES_MAX = 4 << 20,
	ALL_BYTES_MAX = 64 << 20,
	/* The numbers of a file end when it was not written for this long. */
	PERIODS_MAX = 10,
};

static const char ending[] = ".prom";

struct file {
	char name[NAME_BYTES_MAX + 1];
	/* By these it is known to have changed. */
	ino_t inode;
	off_t size;
	int64_t written_ns; /* mtime */
	/* The same, but not later than when it was seen: a file from the
	 * future ends, too. */
	int64_t began_ns;
	struct buffer text;
	bool is_there, is_good, is_new, has_ended;
	bool may_be_read; /* next time, though it has not changed */
};

struct textfile {
	struct receiver_source source;
	struct outlet *outlet;
	char own[INSTANCE_PATH_BYTES];
	const char *folder;
	struct file *file;
	uint32_t files, room;
	size_t bytes; /* of all texts */
	bool has_error;
	int64_t logged_ns;
};

/* ---- reading a file ---- */

static void
forget_text(struct textfile *textfile, struct file *file)
{
	textfile->bytes -= file->text.bytes;
	buffer_clear(&file->text);
	file->is_good = false;
}

/* A file of which nothing is taken. */
static void
skip(struct textfile *textfile, struct file *file, const char *reason,
    const char *why)
{
	forget_text(textfile, file);
	textfile->has_error = true;
	report_bad(
	    &textfile->source.report, reason, text_of(file->name), why, 1);
}

static int
read_text(struct textfile *textfile, struct file *file, int fd)
{
	struct buffer *text = &file->text;
	ssize_t n;

	do {
		n = read(fd, buffer_need(text, 64 << 10), 64 << 10);
		if (n > 0) {
			text->bytes += (size_t)n;
			textfile->bytes += (size_t)n;
		}
	} while ((n > 0 && text->bytes <= FILE_BYTES_MAX &&
		     textfile->bytes <= ALL_BYTES_MAX) ||
		 (n < 0 && errno == EINTR));
	return n == 0 ? 0 : -1;
}

/* A last line that does not end may be the half of a number. */
static void
drop_cut_line(struct textfile *textfile, struct file *file)
{
	struct buffer *text = &file->text;
	size_t before = text->bytes;

	while (text->bytes > 0 && text->at[text->bytes - 1] != '\n')
		text->bytes--;
	textfile->bytes -= before - text->bytes;
	if (text->bytes == before)
		return;
	report_bad(&textfile->source.report, "cut",
	    (struct text){ (const char *)text->at + text->bytes,
		(uint32_t)(before - text->bytes) },
	    "the last line does not end: it may be the half of one", 1);
}

/* The file has changed. */
static void
read_file(struct textfile *textfile, struct file *file, int folder)
{
	/* Without O_NONBLOCK a FIFO would wait for a writer. */
	int fd = openat(folder, file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	forget_text(textfile, file);
	if (fd < 0) {
		skip(textfile, file, "unreadable", strerror(errno));
		file->may_be_read = true;
		return;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		skip(textfile, file, "not-a-file", "not a regular file");
	else if (read_text(textfile, file, fd) != 0) {
		/* Others may have become shorter. */
		file->may_be_read = st.st_size <= FILE_BYTES_MAX;
		skip(textfile, file, "too-long",
		    "longer than 4 MiB, or all of them than 64 MiB");
	} else if (prometheus_page_has_times(buffer_text(&file->text)))
		skip(textfile, file, "timestamps",
		    "a number of it has a time: the file is skipped");
	else {
		drop_cut_line(textfile, file);
		file->is_good = file->is_new = true;
	}
	close(fd);
}

/* ---- the folder ---- */

static struct file *
find_file(struct textfile *textfile, const char *name)
{
	struct file *file;

	for (uint32_t i = 0; i < textfile->files; i++)
		if (strcmp(textfile->file[i].name, name) == 0)
			return &textfile->file[i];
	if (textfile->files == FILES_MAX)
		return NULL;
	file = MEMORY_ADD(textfile->file, textfile->room, textfile->files);
	*file = (struct file){ .inode = 0 };
	strcpy(file->name, name);
	return file;
}

static void
look_at(struct textfile *textfile, int folder, const char *name, int64_t now_ns)
{
	struct file *file;
	struct stat st;
	int64_t written_ns;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return; /* it has just gone */
	file = find_file(textfile, name);
	if (file == NULL) {
		textfile->has_error = true;
		report_bad(&textfile->source.report, "too-many-files",
		    text_of(name), "more than 1000 files", 1);
		return;
	}
	file->is_there = true;
	file->is_new = false;
	written_ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	if (file->inode == st.st_ino && file->size == st.st_size &&
	    file->written_ns == written_ns && !file->may_be_read) {
		textfile->has_error |= !file->is_good;
		return;
	}
	file->may_be_read = false;
	file->inode = st.st_ino;
	file->size = st.st_size;
	file->written_ns = written_ns;
	file->began_ns = written_ns < now_ns ? written_ns : now_ns;
	file->has_ended = false;
	if (S_ISREG(st.st_mode))
		read_file(textfile, file, folder);
	else
		skip(textfile, file, "not-a-file", "not a regular file");
}

static bool
has_ending(const char *name)
{
	size_t bytes = strlen(name), end = sizeof(ending) - 1;

	return bytes > end && strcmp(name + bytes - end, ending) == 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(
	    ((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Forget the files that have gone; the others are read in the order of their
 * names, so that a limit is the same at every turn. */
static void
tidy(struct textfile *textfile)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < textfile->files; i++) {
		struct file *file = &textfile->file[i];

		if (!file->is_there)
			forget_text(textfile, file);
		else
			textfile->file[kept++] = *file;
	}
	textfile->files = kept;
	sort_if_needed(textfile->file, kept, sizeof(*textfile->file), by_name);
}

static void
look_at_folder(struct textfile *textfile, int64_t now_ns)
{
	int fd = open(textfile->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	textfile->has_error = false;
	for (uint32_t i = 0; i < textfile->files; i++)
		textfile->file[i].is_there = false;
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (has_ending(entry->d_name))
			look_at(textfile, fd, entry->d_name, now_ns);
	/* There may be none yet. */
	if (dir == NULL && errno != ENOENT) {
		textfile->has_error = true;
		if (log_is_due(&textfile->logged_ns))
			log_warn("textfile: %s: %s", textfile->folder,
			    strerror(errno));
	}
	if (dir != NULL)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	tidy(textfile);
}

/* ---- publishing ---- */

static bool
is_current(struct textfile *textfile, struct file *file, int64_t now_ns)
{
	int64_t most_ns =
	    PERIODS_MAX *
	    textfile->source.receiver->settings.textfile_period_ns;

	if (!file->is_good || file->has_ended)
		return false;
	if (now_ns - file->began_ns <= most_ns)
		return true;
	file->has_ended = true;
	report_bad(&textfile->source.report, "ended", text_of(file->name),
	    "not written for 10 periods: its numbers end", 1);
	return false;
}

static void
put_number(struct textfile *textfile, const char *name, const char *unit,
    struct dynamic_label *label, uint32_t labels, double value, int64_t now_ns)
{
	struct dynamic_number number = {
		.name = text_of(name),
		.unit = text_of(unit),
		.value = { .type = VALUE_FLOAT, .is.f = value },
	};

	outlet_numbers(textfile->outlet, text_of("prom/textfile"), label,
	    labels, &number, 1, now_ns);
}

/* As node_exporter names them. */
static void
put_state(struct textfile *textfile, int64_t now_ns)
{
	for (uint32_t i = 0; i < textfile->files; i++) {
		const struct file *file = &textfile->file[i];
		struct dynamic_label label = { text_of("file"),
			text_of(file->name) };

		if (file->is_good)
			put_number(textfile, "node_textfile_mtime_seconds", "s",
			    &label, 1,
			    (double)file->written_ns / (double)NS_PER_SECOND,
			    now_ns);
	}
	put_number(textfile, "node_textfile_scrape_error", "", NULL, 0,
	    textfile->has_error, now_ns);
	outlet_flush(textfile->outlet);
}

static void
publish(struct textfile *textfile)
{
	int64_t now_ns = clock_wall_ns();
	struct prometheus_page page = {
		.origin = text_of("prom/textfile"),
		.time_ns = now_ns,
	};

	look_at_folder(textfile, now_ns);
	for (uint32_t i = 0; i < textfile->files; i++) {
		struct file *file = &textfile->file[i];

		if (!is_current(textfile, file, now_ns))
			continue;
		page.text = buffer_text(&file->text);
		outlet_page(textfile->outlet, &page, file->is_new);
	}
	put_state(textfile, now_ns);
}

/* ---- the source ---- */

static void
run(struct receiver_source *source)
{
	int64_t period_ns = source->receiver->settings.textfile_period_ns;
	int64_t next_ns = clock_monotonic_ns();

	while (receiver_sleep(source, next_ns)) {
		publish(source->arg);
		/* A missed turn is skipped. */
		do
			next_ns += period_ns;
		while (next_ns < clock_monotonic_ns());
	}
}

static int
open_it(struct receiver_source *source, struct err *err)
{
	struct textfile *textfile = source->arg;

	(void)err;
	outlet_new(&textfile->outlet, source);
	return 0;
}

static void
close_it(struct receiver_source *source)
{
	struct textfile *textfile = source->arg;

	for (uint32_t i = 0; i < textfile->files; i++)
		buffer_clear(&textfile->file[i].text);
	free(textfile->file);
	outlet_free(&textfile->outlet);
	free(textfile);
}

int
textfile_check(const struct receiver_settings *settings, struct err *err)
{
	if (settings->textfile_period_ns < NS_PER_SECOND / 10)
		return err_set_option(
		    err, "textfile-period", "must be at least 100ms");
	return 0;
}

int
textfile_add(struct receiver *receiver, struct err *err)
{
	struct textfile *textfile = memory_zero(1, sizeof(*textfile));

	textfile->folder = receiver->settings.textfile;
	if (textfile->folder == NULL) {
		if (instance_path(textfile->own, "metrics.d", err) != 0) {
			free(textfile);
			return -1;
		}
		textfile->folder = textfile->own;
		/* Before the sandbox.  Where it is not ours to make, somebody
		 * else has. */
		(void)mkdir(textfile->folder, 0755);
	}
	textfile->source = (struct receiver_source){
		.name = "textfile",
		.open = open_it,
		.run = run,
		.close = close_it,
		.arg = textfile,
	};
	return receiver_add(receiver, &textfile->source, err);
}

void
textfile_declare(
    const struct receiver_settings *settings, struct sandbox *sandbox)
{
	/* The one of the instance can be read anyway. */
	sandbox_read(sandbox, settings->textfile);
}
