/*
 * preload - shim.c in front of a whole program, by LD_PRELOAD.
 *
 *     NTH="HOW N STICKY FILE"
 *
 * HOW is a number of enum nth_how, STICKY 0 or 1; the first byte of FILE is 1
 * once it was hit.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fault/nth/nth.h"
#include "tests/fault/real.h"

/* libconfuse (3.3), and the C library's nss below libpgm below zmq_ctx_new(),
 * read through null pointers when they get no memory: that is when a program
 * begins, and nothing was promised yet. */
void *zmq_ctx_new(void);
void *cfg_init(void *options, int flags);
int cfg_parse_buf(void *cfg, const char *text);
int cfg_free(void *cfg);

void *
zmq_ctx_new(void)
{
	REAL(void *, "zmq_ctx_new", void);
	void *made;

	nth_spare_malloc(true);
	made = real();
	nth_spare_malloc(false);
	return made;
}

void *
cfg_init(void *options, int flags)
{
	REAL(void *, "cfg_init", void *, int);
	void *made;

	nth_spare_malloc(true);
	made = real(options, flags);
	nth_spare_malloc(false);
	return made;
}

int
cfg_parse_buf(void *cfg, const char *text)
{
	REAL(int, "cfg_parse_buf", void *, const char *);
	int rc;

	nth_spare_malloc(true);
	rc = real(cfg, text);
	nth_spare_malloc(false);
	return rc;
}

int
cfg_free(void *cfg)
{
	REAL(int, "cfg_free", void *);
	int rc;

	nth_spare_malloc(true);
	rc = real(cfg);
	nth_spare_malloc(false);
	return rc;
}

__attribute__((constructor)) static void
arm(void)
{
	const char *words = getenv("NTH");
	char path[256];
	unsigned how, sticky;
	uint64_t n;
	void *at;
	int fd;

	if (words == NULL)
		return;
	if (sscanf(words, "%u %" SCNu64 " %u %255s", &how, &n, &sticky, path) !=
		4 ||
	    how >= NTH_HOWS || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
		abort();
	at = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	/* What it starts itself is not meant. */
	unsetenv("NTH");
	nth_tell(at);
	nth_arm((enum nth_how)how, n, sticky != 0);
}
