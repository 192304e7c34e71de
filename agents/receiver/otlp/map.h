/*
 * otlp_map - makes records of the requests of OTLP.
 *
 *     span       span on track SERVICE/THREAD or SERVICE/SCOPE, with trace.id,
 *                span.id, parent.id, error and links as attributes
 *     its event  event SCOPE:NAME, with trace.id and span.id
 *     log        event SCOPE:NAME, with message and severity
 *     metric     metric groups of origin otlp/SERVICE (otlp_metrics.h)
 *
 * Names and texts that records may not have are repaired; an item that cannot
 * be one is refused, and the others are taken.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_MAP_H
#define AGENTS_RECEIVER_OTLP_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/client/clean_name.h"
#include "agents/receiver/otlp/deltas.h"
#include "agents/receiver/otlp/schema.h"
#include "agents/submit/compose.h"
#include "proto/base/arena.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/opt_table.h"
#include "proto/metric/dynamic_group.h"
#include "proto/metric/sample_page.h"

enum {
	/* The agent may add one, submitter.uid. */
	OTLP_ATTRIBUTES_MAX = RECORD_ATTRIBUTES_MAX - 1,
	OTLP_KEPT_MAX = 16,  /* attributes of a resource */
	OTLP_LINKS_MAX = 16, /* of a span */
	/* Of a request.  A point takes two bytes there, and 300 here. */
	OTLP_NUMBERS_MAX = 100000,
	OTLP_TRACE_ID_BYTES = 16,
	OTLP_SPAN_ID_BYTES = 8,
};

struct otlp_map_calls {
	void *arg;
	/* Any other value than 0 ends the work, and is returned. */
	int (*on_record)(void *arg, const struct compose *compose);
	int (*on_group)(void *arg, const struct dynamic_group *group);
};

struct otlp_kept {
	struct text key;
	struct value value;
};

/* Zeroed before its first use; for any number of requests, one at a time. */
struct otlp_map {
	/* Set by the caller. */
	struct otlp_map_calls calls;
	/* Attributes of resources that records get, in addition to the usual
	 * ones; may be NULL. */
	const struct opt_list *keep;
	struct otlp_deltas *deltas;
	uint64_t boot; /* what deltas are added up from */

	/* Of the request. */
	unsigned char request[RECORD_ID_BYTES];
	uint64_t taken, refused;
	int failed;     /* what on_group did; 0: all are taken */
	struct err why; /* the first one was refused */

	/* Of the resource and its scope. */
	struct arena resource;
	struct otlp_kept kept[OTLP_KEPT_MAX];
	uint32_t kepts;
	char service[CLIENT_PART_BYTES_MAX + 1];
	char scope[CLIENT_PART_BYTES_MAX + 1];
	struct sample_page *page; /* its numbers; NULL: none yet */
	struct arena names;       /* of them */
	uint64_t points;
	uint64_t begin_ns;         /* the oldest of its cumulative sums */
	bool adds_up;              /* some of it */
	bool has_deltas, is_first; /* of the request: otlp_deltas_begin */

	/* Of the record under construction. */
	struct compose compose;
	struct arena texts;
	struct text key[OTLP_ATTRIBUTES_MAX]; /* of its attributes */
	struct text thread;
	char name[NAME_BYTES_MAX];
	char track[2 * CLIENT_PART_BYTES_MAX + 2];
};

void otlp_map_clear(struct otlp_map *map);

/* Begin a request of this hash: zero the counts. */
void otlp_map_begin(
    struct otlp_map *map, const unsigned char request[static RECORD_ID_BYTES]);
/* Map the request, which otlp_check has accepted. */
int otlp_map_traces(struct otlp_map *map, struct text request);
int otlp_map_metrics(struct otlp_map *map, struct text request);
int otlp_map_logs(struct otlp_map *map, struct text request);

#endif
