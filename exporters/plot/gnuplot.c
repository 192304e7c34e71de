/*
 * gnuplot - run gnuplot and quote untrusted text for it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/gnuplot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporters/plot/look.h"
#include "exporters/source/source.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct gnuplot_sandbox {
	char program[PATH_MAX]; /* the first match in $PATH */
	struct confine confine;
};

enum { SEGMENTS_MAX = 64 };

/* Fonts and their configuration on all supported systems. */
static const char *const readable[] = { "/etc/fonts", "/var/cache/fontconfig",
	"/proc/self", NULL };

/* The first match in $PATH, with symbolic links resolved. */
static void
find_program(char program[static PATH_MAX])
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	struct stat st;

	program[0] = '\0';
	while (at != NULL && *at != '\0') {
		int n = (int)strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/gnuplot", n, n ? at : ".");
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(path, X_OK) == 0 && realpath(path, program) != NULL)
			return;
		program[0] = '\0';
		at += n + (at[n] == ':');
	}
}

/* Get the program interpreter (dynamic linker) of an ELF executable of this
 * machine; "" if it has none.  Returns -1 for any other file. */
static int
read_interpreter(const char *program, char interpreter[static PATH_MAX])
{
	ElfW(Phdr) segments[SEGMENTS_MAX];
	ElfW(Ehdr) head;
	int fd = open(program, O_RDONLY | O_CLOEXEC), rc = -1;
	size_t bytes;

	interpreter[0] = '\0';
	if (fd < 0)
		return -1;
	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
	    head.e_phentsize == sizeof(segments[0]) &&
	    head.e_phnum <= SEGMENTS_MAX) {
		bytes = head.e_phnum * sizeof(segments[0]);
		if (pread(fd, segments, bytes, (off_t)head.e_phoff) ==
		    (ssize_t)bytes)
			rc = 0;
	}
	for (int i = 0; rc == 0 && i < head.e_phnum; i++) {
		ssize_t n = (ssize_t)segments[i].p_filesz;

		if (segments[i].p_type != PT_INTERP)
			continue;
		if (n < 1 || n >= PATH_MAX ||
		    pread(fd, interpreter, (size_t)n,
			(off_t)segments[i].p_offset) != n)
			rc = -1;
		else
			interpreter[n] = '\0';
	}
	close(fd);
	return rc;
}

static int
allow_all(struct gnuplot_sandbox *gnuplot_sandbox, const char *dir,
    const char *interpreter)
{
	const struct confine *confine = &gnuplot_sandbox->confine;

	for (int i = 0; readable[i] != NULL; i++)
		if (confine_allow(confine, readable[i], CONFINE_READ) != 0)
			return -1;
	if (confine_allow(confine, dir, CONFINE_READ) != 0 ||
	    confine_allow_system(confine) != 0 ||
	    confine_allow(confine, gnuplot_sandbox->program, CONFINE_EXECUTE) !=
		0)
		return -1;
	return interpreter[0] == '\0'
		   ? 0
		   : confine_allow(confine, interpreter, CONFINE_EXECUTE);
}

static void
gnuplot_sandbox_clear(struct gnuplot_sandbox *gnuplot_sandbox)
{
	if (gnuplot_sandbox->confine.fd >= 0)
		close(gnuplot_sandbox->confine.fd);
	gnuplot_sandbox->confine.fd = -1;
}

/* Find gnuplot in $PATH and prepare its sandbox for scripts in `dir`; -1 if
 * gnuplot is not installed.  If gnuplot is itself a script, only resource
 * limits apply, because the files it needs are unknown. */
static int
gnuplot_sandbox_make(
    struct gnuplot_sandbox *gnuplot_sandbox, const char *dir, struct err *err)
{
	char interpreter[PATH_MAX];

	gnuplot_sandbox->confine.fd = -1;
	find_program(gnuplot_sandbox->program);
	if (gnuplot_sandbox->program[0] == '\0')
		return err_set(err, "gnuplot is not installed "
				    "(Debian: gnuplot-nox)");
	if (read_interpreter(gnuplot_sandbox->program, interpreter) != 0)
		return 0;
	if (confine_begin(&gnuplot_sandbox->confine, CONFINE_ALONE) == 0 &&
	    allow_all(gnuplot_sandbox, dir, interpreter) == 0)
		return 0;
	err_set(
	    err, "cannot restrict gnuplot to a sandbox: %s", strerror(errno));
	gnuplot_sandbox_clear(gnuplot_sandbox);
	return -1;
}

