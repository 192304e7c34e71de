/*
 * mlflow_answer - any answer of a tracking server is one of ours, or a
 * sentence.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow/reply.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
assert_id(const char *id)
{
	assert(id[0] != '\0' && strlen(id) <= MLFLOW_ID_BYTES_MAX);
	for (; *id != '\0'; id++)
		assert(strchr("/%?#\"\\ \r\n", *id) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text answer = { (const char *)data, (uint32_t)size };
	char id[MLFLOW_ID_BYTES_MAX + 1];
	struct mlflow_run run;
	struct err err = { 0 };
	bool found, active;

	if (mlflow_read_run(&run, answer, &err) == 0)
		assert_id(run.id);
	else
		assert(err.text[0] != '\0');
	if (mlflow_read_runs(&run, &found, answer, &err) == 0 && found)
		assert_id(run.id);
	if (mlflow_read_experiment(id, &active, answer, &err) == 0)
		assert_id(id);
	err.text[0] = '\0';
	mlflow_read_error(answer, &err);
	for (const char *c = err.text; *c != '\0'; c++)
		assert((unsigned char)*c >= ' ' && *c != 0x7F);
	return 0;
}
