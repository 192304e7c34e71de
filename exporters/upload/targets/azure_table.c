/*
 * target_azure_table - upload events as rows of the older tool's event table.
 *
 * Creates the table if it does not exist.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/azure_account.h"
#include "exporters/cloud/azure_table.h"
#include "exporters/cloud/deliver.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/service/interrupt.h"

/* Number of retries of a batch that the service temporarily rejects. */
enum { ATTEMPTS_MAX = 8, PAUSE_FIRST_MS = 100 };

struct target {
	struct azure azure;
	char table[TABLE_NAME_BYTES_MAX + 1];
	struct table_batch *batch;
	bool warned, made;
	struct deliver_state state;
};

static void
close_target(struct target **to)
{
	struct target *target = *to;

	if (target == NULL)
		return;
	table_batch_free(&target->batch);
	azure_close(&target->azure);
	free(target);
	*to = NULL;
}

static int
open_target(struct target **to, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *target = memory_zero(1, sizeof(*target));

	if (table_check_name(rest, err) != 0 ||
	    azure_open(&target->azure, SIGN_AZURE_TABLE, how, err) != 0) {
		close_target(&target);
		return -1;
	}
	snprintf(target->table, sizeof(target->table), "%s", rest);
	target->batch = table_batch_new(target->azure.base, target->table);
	*to = target;
	return 0;
}

static int
add(struct target *target, const struct target_row *row, struct err *err)
{
	int rc;

	if (row->record->kind != RECORD_EVENT)
		return err_set(err, "azure-table accepts events, not %ss",
		    record_kind_name(row->record->kind));
	rc = table_batch_add(target->batch, row->partition, row->record, err);
	if (table_batch_left_out(target->batch) > 0 && !target->warned) {
		log_warn("azure-table:%s: attributes that do not fit a message "
			 "of %d bytes are omitted",
		    target->table, 32 << 10);
		target->warned = true;
	}
	return rc;
}

static int
make_table(struct target *target, struct err *err)
{
	static const char *const headers[] = { "Content-Type: application/json",
		"Accept: application/json;odata=nometadata", NULL };
	struct http_answer answer;
	char body[TABLE_NAME_BYTES_MAX + 32];

	snprintf(body, sizeof(body), "{\"TableName\": \"%s\"}", target->table);
	if (azure_send(&target->azure, "POST", "/Tables", headers,
		text_of(body), &answer, err) != 0)
		return -1;
	/* 409: another client created it first. */
	if (answer.status == 200)
		return http_unconfirmed(target->azure.http, &answer, err);
	if (answer.status != 409 && answer.status != 201 &&
	    answer.status != 204)
		return azure_refused(&target->azure, &answer, err);
	if (answer.status != 409)
		log_info("azure-table:%s: created the table", target->table);
	return 0;
}

/* The decisive status, of the request or of a row; -1: no answer, or one that
 * is not the service's. */
static int
send_batch(struct target *target, uint32_t from, uint32_t upto,
    struct service_error *service_error, struct err *err)
{
	static const char *const headers[] = { TABLE_BATCH_TYPE,
		"Accept: application/json;odata=nometadata",
		"DataServiceVersion: 3.0;NetFx",
		"MaxDataServiceVersion: 3.0;NetFx", NULL };
	struct http_answer answer;

	if (azure_send(&target->azure, "POST", "/$batch", headers,
		table_batch_part(target->batch, from, upto), &answer, err) != 0)
		return -1;
	if (http_is_dry(target->azure.http))
		return 204;
	if (answer.status == 202)
		return table_batch_status(
		    answer.body, upto - from, service_error);
	if (answer.status < 300)
		return http_unconfirmed(target->azure.http, &answer, err);
	service_error_read(service_error, answer.body);
	azure_refused(&target->azure, &answer, err);
	return answer.status;
}

static int
refused(const struct target *target, int status,
    const struct service_error *service_error, struct err *err)
{
	char code[200], message[400];

	if (err->code != ERR_NONE)
		return -1; /* `err` already includes it */
	if (status == 0)
		return err_set(err,
		    "%s: malformed answer to a batch: it has no result",
		    target->azure.base);
	return err_set(err,
	    "azure-table:%s: the service answers %d to a row, %s: %s",
	    target->table, status,
	    text_quote(code, sizeof(code), text_of(service_error->code)),
	    text_quote(message, 250, text_of(service_error->message)));
}

/* The rows are refused one by one, so no request needs to be tried empty. */
static enum deliver_result
send_rows(void *arg, uint32_t from, uint32_t upto, struct err *err)
{
	struct target *target = arg;
	int64_t pause_ns = (int64_t)PAUSE_FIRST_MS * 1000000;

	if (from == upto)
		return DELIVER_STORED;
	for (int attempt = 1;; attempt++) {
		struct service_error service_error = { .code = "" };
		int status;

		err_clear(err);
		status = send_batch(target, from, upto, &service_error, err);
		if (status == -1)
			return DELIVER_FAILED;
		if (status >= 200 && status <= 299)
			return DELIVER_STORED;
		if (status == 404 && !target->made &&
		    strcmp(service_error.code, "TableNotFound") == 0) {
			if (make_table(target, err) != 0)
				return DELIVER_FAILED;
			target->made = true;
			continue;
		}
		if (!http_is_temporary(status) || attempt == ATTEMPTS_MAX) {
			bool of_row = err->code == ERR_NONE &&
				      (status == 400 || status == 413);

			refused(target, status, &service_error, err);
			return of_row ? DELIVER_REFUSED : DELIVER_FAILED;
		}
		if (!interrupt_sleep(pause_ns)) {
			err_set_code(err, ERR_INTERRUPTED, "interrupted");
			return DELIVER_FAILED;
		}
		pause_ns *= 2;
	}
}

static struct text
show_row(void *arg, uint32_t item)
{
	struct target *target = arg;

	return table_batch_row(target->batch, item);
}

static int
flush(struct target *target, const char *name, uint32_t *left_out,
    struct err *err)
{
	const struct deliver how = { target, send_rows, show_row, false };
	uint32_t rows = table_batch_rows(target->batch);

	(void)name; /* the keys of the rows identify them */
	*left_out = 0;
	target->made = false;
	if (rows > 0 && deliver(&how, &target->state, rows, left_out, err) != 0)
		return -1;
	table_batch_clear(target->batch);
	return 0;
}

const struct target_type target_azure_table = {
	.scheme = "azure-table",
	.rest = "NAME",
	.takes = TARGET_EVENTS,
	.open = open_target,
	.close = close_target,
	.add = add,
	.flush = flush,
};
