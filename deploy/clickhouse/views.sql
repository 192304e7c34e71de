-- Views of an archive for SQL and Grafana: records of all shards, with the names of
-- partitions, nodes and metrics, times as DateTime, and durations.  For a database
-- poolscope and a cluster poolscope; run it on each replica, after poolscope archive
-- create.  proto/archive.md says what each view has, questions.sql how to ask them.
--
-- hour counts hours since 1970, and day is its date.  The tables are divided by
-- days: a condition of hour (or, in newer versions, of day) reads only the days
-- that it needs, one of time reads all of them.  Version 18.16 needs the setting
-- enable_optimize_predicate_expression for that, which newer ones have.
--
-- A record that was sent twice has two rows until ClickHouse has merged them, and one
-- in duration.

CREATE TABLE IF NOT EXISTS poolscope.events_all AS poolscope.events
	ENGINE = Distributed(poolscope, poolscope, events);
CREATE TABLE IF NOT EXISTS poolscope.spans_all AS poolscope.spans
	ENGINE = Distributed(poolscope, poolscope, spans);
CREATE TABLE IF NOT EXISTS poolscope.samples_all AS poolscope.samples
	ENGINE = Distributed(poolscope, poolscope, samples);
CREATE TABLE IF NOT EXISTS poolscope.gaps_all AS poolscope.gaps
	ENGINE = Distributed(poolscope, poolscope, gaps);
CREATE TABLE IF NOT EXISTS poolscope.phases_all AS poolscope.phases
	ENGINE = Distributed(poolscope, poolscope, phases);
CREATE TABLE IF NOT EXISTS poolscope.rollups_all AS poolscope.rollups
	ENGINE = Distributed(poolscope, poolscope, rollups);
CREATE TABLE IF NOT EXISTS poolscope.partitions_all AS poolscope.partitions
	ENGINE = Distributed(poolscope, poolscope, partitions);
CREATE TABLE IF NOT EXISTS poolscope.sums_all AS poolscope.sums
	ENGINE = Distributed(poolscope, poolscope, sums);
CREATE TABLE IF NOT EXISTS poolscope.nodes_all AS poolscope.nodes
	ENGINE = Distributed(poolscope, poolscope, nodes);
CREATE TABLE IF NOT EXISTS poolscope.entities_all AS poolscope.entities
	ENGINE = Distributed(poolscope, poolscope, entities);
CREATE TABLE IF NOT EXISTS poolscope.runs_all AS poolscope.runs
	ENGINE = Distributed(poolscope, poolscope, runs);
CREATE TABLE IF NOT EXISTS poolscope.commits_all AS poolscope.commits
	ENGINE = Distributed(poolscope, poolscope, commits);

CREATE VIEW IF NOT EXISTS poolscope.event AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, part, partition, node,
		recv, source, name, keys, vals
	FROM (SELECT * FROM poolscope.events_all) AS records
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

CREATE VIEW IF NOT EXISTS poolscope.span AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, part, partition, node,
		recv, track, end_ns, name, category,
		(end_ns - ts) / 1e9 AS seconds, keys, vals
	FROM (SELECT * FROM poolscope.spans_all) AS records
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- What was lost, on the way or before: count records of a class (0: unknown).
CREATE VIEW IF NOT EXISTS poolscope.gap AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, part, partition, node,
		recv, end_ns, class, reason, count
	FROM (SELECT * FROM poolscope.gaps_all) AS records
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- The track of a sample is its metric group; v has its values, in the order of
-- the group's metrics.
CREATE VIEW IF NOT EXISTS poolscope.sample AS
	SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, ts, part, partition, node,
		recv, track AS metric_group, v
	FROM (SELECT * FROM poolscope.samples_all) AS records
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- What is known of metric groups (kind set), nodes, test runs, images and others.
CREATE VIEW IF NOT EXISTS poolscope.entity AS
	SELECT part, partition, kind, id, node, recv, keys, vals
	FROM (SELECT * FROM poolscope.entities_all FINAL) AS entities
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- The metrics of each metric group, in the order of the values of a sample.
CREATE VIEW IF NOT EXISTS poolscope.definition AS
	SELECT part, partition, metric_group, metrics, units,
		arrayResize(types, length(metrics), 'gauge') AS types
	FROM (SELECT part, id AS metric_group,
			splitByChar(' ', vals[indexOf(keys, 'names')]) AS metrics,
			arrayResize(splitByChar(' ', vals[indexOf(keys, 'units')]), length(metrics)) AS units,
			splitByChar(' ', vals[indexOf(keys, 'types')]) AS types
		FROM poolscope.entities_all FINAL WHERE kind = 'set') AS definitions
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- A row for each value that is known.  Counters have the values of the kernel: a
-- difference is what they grew by, unless the node booted (poolscope.boot) between.
CREATE VIEW IF NOT EXISTS poolscope.metric AS
	SELECT time, hour, day, ts, part, partition, node, metric_group,
		metric, unit, type, value
	FROM (SELECT toDateTime(intDiv(ts, 1000000000)) AS time, hour,
			toDate(toUInt16(intDiv(hour, 24))) AS day, ts, part, partition, node,
			metric_group, arrayResize(v, length(metrics)) AS numbers,
			letters, metrics, units, types
		FROM (SELECT part, hour, node, ts, track AS metric_group, v,
				types AS letters
			FROM poolscope.samples_all) AS records
		ALL INNER JOIN poolscope.definition AS definitions
		USING part, metric_group) AS samples
	ARRAY JOIN numbers AS value, arrayEnumerate(numbers) AS place,
		metrics AS metric, units AS unit, types AS type
	WHERE NOT substring(letters, place, 1) IN ('', 'n');

