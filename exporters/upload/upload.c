/*
 * upload - shared by the parts of poolscope-upload.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include "proto/os/clock.h"

struct upload_values upload_values = {
	.http = HTTP_DEFAULT,
	.node = "",
	.from = "",
	.until = "",
	.from_ns = TIME_MIN_NS,
	.until_ns = TIME_MAX_NS,
};

void
upload_check_targets(enum target_use use)
{
	struct err err;
	const char *rest;

	for (uint32_t i = 0; i < upload_values.to.count; i++)
		if (target_find(upload_values.to.at[i], use, &rest, &err) ==
		    NULL)
			opt_usage("%s", err.text);
}
