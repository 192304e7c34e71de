-- event, span and sample: records of all shards, with the names of partition,
-- node and track, and their times as DateTime.  For a database poolscope and a
-- cluster poolscope; run it on each replica, after poolscope archive create.
--
--   SELECT time, node, name, vals[indexOf(keys, 'job')] FROM poolscope.event
--   WHERE partition = 'acct$pool' AND hour >= intDiv(toUInt32(now()), 3600) - 1
--
-- hour counts hours since 1970, and day is its date.  The tables are divided by
-- days: a condition of hour (or, in newer versions, of day) reads only the days
-- that it needs, one of time reads all of them.  Version 18.16 needs the setting
-- enable_optimize_predicate_expression for that, which newer ones have.
--
-- Rows of a pass that is not committed are among them for some seconds, and a
-- record that was sent twice until ClickHouse has merged it.

CREATE TABLE IF NOT EXISTS poolscope.events_all AS poolscope.events
	ENGINE = Distributed(poolscope, poolscope, events);
CREATE TABLE IF NOT EXISTS poolscope.spans_all AS poolscope.spans
	ENGINE = Distributed(poolscope, poolscope, spans);
CREATE TABLE IF NOT EXISTS poolscope.samples_all AS poolscope.samples
	ENGINE = Distributed(poolscope, poolscope, samples);
CREATE TABLE IF NOT EXISTS poolscope.owners_all AS poolscope.owners
	ENGINE = Distributed(poolscope, poolscope, owners);
CREATE TABLE IF NOT EXISTS poolscope.commits_all AS poolscope.commits
	ENGINE = Distributed(poolscope, poolscope, commits);

CREATE VIEW IF NOT EXISTS poolscope.event AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, partition, node,
		source, name, keys, vals
	FROM (SELECT * FROM poolscope.events_all) AS records
	ANY LEFT JOIN (SELECT part, any(name) AS partition
		FROM poolscope.owners_all GROUP BY part) AS partitions
	USING part;

CREATE VIEW IF NOT EXISTS poolscope.span AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, partition, node,
		track, end_ns, name, category, (end_ns - ts) / 1e9 AS seconds, keys, vals
	FROM (SELECT * FROM poolscope.spans_all) AS records
	ANY LEFT JOIN (SELECT part, any(name) AS partition
		FROM poolscope.owners_all GROUP BY part) AS partitions
	USING part;

-- The track of a sample is its metric group; v has its values, in the order of
-- the group's metrics.
CREATE VIEW IF NOT EXISTS poolscope.sample AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, partition, node,
		track AS metric_group, v
	FROM (SELECT * FROM poolscope.samples_all) AS records
	ANY LEFT JOIN (SELECT part, any(name) AS partition
		FROM poolscope.owners_all GROUP BY part) AS partitions
	USING part;
