# SPDX-License-Identifier: MIT
"""A trace as a table of HTML, which notebooks show."""
from html import escape

from ._tables import K_PROCESS, K_THREAD, KINDS

MOST_ROWS = 20
NOT_FUNCTIONS = KINDS[K_PROCESS], KINDS[K_THREAD]


def amount(value, unit):
    """As text reports have it: times in milliseconds."""
    return "%.1f ms" % (value / 1e6) if unit == "ns" else "{:,} {}".format(value, unit)


def plain(text):
    """Text that somebody else gave, for HTML: what is no printable character is an escape."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def share(value, total):
    return "%.1f&nbsp;%%" % (100 * value / total if total else 0)


def cell(text, style=""):
    return '<td style="text-align: right%s">%s</td>' % (style, text)


def row(function, metric):
    base, cum = function.base[0], function.cum[0]
    width = 100 * base / metric.total if metric.total else 0
    bar = "; background: linear-gradient(to left, #f4b183 %.1f%%, transparent 0)" % width
    return "<tr>%s%s%s<td style=\"text-align: left\">%s</td></tr>" % (
        cell(escape(amount(base, metric.unit))), cell(share(base, metric.total), bar), cell(share(cum, metric.total)),
        plain(function.name))


def table(trace):
    """The functions that consume most of the first metric by themselves."""
    metric = trace.metrics[0]
    functions = [f for f in trace.functions() if f.kind not in NOT_FUNCTIONS]
    functions.sort(key=lambda f: (-f.base[0], f.name))
    shown = [f for f in functions[:MOST_ROWS] if f.base[0]]
    title = "%s: %s of %s" % (trace.path, amount(metric.total, metric.unit), metric.name)
    rest = len(functions) - len(shown)
    return ("<table><caption>%s</caption><tr><th>Self</th><th>%%Self</th><th>%%Cum</th><th>Function</th></tr>%s</table>"
            "%s%s") % (
        plain(title), "".join(row(f, metric) for f in shown),
        "<p>%d more functions</p>" % rest if rest else "",
        "<p>Damaged: %s</p>" % plain(trace.damaged) if trace.damaged else "")
