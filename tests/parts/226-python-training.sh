#!/bin/sh
# Trainings of LightGBM, Keras, Lightning and Transformers with the callbacks of the Python module: a span an iteration or
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
    if row["group"].startswith("app/%s/" % sys.argv[6]):
        got.setdefault(row["metric"], []).append(float(row["value"]))
count = len(next(iter(want.values())))
spans = [s for s in spans if s["category"] == sys.argv[5]]
assert count > 2 and [s["attributes"][sys.argv[4]] for s in spans] == list(range(count)), spans
assert all(got.get(name) == values for name, values in want.items()), (want, got)' \
		"$TMP/want" "$TMP/spans" "$TMP/csv" "$2" "$(echo "$1" | tr '[:upper:]' '[:lower:]')" "$3"
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

# PyTorch is 5 GB, most of it for processors of graphics that are not there: only who asks for
# it (`make soak ONLY=torch`), or has it, gets it.
if { [ -n "${TORCH:-}" ] || [ -e "$PARTS/torch/complete" ]; } &&
	need_python torch torch lightning transformers accelerate; then
	PYTHON=$PARTS/torch/bin/python
	check_status 1 "Lightning is imported by its user" py -c 'import poolscope.lightning'
	check_printed "... says so" "import lightning before poolscope.lightning"
	check_status 1 "so is Transformers" py -c 'import poolscope.transformers'
	check_printed "... says so" "import transformers before poolscope.transformers"
	# Four epochs of three steps, and a check of two validation batches before them.  The wanted
	# numbers are what Lightning's own logger of CSV wrote.
	program light.py <<'PY'
import csv
import json
import logging
import sys
import warnings

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger

import poolscope.lightning

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def loss(self, batch):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x)[:, 0], y)

    def training_step(self, batch, number):
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        self.log("constant", 0.5, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, number):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


torch.manual_seed(1)
x = torch.rand(24, 3)
data = torch.utils.data.TensorDataset(x, x.sum(1))
model, train, valid = Model(), torch.utils.data.DataLoader(data, 8), torch.utils.data.DataLoader(data, 6)
logger = CSVLogger(sys.argv[1])
options = {"logger": logger, "enable_progress_bar": False, "enable_model_summary": False,
           "enable_checkpointing": False, "accelerator": "cpu", "log_every_n_steps": 1}
PAGE
want = {}
for row in csv.DictReader(open(logger.log_dir + "/metrics.csv")):
    for name in ("train_loss", "val_loss", "constant"):
        if row.get(name):
            want.setdefault(name, []).append(float(row[name]))
print(json.dumps(want))
PY
	on_page lightning.Trainer light.py
	sed -i "s|sys.argv\[1\]|\"$TMP/light\"|" "$TMP/light.py"
	recorded Lightning epoch light.py
	check_text "... each step and validation is a span, too" "3 0 step
1 0 validation
1 0 validation True
3 1 step
1 1 validation
3 2 step
1 2 validation
3 3 step
1 3 validation" "$(stored span '(a["epoch"], r["name"], a["sanity"]) if "sanity" in a else (a["epoch"], r["name"])' \
		'r["category"] == "lightning" and r["name"] != "epoch"' | sort | uniq -c | sed 's/^ *//')"

	# The wanted numbers are the history of the Trainer itself.
	program face.py <<'PY'
import json
import warnings

import torch
import transformers

import poolscope.transformers

warnings.simplefilter("ignore")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def forward(self, x, labels):
        out = self.layer(x)[:, 0]
        return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}


torch.manual_seed(1)
train = [{"x": torch.rand(3), "labels": torch.rand(())} for _ in range(24)]
model, valid = Model(), train[:8]
arguments = transformers.TrainingArguments(
    "OUT", num_train_epochs=4, per_device_train_batch_size=8, eval_strategy="epoch", logging_strategy="epoch",
    save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True)
PAGE
trainer.train()
want = {}
for row in trainer.state.log_history:
    for name, value in row.items():
        if name in ("loss", "eval_loss", "learning_rate", "grad_norm"):
            want.setdefault(name, []).append(value)
print(json.dumps(want))
PY
	on_page "trainer = " face.py
	sed -i "s|OUT|$TMP/face|" "$TMP/face.py"
	recorded Transformers epoch face.py
	check_text "... each step is a span, too" "0 1 2 3 4 5 6 7 8 9 10 11" \
		"$(stored span 'a["step"]' 'r["name"] == "step" and r["category"] == "transformers"' | tr '\n' ' ' | sed 's/ $//')"
else
	echo "SKIPPED: PyTorch, Lightning and Transformers were not asked for (TORCH=1), or pip cannot have them"
fi
