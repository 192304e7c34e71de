/*
 * client - a program that uses libpoolscope, for the flow tests.
 *
 *     client tour             one of everything
 *     client overlap          spans that overlap, and that are over
 *     client samples          numbers with labels
 *     client threads N SPANS  that many threads with that many spans each
 *     client fork             spans before, across and after a fork
 *     client full SPANS       more spans than its small rings hold; prints
 *                             recorded, dropped and lost
 *     client steady           a span for each line of standard input; the
 *                             answer to "flush" is "done"
 *     client alone            without an agent: how it ended, and how soon
 *
 * Built with the installed header, library and flags, and nothing else.
 * SPDX-License-Identifier: MIT
 */
#include <poolscope.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static int
fail(const char *what)
{
	perror(what);
	return 1;
}

static int
tour(void)
{
	const struct poolscope_attribute attributes[] = {
		poolscope_int("frames", 30),
		poolscope_float("ratio", 0.5),
		poolscope_bool("key", 1),
		poolscope_text("codec", "h264"),
		poolscope_text("bad\n", "\377"),
		poolscope_int("frames", 31),
	};
	char inside[POOLSCOPE_TRACEPARENT_BYTES],
	    outside[POOLSCOPE_TRACEPARENT_BYTES];
	struct poolscope_counter *gauge = poolscope_get_gauge("queue", "By"),
				 *counter =
				     poolscope_get_counter("frames", NULL);
	struct poolscope_span far, apart;

	poolscope_thread("decoder");
	poolscope_traceparent(outside);
	{
		poolscope_scope(outer, "outer", "video");
		poolscope_scope(inner, "inner", NULL);

		for (size_t i = 0; i < 6; i++)
			poolscope_set(&inner, attributes[i]);
		poolscope_traceparent(inside);
		poolscope_event("client", "seen", attributes, 6);
	}
	poolscope_begin_under(&far, "far", "video",
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
	poolscope_end(&far);
	poolscope_end(&far); /* to no effect */
	poolscope_begin_under(&apart, "apart", "video", "nonsense");
	poolscope_end(&apart);
	poolscope_thread("a/b\tc");
	poolscope_begin(&far, "", "");
	poolscope_end(&far);
	poolscope_put(gauge, 10);
	poolscope_add(gauge, -2.5);
	poolscope_add(counter, 5);
	poolscope_add(counter, -1); /* to no effect */
	poolscope_add(poolscope_get_counter("not a word", "1"), 1);
	printf("%s\n%s\n", outside, inside);
	return poolscope_flush(20 * SECOND) == 0 ? 0 : fail("flush");
}

static void *
end_elsewhere(void *span)
{
	poolscope_end(span);
	return NULL;
}

/* a and b overlap, and c is within a; b ends in another thread. */
static int
overlap(void)
{
	const struct poolscope_attribute bytes = poolscope_int("bytes", 7);
	char of_a[POOLSCOPE_TRACEPARENT_BYTES],
	    of_c[POOLSCOPE_TRACEPARENT_BYTES];
	struct poolscope_span a, b, c, alone;
	pthread_t thread;

	poolscope_thread("main");
	{
		poolscope_scope(around, "around", NULL);

		poolscope_begin_beside(&a, "a", "overlap", NULL, "lane 1");
		poolscope_begin_beside(&b, "b", "overlap", NULL, "lane 2");
		poolscope_traceparent_of(&a, of_a);
		poolscope_begin_beside(&c, "c", "overlap", of_a, "lane 1");
		poolscope_event_of(&b, "client", "of b", &bytes, 1);
		poolscope_event("client", "of around", NULL, 0);
		poolscope_past("done", "past", "overlap", NULL, 5 * SECOND,
		    7 * SECOND, &bytes, 1);
		poolscope_past("done", "then", "overlap", of_a, 8 * SECOND,
		    9 * SECOND, NULL, 0);
		poolscope_past(NULL, "turned", NULL, NULL, 7 * SECOND,
		    5 * SECOND, NULL, 0);
	}
	poolscope_begin_beside(&alone, "alone", NULL, "nonsense", "a/b\tlane");
	poolscope_end(&a);
	poolscope_set(&c, bytes);
	poolscope_end(&c);
	poolscope_end(&c); /* to no effect */
	poolscope_traceparent_of(&c, of_c);
	if (pthread_create(&thread, NULL, end_elsewhere, &b) != 0)
		return fail("pthread_create");
	pthread_join(thread, NULL);
	poolscope_end(&alone);
	poolscope_event_of(&c, "client", "of nothing", NULL, 0);
	printf("%s\n%s\n", of_a, of_c);
	return poolscope_flush(20 * SECOND) == 0 ? 0 : fail("flush");
}

/* Twice the same columns, then others, and what must be repaired or left out.
 */
static int
samples(void)
{
	static const struct poolscope_number numbers[] = {
		{ "loss", NULL, 0, 0.5 },
		{ "tokens", "By", 1, 512 },
		{ "a b\n", "1", 0, 1 },
		{ "loss", NULL, 0, 0.25 },
	};
	const struct poolscope_attribute labels[] = {
		poolscope_text("who", "Zo\303\253 \377"),
		poolscope_int("rank", 2),
		poolscope_int("rank", 3),
		poolscope_bool("last", 1),
		poolscope_float("ratio", 0.5),
		poolscope_text("none", ""),
	};
	struct poolscope_number many[POOLSCOPE_NUMBERS + 2];
	char name[POOLSCOPE_NUMBERS + 2][16];

	poolscope_sample(numbers, 4, labels, 6);
	poolscope_sample(numbers, 4, labels, 6);
	poolscope_sample(numbers, 1, NULL, 0);
	poolscope_sample(numbers, 0, labels, 6);
	for (int i = 0; i < POOLSCOPE_NUMBERS + 2; i++) {
		snprintf(name[i], sizeof(name[i]), "n%d", i);
		many[i] = (struct poolscope_number){ name[i], "1", 0, i };
	}
	poolscope_sample(many, POOLSCOPE_NUMBERS + 2, NULL, 0);
	return poolscope_flush(20 * SECOND) == 0 ? 0 : fail("flush");
}

static long spans_each;

static void *
thread_main(void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "worker %d", (int)(intptr_t)arg);
	poolscope_thread(name);
	for (long i = 0; i < spans_each; i++) {
		char step[32];
		struct poolscope_span span;

		snprintf(step, sizeof(step), "%d.%ld", (int)(intptr_t)arg, i);
		poolscope_begin(&span, step, "work");
		poolscope_set(&span, poolscope_int("i", i));
		poolscope_end(&span);
	}
	return NULL;
}

