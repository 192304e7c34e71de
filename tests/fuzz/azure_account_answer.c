/*
 * azure_account_answer - whatever Azure Storage answers is read, or refused
 * with a reason.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_account.h"
#include "exporters/cloud/azure_table.h"
#include "exporters/cloud/xml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_page(struct text body)
{
	static FILE *file;
	uint64_t rows = 0;
	struct err err = { 0 };

	if (file == NULL)
		file = fopen("/dev/null", "w");
	assert(file != NULL);
	if (table_page_write(body, file, &rows, &err) != 0)
		assert(err.text[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text body = { (const char *)data, (uint32_t)size };
	struct azure_blocks blocks = { .at = NULL };
	struct service_error service_error;
	struct err err = { 0 };
	int status;

	if (azure_blocks_read(&blocks, body, &err) != 0)
		assert(err.text[0] != '\0');
	for (uint32_t i = 0; i < blocks.count; i++)
		assert(strlen(blocks.at[i].id) < AZURE_BLOCK_ID_BYTES);
	azure_blocks_have(&blocks, "", 0);
	azure_blocks_clear(&blocks);
	service_error_read(&service_error, body);
	status = table_batch_status(body, 1, &service_error);
	assert(status >= 0 && status <= 999);
	assert(memchr(service_error.code, '\0', sizeof(service_error.code)) !=
	       NULL);
	assert(memchr(service_error.message, '\0',
		   sizeof(service_error.message)) != NULL);
	read_page(body);
	return 0;
}
