# Every column of metric_groups.def gets its value by its name: one that is left
# out of an initializer would be 0 and not unknown.
set -eu
status=0
for column in $(sed -n 's/^\(COUNTER\|GAUGE\)(\([A-Z0-9_]*\),.*/\2/p' proto/metric/metric_groups.def); do
	grep -rqE "METRIC_$column\] ?=" --include='*.c' agents ||
		{ echo "columns: no value for METRIC_$column in agents/"; status=1; }
done
exit $status
