.PHONY: viewers pictures
viewers: all
	B=$(B) sh tests/viewers/run.sh
pictures: all
	B=$(B) sh tests/viewers/pictures.sh
