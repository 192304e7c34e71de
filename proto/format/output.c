/*
 * output - write a file completely or not at all.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/format/quantity.h"
#include "proto/os/log.h"

/* Names of existing temporary files, for the signal handler; file-scope
 * because that is all a handler can reach.  An entry is valid while `used` is
 * set: after its name is complete and before the name changes. */
static struct {
	volatile sig_atomic_t used;
	char path[OUTPUT_PATH_BYTES];
} pending[OUTPUTS_MAX];

static const int endings[] = { SIGINT, SIGTERM, SIGHUP };

static void
remove_pending(void)
{
	for (int i = 0; i < OUTPUTS_MAX; i++) {
		if (pending[i].used)
			unlink(pending[i].path);
		pending[i].used = 0;
	}
}

static void
on_ending(int signo)
{
	remove_pending();
	signal(signo, SIG_DFL);
	raise(signo);
}

/* Once per process; an ignored signal (nohup) remains ignored. */
static bool watching;

static void
watch_endings(void)
{
	struct sigaction action, old;

	if (watching)
		return;
	watching = true;
	atexit(remove_pending);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_ending;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (sigaction(endings[i], NULL, &old) == 0 &&
		    old.sa_handler == SIG_DFL)
			sigaction(endings[i], &action, NULL);
}

/* Block the terminating signals while a file is created or renamed, so that
 * every existing temporary file is listed. */
static void
hold_endings(bool hold)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		sigaddset(&set, endings[i]);
	sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static void
forget(const struct output *output)
{
	for (int i = 0; i < OUTPUTS_MAX; i++)
		if (pending[i].used &&
		    strcmp(pending[i].path, output->temporary) == 0)
			pending[i].used = 0;
}

/* Create a file with a unique name in the directory of output->path, with the
 * mode that open(2) would have given it. */
static int
make_temporary(struct output *output)
{
	const char *slash = strrchr(output->path, '/');
	int directory = slash ? (int)(slash - output->path) + 1 : 0;
	int n = snprintf(output->temporary, sizeof(output->temporary),
	    "%.*s.poolscope-XXXXXX", directory, output->path);
	int slot = 0, fd;
	mode_t mask;

	if (n < 0 || (size_t)n >= sizeof(output->temporary)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	while (slot < OUTPUTS_MAX && pending[slot].used)
		slot++;
	assert(slot < OUTPUTS_MAX);
	hold_endings(true);
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd >= 0) {
		memcpy(pending[slot].path, output->temporary, (size_t)n + 1);
		pending[slot].used = 1;
		mask = umask(0);
		umask(mask);
		(void)fchmod(fd, 0666 & ~mask);
	}
	hold_endings(false);
	return fd;
}

/* If the path is a link to a file, resolve it, so that the file is replaced
 * and the link remains. */
static int
follow_link(struct output *output)
{
	struct stat st;
	char *file;
	int n;

	if (lstat(output->path, &st) != 0 || !S_ISLNK(st.st_mode))
		return 0;
	file = realpath(output->path, NULL);
	if (file == NULL)
		return -1;
	n = snprintf(output->path, sizeof(output->path), "%s", file);
	free(file);
	if (n < (int)sizeof(output->path))
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* Reopen standard output through the link to its target: if the shell has
 * redirected it to a file, its position may be in the middle of the content. */
static bool
is_standard(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	       strcmp(path, "/dev/fd/1") == 0 ||
	       strcmp(path, "/proc/self/fd/1") == 0;
}

void
output_sandbox(struct sandbox *sandbox, const char *path)
{
	char real[PATH_MAX];
	struct stat st;

	if (path == NULL || is_standard(path))
		return;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		sandbox_update(sandbox, path);
		return;
	}
	sandbox_write_parent(sandbox, path);
	if (realpath(path, real) != NULL)
		sandbox_write_parent(sandbox, real);
}

/* ---- a terminal ---- */

/* What was written, until its last character is complete. */
struct screen {
	FILE *file;
	char bytes[4096];
	size_t used;
};

