# Only a broker's key may say for whom it speaks, and only for keys that are
# allowed: judged by messages that no program of ours would send.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # a partition's name
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
intake=tcp://127.0.0.1:25820 listener=tcp://127.0.0.1:25821
k=$DIR/keys
# answered NAME WANTED LISTENER KEY ROUTE PARTITION
answered() {
	check_text "$1" "$2" "$(/usr/bin/python3 tests/flow/forwarded.py "$3" "$k/$4.key" "$5" "$6" 2>&1)"
}

check "a server has a key" poolscope-keys new server --role server
check "an agent of one partition" poolscope-keys new one -p 'acct$p'
check "an agent of all" poolscope-keys new any
check "a reader" poolscope-keys new reader --role reader
check "a broker of one account" poolscope-keys new front --role broker -p 'acct$*'
check "a key that was revoked" sh -c 'poolscope-keys new gone && poolscope-keys revoke gone'
start aggregator poolscope-aggregator --listen "ipc://$DIR/run/intake.ipc" --listen "$intake" || exit 1
start broker poolscope-broker --listen "$listener" || exit 1

answered "an agent is welcome" welcome "$intake" one "" 'acct$p'
answered "... through the broker" welcome "$listener" one "" 'acct$p'
answered "elsewhere it is forbidden" "nack 6" "$intake" one "" 'acct$q'
answered "... through the broker" "nack 6" "$listener" one "" 'acct$q'
refused="nack 6"
for at in "$intake" "$listener"; do
	answered "an agent does not speak for another" "$refused" "$at" one "PSV1$k/any.key" 'acct$q'
	answered "... not behind a frame" "$refused" "$at" one "abcde,PSV1$k/any.key" 'acct$q'
	answered "... nor for a local peer" "$refused" "$at" one "PSV1" 'acct$q'
	answered "... nor for itself" "$refused" "$at" one "PSV1$k/one.key" 'acct$p'
	answered "a reader speaks for nobody" "$refused" "$at" reader "abcde,PSV1$k/any.key" 'acct$p'
done
answered "a broker speaks for an agent" welcome "$intake" front "abcde,PSV1$k/one.key" 'acct$p'
answered "... within what that may" "nack 6" "$intake" front "abcde,PSV1$k/one.key" 'acct$q'
answered "... and what itself may" "nack 6" "$intake" front "abcde,PSV1$k/any.key" 'other$q'
answered "... and for its local peers" welcome "$intake" front "abcde,PSV1" 'acct$q'
answered "not for a key that was revoked" "nack 6" "$intake" front "abcde,PSV1$k/gone.key" 'acct$p'
answered "nor for a reader" "nack 6" "$intake" front "abcde,PSV1$k/reader.key" 'acct$p'
stop broker
check_text "the broker ends well" 0 "$STATUS"
stop aggregator
check_text "the aggregator ends well" 0 "$STATUS"
