# Tests for the plugin of pytest: one is over its budget.
import time

import pytest


def consume(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.arcprof("wide.limits", "-F", "1000")
def test_within():
    consume(0.1)


@pytest.mark.arcprof("narrow.limits", "-F", "1000")
def test_over():
    consume(0.1)


def test_plain():
    consume(0.05)
