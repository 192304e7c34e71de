# pulls - for stories of pools that pull images, after lib.sh: nodes are prepared, and their
# resources wait for images, which they pull (one of a key at once), or fetch from others by
# torrent, and load.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
model pool <<-'END'
	phase "prep" {
		start = "prep:start"
		end = "prep:end"
		required = true
	}
	phase "resources" {
		start = "res:start"
		end = "res:end"
		measured = "took"
		required = true
		after = { "prep" }
		end_after = { "pull", "save", "torrent", "load" }
	}
	phase "pull" {
		start = "pull:start"
		end = "pull:end"
		key = "img"
		places = 1
		bytes = "size"
	}
	phase "save" {
		start = "save:start"
		end = "save:end"
		key = "img"
		after = { "pull" }
	}
	phase "torrent" {
		start = "torrent:start"
		end = "torrent:end"
		key = "img"
		after_any = { "save" }
	}
	phase "load" {
		start = "load:start"
		end = "load:end"
		key = "img"
		bytes = "size"
		after = { "torrent" }
	}
END

# phase NODE NAME BEGIN END [IMAGE [SIZE]]
phase() {
	echo "event $3 $1 $2:start ${5:+img=$5}"
	echo "event $4 $1 $2:end ${5:+img=$5} ${6:+size=$6}"
}

# three_pulls: x, y and z pull one image, one after the other.
three_pulls() {
	phase z prep 0 3
	phase z res 3 62
	phase z pull 49 60 redis
	phase x prep 1 3
	phase x res 3 30
	phase x pull 5 25 redis
	phase y prep 1 3
	phase y res 3 50
	phase y pull 27 47 redis
}
