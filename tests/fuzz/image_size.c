/*
 * image_size - sizes of images, whatever text they are.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/image_size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bytes;

	if (size <= 4096)
		image_size_parse(
		    (struct text){ (const char *)data, (uint32_t)size },
		    &bytes);
	return 0;
}
