/*
 * import_descriptor - any bytes are a descriptor, or say where they are not.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/descriptor.h"

#include <assert.h>

#include "tests/fuzz/import_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_descriptor descriptor;
	struct import_file file;
	struct err err = { 0 };
	int32_t id = -1;
	int rc;

	import_input_open(&file, data, size);
	rc = import_descriptor_read(&descriptor, &file, &err);
	assert(rc == 0 ? file.offset == size : err.text[0] != '\0');
	assert(descriptor.name.bytes == 0 ||
	       text_check_name(import_name_text(&descriptor.name)) == TEXT_OK);
	import_file_rewind(&file);
	err.text[0] = '\0';
	rc = import_descriptor_find(&file, text_of("job"), &id, &err);
	assert(rc >= 0 ? file.offset == size : err.text[0] != '\0');
	import_file_close(&file);
	return 0;
}
