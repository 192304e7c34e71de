/*
 * limits - by how much two groups of durations differ, and how sure that is.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/limits.h"

#include <math.h>
#include <string.h>

uint64_t
limits_count(const struct limits_groups *groups, double most)
{
	uint64_t count = 0;

	/* The greater the new one, the fewer old ones are as near. */
	for (uint32_t i = 0, k = 0; i < groups->new_count; i++) {
		while (k < groups->old_count &&
		       groups->new[i] - groups->old[k] > most)
			k++;
		count += groups->old_count - k;
	}
	return count;
}

/* Numbers in the order of the values, so that halving ends at neighbours. */
static int64_t
order_of(double value)
{
	int64_t order;

	memcpy(&order, &value, sizeof(order));
	return order >= 0 ? order : INT64_MIN - order;
}

static double
value_of(int64_t order)
{
	int64_t bits = order >= 0 ? order : INT64_MIN - order;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The least number that that many differences do not exceed is one of them. */
double
limits_difference(const struct limits_groups *groups, uint64_t number)
{
	int64_t low = order_of(
		    groups->new[0] - groups->old[groups->old_count - 1]),
		high = order_of(
		    groups->new[groups->new_count - 1] - groups->old[0]);

	while (low < high) {
		int64_t middle = (low & high) + ((low ^ high) >> 1);

		if (limits_count(groups, value_of(middle)) >= number)
			high = middle;
		else
			low = middle + 1;
	}
	return value_of(low);
}

double
limits_estimate(const struct limits_groups *groups)
{
	uint64_t pairs = (uint64_t)groups->old_count * groups->new_count;
	double low = limits_difference(groups, (pairs + 1) / 2);

	if (pairs % 2 == 1)
		return low;
	return low / 2 + limits_difference(groups, pairs / 2 + 1) / 2;
}

bool
limits_find(
    const struct limits_groups *groups, double share, double *low, double *high)
{
	uint64_t pairs = (uint64_t)groups->old_count * groups->new_count;
	uint64_t at = ranks_null_pairs(groups->null, share);

	*low = -(double)INFINITY;
	*high = (double)INFINITY;
	if (at == 0 || 2 * at > pairs)
		return false;
	*low = limits_difference(groups, at);
	*high = limits_difference(groups, pairs - at + 1);
	return true;
}

uint32_t
limits_least(uint32_t old_count, double share)
{
	double chance = 1;

	/* The chance that all new ones are above all old ones. */
	for (uint32_t count = 1; count <= 1000000; count++) {
		chance *= (double)count / ((double)old_count + count);
		if (chance <= share * (1 + 1e-12))
			return count;
	}
	return 0;
}
