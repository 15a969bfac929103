# SPDX-License-Identifier: MIT
"""
A plugin of pytest that records tests by "arcprof record" and holds budgets; arcprof-python(3) describes it.

    pytest -p arcprof.pytest --arcprof-budget shop.limits
"""
import os
import re
import shlex
import subprocess

import pytest

_BEGUN = "arcprof record: recording "
_RUN = pytest.StashKey()	# lines about the recording of the run
_OVER = pytest.StashKey()	# of a test: why it fails, or None


class _Failure(Exception):
    """What arcprof says when it cannot do what it was asked."""


def _arcprof(*arguments):
    return [os.environ.get("ARCPROF", "arcprof"), *arguments]


class _Recording:
    """A recording of this process, from here to end(), by a recorder that attaches to it."""

    def __init__(self, trace, options):
        if {"-q", "--quiet"} & set(options):
            raise _Failure("--quiet is no option here: arcprof must say when it records")
        self.trace = trace
        try:
            self._recorder = subprocess.Popen(_arcprof("record", "-p", str(os.getpid()), "-o", trace, *options),
                                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, text=True, errors="replace")
        except OSError as e:
            raise _Failure("arcprof cannot be started: %s" % e) from None
        self._said = ""
        for line in self._recorder.stdout:
            self._said += line
            if line.startswith(_BEGUN):
                return
        self._recorder.wait()
        raise _Failure("arcprof does not record:\n" + self._said)

    def end(self):
        self._recorder.terminate()	# it writes the rest
        self._said += self._recorder.stdout.read()
        if self._recorder.wait():
            raise _Failure("arcprof record failed:\n" + self._said)


def _hold(limits, trace):
    """What is violated; None: nothing."""
    done = subprocess.run(_arcprof("budget", "-f", limits, trace), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode == 1:
        return "over budget (%s):\n%s" % (trace, done.stdout)
    return done.stdout if done.returncode else None


def _end_and_hold(recording, limits):
    """Why it fails; None: it does not."""
    try:
        recording.end()
    except _Failure as e:
        return str(e)
    return _hold(limits, recording.trace) if limits else None


def _path(config, path):
    """Tests may change the working folder."""
    return os.path.join(config.invocation_params.dir, path)


def pytest_addoption(parser):
    group = parser.getgroup("arcprof", "recording by arcprof")
    group.addoption("--arcprof", action="store_true", help="record the run of the tests")
    group.addoption("--arcprof-budget", metavar="FILE",
                    help="check that recording against the limits in FILE; implies --arcprof")
    group.addoption("--arcprof-options", metavar="OPTIONS", default="",
                    help="further options of arcprof record, such as '-e cpu,wall'")
    group.addoption("--arcprof-output", metavar="FILE", default="arcprof-pytest.data",
                    help="where the recording goes (default: %(default)s)")


def pytest_configure(config):
    config.addinivalue_line("markers", "arcprof(limits, *options): record this test alone, with these options of arcprof "
                            "record, and check it against the limits in that file; None: there are none")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtestloop(session):
    config = session.config
    limits = config.getoption("--arcprof-budget")
    if config.option.collectonly or not (limits or config.getoption("--arcprof")):
        yield
        return
    if config.getoption("dist", "no") != "no":
        raise pytest.UsageError("--arcprof records one process, and the tests run in several (-n)")
    try:
        recording = _Recording(_path(config, config.getoption("--arcprof-output")),
                               shlex.split(config.getoption("--arcprof-options")))
    except _Failure as e:
        raise pytest.UsageError(str(e)) from None
    yield
    why = _end_and_hold(recording, limits and _path(config, limits))
    if why:
        session.testsfailed += 1
    config.stash[_RUN] = why or "recorded: " + recording.trace


def pytest_terminal_summary(terminalreporter, config):
    text = config.stash.get(_RUN, None)
    if text:
        terminalreporter.section("arcprof")
        for line in text.rstrip().split("\n"):
            terminalreporter.write_line(line)


def _trace_of(item):
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", item.nodeid).strip("_")
    return _path(item.config, "arcprof-%s.data" % name)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("arcprof")
    if not marker:
        yield
        return
    limits, *options = marker.args or [None]
    try:
        recording = _Recording(_trace_of(item), options)
    except _Failure as e:
        pytest.fail(str(e), pytrace=False)
    yield
    item.stash[_OVER] = _end_and_hold(recording, limits and _path(item.config, limits))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    over = item.stash.get(_OVER, None) if call.when == "call" else None
    if over and report.passed:
        report.outcome = "failed"
        report.longrepr = over
