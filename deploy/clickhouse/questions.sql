-- Ten questions to the views of views.sql, for a partition acct$pool on two days.
-- Beside each stands what poolscope answers it with.

-- slowest nodes: poolscope stats phases --by node
SELECT phase, node, count() AS phases, sum(seconds) AS together, max(seconds) AS longest
FROM poolscope.duration
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
	AND phase LIKE 'cascade:%'
GROUP BY phase, node
ORDER BY together DESC;

-- p99 of pull by image: poolscope stats phases --by key --name cascade:pull
SELECT key AS image, count() AS pulls,
	arraySort(groupArray(seconds))[intDiv(99 * count() + 99, 100)] AS p99
FROM poolscope.duration
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
	AND phase = 'cascade:pull'
GROUP BY key
ORDER BY p99 DESC;

-- CPU hours by job: poolscope stats usage
SELECT job, sum(greatest(y - x, 0) * greatest(least(b, end_ns) - greatest(a, begin_ns), 0) / (b - a)) / 360000 AS cpu_hours
FROM (SELECT job, begin_ns, end_ns, times, counts
	FROM (SELECT key AS job, node, begin_ns, end_ns
		FROM poolscope.duration
		WHERE partition = 'acct$pool' AND phase = 'job:run') AS jobs
	ALL INNER JOIN (SELECT node, arraySort(groupArray((ts, ticks))) AS samples,
			arrayMap(s -> s.1, samples) AS times, arrayMap(s -> s.2, samples) AS counts
		FROM (SELECT node, ts, sum(value) AS ticks
			FROM poolscope.metric
			WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
				AND metric_group = 'cpu' AND metric LIKE 'system.cpu.time.%'
				AND NOT metric IN ('system.cpu.time.idle', 'system.cpu.time.iowait')
			GROUP BY node, ts)
		GROUP BY node) AS nodes
	USING node)
ARRAY JOIN arrayPopBack(times) AS a, arrayPopFront(times) AS b,
	arrayPopBack(counts) AS x, arrayPopFront(counts) AS y
GROUP BY job
ORDER BY cpu_hours DESC;

-- events lost: poolscope dump --kind gap
SELECT node, class, reason, sum(count) AS lost
FROM poolscope.gap
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
GROUP BY node, class, reason
ORDER BY lost DESC;

-- events an hour: poolscope dump --kind event
SELECT hour, toDateTime(hour * 3600) AS begin, count() AS events
FROM poolscope.event
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
GROUP BY hour
ORDER BY hour;

-- median queue by group: poolscope stats groups
SELECT run_group, count() AS queued, arraySort(groupArray(seconds))[intDiv(count() + 1, 2)] AS median
FROM (SELECT run_group, (toInt64(events_ns[indexOf(events, 'run:queue_end')]) -
		toInt64(events_ns[indexOf(events, 'run:queue_start')])) / 1e9 AS seconds
	FROM poolscope.run
	WHERE partition = 'acct$pool' AND model = 'testrun'
		AND has(events, 'run:queue_start') AND has(events, 'run:queue_end'))
GROUP BY run_group
ORDER BY median DESC;

-- load by minute: poolscope stats series -m system.cpu.load_average.1m --step 1m
SELECT toStartOfMinute(time) AS minute, node, avg(value) AS mean
FROM poolscope.metric
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
	AND metric = 'system.cpu.load_average.1m'
GROUP BY minute, node
ORDER BY minute, node;

-- failed commands: poolscope dump --kind span
SELECT node, name, count() AS failed
FROM poolscope.span
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
	AND (has(keys, 'exit.signal') OR NOT vals[indexOf(keys, 'exit.status')] IN ('', '0'))
GROUP BY node, name
ORDER BY failed DESC;

-- peak memory: poolscope stats samples --by node -m system.memory.usage.used
SELECT node, max(value) AS peak
FROM poolscope.metric
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
	AND metric = 'system.memory.usage.used'
GROUP BY node
ORDER BY peak DESC;

-- lag: poolscope dump --kind event
SELECT node, max(recv - ts) / 1e9 AS longest
FROM poolscope.event
WHERE partition = 'acct$pool' AND day BETWEEN '2023-11-14' AND '2023-11-15'
GROUP BY node
ORDER BY longest DESC;
