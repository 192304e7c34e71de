# openapi.json has the columns that the questions have.
exec python3 exporters/web/openapi.py --check
