#!/bin/sh
# The values of samples with their names.
#
# A node reports a level in bytes and a counter of requests; the second counter is
# unknown at first. A second group has a metric of its own, and one value more than its
# definition names.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

aggregate
records <<-'END'
	group n1 web level:By:gauge requests:1:counter
	sample 1 n1 web 4096 -
	sample 2 n1 web 0.5 17
	group n1 drive/sda busy:ms:counter
	sample 3 n1 drive/sda 20 99
END

# values FORMAT OPTION...: without carriage returns, and without nanoseconds.
values() {
	_form=$1
	shift
	poolscope-dump --format "$_form" "$@" | tr -d '\r' | sed 's/^[0-9]*,//; s/\.000000000Z//; s/2023-11-14T//'
}
answer "a row for each value, groups in the order of their definition" "time_ns,time,node,group,labels,metric,unit,value
22:13:21,n1,web,,level,By,4096
22:13:21,n1,web,,requests,1,
22:13:22,n1,web,,level,By,0.5
22:13:22,n1,web,,requests,1,17
22:13:23,n1,drive/sda,,busy,ms,20
22:13:23,n1,drive/sda,,#2,,99" values long
answer "a column for each metric of one group" "time_ns,time,node,group,labels,level,requests
22:13:21,n1,web,,4096,
22:13:22,n1,web,,0.5,17" values wide --name web
answer "the metrics of all groups, in one table" "time_ns,time,node,group,labels,busy,level,requests
22:13:21,n1,web,,,4096,
22:13:22,n1,web,,,0.5,17
22:13:23,n1,drive/sda,,20,," values wide --kind sample
wrong_usage "events have no values" "prints the values of samples only" \
	poolscope-dump --format long --kind event
