# openapi.json has the columns that the questions have, and poolscope-web(1) the routes.
status=0
python3 exporters/web/openapi.py --check || status=1
for route in $(sed -n 's|^  "\(/v1/pools/{pool}/[^"]*\)": {$|\1|p' exporters/web/openapi.json | sed 's/{pool}/POOL/'); do
	grep -q "^\.It Pa $route Ta" exporters/poolscope-web.1 ||
		{ echo "exporters/poolscope-web.1: $route is missing"; status=1; }
done
exit $status