bool
gnuplot_sandbox_allow(struct sandbox *sandbox)
{
	char program[PATH_MAX], interpreter[PATH_MAX];

	find_program(program);
	if (program[0] == '\0')
		return true;
	if (read_interpreter(program, interpreter) != 0)
		return false;
	for (int i = 0; readable[i] != NULL; i++)
		sandbox_read(sandbox, readable[i]);
	sandbox_execute(sandbox, program);
	sandbox_execute(sandbox, interpreter);
	return true;
}

/* Call in the child just before exec; -1 if the sandbox cannot be applied. */
static int
gnuplot_sandbox_enter(struct gnuplot_sandbox *gnuplot_sandbox)
{
	/* Sufficient for any picture; the seconds are CPU time. */
	static const struct rlimit seconds = { 60, 60 },
				   file = { 256 << 20, 256 << 20 },
				   memory = { UINT32_MAX, UINT32_MAX };

	if (setrlimit(RLIMIT_CPU, &seconds) != 0 ||
	    setrlimit(RLIMIT_FSIZE, &file) != 0 ||
	    setrlimit(RLIMIT_AS, &memory) != 0)
		return -1;
	return confine_enforce(&gnuplot_sandbox->confine);
}

enum { WORDS_BYTES = 256, ENVIRONMENT_MAX = 512, NAP_MS = 5, PDF_DOTS = 96 };

static bool
is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static bool
is_plain(char c)
{
	return is_letter_or_digit(c) ||
	       (c != '\0' && strchr(" _.-+,:/()", c) != NULL);
}

bool
gnuplot_is_plain(struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++)
		if (!is_plain(t.at[i]))
			return false;
	return true;
}

/* Letters and signs that the usual fonts have.  Of others gnuplot's cairo draws
 * boxes of any size over the whole picture; marks that combine, have no width
 * or change the direction make names illegible. */
static bool
has_glyph(uint32_t c)
{
	return (c >= 0x20 && c < 0x7F) ||                 /* ASCII */
	       (c > 0xA0 && c < 0x180 && c != 0xAD) ||    /* Latin */
	       (c >= 0x391 && c < 0x3CF && c != 0x3A2) || /* Greek */
	       (c >= 0x400 && c < 0x460) ||               /* Cyrillic */
	       (c >= 0x2013 && c < 0x2027 && c != 0x2015 && c != 0x2017) ||
	       c == 0x20AC;
}

/* A string that is being written. */
struct quoted {
	FILE *file;
	bool escaped; /* the last byte was written as an octal escape */
	bool tic;
};

static void
put_byte(struct quoted *q, unsigned char c)
{
	/* Emit three digits: gnuplot would read a following digit as part of
	 * the escape. */
	bool digit = c >= '0' && c <= '7';

	if (q->tic && c == '%') {
		fputs("%%", q->file);
		q->escaped = false;
	} else if (is_plain((char)c) && !(q->escaped && digit)) {
		putc(c, q->file);
		q->escaped = false;
	} else {
		fprintf(q->file, "\\%03o", c);
		q->escaped = true;
	}
}

static void
put_shown(FILE *file, struct text t, bool tic)
{
	struct quoted q = { file, false, tic };
	uint32_t character, bytes;

	putc('"', file);
	for (; t.bytes > 0; t.at += bytes, t.bytes -= bytes) {
		bytes = text_character(t, &character);
		if (bytes == 0 || !has_glyph(character)) {
			put_byte(&q, '?');
			bytes = bytes > 0 ? bytes : 1;
			continue;
		}
		for (uint32_t i = 0; i < bytes; i++)
			put_byte(&q, (unsigned char)t.at[i]);
	}
	putc('"', file);
}

void
gnuplot_put_text(FILE *file, struct text t)
{
	put_shown(file, t, false);
}

void
gnuplot_put_tic(FILE *file, struct text t)
{
	put_shown(file, t, true);
}

void
gnuplot_put_row_tic(FILE *file, uint32_t row, const char *label)
{
	fputs(row > 0 ? ", " : "", file);
	gnuplot_put_tic(file, text_of(label));
	fprintf(file, " %u", row + 1);
}

void
gnuplot_put_word(FILE *file, struct text word)
{
	for (uint32_t i = 0; i < word.bytes; i++) {
		char c = word.at[i];

		if (c == ' ' || c == '"' || c == '#' || c == '%')
			fprintf(file, "%%%02X", (unsigned char)c);
		else
			putc_unlocked(c, file);
	}
}

