#!/bin/sh
# 10,000,000 bytes went out of node n1 through an overlay (vxlan0) over a bond (bond0) of
# two cards (eth0, eth1), which share them.  Every layer counts them: vxlan0 10,000,000,
# bond0 10,500,000 (with the headers of the overlay), eth0 6,000,000, eth1 4,500,000.
# What left the node are 6,000,000 + 4,500,000 = 10,500,000 bytes.
#
# On n2 eth0 is the interface of a container: it is carried by another one, although it
# has the name of a card elsewhere.  What n2 sent through cards is not known.
#
# n3 comes from a program that does not say what its interface is: 700 bytes count.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2119 # no options
aggregate
{
	for each in eth0 eth1 bond0 vxlan0; do
		echo "group n1 network/$each poolscope.boot:1:gauge system.network.io.transmit:By:counter" \
			"system.network.physical:1:gauge"
	done
	cat <<-'END'
		group n3 network/wan system.network.io.transmit:By:counter
		sample  0 n1 network/vxlan0 7 0 0
		sample  0 n1 network/bond0 7 0 0
		sample  0 n1 network/eth0 7 100 1
		sample  0 n1 network/eth1 7 100 1
		sample  0 n2 network/eth0 7 100 0
		sample  0 n3 network/wan 100
		sample 10 n1 network/vxlan0 7 10000000 0
		sample 10 n1 network/bond0 7 10500000 0
		sample 10 n1 network/eth0 7 6000100 1
		sample 10 n1 network/eth1 7 4500100 1
		sample 10 n2 network/eth0 7 900 0
		sample 10 n3 network/wan 800
	END
} | records
answer "only what left through cards was sent" "n1,10500000
n3,700" columns node,network_sent_bytes poolscope-stats usage --format csv
