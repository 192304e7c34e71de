. /work/w/cluster/tests/flow/lib.sh
. /work/w/cluster/tests/parts/serve.sh
. /work/w/cluster/tests/parts/clickhouse_cluster.sh
cluster_start || exit 1
echo $CLUSTER; echo "$CLUSTER" > /tmp/cl_url; cp $TMP/writer /tmp/cl_writer; cp $TMP/reader /tmp/cl_reader; chmod 600 /tmp/cl_*er
ask 3 "SELECT * FROM system.macros; "
ask 3 "SELECT cluster, shard_num, replica_num, host_name, is_local FROM system.clusters"
ask 3 "SELECT count() FROM system.zookeeper WHERE path='/'"
sleep 3000
