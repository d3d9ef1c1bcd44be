"""Answers each line of headers in JSON with what caller says of them."""
import json
import sys

from caller import caller

for line in sys.stdin:
    try:
        print(json.dumps(caller(json.loads(line))))
    except Exception as e:
        print(json.dumps({"refused": repr(e)}))
