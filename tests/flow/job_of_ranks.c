/*
 * job_of_ranks - publishes the spans of a parallel job through libpoolscope, as
 *its ranks would: in each step each rank works about a second, then waits until
 * the last one is there.
 *
 *	job_of_ranks PARTITION SEED RANKS NODES STEPS SD SLOW FACTOR
 *
 * A rank's work in a step is normal around 1 s, with a standard deviation of
 * SD; that of rank SLOW (-1: none) is FACTOR times as long.  Step k is
 *attribute `step`, rank r is attribute `rank` on node r % NODES.  The random
 *numbers are its own, so that the same seed is the same job everywhere.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <poolscope.h>

enum { FLUSH = 4000, RELEASE_NS = 20000 };

struct job {
	const char *partition;
	uint64_t random;
	long ranks, nodes, steps, slow;
	double sd, factor;
	int64_t *work_ns;            /* of each step each rank */
	int64_t *begin_ns, *last_ns; /* of each step: begin, last arrival */
};

/* Splitmix64: from 0 to below 1. */
static double
uniform(struct job *job)
{
	uint64_t z = job->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double
normal(struct job *job)
{
	double radius = sqrt(-2 * log(1 - uniform(job)));

	return radius * cos(8 * atan(1) * uniform(job));
}

static void
run(struct job *job, int64_t begin_ns)
{
	for (long s = 0; s < job->steps; s++) {
		int64_t longest_ns = 0;

		for (long r = 0; r < job->ranks; r++) {
			double seconds = (1 + job->sd * normal(job)) *
					 (r == job->slow ? job->factor : 1);
			int64_t *work_ns = &job->work_ns[s * job->ranks + r];

			*work_ns = (int64_t)(fmax(seconds, 0.001) * 1e9);
			if (*work_ns > longest_ns)
				longest_ns = *work_ns;
		}
		job->begin_ns[s] = begin_ns;
		job->last_ns[s] = begin_ns + longest_ns;
		begin_ns = job->last_ns[s] + RELEASE_NS;
	}
}

static void
publish_rank(const struct job *job, long rank, long *waiting)
{
	for (long s = 0; s < job->steps; s++) {
		const struct poolscope_attribute attributes[] = {
			poolscope_int("rank", rank), poolscope_int("step", s)
		};
		int64_t begin_ns = job->begin_ns[s];
		int64_t end_ns = begin_ns + job->work_ns[s * job->ranks + rank];

		poolscope_past("ranks", "work", NULL, NULL, begin_ns, end_ns,
		    attributes, 2);
		poolscope_past("ranks", "wait", NULL, NULL, end_ns,
		    job->last_ns[s] + RELEASE_NS, attributes, 2);
		*waiting += 2;
		if (*waiting < FLUSH)
			continue;
		if (poolscope_flush(INT64_C(60000000000)) != 0)
			perror("flush");
		*waiting = 0;
	}
}

/* The ranks of a node are a program there. */
static void
publish_node(const struct job *job, long node)
{
	char name[32];
	const struct poolscope_options options = { .program = "job",
		.partition = job->partition,
		.node = name,
		.ring_bytes = 4 << 20,
		.total_bytes = 16 << 20 };
	struct poolscope_stats stats;
	long waiting = 0;

	snprintf(name, sizeof(name), "n%03ld", node);
	if (poolscope_open(&options) != 0) {
		perror("open");
		exit(1);
	}
	for (long r = node; r < job->ranks; r += job->nodes)
		publish_rank(job, r, &waiting);
	if (poolscope_flush(INT64_C(60000000000)) != 0)
		perror("flush");
	poolscope_get_stats(&stats);
	poolscope_close();
	if (stats.dropped + stats.refused + stats.cut > 0) {
		fprintf(stderr, "ranks: %" PRIu64 " spans are lost\n",
		    stats.dropped + stats.refused + stats.cut);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	struct job job = { .random = 0 };

	if (argc != 9) {
		fputs("usage: job_of_ranks PARTITION SEED RANKS NODES STEPS SD "
		      "SLOW "
		      "FACTOR\n",
		    stderr);
		return 2;
	}
	job.partition = argv[1];
	job.random = strtoull(argv[2], NULL, 10);
	job.ranks = strtol(argv[3], NULL, 10);
	job.nodes = strtol(argv[4], NULL, 10);
	job.steps = strtol(argv[5], NULL, 10);
	job.sd = strtod(argv[6], NULL);
	job.slow = strtol(argv[7], NULL, 10);
	job.factor = strtod(argv[8], NULL);
	job.work_ns = calloc((size_t)(job.ranks * job.steps), 8);
	job.begin_ns = calloc((size_t)job.steps, 8);
	job.last_ns = calloc((size_t)job.steps, 8);
	if (job.work_ns == NULL || job.begin_ns == NULL || job.last_ns == NULL)
		return 1;
	run(&job, INT64_C(1700000000000000000));
	for (long n = 0; n < job.nodes; n++)
		publish_node(&job, n);
	free(job.work_ns);
	free(job.begin_ns);
	free(job.last_ns);
	return 0;
}
