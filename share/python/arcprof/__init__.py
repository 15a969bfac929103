# SPDX-License-Identifier: MIT
"""
arcprof - reads traces of the profiler arcprof: contexts, functions, samples and stacks.

    import arcprof

    trace = arcprof.Trace("arcprof.data")
    for node in trace.nodes():
        print("  " * node.level, node.name, node.cum[0])

Trace reads the file itself and needs nothing but Python; names and numbers are those of "arcprof report".
Query asks the program arcprof by SQL. arcprof-python(3) describes both.
"""
from ._file import Error
from ._query import Query
from ._trace import Frame, Function, Metric, Node, Process, Sample, Source, Stack, Thread, Trace

__all__ = ["Error", "Frame", "Function", "Metric", "Node", "Process", "Query", "Sample", "Source", "Stack", "Thread",
           "Trace"]
