/*
 * generate_results - generates results of benchmarks, as TestResults files.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/hash/prng.h"
#include "proto/os/clock.h"
#include "proto/os/progress.h"

#define SECOND_MIN (TIME_MIN_NS / NS_PER_SECOND)
#define SECOND_MAX (TIME_MAX_NS / NS_PER_SECOND)

enum {
	ROUND_S = 30, /* no run takes longer */
	NAME_BYTES = 128,
	PATH_BYTES = 4096,
	PROGRESS_FILES = 64, /* between updates of the progress bar */
};

static volatile sig_atomic_t is_stopped;

static void
on_signal(int signo)
{
	(void)signo;
	is_stopped = 1;
}

static uint64_t
get_rounds(const struct generate_results *results)
{
	return (results->files + results->tests - 1) / results->tests;
}

/* From the first start to the last end; -1: longer than all valid times. */
static int64_t
get_length_s(const struct generate_results *results)
{
	uint64_t rounds = get_rounds(results);
	uint64_t most = (uint64_t)(SECOND_MAX - SECOND_MIN) - ROUND_S;

	if (rounds > 1 && results->spacing_s > most / (rounds - 1))
		return -1;
	return (int64_t)((rounds - 1) * results->spacing_s) + ROUND_S;
}

static int
fail_range(const struct generate_results *results, struct err *err)
{
	return err_set(err,
	    "%" PRIu64 " rounds, %" PRIu64 " s apart, are not all between the "
	    "years 1900 and 2200",
	    get_rounds(results), results->spacing_s);
}

int
generate_results_base(
    struct generate_results *results, int64_t end_s, struct err *err)
{
	int64_t length_s = get_length_s(results);

	if (length_s < 0 || length_s > end_s - SECOND_MIN)
		return fail_range(results, err);
	results->base_s = end_s - length_s;
	return 0;
}

int
generate_results_check(const struct generate_results *results, struct err *err)
{
	int64_t length_s = get_length_s(results);

	if (length_s < 0 || results->base_s < SECOND_MIN ||
	    length_s > SECOND_MAX - results->base_s)
		return fail_range(results, err);
	return 0;
}

/* The usual duration of an entry, in units of 10 ps: 10 us to 100 ms, the same
 * in every file. */
static int64_t
usual_time(
    const struct generate_results *results, uint64_t test, uint64_t entry)
{
	uint64_t state = results->seed ^ (test << 20 | entry) << 8;
	int64_t scale = 1;

	for (int64_t i = prng_between(&state, 0, 3); i > 0; i--)
		scale *= 10;
	return scale * prng_between(&state, 1000000, 9999999);
}

/* Varies it by a few percent, sometimes by half. */
static int64_t
draw_time(uint64_t *state, int64_t usual)
{
	int64_t noise = 0;

	for (int i = 0; i < 4; i++)
		noise += prng_between(state, -100, 100);
	if (prng_between(state, 0, 199) == 0)
		noise += 5000;
	return usual + usual / 10000 * noise;
}

static void
write_entries(const struct generate_results *results, FILE *file, uint64_t test,
    uint64_t round, uint64_t *state)
{
	bool slow = test == 0 && 3 * round >= 2 * get_rounds(results);

	for (uint64_t i = 0; i < results->entries; i++) {
		int64_t time = usual_time(results, test, i);

		if (slow && i == 0)
			time += time / 8;
		time = draw_time(state, time);
		/* Digits only, so that the locale does not matter. */
		fprintf(file,
		    "%s\n      {\n        \"name\": \"BM_%" PRIu64 "\",\n"
		    "        \"iters\": \"%" PRId64 "\",\n"
		    "        \"cpuTime\": %" PRId64 "e-11,\n"
		    "        \"wallTime\": %" PRId64 "e-11\n      }",
		    i > 0 ? "," : "", i, prng_between(state, 100, 999999),
		    time - time / 50, time);
	}
}

static void
write_result(const struct generate_results *results, FILE *file, uint64_t test,
    uint64_t round, int64_t start_s)
{
	uint64_t state = results->seed ^ (round << 24 ^ test) << 16;
	uint64_t commit = prng_bits(&state);
	int64_t seconds = prng_between(&state, 5, ROUND_S - 1);
	int64_t host = prng_between(&state, 1, 20);

	fprintf(file,
	    "{\n  \"target\": \"//bench:test_%" PRIu64 "\",\n"
	    "  \"entries\": {\n    \"entry\": [",
	    test);
	write_entries(results, file, test, round, &state);
	fprintf(file,
	    "\n    ]\n  },\n  \"buildConfiguration\": {\n"
	    "    \"mode\": \"opt\",\n    \"ccFlags\": [\n      \"-O2\"\n"
	    "    ]\n  },\n  \"commitId\": {\n"
	    "    \"hash\": \"%016" PRIx64 "\"\n  },\n"
	    "  \"startTime\": \"%" PRId64 "\",\n  \"runTime\": %" PRId64 ".5,\n"
	    "  \"machineConfiguration\": {\n    \"hostname\": \"bench%02" PRId64
	    "\"\n  },\n  \"name\": \"//bench:test_%" PRIu64 "\",\n"
	    "  \"benchmarkType\": \"CPP_MICROBENCHMARK\"\n}\n",
	    commit, start_s, seconds, host, test);
}

/* The file gets its name when it is complete. */
static int
write_file(const struct generate_results *results, const char *dir,
    uint64_t number, struct err *err)
{
	uint64_t test = number % results->tests,
		 round = number / results->tests;
	int64_t start_s =
	    results->base_s + (int64_t)(round * results->spacing_s);
	struct timespec times[2] = { { .tv_sec = start_s + ROUND_S },
		{ .tv_sec = start_s + ROUND_S } };
	time_t clock = (time_t)start_s;
	char stamp[32], path[PATH_BYTES + NAME_BYTES], self[32];
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct tm day;
	int rc = -1;

	if (file == NULL)
		return err_set(err, "%s: %s", dir, strerror(errno));
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", gmtime_r(&clock, &day));
	snprintf(path, sizeof(path), "%s/bench_test_%" PRIu64 "%s.json", dir,
	    test, stamp);
	write_result(results, file, test, round, start_s);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fflush(file) == 0 && futimens(fd, times) == 0)
		rc = linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	if (rc != 0)
		err_set(err, "%s: %s", path, strerror(errno));
	fclose(file);
	return rc;
}

int
generate_results(const struct generate_results *results, const char *dir,
    bool progress, struct err *err)
{
	struct progress bar = { .total = results->files,
		.began_ns = clock_monotonic_ns() };
	struct sigaction action = { .sa_handler = on_signal };
	int64_t shown_ns = bar.began_ns;
	uint64_t i = 0;
	int rc = 0;

	if (strlen(dir) >= PATH_BYTES)
		return err_set(err,
		    "the directory's path is longer than %d "
		    "bytes",
		    PATH_BYTES - 1);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	for (; rc == 0 && !is_stopped && i < results->files; i++) {
		rc = write_file(results, dir, i, err);
		if (!progress || i % PROGRESS_FILES != 0)
			continue;
		bar.now_ns = clock_monotonic_ns();
		if (bar.now_ns < shown_ns + NS_PER_SECOND / 10)
			continue;
		bar.done = bar.rows = i;
		progress_show(dir, &bar);
		shown_ns = bar.now_ns;
	}
	if (progress)
		progress_clear();
	if (rc == 0 && i < results->files)
		rc = err_set_code(err, ERR_INTERRUPTED, "%s: interrupted", dir);
	return rc;
}
