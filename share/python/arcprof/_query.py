# SPDX-License-Identifier: MIT
"""
Asks the program arcprof ("arcprof query") for rows of its tables, by SQL. arcprof-query(1) describes the tables.
"""
import json
import math
import os
import re
import subprocess
import tempfile

from ._file import Error

__all__ = ["Query"]

TABLES = ("functions", "nodes", "xprof", "arcs", "samples", "stacks", "frames", "calls", "events", "dispatches",
          "processes", "threads", "modules", "metrics", "labels")


def _literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    raise TypeError("a parameter is a finite number, text without NUL, or None, not %r" % (value,))


def _bind(sql, params):
    """The SQL with each ? that is not in quotes or a comment replaced."""
    params = list(params)
    nr = len(params)

    def put(match):
        if match[0] != "?":
            return match[0]
        if not params:
            raise ValueError("there are more than %d places for parameters" % nr)
        return _literal(params.pop(0))

    out = re.sub(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\?", put, sql, flags=re.DOTALL)
    if params:
        raise ValueError("%d of %d parameters have no place" % (len(params), nr))
    return out


class Query:
    """
    A trace, through the program arcprof. options are those of "arcprof query" about the model: metric="cpu,wall", samples=True,
    calibrate=False, from_="1s". program is the arcprof to run.
    """

    def __init__(self, path="arcprof.data", program=None, **options):
        self.path = os.fspath(path)
        self._command = [program or os.environ.get("ARCPROF", "arcprof"), "query", "--quiet", "--input", self.path,
                         "--format", "json", "--sql", "-"]
        for name, value in options.items():
            option = "--" + ("no-" if value is False else "") + name.rstrip("_").replace("_", "-")
            self._command.append(option if isinstance(value, bool) else "%s=%s" % (option, value))

    def query(self, sql, params=()):
        """The rows of a query one by one, as dicts; each ? in it stands for a parameter."""
        sql = _bind(sql, params)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
            given.write(sql.encode())
            given.seek(0)
            with subprocess.Popen(self._command, stdin=given, stdout=subprocess.PIPE, stderr=said) as child:
                try:
                    yield from self._rows(child.stdout)
                except GeneratorExit:		# the caller has seen enough
                    child.kill()
                    raise
            if child.returncode:
                said.seek(0)
                raise Error(said.read().decode(errors="replace").strip(), child.returncode)

    @staticmethod
    def _rows(lines):
        """A row is a line; memory does not depend on how many there are."""
        for line in lines:
            if line.startswith(b'"rows":['):
                break
        for line in lines:
            if not line.startswith(b"{"):
                break
            line = line.rstrip(b"\n")
            last = line.endswith(b"],")
            yield json.loads(line[:-2] if last else line[:-1])
            if last:
                break
        for line in lines:
            pass

    def rows(self, table, where=None, params=(), order=None):
        """Rows of a table, those that a condition selects, in an order."""
        if table not in TABLES:
            raise ValueError("no such table: %r" % (table,))
        sql = "SELECT * FROM " + table
        if where:
            sql += " WHERE " + where
        if order:
            sql += " ORDER BY " + order
        return self.query(sql, params)

    def stack(self, number, frames=None):
        """
        The functions of a stack (samples.stack), outermost first, as rows of frames. frames is a dict that
        keeps what was read, for many stacks.
        """
        known = frames if frames is not None else {}
        if not known:
            known["stacks"] = {r["id"]: (r["parent"], r["frame"]) for r in self.rows("stacks")}
            levels = known["frames"] = {}
            for row in self.rows("frames", order="id, level"):
                levels.setdefault(row["id"], []).append(row)
        chain = []
        while number:
            number, frame = known["stacks"][number]
            chain.append(frame)
        return [level for frame in reversed(chain) for level in known["frames"].get(frame, [])]


def _add(table):
    def method(self, where=None, params=(), order=None):
        return self.rows(table, where, params, order)
    method.__name__ = table
    method.__doc__ = "Rows of the table %s." % table
    setattr(Query, table, method)


for _table in TABLES:
    _add(_table)
