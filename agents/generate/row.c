/*
 * generate_row - rows of generated pools: definitions and samples, and the file
 * of all rows.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/row.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/decode/record_json.h"
#include "proto/format/output.h"

void
generate_row_define(struct import_row *row, const char *node,
    const struct metric_group *group, const char *name)
{
	struct wire_cursor cursor = { .node = text_of(node) };
	struct wire_writer w;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	(void)metric_group_define(&w, group, text_of(name)); /* fits */
	cursor.rest =
	    (struct text){ (const char *)row->pairs, (uint32_t)w.bytes };
	(void)wire_next(&cursor, &row->record);
	row->record.id = (struct record_id){ 0 };
	row->aside = true;
}

void
generate_row_sample(struct import_row *row, const char *set, int64_t time_ns,
    const int64_t *values, uint32_t count,
    unsigned char body[static GENERATE_ROW_VALUES_BYTES])
{
	struct value value = { .type = VALUE_INT };
	struct wire_writer w;

	wire_writer_init(&w, body, GENERATE_ROW_VALUES_BYTES);
	for (uint32_t i = 0; i < count; i++) {
		value.is.i = values[i];
		wire_put_value(&w, &value);
	}
	row->record.kind = RECORD_SAMPLE;
	row->record.time_ns = time_ns;
	row->record.source = text_of(set);
	row->record.values = count;
	row->record.value_bytes =
	    (struct text){ (const char *)body, (uint32_t)w.bytes };
}

int
generate_row_file(const struct import_source *source, struct text partition,
    const char *dir, struct err *err)
{
	struct import_row row = { .record.kind = RECORD_EVENT };
	char path[OUTPUT_PATH_BYTES];
	enum import_next next;
	struct output output;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if ((size_t)snprintf(path, sizeof(path), "%s/records.jsonl", dir) >=
	    sizeof(path))
		return err_set(err, "%s: the path is too long", dir);
	if (output_open(&output, path, err) != 0)
		return -1;
	while ((next = source->next(source->arg, &row, err)) == IMPORT_LINE)
		record_json_line(output.file, partition, &row.record, NULL);
	if (next == IMPORT_END)
		return output_commit(&output, err);
	output_abort(&output);
	return -1;
}
