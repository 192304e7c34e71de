/*
 * question_kept - what was read of a source and will be asked for again.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/kept.h"

#include <stdlib.h>

#include "exporters/metrics/metrics.h"
#include "exporters/nodes/pools.h"

void
question_kept_clear(struct question_kept *kept)
{
	pools_kept_free(&kept->pools);
	metrics_free(&kept->metrics);
	free(kept->pattern);
	kept->pattern = NULL;
}