/* Bytes of a character at the end of which more must follow. */
static size_t
incomplete(const char *bytes, size_t used)
{
	for (size_t back = 1; back <= 3 && back <= used; back++) {
		unsigned char c = (unsigned char)bytes[used - back];

		if (c >= 0xC0)
			return back < (c >= 0xF0      ? 4u
					  : c >= 0xE0 ? 3u
						      : 2u)
				   ? back
				   : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static int
put_screen(struct screen *screen, size_t bytes)
{
	char left[4] = "";
	size_t more = screen->used - bytes, shown;

	memcpy(left, screen->bytes + bytes, more);
	shown = text_make_shown(screen->bytes, bytes, true);
	fwrite(screen->bytes, 1, shown, screen->file);
	memcpy(screen->bytes, left, more);
	screen->used = more;
	return fflush(screen->file);
}

static ssize_t
write_screen(void *cookie, const char *from, size_t bytes)
{
	struct screen *screen = cookie;

	for (size_t done = 0; done < bytes;) {
		size_t room = sizeof(screen->bytes) - screen->used;
		size_t some = bytes - done < room ? bytes - done : room;

		memcpy(screen->bytes + screen->used, from + done, some);
		screen->used += some;
		done += some;
		if (put_screen(screen, screen->used - incomplete(screen->bytes,
							  screen->used)) != 0)
			return 0;
	}
	return (ssize_t)bytes;
}

static int
close_screen(void *cookie)
{
	struct screen *screen = cookie;
	int rc = put_screen(screen, screen->used);

	free(screen);
	return rc;
}

/* On a terminal a name must not change what is shown elsewhere, in any
 * format; a file or pipe gets it as it is. */
static FILE *
screen_or(FILE *file)
{
	const cookie_io_functions_t functions = { .write = write_screen,
		.close = close_screen };
	struct screen *screen;

	if (isatty(fileno(file)) != 1)
		return file;
	screen = memory_zero(1, sizeof(*screen));
	screen->file = file;
	return memory_must(fopencookie(screen, "w", functions));
}

int
output_open(struct output *output, const char *path, struct err *err)
{
	struct stat st;
	bool exists;
	int fd;

	memset(output, 0, sizeof(*output));
	if (is_standard(path)) {
		strcpy(output->path, "-");
		output->file = screen_or(stdout);
		return 0;
	}
	if (path[0] == '\0')
		return err_set(err, "the output file has no name");
	if (snprintf(output->path, sizeof(output->path), "%s", path) >=
	    (int)sizeof(output->path))
		return err_set(err, "the path of the output file is too long");
	watch_endings();
	exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode))
		return err_set(err, "%s is a directory", path);
	if (exists && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else if (exists && follow_link(output) != 0)
		fd = -1;
	else
		fd = make_temporary(output);
	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	output->file = memory_must(fdopen(fd, "w"));
	return 0;
}

/* Encode whatever has a meaning in a path or to a shell, and a first character
 * that would make an option or a hidden file. */
static bool
is_plain(unsigned char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c >= 0x80)
		return true;
	return c != '\0' && strchr(first ? "_+=,@:" : "._-+=,@:", c) != NULL;
}

size_t
output_encode(char *to, size_t room, struct text name, const char *more)
{
	size_t used = 0;

	for (uint32_t i = 0; i < name.bytes; i++) {
		unsigned char c = (unsigned char)name.at[i];
		bool plain = is_plain(c, i == 0) && strchr(more, c) == NULL;

		if (used + 4 > room)
			return 0;
		if (plain)
			to[used++] = (char)c;
		else
			used += (size_t)snprintf(to + used, 4, "%%%02X", c);
	}
	if (room > 0)
		to[used] = '\0';
	return used;
}

int
output_open_in(struct output *output, const char *dir, struct text name,
    const char *suffix, struct err *err)
{
	char file[4 * NAME_BYTES_MAX], path[OUTPUT_PATH_BYTES];

	if (output_encode(file, sizeof(file), name, "") == 0)
		return err_set(
		    err, "the name of the output file is empty or too long");
	if (snprintf(path, sizeof(path), "%s/%s%s", dir, file, suffix) >=
	    (int)sizeof(path))
		return err_set(err, "the path of the output file is too long");
	return output_open(output, path, err);
}

/* Close the file and report any earlier error: writes are buffered, so the
 * first error may be long past. */
static int
finish(struct output *output)
{
	FILE *file = output->file;
	struct stat is;
	int wrong = 0;

	output->file = NULL;
	/* The reason for an earlier error is lost; flushing the rest usually
	 * meets it again. */
	errno = 0;
	if (fflush(file) != 0)
		wrong = errno ? errno : EIO;
	else if (ferror(file))
		wrong = EIO;
	if (fstat(fileno(file), &is) == 0)
		output->bytes = is.st_size;
	if (output->temporary[0] != '\0' && wrong == 0 &&
	    fsync(fileno(file)) != 0)
		wrong = errno;
	if (file != stdout && fclose(file) != 0 && wrong == 0)
		wrong = errno;
	return wrong;
}

int
output_commit(struct output *output, struct err *err)
{
	const char *path =
	    strcmp(output->path, "-") == 0 ? "standard output" : output->path;
	int wrong = finish(output);

	if (output->temporary[0] == '\0')
		return wrong ? err_set(err, "%s: %s", path, strerror(wrong))
			     : 0;
	hold_endings(true);
	if (wrong == 0 && rename(output->temporary, output->path) != 0)
		wrong = errno;
	if (wrong != 0)
		unlink(output->temporary);
	forget(output);
	hold_endings(false);
	return wrong ? err_set(err, "%s: %s", path, strerror(wrong)) : 0;
}

int
output_commit_logged(struct output *output, const char *more, struct err *err)
{
	bool is_file = output->temporary[0] != '\0';
	char size[QUANTITY_TEXT_BYTES];

	if (output_commit(output, err) != 0)
		return -1;
	if (is_file && !opt_common_values.quiet)
		log_info("wrote %s: %s%s", output->path,
		    quantity_bytes(size, (double)output->bytes), more);
	return 0;
}

void
output_abort(struct output *output)
{
	if (output->file == NULL)
		return;
	if (output->file != stdout)
		fclose(output->file);
	output->file = NULL;
	if (output->temporary[0] != '\0') {
		hold_endings(true);
		unlink(output->temporary);
		forget(output);
		hold_endings(false);
	}
}
