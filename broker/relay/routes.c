/*
 * routes - maps a partition to its aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/routes.h"

#include <stdio.h>
#include <string.h>

static int
find_target(struct routes *routes, const char *endpoint, uint32_t *target,
    struct err *err)
{
	uint32_t i;

	for (i = 0; i < routes->targets; i++)
		if (strcmp(routes->endpoint[i], endpoint) == 0)
			break;
	*target = i;
	if (i < routes->targets)
		return 0;
	if (i == ROUTES_TARGETS_MAX)
		return err_set(
		    err, "more than %d aggregators", ROUTES_TARGETS_MAX);
	if (strlen(endpoint) >= ENDPOINT_BYTES_MAX)
		return err_set(err, "an endpoint is longer than %d bytes",
		    ENDPOINT_BYTES_MAX - 1);
	snprintf(routes->endpoint[i], ENDPOINT_BYTES_MAX, "%s", endpoint);
	routes->targets++;
	return 0;
}

int
routes_add(struct routes *routes, struct text pattern, const char *endpoint,
    struct err *err)
{
	uint32_t target;

	if (routes->count == ROUTES_MAX)
		return err_set(err, "more than %d routes", ROUTES_MAX);
	if (find_target(routes, endpoint, &target, err) != 0)
		return -1;
	routes->row[routes->count].pattern = pattern;
	routes->row[routes->count].target = target;
	routes->count++;
	return 0;
}

int
routes_parse(struct routes *routes, const char *rule, struct err *err)
{
	/* Split at the last '=': a partition may contain one, an endpoint
	 * cannot. */
	const char *equals = strrchr(rule, '=');
	struct text pattern;

	if (equals == NULL || equals == rule || equals[1] == '\0')
		return err_set_option(
		    err, "route", "%s: expected PATTERN=ENDPOINT", rule);
	pattern = (struct text){ rule, (uint32_t)(equals - rule) };
	if (text_check_name(pattern) != TEXT_OK)
		return err_set_option(err, "route", "%s: the pattern %s", rule,
		    text_fault_words(text_check_name(pattern)));
	return routes_add(routes, pattern, equals + 1, err);
}

int
routes_add_table(
    struct routes *routes, const struct partition_table *table, struct err *err)
{
	char endpoint[PARTITION_TABLE_ENDPOINT_BYTES_MAX + 1];

	for (uint32_t i = 0; i < table->count; i++) {
		const struct partition_table_row *row = &table->row[i];

		snprintf(endpoint, sizeof(endpoint), "%.*s",
		    (int)row->endpoint.bytes, row->endpoint.at);
		if (routes_add(routes, row->pattern, endpoint, err) != 0)
			return -1;
	}
	return 0;
}

int
routes_find(const struct routes *routes, struct text partition)
{
	uint32_t i;

	for (i = 0; i < routes->count; i++)
		if (text_match_partition(routes->row[i].pattern, partition))
			return (int)routes->row[i].target;
	return -1;
}
