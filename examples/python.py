"""An agent in another language: a session over plain HTTP, with Python's standard library alone."""

import json
import os
import sys
import urllib.parse
import urllib.request

URL = os.environ.get("HANSARD_URL", "http://127.0.0.1:4747")
KEY = os.environ.get("HANSARD_KEY")
SESSION = "example:python"


def ask(path, body=None):
    headers = {"content-type": "application/json"}
    if KEY:
        headers["authorization"] = f"Bearer {KEY}"
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers)) as answer:
        return json.load(answer)


def message(role, content):
    return {"kind": "message", "session_id": SESSION, "project": "examples", "role": role, "content": content}


question = sys.argv[1] if len(sys.argv) > 1 else "Why is the sky blue?"
ask("/entries", [message("user", question), message("assistant", f"You said: {question}")])
history = ask(f"/sessions/{urllib.parse.quote(SESSION, safe='')}/history")
for said in history["messages"][-2:]:
    print(f"{said['role']}: {said['content']}")
