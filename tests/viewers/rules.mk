.PHONY: viewers
viewers: all
	B=$(B) sh tests/viewers/run.sh
