#!/bin/sh
# Trainings of LightGBM and Keras with the callbacks of the Python module: a span an iteration or
# epoch, the last one, too, and in the store the numbers that the framework itself recorded.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/flow/python.sh
. "$ROOT/tests/flow/python.sh"
# shellcheck source=tests/parts/serve.sh
. "$ROOT/tests/parts/serve.sh"
start_pool

# on_page WORD: the line of the manual page that begins with it, in place of PAGE in a program.
on_page() {
	line=$(sed -n "s/^\.Dl \($1.*\)/\1/p" "$ROOT/agents/python/poolscope-python.7")
	check "the page has a line of $1" test -n "$line"
	sed -i "s/^PAGE\$/$line/" "$TMP/$2"
}

# recorded NAME SPAN PROGRAM: the training prints {series: [value, ...]}; so has the store.
recorded() {
	check "$1: a training" py "$TMP/$3"
	tail -n 1 "$TMP/out" >"$TMP/want"
	settle
	poolscope-dump -q -p "$pool" --kind span --name "$2" --format jsonl -o "$TMP/spans"
	poolscope-dump -q -p "$pool" --kind sample --format long -o "$TMP/csv"
	check "$1: its spans and numbers are in the store" /usr/bin/python3 -c 'import csv, json, sys
want = json.load(open(sys.argv[1]))
spans = [json.loads(line) for line in open(sys.argv[2])]
got = {}
for row in csv.DictReader(open(sys.argv[3])):
    got.setdefault(row["metric"], []).append(float(row["value"]))
count = len(next(iter(want.values())))
assert count > 2 and [s["attributes"][sys.argv[4]] for s in spans] == list(range(count)), spans
assert all(got.get(name) == values for name, values in want.items()), (want, got)' \
		"$TMP/want" "$TMP/spans" "$TMP/csv" "$2"
}

if need_python lightgbm lightgbm; then
	PYTHON=$PARTS/lightgbm/bin/python
	program boost.py <<'PY'
import json

import lightgbm
import numpy
import poolscope.lightgbm

random = numpy.random.default_rng(1)
x = random.random((400, 5))
y = x[:, 0] + random.random(400)
train = lightgbm.Dataset(x, y)
valid = lightgbm.Dataset(x[:100], y[:100], reference=train)
history = {}
lightgbm.train({"verbose": -1, "num_threads": 1, "metric": ["l2", "l1"]}, train, 50, valid_sets=[train, valid],
               valid_names=["train", "valid"],
               callbacks=[lightgbm.record_evaluation(history), poolscope.lightgbm.callback()])
print(json.dumps({"%s.%s" % (data, metric): values for data in history for metric, values in history[data].items()}))
PY
	recorded LightGBM iteration boost.py
	program stopped.py <<'PY'
import lightgbm
import numpy
import poolscope.lightgbm

random = numpy.random.default_rng(1)
x = random.random((400, 5))
train = lightgbm.Dataset(x, random.random(400))
valid = lightgbm.Dataset(x[:100], random.random(100), reference=train)
made = []
params = {"verbose": -1, "num_threads": 1, "metric": "l2"}
lightgbm.train(params, train, 500, valid_sets=[valid],
               callbacks=[lightgbm.early_stopping(3, verbose=False), poolscope.lightgbm.callback(labels={"run": "early"}),
                          lambda env: made.append(env.iteration)])
lightgbm.train(params, lightgbm.Dataset(x, random.random(400)), 3, callbacks=[poolscope.lightgbm.callback()])
PAGE
print(len(made) + 3 + 100)
PY
	on_page lightgbm stopped.py
	check "LightGBM: a training that ends early, and one without evaluation" py "$TMP/stopped.py"
	made=$(tail -n 1 "$TMP/out")
	settle
	check_text "... have a span for each iteration, too" $((made + 50)) "$(stored span 1 'r["name"] == "iteration"' | wc -l)"
else
	echo "SKIPPED: pip cannot have LightGBM"
fi

if need_python keras keras jax; then
	PYTHON=$PARTS/keras/bin/python
	KERAS_BACKEND=jax
	export KERAS_BACKEND
	check_status 1 "Keras is imported by its user" py -c 'import poolscope.keras'
	check_printed "... says so" "import keras before poolscope.keras"
	program fit.py <<'PY'
import json

import keras
import numpy
import poolscope.keras

x = numpy.random.default_rng(1).random((64, 3))
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse", metrics=["mae"])
y = x.sum(1)
fitted = \
PAGE
print(json.dumps(fitted.history))
PY
	on_page model.fit fit.py
	recorded Keras epoch fit.py
else
	echo "SKIPPED: pip cannot have Keras and JAX"
fi
