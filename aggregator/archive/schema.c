#include "aggregator/archive/schema.h"
int schema_check(struct clickhouse *clickhouse, struct err *err) { (void)clickhouse; (void)err; return 0; }
