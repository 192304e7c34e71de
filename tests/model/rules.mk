.PHONY: model
model:
	sh tests/model/run.sh
