#!/bin/sh
# The start of two nodes of a container pool.
#
# n1 is prepared from 0 on, has Docker at 5 and the private registry at 8, pulls image redis
# from 9 to 14 and loads it from 15 on; then it reboots, which nothing reports.  It begins again at 60: Docker until
# 66, registry until 69, prepared at 70; from 70 on global resources, redis pulled from 71 to 73,
# loaded from 73 to 76; all is there at 80.
#
# n2 is prepared from 2 to 12 (Docker until 7, registry until 11), pulls redis from 13 to 17, loads it
# from 17 to 19, has all from 12 to 20.
#
# So n1 began at 60 (58 s after n2): Docker 6, registry 3, global 10, pull 2 (not 5 + 2), load 3; what it
# began at 0 and 15 and never ended is listed: nodeprep:start and cascade:load-start:redis.
# n2: Docker 5, registry 4, global 8, pull 4, load 2.  Both have all their numbers: 18 s of global
# resources, (4 + 2) + (2 + 3) = 11 s of images.
#
# Asked for the starts until 30, n1's first try is shown: Docker 5, registry 3, pull 5; the load and
# the preparation did not end, and there were no global resources.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate --models "$ROOT/deploy/models"
records <<-'END'
	event 0 n1 nodeprep:start
	event 5 n1 privateregistry:start
	event 8 n1 privateregistry:end
	event 9 n1 cascade:pull-start img=redis
	event 14 n1 cascade:pull-end img=redis
	event 15 n1 cascade:load-start img=redis
	event 60 n1 nodeprep:start
	event 66 n1 privateregistry:start
	event 69 n1 privateregistry:end
	event 70 n1 nodeprep:end
	event 70 n1 cascade:start
	event 71 n1 cascade:pull-start img=redis
	event 73 n1 cascade:pull-end img=redis
	event 73 n1 cascade:load-start img=redis
	event 76 n1 cascade:load-end img=redis
	event 80 n1 cascade:gr-done
	event 2 n2 nodeprep:start
	event 7 n2 privateregistry:start
	event 11 n2 privateregistry:end
	event 12 n2 nodeprep:end
	event 12 n2 cascade:start
	event 13 n2 cascade:pull-start img=redis
	event 17 n2 cascade:pull-end img=redis
	event 17 n2 cascade:load-start img=redis
	event 19 n2 cascade:load-end img=redis
	event 20 n2 cascade:gr-done
	END
# reported QUESTION...: start and numbers of each node, sums, and what is incomplete.
reported() {
	poolscope-stats cascade --format json "$@" | python3 -c '
import datetime, json, sys
all = json.load(sys.stdin)
base = int(sys.argv[1])
once = "nodeprep docker_install private_registry_setup docker_shipyard_container_pull global_resources_loaded".split()
for row in all["rows"]:
    at = datetime.datetime.fromisoformat(row["start"].replace("Z", "+00:00")).timestamp()
    timing = {key: row[key] for key in once}
    timing.update((each["phase"] + ":" + each["image"], each["seconds"]) for each in all["images"] if each["node"] == row["node"])
    print(row["node"], at - base, *("%s=%s" % each for each in sorted(timing.items()) if each[1] != 0))
print("sums", all["total_gr"], all["total_acq"])
for name in sorted({row["node"] for row in all["incomplete"]}):
    print("incomplete", name, *(":".join(filter(None, (row["event"], row["image"]))) for row in all["incomplete"] if row["node"] == name))' "$BASE"
}
answer "the newest try, and what the one before left open" "n2 2.0 docker_install=5.0 global_resources_loaded=8.0 load:redis=2.0 nodeprep=10.0 private_registry_setup=4.0 pull:redis=4.0
n1 60.0 docker_install=6.0 global_resources_loaded=10.0 load:redis=3.0 nodeprep=10.0 private_registry_setup=3.0 pull:redis=2.0
sums 18.0 11.0
incomplete n1 nodeprep:start cascade:load-start:redis" reported
answer "the try that began in a time" "n1 0.0 docker_install=5.0 global_resources_loaded=None load:redis=None nodeprep=None private_registry_setup=3.0 pull:redis=5.0
n2 2.0 docker_install=5.0 global_resources_loaded=8.0 load:redis=2.0 nodeprep=10.0 private_registry_setup=4.0 pull:redis=4.0
sums 8.0 6.0
incomplete n1 nodeprep:end cascade:start cascade:gr-done cascade:load-start:redis" reported --to $((BASE + 30))
