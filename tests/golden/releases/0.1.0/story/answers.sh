# answers - what the records of sealed.txt and open.txt answer, worked out by hand:
#
#	story_answers NAME --store DIR
#
# * Three of work:step began.  That of n1 took 160.123456789 - 100 = 60.123456789 s, that
#   of n2 190 - 130 = 60 s, together 120.123456789 s; that of n3 has no end.
# * The known temperatures are 21.5, 22.5 and 7, their mean is 51 / 3 = 17.
# * bytes is a counter: from 100 to 300 in 10 s, then from 300 to 700 in 20 s, both 20 a
#   second; n2 has one sample, which makes no rate.
# * Test run R1 was flashed from 201 to 231, 30 s.
# * One span of 4.000000001 s; a gap of 4 records; a batch that has no records.
# * Four entities: two metric groups, of which one got its labels, an image, a test run.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# story_counts OPTION...: how many records of each kind there are.
story_counts() {
	poolscope-dump --format jsonl "$@" | /usr/bin/python3 -c 'import collections, json, sys
found = collections.Counter(json.loads(line)["kind"] for line in sys.stdin)
print(*("%s=%d" % each for each in sorted(found.items())))'
}

story_answers() {
	_told=$1
	shift
	answer "$_told: records of each kind" "entity=4 event=8 gap=1 rejected=1 sample=5 span=1" \
		story_counts "$@"
	answer "$_told: phases" "2,120.123456789,60.0,60.123456789,1" columns count,sum,min,max,open \
		poolscope-stats phases --name work:step --format csv "$@"
	answer "$_told: samples" 'app/train/05f8b060b5a5,energy,J,1,0.5,0.5,{"rank":"0"}
room,bytes,By/s,2,20.0,20.0,
room,temperature,Cel,3,7.0,22.5,' \
		columns group,metric,unit,count,min,max,labels poolscope-stats samples --format csv "$@"
	answer "$_told: the mean temperature" "17.0" \
		columns mean poolscope-stats samples -m temperature --format csv "$@"
	answer "$_told: test runs" "R1,boards,30" \
		columns run,group,step.flash poolscope-stats runs --format csv "$@"
	answer "$_told: spans" "step,1,4.000000001" \
		columns name,count,sum poolscope-stats spans --format csv "$@"
	answer "$_told: nodes" "n1
n2
n3" columns node poolscope-stats nodes --format csv "$@"
	answer "$_told: losses" "sample,lost,4" \
		columns source,name,count poolscope-dump --kind gap --format csv "$@"
}
