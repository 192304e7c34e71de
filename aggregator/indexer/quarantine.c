/*
 * quarantine - give up work that crashed the indexer three times.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/db/pages/map_guard.h"

#define MAGIC UINT64_C(0x3144454853415243) /* "CRASHED1" */

struct note {
	uint64_t magic, first, last, crashes;
};

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { FATALS = sizeof(fatal) / sizeof(fatal[0]) };

/* A signal handler gets no argument, so its data is static. */
static struct sigaction before[FATALS];
static bool watching;
static __thread struct note at_work; /* first 0: no work under way */
static __thread int note_fd;         /* the file to write it to */

static void
on_fatal(int number, siginfo_t *info, void *context)
{
	int i, saved = errno;

	(void)context;
	if (number == SIGBUS && map_guard_absorb(info))
		return;
	if (at_work.first != 0) {
		/* If this fails, there is nothing else to try. */
		if (pwrite(note_fd, &at_work, sizeof(at_work), 0) ==
		    (ssize_t)sizeof(at_work))
			fdatasync(note_fd);
	}
	/* Then die of the signal, as without this handler. */
	for (i = 0; i < FATALS; i++)
		sigaction(fatal[i], &before[i], NULL);
	raise(number);
	errno = saved;
}

void
quarantine_watch(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	int i;

	if (watching)
		return;
	watching = true;
	action.sa_sigaction = on_fatal;
	sigemptyset(&action.sa_mask);
	for (i = 0; i < FATALS; i++)
		sigaction(fatal[i], &action, &before[i]);
}

void
quarantine_unwatch(void)
{
	int i;

	if (!watching)
		return;
	for (i = 0; i < FATALS; i++)
		sigaction(fatal[i], &before[i], NULL);
	watching = false;
}

int
quarantine_open(struct quarantine *quarantine, const char *store,
    const char *file, struct err *err)
{
	struct note note;
	char path[4096];

	*quarantine = (struct quarantine){ .fd = -1 };
	if (snprintf(path, sizeof(path), "%s/%s", store, file) >=
	    (int)sizeof(path))
		return err_set(err, "%s: the path is too long", store);
	quarantine->fd =
	    open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (quarantine->fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	if (pread(quarantine->fd, &note, sizeof(note), 0) ==
		(ssize_t)sizeof(note) &&
	    note.magic == MAGIC) {
		quarantine->first = note.first;
		quarantine->last = note.last;
		quarantine->crashes = note.crashes;
	}
	return 0;
}

void
quarantine_close(struct quarantine *quarantine)
{
	if (quarantine->fd >= 0)
		close(quarantine->fd);
	quarantine->fd = -1;
}

bool
quarantine_suspects(const struct quarantine *quarantine, uint64_t number)
{
	return number >= quarantine->first && number <= quarantine->last;
}

bool
quarantine_gives_up(const struct quarantine *quarantine, uint64_t number)
{
	return number == quarantine->first && number == quarantine->last &&
	       quarantine->crashes >= QUARANTINE_CRASHES;
}

void
quarantine_enter(
    const struct quarantine *quarantine, uint64_t first, uint64_t last)
{
	uint64_t crashes =
	    quarantine_suspects(quarantine, first) ? quarantine->crashes : 0;

	note_fd = quarantine->fd;
	/* A single entry inherits the crashes of the suspected range that it
	 * is part of. */
	at_work = (struct note){ MAGIC, first, last, crashes + 1 };
}

void
quarantine_leave(struct quarantine *quarantine, uint64_t reached)
{
	at_work = (struct note){ 0, 0, 0, 0 };
	if (quarantine->first == 0 || reached < quarantine->last)
		return;
	quarantine->first = quarantine->last = quarantine->crashes = 0;
	if (ftruncate(quarantine->fd, 0) != 0)
		return; /* the next start only isolates entries needlessly */
}
