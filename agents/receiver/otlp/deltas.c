/*
 * otlp_deltas - adds up the sums that clients send as differences.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/deltas.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

#define IDLE_NS (5 * 60 * NS_PER_SECOND)

struct sum {
	struct value value;
	int64_t heard_ns;
};

struct otlp_deltas {
	pthread_mutex_t lock;
	struct string_table series;
	struct sum sum[OTLP_DELTAS_MAX]; /* by number of the series */
	/* The last requests, in a ring. */
	unsigned char request[OTLP_DELTAS_REQUESTS][RECORD_ID_BYTES];
	uint32_t requests, next;
	int64_t swept_ns;
};

void
otlp_deltas_new(struct otlp_deltas **made)
{
	struct otlp_deltas *deltas = *made = memory_zero(1, sizeof(*deltas));

	pthread_mutex_init(&deltas->lock, NULL);
	string_table_init(&deltas->series);
}

void
otlp_deltas_free(struct otlp_deltas **gone)
{
	if (*gone == NULL)
		return;
	string_table_clear(&(*gone)->series);
	pthread_mutex_destroy(&(*gone)->lock);
	free(*gone);
	*gone = NULL;
}

static bool
is_known(const struct otlp_deltas *deltas, const unsigned char *request)
{
	for (uint32_t i = 0; i < deltas->requests; i++)
		if (memcmp(deltas->request[i], request, RECORD_ID_BYTES) == 0)
			return true;
	return false;
}

bool
otlp_deltas_begin(struct otlp_deltas *deltas,
    const unsigned char request[static RECORD_ID_BYTES])
{
	bool known;

	pthread_mutex_lock(&deltas->lock);
	known = is_known(deltas, request);
	if (!known) {
		memcpy(deltas->request[deltas->next], request, RECORD_ID_BYTES);
		deltas->next = (deltas->next + 1) % OTLP_DELTAS_REQUESTS;
		if (deltas->requests < OTLP_DELTAS_REQUESTS)
			deltas->requests++;
	}
	pthread_mutex_unlock(&deltas->lock);
	return !known;
}

/* Keep the series that were heard lately, in a table of their own. */
static void
sweep(struct otlp_deltas *deltas, int64_t now_ns)
{
	struct string_table kept;

	deltas->swept_ns = now_ns;
	string_table_init(&kept);
	for (uint32_t i = 0; i < deltas->series.count; i++)
		if (now_ns - deltas->sum[i].heard_ns < IDLE_NS)
			/* Numbers only fall. */
			deltas->sum[string_table_add(
			    &kept, deltas->series.names[i])] = deltas->sum[i];
	string_table_clear(&deltas->series);
	deltas->series = kept;
}

static struct sum *
sum_of(struct otlp_deltas *deltas, struct text series, int64_t now_ns)
{
	uint32_t number;

	if (string_table_find(&deltas->series, series, &number))
		return &deltas->sum[number];
	if (deltas->series.count == OTLP_DELTAS_MAX &&
	    (deltas->swept_ns == 0 ||
		now_ns - deltas->swept_ns > NS_PER_SECOND))
		sweep(deltas, now_ns);
	if (deltas->series.count == OTLP_DELTAS_MAX)
		return NULL;
	number = string_table_add(&deltas->series, series);
	deltas->sum[number] = (struct sum){ .value = { .type = VALUE_INT } };
	return &deltas->sum[number];
}

static double
as_double(const struct value *value)
{
	return value->type == VALUE_INT ? (double)value->is.i : value->is.f;
}

static void
add(struct value *sum, const struct value *more)
{
	int64_t whole;

	if (sum->type == VALUE_INT && more->type == VALUE_INT &&
	    !__builtin_add_overflow(sum->is.i, more->is.i, &whole))
		sum->is.i = whole;
	else
		*sum = (struct value){ .type = VALUE_FLOAT,
			.is.f = as_double(sum) + as_double(more) };
}

bool
otlp_deltas_add(struct otlp_deltas *deltas, struct text series, bool first,
    struct value *value)
{
	int64_t now_ns = clock_monotonic_ns();
	struct sum *sum;

	pthread_mutex_lock(&deltas->lock);
	sum = sum_of(deltas, series, now_ns);
	if (sum != NULL) {
		if (first)
			add(&sum->value, value);
		sum->heard_ns = now_ns;
		*value = sum->value;
	}
	pthread_mutex_unlock(&deltas->lock);
	return sum != NULL;
}
