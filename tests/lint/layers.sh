# Who may include what, and no cycles: layers.py, with layers.txt.
exec python3 tests/lint/layers.py
