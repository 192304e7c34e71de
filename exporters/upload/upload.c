/*
 * upload - shared by the parts of poolscope-upload.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include "proto/os/clock.h"

const struct upload_values upload_default = {
	.http = HTTP_DEFAULT,
	.from = "",
	.to = "",
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
	.records = { .name = "" },
	.results = { .timeout_ns = 60 * NS_PER_SECOND },
	.metrics = { .prefix = "", .step_ns = 10 * NS_PER_SECOND },
};

void
upload_check_targets(const struct upload_values *upload, enum target_use use)
{
	struct err err;
	const char *rest;

	for (uint32_t i = 0; i < upload->targets.count; i++)
		if (target_find(upload->targets.at[i], use, &rest, &err) ==
		    NULL)
			opt_usage("%s", err.text);
}
