/*
 * schedule - which metric groups are sampled, how often, and when next.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/schedule.h"

#include <string.h>

#include "proto/hash/hash.h"
#include "proto/os/clock.h"

/* A slow group changes rarely or is expensive to read. */
static const struct {
	const char *name;
	bool slow;
	bool by_default;
} table[SCHEDULE_GROUPS] = {
	[SCHEDULE_CPU] = { "cpu", false, true },
	[SCHEDULE_CPUS] = { "cpus", false, false },
	[SCHEDULE_MEMORY] = { "memory", false, true },
	[SCHEDULE_LOAD] = { "load", false, true },
	[SCHEDULE_VMSTAT] = { "vmstat", false, true },
	[SCHEDULE_PRESSURE] = { "pressure", false, true },
	[SCHEDULE_SCHEDSTAT] = { "schedstat", true, true },
	[SCHEDULE_DISK] = { "disk", false, true },
	[SCHEDULE_FILESYSTEM] = { "filesystem", true, true },
	[SCHEDULE_NETWORK] = { "network", false, true },
	[SCHEDULE_CGROUP] = { "cgroup", false, true },
	[SCHEDULE_PROCESS] = { "process", true, true },
	[SCHEDULE_GPU] = { "gpu", false, true },
	[SCHEDULE_PERF] = { "perf", false, true },
	[SCHEDULE_SELF] = { "self", true, true },
};

static const int64_t PERIOD_MIN_NS = 100000000, SLOW_NS = 10 * NS_PER_SECOND;

/* Any fixed key: the phase of a node must not change after a restart. */
static const struct hash_key hash_key = { 0x706f6f6c, 0x73636f7065 };

/* Slow groups are sampled every ten periods, but at least every 10 s if the
 * period permits. */
static int64_t
period_of(int group, int64_t period_ns)
{
	if (!table[group].slow || period_ns >= SLOW_NS)
		return period_ns;
	return period_ns * 10 < SLOW_NS ? period_ns * 10 : SLOW_NS;
}

static void
switch_on(struct schedule *schedule, int64_t period_ns, bool all)
{
	for (int i = 0; i < SCHEDULE_GROUPS; i++)
		if (all || table[i].by_default)
			schedule->period_ns[i] = period_of(i, period_ns);
}

static int
find_group(struct text name, struct err *err)
{
	char shown[64];

	for (int i = 0; i < SCHEDULE_GROUPS; i++)
		if (text_equal(name, text_of(table[i].name)))
			return i;
	return err_set(err,
	    "there is no metric group '%s' (cpu cpus memory load vmstat "
	    "pressure schedstat disk filesystem network cgroup process gpu "
	    "perf self; default, all)",
	    text_quote(shown, sizeof(shown), name));
}

/* One word of the list. */
static int
parse_word(struct schedule *schedule, struct text word, int64_t period_ns,
    struct err *err)
{
	const char *equals =
	    word.bytes > 0 ? memchr(word.at, '=', word.bytes) : NULL;
	bool less = word.bytes > 0 && *word.at == '-';
	struct text name = word;
	int group;

	if (text_equal(word, text_of("default")) ||
	    text_equal(word, text_of("all"))) {
		switch_on(schedule, period_ns, word.bytes == 3);
		return 0;
	}
	if (less) {
		name.at++;
		name.bytes--;
	} else if (equals != NULL) {
		name.bytes = (uint32_t)(equals - word.at);
	}
	group = find_group(name, err);
	if (group < 0)
		return -1;
	if (!less && equals != NULL) {
		struct text duration = { equals + 1,
			word.bytes - name.bytes - 1 };

		if (clock_parse_duration(duration, &period_ns, err) != 0)
			return -1;
		schedule->period_ns[group] = period_ns;
	} else {
		schedule->period_ns[group] =
		    less ? 0 : period_of(group, period_ns);
	}
	if (!less && period_ns < PERIOD_MIN_NS)
		return err_set(err, "a period is below 100ms");
	return 0;
}

int
schedule_parse(struct schedule *schedule, const char *groups, int64_t period_ns,
    struct err *err)
{
	*schedule = (struct schedule){ .factor = 1 };
	if (period_ns < PERIOD_MIN_NS)
		return err_set(err, "a period is below 100ms");
	if (groups == NULL || *groups == '-')
		switch_on(schedule, period_ns, false);
	while (groups != NULL && *groups != '\0') {
		size_t bytes = strcspn(groups, ",");
		struct text word = { groups, (uint32_t)bytes };

		if (parse_word(schedule, word, period_ns, err) != 0)
			return -1;
		groups += bytes + (groups[bytes] == ',');
	}
	return 0;
}

void
schedule_start(struct schedule *schedule, struct text node, int64_t wall_ns,
    int64_t now_ns)
{
	uint64_t phase = hash_bytes(hash_key, node.at, node.bytes);

	for (int i = 0; i < SCHEDULE_GROUPS; i++) {
		int64_t period_ns = schedule->period_ns[i], phase_ns, into_ns;

		if (period_ns == 0)
			continue;
		phase_ns = (int64_t)(phase % (uint64_t)period_ns);
		into_ns = (wall_ns - phase_ns) % period_ns;
		if (into_ns < 0)
			into_ns += period_ns;
		schedule->due_ns[i] = now_ns + period_ns - into_ns;
	}
}

uint32_t
schedule_take(struct schedule *schedule, int64_t now_ns)
{
	uint32_t due = 0;

	for (int i = 0; i < SCHEDULE_GROUPS; i++) {
		int64_t period_ns = schedule->period_ns[i] * schedule->factor;

		if (period_ns == 0 || schedule->due_ns[i] > now_ns)
			continue;
		due |= UINT32_C(1) << i;
		schedule->due_ns[i] +=
		    ((now_ns - schedule->due_ns[i]) / period_ns + 1) *
		    period_ns;
	}
	return due;
}

uint32_t
schedule_take_early(struct schedule *schedule, int64_t now_ns)
{
	uint32_t due = schedule_take(schedule, now_ns);

	for (int i = 0; i < SCHEDULE_GROUPS; i++) {
		int64_t period_ns = schedule->period_ns[i] * schedule->factor;

		if (period_ns == 0 || due >> i & 1 ||
		    schedule->due_ns[i] - now_ns >= period_ns / 2)
			continue;
		due |= UINT32_C(1) << i;
		schedule->due_ns[i] += period_ns;
	}
	return due;
}

int64_t
schedule_next_ns(const struct schedule *schedule)
{
	int64_t next_ns = INT64_MAX;

	for (int i = 0; i < SCHEDULE_GROUPS; i++)
		if (schedule->period_ns[i] != 0 &&
		    schedule->due_ns[i] < next_ns)
			next_ns = schedule->due_ns[i];
	return next_ns;
}