void
gnuplot_put_file(FILE *file, const char *name)
{
	struct quoted q = { file, false, false };

	fputs(is_letter_or_digit(name[0]) ? "\"" : "\"./", file);
	for (; *name != '\0'; name++)
		if ((unsigned char)*name >= 0x20 && *name != 0x7F)
			put_byte(&q, (unsigned char)*name);
	putc('"', file);
}

bool
gnuplot_is_stdout(enum gnuplot_terminal terminal)
{
	return terminal == GNUPLOT_DUMB || terminal == GNUPLOT_SIXEL;
}

/* Larger letters and wider lines, for paper. */
static bool
is_print(void)
{
	return gnuplot_look.style == LOOK_PRINT;
}

static void
put_pixels(FILE *file, const char *name, unsigned width, unsigned height,
    unsigned letters)
{
	fprintf(file,
	    "set terminal %s noenhanced size %u,%u font \"Sans,%u\"%s "
	    "background rgb \"" COLOUR_PAPER "\"\n",
	    name, width, height, is_print() ? letters + 2 : letters,
	    is_print() ? " linewidth 1.5" : "");
}

/* Inches, and gnuplot's letters and lines in PDF are smaller: the layout is
 * that of the other formats. */
static void
put_pdf(FILE *file, unsigned width, unsigned height)
{
	fprintf(file,
	    "set terminal pdfcairo noenhanced size %.4fin,%.4fin font "
	    "\"Sans,%d\" fontscale 0.75 linewidth %s background rgb "
	    "\"" COLOUR_PAPER "\"\n",
	    (double)width / PDF_DOTS, (double)height / PDF_DOTS,
	    is_print() ? 12 : 10, is_print() ? "2.25" : "1.5");
}

void
gnuplot_put_terminal(FILE *file, enum gnuplot_terminal terminal, unsigned width,
    unsigned height, unsigned rows)
{
	unsigned columns = GNUPLOT_DUMB_WIDTH;

	if (gnuplot_look.width > 0) {
		columns = width = gnuplot_look.width;
		rows = height = gnuplot_look.height;
	}
	switch (terminal) {
	case GNUPLOT_PNG:
		put_pixels(file, "pngcairo", width, height, 10);
		break;
	case GNUPLOT_SVG: put_pixels(file, "svg", width, height, 12); break;
	case GNUPLOT_PDF: put_pdf(file, width, height); break;
	case GNUPLOT_DUMB:
		fprintf(file, "set terminal dumb noenhanced %u %u\n", columns,
		    rows);
		break;
	case GNUPLOT_SIXEL:
		fprintf(file,
		    "set terminal sixelgd noenhanced size %u,%u "
		    "background rgb \"" COLOUR_PAPER "\"\n",
		    width, height);
		break;
	}
}

void
gnuplot_put_heading(FILE *file, enum gnuplot_terminal terminal, unsigned height,
    unsigned rows, unsigned line, const char *text)
{
	static const double at_pixels[] = { 22, 46 }, at_rows[] = { 1, 2 };
	bool dumb = terminal == GNUPLOT_DUMB;
	double all = gnuplot_look.height > 0 ? gnuplot_look.height
		     : dumb                  ? rows
					     : height;
	double down = dumb ? at_rows[line] / all : at_pixels[line] / all;

	if (line == 0 && gnuplot_look.title != NULL)
		text = gnuplot_look.title;
	fputs("set label ", file);
	gnuplot_put_text(file, text_of(text));
	fprintf(file, " at screen 0.015, screen %.4f left font \",%d\"\n",
	    1 - down, line == 0 ? 14 : 10);
}

/* Our environment without variables that make gnuplot read files or change its
 * output. */
static void
make_environment(char *to[static ENVIRONMENT_MAX])
{
	static const char *const without[] = {
		"HOME=", "GNUTERM=", "GNUPLOT_LIB=", "TZ=", "LC_ALL=", NULL
	};
	size_t count = 0;

	for (char **e = environ; *e != NULL; e++) {
		bool take = count < ENVIRONMENT_MAX - 3;

		for (int i = 0; without[i] != NULL; i++)
			take &=
			    strncmp(*e, without[i], strlen(without[i])) != 0;
		if (take)
			to[count++] = *e;
	}
	to[count++] = "TZ=UTC";
	to[count++] = "LC_ALL=C.UTF-8";
	to[count] = NULL;
}

