# Check includes and cycles: layers.py, with layers.txt.
exec python3 tests/lint/layers.py
