"""What is made once for each key."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Keeps the `most` values that were asked for last. Any thread; while one value is made, others are found and made."""

    def __init__(self, most: int):
        self._most = most
        self._lock = threading.Lock()
        self._entries: collections.OrderedDict[Hashable, _Entry[Value]] = collections.OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The key's value. Threads that ask for one key at a time get one value; one that could not be made is tried again."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            dropped = self._entries.popitem(last=False) if len(self._entries) > self._most else None  # noqa: F841  it ends outside of the lock
        with entry.lock:
            if entry.value is None:
                entry.value = make()
            return entry.value


class _Entry(Generic[Value]):
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Value | None = None
