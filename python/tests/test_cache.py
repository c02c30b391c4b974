"""What is made once for each key."""

import threading

import pytest
from cupola._cache import Cache


def test_a_value_is_made_once():
    cache, made = Cache(4), []
    for key in "abab":
        assert cache.get(key, lambda: made.append(key) or len(made)) == "ab".index(key) + 1
    assert made == ["a", "b"]


def test_what_was_asked_for_last_stays():
    cache, made = Cache(2), []
    for key in "abacab":
        cache.get(key, lambda: made.append(key) or key)
    assert "".join(made) == "abcb"


def test_what_could_not_be_made_is_tried_again():
    cache = Cache(4)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 / 0)
    assert cache.get("a", lambda: 5) == 5


def test_while_one_is_made_others_are():
    cache, begun, go = Cache(4), threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go.wait(60)
        return "slow"

    threads = [threading.Thread(target=cache.get, args=("a", slow)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    assert cache.get("b", lambda: "quick") == "quick"
    assert all(thread.is_alive() for thread in threads)
    go.set()
    for thread in threads:
        thread.join(60)
    assert cache.get("a", lambda: "another") == "slow"