-- Minutes (period 60) and hours of samples: least, greatest and sum of a gauge, or
-- least and greatest rate, and increase of a counter, whose rates are known for known_s.
CREATE VIEW IF NOT EXISTS poolscope.rollup AS
	SELECT toDateTime(hour * 3600 + bucket * 60) AS time, hour,
		toDate(toUInt16(intDiv(hour, 24))) AS day, period, part, partition,
		node, metric_group, metrics[number + 1] AS metric,
		units[number + 1] AS unit, types[number + 1] AS type, samples,
		least, greatest, total, known_s
	FROM (SELECT part, hour, bucket, if(step = 1, 60, 3600) AS period,
			node, track AS metric_group, number, samples, least,
			greatest, total, known_s
		FROM poolscope.rollups_all FINAL
		ARRAY JOIN metric AS number, n AS samples, low AS least,
			high AS greatest, sum AS total, seconds AS known_s
		WHERE samples > 0) AS buckets
	ALL INNER JOIN poolscope.definition AS definitions
	USING part, metric_group;

CREATE VIEW IF NOT EXISTS poolscope.node AS
	SELECT part, partition, node, recv, ts AS last_ns, sample AS last_sample_ns
	FROM (SELECT * FROM poolscope.nodes_all FINAL) AS nodes
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

CREATE VIEW IF NOT EXISTS poolscope.run AS
	SELECT toDateTime(intDiv(first_ns, 1000000000)) AS time, part, partition,
		replaceOne(model, ':', '') AS model, run, first_ns, bitAnd(flags, 1) AS described,
		bitAnd(flags, 2) != 0 AS failed, grp AS run_group, requestor,
		ev AS events, ev_ts AS events_ns
	FROM (SELECT * FROM poolscope.runs_all FINAL) AS runs
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;

-- Phases that have begun and ended.  An end belongs to the start right before it or,
-- if the phase has pairing fifo, to the first start that has no end; of the same time,
-- an end comes first while a start is open, otherwise the start.  If the end has
-- measured the phase (a model says so), that is its duration.  phase is "model:phase",
-- scope the node or test run.
CREATE VIEW IF NOT EXISTS poolscope.duration AS
	SELECT toDateTime(intDiv(begin_ns, 1000000000)) AS time,
		toInt32(intDiv(begin_ns, 3600000000000)) AS hour,
		toDate(toUInt16(intDiv(begin_ns, 86400000000000))) AS day, part, partition,
		phase, node, scope, key, begin_ns, end_ns, measured,
		if(measured, took_ns, end_ns - begin_ns) / 1e9 AS seconds, keys, vals
	FROM (SELECT part, phase, scope, start.1 AS begin_ns, stop.1 AS end_ns,
			if(start.6 = '', scope, start.6) AS node, start.9 AS key,
			stop.7 = 1 AS measured, stop.8 AS took_ns,
			arrayConcat(start.10, stop.10) AS keys,
			arrayConcat(start.11, stop.11) AS vals
		FROM (SELECT part, phase, scope,
				arrayMap(x -> x.2, events) AS is_start,
				arrayPushBack(arrayPopFront(is_start), 1) AS next,
				if(fifo = 1, arrayCumSumNonNegative(arrayMap(s -> if(s = 1, 1, -1), is_start)), is_start) AS open,
				arrayPushFront(arrayPopBack(open), 0) AS before,
				arrayFilter((x, s, n) -> s = 1 AND (fifo = 1 OR n = 0), events, is_start, next) AS starts,
				arrayFilter((x, s, b) -> s = 0 AND b > 0, events, is_start, before) AS ends
			FROM (SELECT part, phase, key_hash, scope, fifo,
					arrayMap(x -> x.1, sorted) AS ts_of,
					arrayMap(x -> x.2, sorted) AS kind,
					arrayMap((t, k, later, then) -> t = later AND k = 0 AND then = 1, ts_of, kind,
						arrayPushBack(arrayPopFront(ts_of), toInt64(0)), arrayPushBack(arrayPopFront(kind), 0)) AS tied,
					arrayPushFront(arrayPopBack(tied), 0) AS after_tied,
					arrayCumSumNonNegative(arrayMap((k, e, s) -> if(e = 1 OR s = 1, 0, if(k = 1, 1, if(fifo = 1, -1, -1000000000))),
						kind, tied, after_tied)) AS level,
					arraySort((x, place) -> place, sorted, arrayMap((i, e, s, l) -> i + (e = 1 AND l = 0) - (s = 1 AND l = 0),
						arrayEnumerate(kind), tied, after_tied, level)) AS events
				FROM (SELECT part, phase, key_hash, scope, fifo,
						arraySort(groupUniqArray((ts, toUInt8(role = 2), session, seq, idx,
							node, role, measured, key, keys, vals))) AS sorted
					FROM (SELECT * FROM poolscope.phases_all) AS records
					ALL INNER JOIN (SELECT part, phase, form, fifo
						FROM poolscope.sums_all FINAL) AS sums
					USING part, phase, form
					GROUP BY part, phase, key_hash, scope, fifo)))
		ARRAY JOIN arrayResize(starts, length(ends)) AS start, ends AS stop) AS pairs
	ANY LEFT JOIN (SELECT part, argMax(name, pos) AS partition
		FROM poolscope.partitions_all GROUP BY part) AS partitions
	USING part;
