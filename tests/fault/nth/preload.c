/*
 * preload - shim.c in front of a whole program, by LD_PRELOAD.
 *
 *     NTH="HOW N STICKY FILE"
 *
 * HOW is a number of enum nth_how, STICKY 0 or 1; the first byte of FILE is 1
 * once it was hit, the second once libzmq crashed for it.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/fault/nth/nth.h"
#include "tests/fault/real.h"

/* libconfuse (3.3), and the C library's nss below libpgm below zmq_ctx_new(),
 * read through null pointers when they get no memory: that is when a program
 * begins, and nothing was promised yet. */
void *cfg_init(void *options, int flags);
int cfg_parse_buf(void *cfg, const char *text);
int cfg_free(void *cfg);

static void *(*zmq_ctx_new)(void);

static void *
ctx_new(void)
{
	void *made;

	nth_spare_malloc(true);
	made = zmq_ctx_new();
	nth_spare_malloc(false);
	return made;
}

/* Programs load libzmq themselves and ask it for its functions, so a function
 * of the same name here would not come before it. */
void *
dlsym(void *library, const char *name)
{
	static void *(*real)(void *, const char *);
	void *found;

	if (real == NULL)
		real = (void *(*)(void *, const char *))dlvsym(
		    RTLD_NEXT, "dlsym", "GLIBC_2.34");
	found = real(library, name);
	if (found == NULL || strcmp(name, "zmq_ctx_new") != 0)
		return found;
	zmq_ctx_new = (void *(*)(void))found;
	return (void *)ctx_new;
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

/* libzmq's I/O thread (4.3.4) reads through one, too, when it gets no memory
 * while it connects.  It ends the program on whatever it does not expect: what
 * happens in its own code, in a thread of its own, counts as the abort that it
 * means, and is reported.  What we make it do in ours does not. */
static uintptr_t zmq_from, zmq_to;
static atomic_uchar *excused;

static int
find_zmq(struct dl_phdr_info *library, size_t bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	if (strstr(library->dlpi_name, "/libzmq.so") == NULL)
		return 0;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
			continue;
		zmq_from = library->dlpi_addr + part->p_vaddr;
		zmq_to = zmq_from + part->p_memsz;
	}
	return 1;
}

static void
on_crash(int number, siginfo_t *info, void *context)
{
	const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	uintptr_t at = (uintptr_t)m->gregs[REG_RIP];
#else
	uintptr_t at = (uintptr_t)m->pc;
#endif

	char thread[16] = "";

	(void)info;
	prctl(PR_GET_NAME, thread);
	if (at >= zmq_from && at < zmq_to && strncmp(thread, "ZMQbg", 5) == 0) {
		atomic_store(excused, 1);
		abort();
	}
	signal(number, SIG_DFL); /* ours: again, for everybody to see */
}

/* Its threads block all signals: a crash there would reach nobody.  By then it
 * is loaded. */
int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	REAL(int, "pthread_sigmask", int, const sigset_t *, sigset_t *);
	sigset_t all_but;

	if (zmq_from == 0)
		dl_iterate_phdr(find_zmq, NULL);
	if (set == NULL || how == SIG_UNBLOCK)
		return real(how, set, old);
	all_but = *set;
	sigdelset(&all_but, SIGSEGV);
	return real(how, &all_but, old);
}

static void
forgive_zmq(void)
{
	struct sigaction action = { .sa_sigaction = on_crash,
		.sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, NULL);
}

__attribute__((constructor)) static void
arm(void)
{
	const char *words = getenv("NTH");
	char path[256];
	unsigned how, sticky;
	uint64_t n;
	unsigned char *at;
	int fd;

	if (words == NULL)
		return;
	if (sscanf(words, "%u %" SCNu64 " %u %255s", &how, &n, &sticky, path) !=
		4 ||
	    how >= NTH_HOWS || (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
		abort();
	at = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	/* What it starts itself is not meant. */
	unsetenv("NTH");
	nth_tell((atomic_bool *)at);
	excused = (atomic_uchar *)(at + 1);
	if (how == NTH_MALLOC)
		forgive_zmq();
	nth_arm((enum nth_how)how, n, sticky != 0);
}
