/*
 * simulate - runs the delivery protocol in many worlds, each from a seed.
 *
 *     simulate [--seeds N] [--seed S] [--worlds simple|mixed|lost]
 *         [--mutant NAME] [--trace 1]
 *
 * A world that ends wrong is printed with its seed and can be run again
 * with --seed.  With --mutant a protocol is run that is known to be wrong;
 * then the exit status is 0 only when some world detected it.
 * SPDX-License-Identifier: MIT
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/os/clock.h"
#include "tests/fault/sim/sim.h"

#define MS INT64_C(1000000)

static const char *const mutant_names[SIM_MUTANTS] = { "right",
	"send-before-sync", "ack-before-commit", "accept-gaps",
	"split-transaction", "no-comparison", "no-chain", "same-session",
	"trust-welcome", "forget-origin", "forget-retained" };

static void
deliver(struct sim *sim, int index)
{
	struct sim_flight f = sim->flight[index];
	struct text frame = { (char *)f.frame, f.bytes };

	sim->flight[index] = sim->flight[--sim->flights];
	sim_trace_frame(sim, f.to < 0 ? "  broker gets from" : "  arrives at",
	    f.from, frame);
	if (f.to < 0) {
		if (sim_broker_receive(sim, f.from, frame))
			return;
		f.at_ns = sim->now_ns + 5 * MS;
		sim->flight[sim->flights++] = f;
	} else if (sim->machine[f.to].up) {
		sim_machine_receive(&sim->machine[f.to], frame);
	}
}

static void
disturb_network(struct sim *sim)
{
	switch (sim_below(sim, 4)) {
	case 0: sim->cut_ns = sim->now_ns + sim_below(sim, 8000) * MS; break;
	case 1: sim->loss_percent = sim_below(sim, 30); break;
	case 2: sim->aggregator.busy_percent = sim_below(sim, 2) * 30; break;
	default:
		sim->aggregator.credit = sim_below(sim, 3) * 700;
		sim->aggregator.refuse_percent = sim_chance(sim, 10) * 20;
	}
}

static void
go_back_in_time(struct sim *sim, int number)
{
	enum sim_kind kind = sim->kind;
	bool lost;

	if (sim_is_mixed(sim))
		kind = SIM_AGGREGATOR_RESTORED + sim_below(sim, 3);
	switch (kind) {
	case SIM_AGGREGATOR_RESTORED:
		lost = sim->kind == SIM_LOST && sim_chance(sim, 70);
		if (lost || sim_chance(sim, 25))
			sim_aggregator_restore(sim, lost);
		break;
	case SIM_CLONED:
		for (int i = 0; i < SIM_MACHINES; i++)
			if (!sim->machine[i].there) {
				sim_machine_clone(sim, number, i);
				break;
			}
		break;
	case SIM_SPOOL_RESTORED:
		if (sim->backup_of < 0 || sim_chance(sim, 70))
			sim_machine_backup(sim, number);
		else
			sim_machine_restore(sim);
		break;
	default: break;
	}
}

/* Something happens to a machine, to the aggregator or between them. */
static void
happen(struct sim *sim)
{
	int number = (int)sim_below(sim, SIM_MACHINES);
	struct sim_machine *m = &sim->machine[number];
	uint32_t what = sim_below(sim, 100);

	if (!m->there)
		return;
	if (sim->kind == SIM_LOST && sim_chance(sim, 10))
		go_back_in_time(sim, number);
	else if (what < 50 && m->up)
		for (uint32_t n = 1 + sim_below(sim, 4); n > 0; n--)
			sim_machine_append(
			    sim, number, (int)sim_below(sim, SIM_STREAMS));
	else if (what < 70 && m->up)
		sim_machine_commit(sim, number);
	else if (what < 76 && m->up)
		sim_machine_tidy(sim, number);
	else if (what < 82 && m->up)
		sim_machine_crash(sim, number);
	else if (what < 85 && sim->aggregator.up)
		sim_aggregator_crash(sim);
	else if (what < 86)
		sim_broker_crash(sim);
	else if (what < 89 && m->up)
		sender_reconnected(m->sender);
	else if (what < 91)
		sim->wall_offset_ns +=
		    ((int64_t)sim_below(sim, 7200) - 3600) * 1000 * MS;
	else if (what < 96)
		disturb_network(sim);
	else
		go_back_in_time(sim, number);
	sim_machine_run(sim, number);
}

