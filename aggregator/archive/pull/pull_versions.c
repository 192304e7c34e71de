/*
 * pull_versions - the newest version of each row.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_versions.h"

#include "aggregator/archive/pass.h"

enum pull_version
pull_versions_next(
    struct pull_versions *versions, struct text key, uint64_t pos)
{
	int order = text_compare(buffer_text(&versions->key), key);

	if (key.bytes == 0 || order > 0)
		return PULL_WRONG;
	if (order == 0)
		return pos <= versions->pos ? PULL_OLDER : PULL_WRONG;
	versions->key.bytes = 0;
	buffer_put_text(&versions->key, key);
	versions->pos = pos;
	versions->sum.rows++;
	versions->sum.epochs += pos >> PASS_CHANGE_BITS;
	versions->sum.changes += pos & ((UINT64_C(1) << PASS_CHANGE_BITS) - 1);
	return PULL_NEWEST;
}

void
pull_versions_clear(struct pull_versions *versions)
{
	buffer_clear(&versions->key);
}