static int
run_threads(int count)
{
	pthread_t thread[64];

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, thread_main,
			(void *)(intptr_t)i) != 0)
			return fail("pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	return poolscope_flush(60 * SECOND) == 0 ? 0 : fail("flush");
}

static void
one(const char *name)
{
	poolscope_scope(span, name, "fork");
}

static int
run_diverge(void)
{
	struct poolscope_span across;
	int status = 0;
	pid_t child;

	one("before");
	poolscope_begin(&across, "across", "fork");
	child = fork();
	if (child < 0)
		return fail("fork");
	if (child == 0) {
		one("child");
		poolscope_end(&across); /* the parent's */
		exit(poolscope_flush(20 * SECOND) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	poolscope_end(&across);
	one("after");
	/* A child that says nothing costs nothing, and one that only execs. */
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int
steady(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "flush") != 0)
			one(line);
		else if (poolscope_flush(60 * SECOND) != 0)
			return fail("flush");
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}

static int
say_stats(void)
{
	struct poolscope_stats stats;

	poolscope_get_stats(&stats);
	printf("%llu %llu %llu\n", (unsigned long long)stats.recorded,
	    (unsigned long long)stats.dropped, (unsigned long long)stats.lost);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct poolscope_options options = { .program = "client" };
	int rc = 2;

	if (strcmp(mode, "full") == 0)
		options.ring_bytes = 16 << 10;
	if (poolscope_open(&options) != 0)
		return fail("poolscope_open");
	if (argc > 2)
		spans_each = atol(argv[argc - 1]);
	if (strcmp(mode, "tour") == 0)
		rc = tour();
	else if (strcmp(mode, "overlap") == 0)
		rc = overlap();
	else if (strcmp(mode, "samples") == 0)
		rc = samples();
	else if (strcmp(mode, "threads") == 0 && argc > 3)
		rc = run_threads(atoi(argv[2]));
	else if (strcmp(mode, "fork") == 0)
		rc = run_diverge();
	else if (strcmp(mode, "full") == 0 && argc > 2)
		rc = run_threads(4);
	else if (strcmp(mode, "steady") == 0)
		rc = steady();
	else if (strcmp(mode, "alone") == 0)
		one("alone"), rc = 0;
	poolscope_close();
	if (strcmp(mode, "full") == 0 || strcmp(mode, "alone") == 0)
		say_stats();
	one("too late"); /* harmless */
	return rc;
}
