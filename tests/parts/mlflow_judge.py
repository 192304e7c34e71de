"""mlflow_judge - what a run has, as MLflow's own client sees it.

	runs EXPERIMENT            its runs: id, name, status
	metrics RUN JSON           are they these [key, value, step], and no others?
	count RUN KEY N            has the metric so many points?
	params RUN KEY=VALUE...    are they these, and no others?
	artifact RUN NAME FILE     is it the same?
	curves RUN JSON            are the system metrics these reports?
SPDX-License-Identifier: MIT
"""
import json, sys
from mlflow.client import MlflowClient

client = MlflowClient()


def points(run, prefix):
    """{key: [(step, value, ms), ...]} of the keys that begin with prefix."""
    keys = client.get_run(run).data.metrics
    return {key: sorted((m.step, m.value, m.timestamp)
                        for m in client.get_metric_history(run, key))
            for key in keys if key.startswith(prefix)}


def runs(experiment):
    number = client.get_experiment_by_name(experiment).experiment_id
    for run in client.search_runs([number]):
        print(run.info.run_id, run.info.run_name, run.info.status)


def metrics(run, wanted):
    got = points(run, "")
    want = {}
    for row in json.load(open(wanted))["mlflow"]:
        want.setdefault(row["name"], []).append((row["step"], row["value"]))
    assert {k: [p[:2] for p in v] for k, v in got.items()} == want, got
    print(sum(len(v) for v in got.values()), "points")


def count(run, key, wanted):
    got = client.get_metric_history(run, key)
    assert len(got) == int(wanted), got


def params(run, *wanted):
    got = client.get_run(run).data.params
    assert got == dict(w.split("=", 1) for w in wanted), got


def artifact(run, name, file):
    path = client.download_artifacts(run, name)
    assert open(path, "rb").read() == open(file, "rb").read()


def curves(run, reports):
    got = points(run, "system/")
    start = client.get_run(run).info.start_time
    want = {}
    for node, rows in json.load(open(reports)).items():
        for row in rows:
            for name, value in row.items():
                if name != "timestamp" and value is not None:
                    want.setdefault(f"system/{node}/{name}", []).append(
                        (row["timestamp"] * 1000, value))
    assert got.keys() == want.keys(), got.keys() ^ want.keys()
    for key, series in got.items():
        assert [v for _, v, _ in series] == [v for _, v in want[key]], key
        steps = [s for s, _, _ in series]
        assert len(set(steps)) == len(steps) and steps == sorted(steps), key
        for (_, _, ms), (time, _) in zip(series, want[key]):
            assert 0 <= time - ms < 1000, (key, ms, time)
            assert ms > start - 1000, (key, ms, start)
    print(sum(map(len, got.values())), "points of", len(got),
          "curves, each once")


globals()[sys.argv[1]](*sys.argv[2:])