enum { EXIT_NO_START = 126 }; /* the exit status that shells use */

/* In the child: only calls that are safe between fork and exec. */
static _Noreturn void
become_gnuplot(struct gnuplot_sandbox *gnuplot_sandbox, const char *dir,
    char *const argv[], char *const environment[], int to, int words,
    pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* gnuplot is killed when this process ends for any reason; it may have
	 * ended already. */
	if (nothing < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    getppid() != parent || dup2(nothing, STDIN_FILENO) < 0 ||
	    dup2(to, STDOUT_FILENO) < 0 || dup2(words, STDERR_FILENO) < 0 ||
	    chdir(dir) != 0 || gnuplot_sandbox_enter(gnuplot_sandbox) != 0)
		_exit(EXIT_NO_START);
	execve(gnuplot_sandbox->program, argv, environment);
	_exit(EXIT_NO_START);
}

/* `words` is the write end of the pipe for the error output of gnuplot. */
static int
start(pid_t *pid, const char *dir, const char *script, int to, int words,
    struct err *err)
{
	char *environment[ENVIRONMENT_MAX];
	char program[] = "gnuplot", defaults[] = "-d", path[4096];
	char *argv[] = { program, defaults, path, NULL };
	struct gnuplot_sandbox gnuplot_sandbox;
	pid_t parent = getpid();
	int rc = 0;

	if (gnuplot_sandbox_make(&gnuplot_sandbox, dir, err) != 0)
		return -1;
	make_environment(environment);
	snprintf(path, sizeof(path), "./%s", script);
	*pid = fork();
	if (*pid == 0)
		become_gnuplot(&gnuplot_sandbox, dir, argv, environment, to,
		    words, parent);
	if (*pid < 0)
		rc = err_set(err, "gnuplot: %s", strerror(errno));
	gnuplot_sandbox_clear(&gnuplot_sandbox);
	return rc;
}

/* Store the beginning of the output of gnuplot; read until its end or the
 * deadline. */
static void
listen_to(int from, int64_t deadline_ns, char words[static WORDS_BYTES])
{
	size_t used = 0;

	for (;;) {
		int64_t left_ns = deadline_ns - clock_monotonic_ns();
		struct pollfd poll_fd = { .fd = from, .events = POLLIN };
		char some[512];
		ssize_t n;

		if (left_ns <= 0 ||
		    (poll(&poll_fd, 1, (int)(left_ns / 1000000) + 1) < 0 &&
			errno != EINTR))
			break;
		if (poll_fd.revents == 0)
			continue;
		n = read(from, some, sizeof(some));
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n && used < WORDS_BYTES - 1; i++)
			words[used++] = some[i];
	}
	words[used] = '\0';
}

/* Wait for `pid`, which is about to exit; kill it at the deadline.  Returns
 * its status. */
static int
await(pid_t pid, int64_t deadline_ns, bool *late)
{
	int status = 0;

	*late = false;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (clock_monotonic_ns() >= deadline_ns) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			*late = true;
			break;
		}
		poll(NULL, 0, NAP_MS);
	}
	return status;
}

