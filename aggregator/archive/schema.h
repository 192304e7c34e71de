#ifndef AGGREGATOR_ARCHIVE_SCHEMA_H
#define AGGREGATOR_ARCHIVE_SCHEMA_H
#include "proto/clickhouse/client.h"
int schema_check(struct clickhouse *clickhouse, struct err *err);
#endif
