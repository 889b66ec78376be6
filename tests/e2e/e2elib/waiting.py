"""Waits for conditions, never for time."""
import time


def eventually(what, look, seconds=60, nap=0.2):
    """Calls look() until it returns (true, seen); returns `seen`. After the deadline it fails, and says what was seen last.

    `seen` may be a function that tells it: what costs several requests is asked for once, at the end. A look that raises an AssertionError has not seen it yet; anything else that is raised is a failure of the test.
    """
    begun, seen = time.monotonic(), None
    while True:
        try:
            done, seen = look()
        except AssertionError as not_yet:
            done, seen = False, str(not_yet)
        if done:
            return seen
        if time.monotonic() - begun > seconds:
            raise AssertionError(f"{what}: not within {seconds} s; seen last: {seen() if callable(seen) else seen}")
        time.sleep(nap)


class Stopwatch:
    """Notes how long things took, for the report at the end."""
    notes = []

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.begun = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.notes.append((self.what, time.monotonic() - self.begun))