int
gnuplot_run(const char *dir, const char *script, int to, int64_t limit_ns,
    struct err *err)
{
	int64_t deadline_ns = clock_monotonic_ns() + limit_ns;
	char words[WORDS_BYTES], quoted[2 * WORDS_BYTES];
	int ends[2], status, rc;
	struct stat st;
	bool late;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, "pipe: %s", strerror(errno));
	rc = start(&pid, dir, script, to, ends[1], err);
	close(ends[1]);
	if (rc == 0)
		listen_to(ends[0], deadline_ns, words);
	close(ends[0]);
	if (rc != 0)
		return -1;
	status = await(pid, deadline_ns, &late);
	text_quote(quoted, sizeof(quoted), text_of(words));
	if (late)
		return err_set(err, "gnuplot took longer than %lld s",
		    (long long)(limit_ns / NS_PER_SECOND));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_START &&
	    words[0] == '\0')
		return err_set(err, "cannot start gnuplot");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, "gnuplot failed: %s", quoted);
	if (words[0] != '\0')
		log_debug("gnuplot says: %s", quoted);
	if (fstat(to, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		return err_set(err, "gnuplot drew nothing: %s", quoted);
	return 0;
}

/* ---- pictures ---- */

enum { FILE_BYTES = 4 * INSTANCE_PATH_BYTES, FD_BYTES = 12 };
#define GNUPLOT_LIMIT_NS (60 * NS_PER_SECOND)

bool
picture_sandbox(struct sandbox *sandbox, const char *dir, const char *more)
{
	output_sandbox(sandbox, more);
	/* Creates a missing directory. */
	if (dir != NULL && access(dir, F_OK) != 0)
		sandbox_write_parent(sandbox, dir);
	sandbox_write(sandbox, dir);
	return gnuplot_sandbox_allow(sandbox);
}

int
picture_make_dir(const char *dir, struct err *err)
{
	if (dir != NULL && mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	return 0;
}

static int
write_table(const struct picture *picture, struct err *err)
{
	struct output output;

	if (output_open_in(&output, picture->dir, picture->base, ".dat", err) !=
	    0)
		return -1;
	picture->put_table(picture->what, output.file);
	return output_commit(&output, err);
}

/* The script in the style of --style. */
static void
put_script(const struct picture *picture, FILE *file, const char *dat)
{
	char *script = NULL;
	size_t bytes;
	FILE *memory = memory_stream(&script, &bytes);

	picture->put_script(picture->what, memory, dat, picture->terminal);
	memory_stream_end(&memory);
	gnuplot_look_put(file, (struct text){ script, (uint32_t)bytes });
	free(script);
}

static int
write_script(const struct picture *picture, const char *name, struct err *err)
{
	char dat[FILE_BYTES];
	struct output output;

	snprintf(dat, sizeof(dat), "%s.dat", name);
	if (output_open_in(
		&output, picture->dir, picture->base, ".plot", err) != 0)
		return -1;
	put_script(picture, output.file, dat);
	return picture->drawn && !gnuplot_is_stdout(picture->terminal)
		   ? output_commit(&output, err)
		   : output_commit_logged(&output, ", with .dat", err);
}

static int
draw(const struct picture *picture, const char *name, struct err *err)
{
	static const char *const endings[] = { [GNUPLOT_PNG] = ".png",
		[GNUPLOT_SVG] = ".svg",
		[GNUPLOT_PDF] = ".pdf" };
	bool to_stdout = gnuplot_is_stdout(picture->terminal);
	char script[FILE_BYTES];
	struct output output;
	int rc;

	snprintf(script, sizeof(script), "%s.plot", name);
	if (to_stdout)
		rc = output_open(&output, "-", err);
	else
		rc = output_open_in(&output, picture->dir, picture->base,
		    endings[picture->terminal], err);
	if (rc != 0)
		return -1;
	if (gnuplot_run(picture->dir, script, fileno(output.file),
		GNUPLOT_LIMIT_NS, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return output_commit_logged(&output, ", with .plot and .dat", err);
}

/* An anonymous file that gnuplot inherits; its directory is /dev/fd. */
static FILE *
open_nameless(char name[static FD_BYTES])
{
	int fd = memfd_create("poolscope-plot", 0);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (file == NULL && fd >= 0)
		close(fd);
	snprintf(name, FD_BYTES, "%d", fd);
	return file;
}

static int
draw_without_files(const struct picture *picture, struct err *err)
{
	char dat[FD_BYTES], script[FD_BYTES];
	FILE *table = open_nameless(dat), *commands = open_nameless(script);
	int rc = -1;

	if (table != NULL && commands != NULL) {
		picture->put_table(picture->what, table);
		put_script(picture, commands, dat);
	}
	if (table == NULL || commands == NULL || fflush(table) != 0 ||
	    fflush(commands) != 0)
		err_set(err, "cannot create a picture in memory: %s",
		    strerror(errno));
	else
		rc = gnuplot_run(
		    "/dev/fd", script, STDOUT_FILENO, GNUPLOT_LIMIT_NS, err);
	if (table != NULL)
		fclose(table);
	if (commands != NULL)
		fclose(commands);
	return rc;
}

int
picture_make(const struct picture *picture, struct err *err)
{
	char name[FILE_BYTES - 8];

	if (picture->dir == NULL)
		return draw_without_files(picture, err);
	if (output_encode(name, sizeof(name), picture->base, "") == 0)
		return err_set(err,
		    "the name of the partition cannot be used as a file name");
	if (write_table(picture, err) != 0 ||
	    write_script(picture, name, err) != 0)
		return -1;
	return picture->drawn ? draw(picture, name, err) : 0;
}