static void
sooner(int64_t *at_ns, int64_t other_ns)
{
	if (other_ns < *at_ns)
		*at_ns = other_ns;
}

/* Go to the next moment at which something is due, not beyond `until_ns`. */
static void
step(struct sim *sim, int64_t until_ns)
{
	struct sim_aggregator *k = &sim->aggregator;
	int64_t at_ns = until_ns;
	int due = -1;

	for (int i = 0; i < sim->flights; i++)
		if (sim->flight[i].at_ns < at_ns) {
			at_ns = sim->flight[i].at_ns;
			due = i;
		}
	if (sim_broker_deadline_ns(sim) != 0)
		sooner(&at_ns, sim_broker_deadline_ns(sim));
	if (!k->up)
		sooner(&at_ns, k->up_ns);
	if (k->commit_ns != 0)
		sooner(&at_ns, k->commit_ns);
	for (int i = 0; i < SIM_MACHINES; i++) {
		const struct sim_machine *m = &sim->machine[i];
		int64_t deadline_ns = sim_machine_deadline_ns(m);

		if (m->there && !m->up)
			sooner(&at_ns, m->up_ns);
		if (deadline_ns != 0)
			sooner(&at_ns, deadline_ns);
	}
	if (at_ns > sim->now_ns)
		sim->now_ns = at_ns;
	if (due >= 0 && sim->flight[due].at_ns <= sim->now_ns)
		deliver(sim, due);
	sim_broker_run(sim);
	if (!k->up && k->up_ns <= sim->now_ns)
		k->up = true;
	if (k->commit_ns != 0 && k->commit_ns <= sim->now_ns)
		sim_aggregator_commit(sim);
	for (int i = 0; i < SIM_MACHINES; i++) {
		struct sim_machine *m = &sim->machine[i];

		if (m->there && !m->up && m->up_ns <= sim->now_ns)
			sim_machine_start(sim, i);
		sim_machine_run(sim, i);
	}
}

static bool
is_at_rest(struct sim *sim)
{
	for (int i = 0; i < SIM_MACHINES; i++) {
		struct sim_machine *m = &sim->machine[i];

		if (m->there && !sim_machine_is_at_rest(m))
			return false;
	}
	return sim->flights == 0 && sim_broker_is_idle(sim);
}

/* The faults end.  Every machine sends once more, since a sender learns only by
 * sending that its aggregator was restored. */
static void
come_to_rest(struct sim *sim)
{
	int64_t until_ns = sim->now_ns + 4 * INT64_C(3600) * 1000 * MS;
	long steps = 200000;

	sim->calm = true;
	sim->calm_ns = sim->now_ns;
	sim->loss_percent = sim->repeat_percent = sim->slow_percent = 0;
	sim->cut_ns = 0;
	sim->aggregator.busy_percent = sim->aggregator.refuse_percent = 0;
	sim->aggregator.credit = 512 << 10;
	for (int i = 0; i < SIM_MACHINES; i++) {
		if (!sim->machine[i].there)
			continue;
		if (!sim->machine[i].up)
			sim_machine_start(sim, i);
		for (int n = 0; n < 6; n++)
			sim_machine_append(sim, i, n % SIM_STREAMS);
		sim_machine_commit(sim, i);
		sim_machine_run(sim, i);
	}
	while (sim->wrong[0] == '\0' && steps-- > 0 && sim->now_ns < until_ns)
		if (is_at_rest(sim))
			return;
		else
			step(sim, until_ns);
	sim_wrong(sim, "it does not come to rest");
}

