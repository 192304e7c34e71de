# Words that must not come back: words.py, with words.txt.
exec python3 tests/lint/words.py
