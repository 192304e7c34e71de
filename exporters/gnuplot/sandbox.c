/*
 * gnuplot_sandbox - restrict what gnuplot can access.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/sandbox.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

int
gnuplot_sandbox_make(
    struct gnuplot_sandbox *gnuplot_sandbox, const char *dir, struct err *err)
{
	char interpreter[PATH_MAX];

	gnuplot_sandbox->confine.fd = -1;
	find_program(gnuplot_sandbox->program);
	if (gnuplot_sandbox->program[0] == '\0')
		return err_set(err, "gnuplot is not installed");
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

void
gnuplot_sandbox_clear(struct gnuplot_sandbox *gnuplot_sandbox)
{
	if (gnuplot_sandbox->confine.fd >= 0)
		close(gnuplot_sandbox->confine.fd);
	gnuplot_sandbox->confine.fd = -1;
}

int
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