static void
play(struct sim *sim, uint64_t seed, enum sim_kind kind, enum sim_mutant mutant)
{
	int64_t next_ns;

	/* The large arrays need no clearing: their counts say what is used. */
	sim->random = seed;
	sim->kind =
	    kind == SIM_PLAIN ? (enum sim_kind)(seed % SIM_KINDS) : kind;
	sim->mutant = mutant;
	sim->calm = false;
	sim->now_ns = 1;
	sim->wall_offset_ns = sim->cut_ns = 0;
	sim->contents = sim->numbers = sim->flights = 0;
	sim->sessions = sim->frames = sim->forks = 0;
	sim->resends = sim->refusals = sim->busies = 0;
	sim->backup_of = -1;
	memset(sim->copied, 0, sizeof(sim->copied));
	sim->wrong[0] = '\0';
	sim->loss_percent = sim_below(sim, 15);
	sim->repeat_percent = sim_below(sim, 20);
	sim->slow_percent = sim_below(sim, 2) * sim_below(sim, 20);
	for (int i = 0; i < SIM_MACHINES; i++)
		sim->machine[i].there = sim->machine[i].up = false;
	sim_aggregator_init(sim);
	sim_broker_init(sim);
	sim_machine_new(sim, 0);
	if (sim_chance(sim, 30))
		sim_machine_new(sim, 1);
	next_ns = 1;
	for (uint32_t n = 40 + sim_below(sim, 160);
	     n > 0 && sim->wrong[0] == '\0'; n--) {
		next_ns += sim_below(sim, 300) * MS;
		while (sim->now_ns < next_ns && sim->wrong[0] == '\0')
			step(sim, next_ns);
		happen(sim);
	}
	come_to_rest(sim);
	sim_aggregator_commit(sim);
	if (sim->wrong[0] == '\0')
		sim_judge(sim);
	sim_twin_judge(sim);
	sim_broker_end(sim);
	for (int i = 0; i < SIM_MACHINES; i++)
		if (sim->machine[i].there)
			sim_machine_stop(sim, i);
}

static enum sim_mutant
mutant_of(const char *name)
{
	for (int i = 0; i < SIM_MUTANTS; i++)
		if (strcmp(name, mutant_names[i]) == 0)
			return (enum sim_mutant)i;
	fprintf(stderr, "simulate: no mutant is called %s\n", name);
	exit(2);
}

/* Simple: each of the kinds in which one thing goes wrong, in turn. */
static enum sim_kind
kind_of(const char *name)
{
	if (strcmp(name, "mixed") == 0)
		return SIM_MIXED;
	if (strcmp(name, "lost") == 0)
		return SIM_LOST;
	if (strcmp(name, "simple") == 0)
		return SIM_PLAIN;
	fprintf(stderr, "simulate: no worlds are called %s\n", name);
	exit(2);
}

int
main(int argc, char **argv)
{
	struct sim *sim = malloc(sizeof(*sim));
	uint64_t seeds = 20000, seed = 1, wrong = 0, played = 0;
	uint64_t frames = 0, forks = 0, resends = 0, refusals = 0, batches = 0,
		 busies = 0;
	enum sim_mutant mutant = SIM_RIGHT;
	enum sim_kind kind = SIM_PLAIN;

	if (sim == NULL)
		return 1;
	/* Each start of a program in a world allocates much and at once. */
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	sim->trace = false;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--seeds") == 0)
			seeds = strtoull(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "--worlds") == 0)
			kind = kind_of(argv[i + 1]);
		else if (strcmp(argv[i], "--trace") == 0)
			sim->trace = strcmp(argv[i + 1], "1") == 0;
		else if (strcmp(argv[i], "--mutant") == 0)
			mutant = mutant_of(argv[i + 1]);
	}
	for (; seeds-- > 0 && wrong < 5; seed++, played++) {
		play(sim, seed, kind, mutant);
		frames += sim->frames;
		forks += sim->forks;
		resends += sim->resends;
		refusals += sim->refusals;
		busies += sim->busies;
		batches += (uint64_t)sim->contents;
		if (sim->wrong[0] == '\0')
			continue;
		wrong++;
		printf(
		    "world %llu: %s\n", (unsigned long long)seed, sim->wrong);
		if (mutant != SIM_RIGHT)
			break;
	}
	printf("%s: %llu worlds, %llu batches, %llu frames, %llu forks, "
	       "%llu resends, %llu refusals, %llu times no room: %llu wrong\n",
	    mutant_names[mutant],
	    (unsigned long long)(played + (wrong == 1 && mutant != SIM_RIGHT)),
	    (unsigned long long)batches, (unsigned long long)frames,
	    (unsigned long long)forks, (unsigned long long)resends,
	    (unsigned long long)refusals, (unsigned long long)busies,
	    (unsigned long long)wrong);
	free(sim);
	return mutant == SIM_RIGHT ? wrong != 0 : wrong == 0;
}
