"""An agent in Python that records itself, with the standard library alone.

What it captures is written to a file first and sent from there: a server that is away, or an agent that is killed, loses nothing.
Every entry has an id, and the server takes each id once, however often it is sent.

    python3 python.py "Why is the sky blue?"
"""

import datetime
import fcntl
import itertools
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

URL = os.environ.get("HANSARD_URL", "http://127.0.0.1:4747").rstrip("/")
KEY = os.environ.get("HANSARD_KEY")
STATE = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
BATCH = 200
# What is wrong with an entry stays wrong; anything else is tried again.
REFUSED = {400, 404, 409, 413}


def ask(path, body=None, timeout=30):
    """Sends JSON, or lines of it, and returns the answer."""
    headers = {"content-type": "application/x-ndjson"}
    if KEY:
        headers["authorization"] = f"Bearer {KEY}"
    request = urllib.request.Request(URL + path, None if body is None else body.encode(), headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


class Recorder:
    """Spools entries to disk, and sends them in order. One file belongs to all processes that record for one server."""

    def __init__(self, spool=None):
        name = urllib.parse.quote(URL, safe="") + ".ndjson"
        self.file = pathlib.Path(spool or os.path.join(STATE, "hansard", "python-spool")) / name
        self.mark = self.file.with_suffix(".sent")
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def record(self, kind, **fields):
        """Returns the entry's id once the entry is on disk."""
        now = datetime.datetime.now(datetime.timezone.utc)
        entry = {"id": str(uuid.uuid4()), "kind": kind, "created_at": now.isoformat(timespec="milliseconds"), **fields}
        line = json.dumps(entry).encode() + b"\n"
        with self._open() as spool:
            # A process that was killed may have left half a line.
            spool.seek(0, os.SEEK_END)
            if spool.tell() > 0:
                spool.seek(-1, os.SEEK_END)
                if spool.read(1) != b"\n":
                    line = b"\n" + line
            spool.write(line)
            spool.flush()
            os.fsync(spool.fileno())
        return entry["id"]

    def deliver(self, seconds=5.0):
        """Sends what waits, also what earlier processes left, and tries again for so long; returns how many entries still wait."""
        end = time.monotonic() + seconds
        pause = 0.1
        while True:
            left = end - time.monotonic()
            try:
                if self._send_batch(max(left, 1.0)):
                    pause = 0.1
                    continue
                return 0
            except (OSError, ValueError) as error:
                # Nobody answers, or something that is no Hansard server.
                if left <= pause:
                    print(f"hansard: {error}; what was recorded waits in {self.file}", file=sys.stderr)
                    return self._waiting()
            time.sleep(pause)
            pause = min(pause * 2, 5.0)

    def _open(self):
        """The spool, which only this process writes until it is closed."""
        spool = os.fdopen(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        fcntl.flock(spool, fcntl.LOCK_EX)
        return spool

    def _waiting(self):
        with self._open() as spool:
            spool.seek(self._sent())
            return sum(1 for line in spool if line.strip())

    def _sent(self):
        """How much of the spool the server has acknowledged."""
        try:
            return min(int(self.mark.read_text()), self.file.stat().st_size)
        except (FileNotFoundError, ValueError):
            return 0

    def _send_batch(self, timeout):
        """False where nothing waits. Lines count as sent once the server has acknowledged them."""
        with self._open() as spool:
            start = self._sent()
            spool.seek(start)
            lines = list(itertools.islice(spool, BATCH))
        if not lines:
            return False
        whole = [line.decode() for line in lines if is_entry(line)]
        if whole:
            self._send(whole, timeout)
        batch = b"".join(lines)
        with self._open() as spool:
            spool.seek(start)
            # Another process may have sent the same meanwhile.
            if self._sent() == start and spool.read(len(batch)) == batch:
                self._note_sent(spool, start + len(batch))
        return True

    def _note_sent(self, spool, end):
        # A process that is killed in between sends lines twice, and the server takes them once.
        if end < self.file.stat().st_size:
            new = self.mark.with_suffix(f".{os.getpid()}")
            new.write_text(str(end))
            os.replace(new, self.mark)
        else:
            self.mark.unlink(missing_ok=True)
            spool.truncate(0)

    def _send(self, lines, timeout):
        try:
            answer = ask("/entries", "".join(lines), timeout)
            if len(answer.get("entries", [])) != len(lines):
                raise ValueError(f"{URL} is no Hansard server")
        except urllib.error.HTTPError as error:
            reason = reason_in(error)
            if error.code not in REFUSED or reason is None:
                raise
            # One of them is refused for good: the others go without it.
            if len(lines) > 1:
                for line in lines:
                    self._send([line], timeout)
            else:
                print(f"hansard: refused: {reason}", file=sys.stderr)


def reason_in(error):
    """What a Hansard server says about an entry; None where something else answered."""
    try:
        said = json.load(error)["error"]
        return None if said["code"] == "route_not_found" else f"{said['code']}: {said['message']}"
    except (ValueError, KeyError, TypeError):
        return None


def is_entry(line):
    """Whether a line was written whole."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


if __name__ == "__main__":
    question = sys.argv[1] if len(sys.argv) > 1 else "Why is the sky blue?"
    session = "example:python"
    labels = {"session_id": session, "project": "examples"}
    recorder = Recorder()
    recorder.record("message", role="user", content=question, **labels)
    recorder.record("message", role="assistant", content=f"You said: {question}", **labels)
    if recorder.deliver() == 0:
        history = ask(f"/sessions/{urllib.parse.quote(session, safe='')}/history")
        for said in history["messages"][-2:]:
            print(f"{said['role']}: {said['content']}")
