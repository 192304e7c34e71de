/*
 * mutate_run - see mutate.h.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "proto/hash/prng.h"
#include "tests/fuzz/main/mutate.h"

enum { ROOM_MIN = 4096, PAGE = 4096, RUNS_TO_LOOK = 256, SECONDS_MAX = 120 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is tried now, for whoever ends it. */
static struct trial {
	const char *name;
	uint64_t seed, run;
	const uint8_t *at;
	size_t bytes;
} trial;

/* Called where nearly nothing may be: after a signal, or by a sanitizer. */
static void
leave_input(void)
{
	const char *where = getenv("FUZZ_CRASHES");
	char path[512], said[700];
	int fd, n;

	snprintf(path, sizeof(path), "%s/crash-%s-%" PRIu64 "-%" PRIu64,
	    where != NULL ? where : ".", trial.name, trial.seed, trial.run);
	fd = creat(path, 0600); /* some targets replace open() */
	if (fd >= 0 && write(fd, trial.at, trial.bytes) != (ssize_t)trial.bytes)
		path[0] = '\0';
	n = snprintf(said, sizeof(said),
	    "\nfuzz: %s: run %" PRIu64 " of seed %" PRIu64
	    " ended it; its input is %s\n",
	    trial.name, trial.run, trial.seed, path);
	if (n > 0 && write(STDERR_FILENO, said, (size_t)n) < 0)
		_exit(1);
}

static void
on_signal(int number)
{
	leave_input();
	signal(number, SIG_DFL);
	raise(number);
}

__attribute__((weak)) void __sanitizer_set_death_callback(void (*)(void));

static void
watch(void)
{
	/* A sanitizer takes the signals of crashes itself. */
	if (__sanitizer_set_death_callback != NULL) {
		__sanitizer_set_death_callback(leave_input);
	} else {
		signal(SIGSEGV, on_signal);
		signal(SIGBUS, on_signal);
		signal(SIGFPE, on_signal);
		signal(SIGILL, on_signal);
	}
	signal(SIGABRT, on_signal);
	signal(SIGPROF, on_signal);
}

/* So much processor time from now on, or SIGPROF: a machine that sleeps or is
 * busy with others has no part in it. */
static void
allow(int seconds)
{
	const struct itimerval time = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &time, NULL);
}

static size_t
room_of(const struct corpus *corpus)
{
	size_t room = ROOM_MIN;

	for (size_t i = 0; i < corpus->count; i++)
		while (room < corpus->inputs[i].bytes + PAGE)
			room *= 2;
	return room;
}

/* `room` bytes, and then a page that nobody may touch; where that begins. */
static uint8_t *
superseded(size_t room)
{
	uint8_t *at = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + room, PAGE, PROT_NONE) != 0)
		abort();
	return at + room;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
mutate_run(struct corpus *corpus, const char *name, uint64_t seed,
    uint64_t from, uint64_t runs)
{
	size_t room = room_of(corpus);
	uint8_t *made = malloc(room), *end = superseded(room);
	double began = seconds();
	struct rusage used;
	uint64_t random;

	if (made == NULL)
		abort();
	mutate_share(corpus);
	trial = (struct trial){ .name = name, .seed = seed };
	printf("seed %" PRIu64 "\n", seed);
	fflush(stdout);
	watch();
	for (uint64_t i = 0; i < runs; i++) {
		if (i % RUNS_TO_LOOK == 0)
			allow(SECONDS_MAX);
		trial.run = random = from + i;
		random = seed ^ prng_bits(&random);
		trial.bytes = mutate(corpus, random, made, room);
		trial.at = memcpy(end - trial.bytes, made, trial.bytes);
		LLVMFuzzerTestOneInput(trial.at, trial.bytes);
	}
	allow(0);
	free(made);
	getrusage(RUSAGE_SELF, &used);
	printf("%" PRIu64 " executions in %.1f s, at most %ld MiB\n", runs,
	    seconds() - began, used.ru_maxrss >> 10);
}
