# SPDX-License-Identifier: MIT
"""
C++ and Rust names from those of the linker. C++ (the Itanium ABI) is written as the GNU compiler's own library
writes it. What cannot be read stays as it is. Names come from files: their steps and their output are bounded.
"""
import re

OUTPUT_MAX = 1 << 16
STEPS_MAX = 1 << 17

BUILTIN = {
    "a": "signed char", "b": "bool", "c": "char", "d": "double", "e": "long double", "f": "float", "g": "__float128",
    "h": "unsigned char", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "n": "__int128",
    "o": "unsigned __int128", "s": "short", "t": "unsigned short", "v": "void", "w": "wchar_t", "x": "long long",
    "y": "unsigned long long", "z": "...",
}
BUILTIN_D = {"a": "auto", "c": "decltype(auto)", "d": "decimal64", "e": "decimal128", "f": "decimal32", "h": "half",
             "i": "char32_t", "n": "decltype(nullptr)", "s": "char16_t", "u": "char8_t"}
LITERAL_SUFFIX = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
STANDARD = {"t": "std", "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
            "o": "std::ostream", "d": "std::iostream"}
STANDARD_LAST = {"a": "allocator", "b": "basic_string", "s": "basic_string", "i": "basic_istream",
                 "o": "basic_ostream", "d": "basic_iostream"}
STANDARD_FULL = {
    "s": "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    "i": "std::basic_istream<char, std::char_traits<char> >",
    "o": "std::basic_ostream<char, std::char_traits<char> >",
    "d": "std::basic_iostream<char, std::char_traits<char> >",
}
OPERATORS = {	# name, operands
    "aN": ("&=", 2), "aS": ("=", 2), "aa": ("&&", 2), "ad": ("&", 1), "an": ("&", 2), "at": ("alignof ", 1),
    "aw": ("co_await ", 1), "az": ("alignof ", 1), "cc": ("const_cast", 2), "cl": ("()", 2), "cm": (",", 2),
    "co": ("~", 1), "dV": ("/=", 2), "dX": ("[...]=", 3), "da": ("delete[] ", 1), "dc": ("dynamic_cast", 2),
    "de": ("*", 1), "di": ("=", 2), "dl": ("delete ", 1), "ds": (".*", 2), "dt": (".", 2), "dv": ("/", 2),
    "dx": ("]=", 2), "eO": ("^=", 2), "eo": ("^", 2), "eq": ("==", 2), "ge": (">=", 2), "gs": ("::", 1),
    "gt": (">", 2), "ix": ("[]", 2), "lS": ("<<=", 2), "le": ("<=", 2), "li": ('operator"" ', 1), "ls": ("<<", 2),
    "lt": ("<", 2), "mI": ("-=", 2), "mL": ("*=", 2), "mi": ("-", 2), "ml": ("*", 2), "mm": ("--", 1),
    "na": ("new[]", 3), "ne": ("!=", 2), "ng": ("-", 1), "nt": ("!", 1), "nw": ("new", 3), "oR": ("|=", 2),
    "oo": ("||", 2), "or": ("|", 2), "pL": ("+=", 2), "pl": ("+", 2), "pm": ("->*", 2), "pp": ("++", 1),
    "ps": ("+", 1), "pt": ("->", 2), "qu": ("?", 3), "rM": ("%=", 2), "rS": (">>=", 2), "rc": ("reinterpret_cast", 2),
    "rm": ("%", 2), "rs": (">>", 2), "sP": ("sizeof...", 1), "sZ": ("sizeof...", 1), "sc": ("static_cast", 2),
    "ss": ("<=>", 2), "st": ("sizeof ", 1), "sz": ("sizeof ", 1), "tr": ("throw", 0), "tw": ("throw ", 1),
}
SPECIAL = {
    "TV": "vtable for ", "TT": "VTT for ", "TI": "typeinfo for ", "TS": "typeinfo name for ",
}
NUMBER = re.compile(r"\d+")


class Stop(Exception):
    pass


class Name:
    """
    Parses a mangled name into tuples whose first element says what they are, and prints these:

        ("name", text)  ("in", scope, name)  ("args", template, [arguments])  ("param", number)
        ("ptr", "*", type)  ("cv", " const", type)  ("fn", result, [parameters], qualifiers)  ("array", size, type)
        ("member", class, type)  ("pack", [arguments])  ("encoding", name, function)  and a few more
    """

    def __init__(self, text):
        self.text, self.at, self.subs, self.steps = text, 0, [], 0
        self.last = None		# the last plain name, for constructors
        self.templates = []		# of those around what is being printed

    def step(self):
        self.steps += 1
        if self.steps > STEPS_MAX:
            raise Stop

    # ---- reading ----

    def peek(self, n=1):
        return self.text[self.at:self.at + n]

    def take(self, what):
        if self.text.startswith(what, self.at):
            self.at += len(what)
            return True
        return False

    def need(self, what):
        if not self.take(what):
            raise Stop

    def number(self):
        m = NUMBER.match(self.text, self.at)
        if not m or m.end() - self.at > 9:
            raise Stop
        self.at = m.end()
        return int(m[0])

    def seq(self):
        """Base 36 and "_": 0 is nothing but "_"."""
        if self.take("_"):
            return 0
        v, n = 0, 0
        while not self.take("_"):
            c = self.peek()
            if not c or n > 6:
                raise Stop
            v, n = v * 36 + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(c) if c in \
                "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" else self.fail(), n + 1
            self.at += 1
        return v + 1

    def compact(self):
        """A number and "_": 0 is nothing but "_"."""
        if self.take("_"):
            return 0
        v = self.number()
        self.need("_")
        return v + 1

    def fail(self):
        raise Stop

    def sub(self, x):
        self.subs.append(x)
        return x

    def source_name(self):
        n = self.number()
        s = self.peek(n)
        if not n or len(s) < n:
            raise Stop
        self.at += n
        if re.match(r"_GLOBAL_[._$]N", s):
            s = "(anonymous namespace)"
        self.last = ("name", s)
        return self.last

    def mangled(self):
        self.need("_Z")
        x = self.encoding()
        while self.peek() == "." and re.match(r"\.[a-z_]|\.\d", self.text[self.at:]):
            m = re.match(r"\.[a-z_][a-z_]*(\.\d+)*|\.\d+(\.\d+)*", self.text[self.at:], re.I)
            x = ("clone", x, m[0])
            self.at += m.end()
        if self.at != len(self.text):
            raise Stop
        return x

    def encoding(self):
        c = self.peek()
        if c in ("G", "T"):
            return self.special()
        name = self.name()
        if self.peek() in ("", "E"):
            # cv-qualifiers of a member function are no part of a data name
            while name[0] == "method":
                name = name[1]
            return name
        qualifiers = ""
        if name[0] == "method":
            _, name, qualifiers = name
        has_result = self.has_result(name)
        result = self.type() if has_result else None
        return ("encoding", name, ("fn", result, self.parameters(), qualifiers))

    def has_result(self, name):
        """Templates have one, but for constructors, destructors and conversions."""
        while name[0] in ("in", "local"):
            name = name[2]
        if name[0] in ("method", "tagged"):
            return self.has_result(name[1])
        if name[0] != "args":
            return False
        name = name[1]
        while name[0] in ("in", "local", "tagged"):
            name = name[1] if name[0] == "tagged" else name[2]
        return name[0] not in ("ctor", "dtor", "conversion")

    def parameters(self):
        out = []
        while self.peek() not in ("", "E", ".", "Q") and not (self.peek() in "RO" and self.peek(2)[1:] == "E"):
            out.append(self.type())
        if not out:
            raise Stop
        if out == [("name", "void")]:
            return []
        return out

    def special(self):
        two = self.peek(2)
        self.at += 2
        if two in SPECIAL:
            return ("special", SPECIAL[two], self.type())
        if two in ("Th", "Tv"):
            self.at -= 1
            self.call_offset()
            return ("special", "non-virtual thunk to " if two == "Th" else "virtual thunk to ", self.encoding())
        if two == "Tc":
            self.call_offset()
            self.call_offset()
            return ("special", "covariant return thunk to ", self.encoding())
        if two == "TC":
            derived = self.type()
            self.number()
            self.need("_")
            return ("vtable-in", self.type(), derived)
        if two == "TH":
            return ("special", "TLS init function for ", self.name())
        if two == "TW":
            return ("special", "TLS wrapper function for ", self.name())
        if two == "GV":
            return ("special", "guard variable for ", self.name())
        if two == "GR":
            x = self.name()
            return ("temporary", x, self.number() if self.peek().isdigit() else 0)
        if two == "GA":
            return ("special", "hidden alias for ", self.encoding())
        if two in ("GT",):
            kind = self.peek()
            self.at += 1
            return ("special", "non-transaction clone for " if kind == "n" else "transaction clone for ",
                    self.encoding())
        raise Stop

    def call_offset(self):
        c = self.peek()
        self.at += 1
        self.take("n")
        self.number()
        self.need("_")
        if c == "v":
            self.take("n")
            self.number()
            self.need("_")
        elif c != "h":
            raise Stop

    # ---- names ----

    def name(self):
        self.step()
        c = self.peek()
        if c == "N":
            return self.nested()
        if c == "Z":
            return self.local()
        if c == "S" and self.peek(2) != "St":
            x = self.substitution(False)
            if self.peek() != "I":
                return x
            return ("args", x, self.template_args())
        if c == "U":
            x = self.unqualified(None)
        elif self.take("St"):
            x = ("in", ("name", "std"), self.unqualified(None))
        else:
            x = self.unqualified(None)
        if self.peek() == "I":
            self.sub(x)
            x = ("args", x, self.template_args())
        return x

    def nested(self):
        self.need("N")
        qualifiers = ""
        while self.peek() in ("r", "V", "K"):
            qualifiers += {"r": " __restrict", "V": " volatile", "K": " const"}[self.peek()]
            self.at += 1
        # printed in the order of C++: const volatile
        qualifiers = "".join(q for q in (" const", " volatile", " __restrict") if q in qualifiers) if qualifiers.count(
            " ") > 1 else qualifiers
        if self.take("R"):
            qualifiers += " &"
        elif self.take("O"):
            qualifiers += " &&"
        x = self.prefix()
        self.need("E")
        return ("method", x, qualifiers) if qualifiers else x

    def prefix(self):
        x = None
        while True:
            self.step()
            c = self.peek()
            if not c:
                raise Stop
            if c == "E":
                if x is None:
                    raise Stop
                return x
            if self.peek(2) in ("Dt", "DT"):
                part = self.type()
                x = part
                continue
            if c == "S" and x is None:
                x = self.substitution(True)
                continue
            if c == "I":
                if x is None:
                    raise Stop
                x = ("args", x, self.template_args())
            elif c == "T" and x is None:
                x = self.template_param_plain()
            elif c == "M":		# a lambda in a member's initializer
                self.at += 1
                continue
            else:
                part = self.unqualified(x)
                x = part if x is None else ("in", x, part)
            if self.peek() != "E":
                self.sub(x)

    def unqualified(self, scope):
        is_local = self.take("L")
        c = self.peek()
        if c.isdigit():
            x = self.source_name()
            if is_local:
                self.discriminator()
        elif c.islower():
            x = self.operator_name()
        elif c == "D" and self.peek(2) == "DC":
            self.at += 2
            names = []
            while not self.take("E"):
                names.append(self.source_name()[1])
            x = ("name", "[%s]" % ", ".join(names))
        elif c in "CD" and c:
            x = self.structor()
        elif c == "U":
            x = self.unnamed()
        else:
            raise Stop
        while self.take("B"):
            keep = self.last
            x = ("tagged", x, self.source_name()[1])
            self.last = keep
        return x

    def structor(self):
        kind = self.peek(2)
        if not self.last:
            raise Stop
        if re.match(r"C[12345]", kind):
            self.at += 2
            return ("ctor", self.last)
        if re.match(r"CI[12]", self.peek(3)):
            self.at += 3
            self.type()
            return ("ctor", self.last)
        if re.match(r"D[01245]", kind):
            self.at += 2
            return ("dtor", self.last)
        raise Stop

    def unnamed(self):
        if self.take("Ut"):
            x = ("name", "{unnamed type#%d}" % (self.compact() + 1))
            return self.sub(x)
        if self.take("Ul"):
            parameters = []
            while not self.take("E"):
                parameters.append(self.type())
            if parameters == [("name", "void")]:
                parameters = []
            return ("lambda", parameters, self.compact() + 1)
        raise Stop

    def operator_name(self):
        code = self.peek(2)
        if code[:1] == "v" and code[1:].isdigit():
            self.at += 2
            return ("operator", self.source_name()[1])
        if code == "cv":
            self.at += 2
            return ("conversion", self.type())
        if code == "li":
            self.at += 2
            return ("name", 'operator"" ' + self.source_name()[1])
        if code not in OPERATORS:
            raise Stop
        self.at += 2
        return ("operator", OPERATORS[code][0])

    def local(self):
        self.need("Z")
        function = self.encoding()
        if function[0] == "encoding":	# without its result
            function = ("encoding", function[1], ("fn", None) + function[2][2:])
        self.need("E")
        if self.take("s"):
            self.discriminator()
            return ("local", function, ("name", "string literal"))
        number = None
        if self.take("d"):
            number = self.compact()
        name = self.name()
        if name[0] not in ("lambda",) and number is None:
            self.discriminator()
        if number is not None:
            name = ("default-argument", name, number + 1)
        if name[0] == "method":
            return ("method", ("local", function, name[1]), name[2])
        return ("local", function, name)

    def discriminator(self):
        if not self.take("_"):
            return
        many = self.take("_")
        n = self.number() if self.peek().isdigit() else 0
        if many and n >= 10:
            self.need("_")

    def substitution(self, is_prefix):
        self.need("S")
        c = self.peek()
        if c == "_" or c.isdigit() or (c.isupper() and c):
            n = self.seq()
            if n >= len(self.subs):
                raise Stop
            return self.subs[n]
        if c not in STANDARD or not c:
            raise Stop
        self.at += 1
        text = STANDARD[c]
        if is_prefix and self.peek() in ("C", "D"):
            text = STANDARD_FULL.get(c, text)
        if c in STANDARD_LAST:
            self.last = ("name", STANDARD_LAST[c])
        x = ("name", text)
        if self.peek() == "B":
            while self.take("B"):
                keep = self.last
                x = ("tagged", x, self.source_name()[1])
                self.last = keep
            self.sub(x)
        return x

    def template_param(self):
        return self.sub(self.template_param_plain())

    def template_args(self):
        if not (self.take("I") or self.take("J")):
            raise Stop
        keep = self.last
        out = []
        while not self.take("E"):
            out.append(self.template_arg())
        self.last = keep
        return out

    def template_arg(self):
        self.step()
        c = self.peek()
        if c == "X":
            self.at += 1
            x = self.expression()
            self.need("E")
            return x
        if c == "L":
            return self.literal()
        if c in ("I", "J"):
            return ("pack", self.template_args())
        return self.type()

    # ---- types ----

    def type(self):
        self.step()
        c = self.peek()
        if not c:
            raise Stop
        if c in "rVK":
            return self.qualified_type()
        if c in BUILTIN:
            self.at += 1
            return ("name", BUILTIN[c])
        if c == "u":
            self.at += 1
            return self.sub(self.source_name())
        if c == "F":
            return self.sub(self.function_type())
        if c.isdigit() or c in "NZ":
            x = self.name()
            return self.sub(x)
        if c == "A":
            return self.sub(self.array_type())
        if c == "M":
            self.at += 1
            of = self.type()
            return self.sub(("member", of, self.type()))
        if c == "T":
            if self.peek(2) in ("Ts", "Tu", "Te"):
                self.at += 2
                return self.sub(self.name())
            x = self.template_param()
            if self.peek() == "I":
                x = self.sub(("args", x, self.template_args()))
            return x
        if c == "S":
            return self.type_of_substitution()
        if c in "PRO":
            self.at += 1
            return self.sub(("ptr", {"P": "*", "R": "&", "O": "&&"}[c], self.type()))
        if c in "CG":
            self.at += 1
            return self.sub(("cv", " _Complex" if c == "C" else " _Imaginary", self.type()))
        if c == "U":
            self.at += 1
            name = self.source_name()
            args = self.template_args() if self.peek() == "I" else None
            name = ("args", name, args) if args is not None else name
            return self.sub(("vendor", name, self.type()))
        if c == "D":
            return self.type_d()
        raise Stop

    def qualified_type(self):
        qualifiers = []
        while self.peek() in ("r", "V", "K"):
            qualifiers.append({"r": " __restrict", "V": " volatile", "K": " const"}[self.peek()])
            self.at += 1
        x = self.function_type() if self.peek() == "F" or re.match(r"D[xoOw]", self.peek(2)) else self.type()
        if x[0] == "fn":
            return self.sub(("fn", x[1], x[2], "".join(reversed(qualifiers)) + x[3]))
        for q in reversed(qualifiers):
            x = ("cv", q, x)
        return self.sub(x)

    def function_type(self):
        qualifiers = ""
        if self.take("Do"):
            qualifiers = " noexcept"
        elif self.take("DO"):
            qualifiers = " noexcept(" + self.show(self.expression()) + ")"
            self.need("E")
        self.take("Dx")
        self.need("F")
        self.take("Y")
        result = self.type()
        parameters = self.parameters()
        if self.take("R"):
            qualifiers = " &" + qualifiers
        elif self.take("O"):
            qualifiers = " &&" + qualifiers
        self.need("E")
        return ("fn", result, parameters, qualifiers)

    def array_type(self):
        self.need("A")
        if self.take("_"):
            return ("array", "", self.type())
        if self.peek().isdigit():
            size = str(self.number())
        else:
            size = self.expression()
        self.need("_")
        return ("array", size, self.type())

    def type_of_substitution(self):
        c = self.peek(2)[1:]
        if c == "_" or c.isdigit() or c.isupper():
            x = self.substitution(False)
            if self.peek() != "I":
                return x
            return self.sub(("args", x, self.template_args()))
        x = self.name()
        # what is nothing but a standard abbreviation is none
        return x if x[0] == "name" else self.sub(x)

    def type_d(self):
        c = self.peek(2)[1:]
        self.at += 2
        if c in ("T", "t"):
            x = ("decltype", self.expression())
            self.need("E")
            return self.sub(x)
        if c == "p":
            return self.sub(("expand", self.type()))
        if c in ("o", "O", "x", "w"):
            self.at -= 2
            return self.sub(self.function_type())
        if c == "v":
            if self.take("_"):
                size = self.show(self.expression())
            else:
                size = str(self.number())
            self.need("_")
            return self.sub(("vector", size, self.type()))
        if c == "F":
            n = self.number()
            if n == 16 and self.take("b"):
                return ("name", "std::bfloat16_t")
            if self.take("x"):
                return ("name", "_Float%dx" % n)
            self.need("_")
            return ("name", "_Float%d" % n)
        if c in BUILTIN_D and c:
            x = ("name", BUILTIN_D[c])
            return x
        raise Stop

    # ---- expressions ----

    def literal(self):
        self.need("L")
        if self.take("_Z") or self.take("Z"):
            x = self.encoding()
            self.need("E")
            return x
        if self.peek() == "D" and self.peek(3) in ("DnE", "Dn0"):
            self.at += 2
            self.take("0")
            self.need("E")
            return ("literal", ("name", "decltype(nullptr)"), "", "")
        code = self.peek()
        of = self.type()
        end = self.text.find("E", self.at)
        if end < 0:
            raise Stop
        value, sign = self.text[self.at:end], ""
        self.at = end + 1
        if value[:1] == "n":
            sign, value = "-", value[1:]
        return ("literal", of, sign + value, code if code in LITERAL_SUFFIX or code == "b" else "")

    def expression(self):
        self.step()
        c = self.peek()
        if c == "L":
            return self.literal()
        if c == "T":
            return self.template_param_plain()
        two = self.peek(2)
        if two == "fp" or two == "fL":
            return self.function_param()
        if two == "sr":
            self.at += 2
            return self.unresolved()
        if two == "sp":
            self.at += 2
            return ("expand", self.expression())
        if two in ("il", "tl"):
            self.at += 2
            of = self.type() if two == "tl" else None
            return ("braces", of, self.expressions("E"))
        if two == "on":
            self.at += 2
            x = self.unqualified(None)
            return ("args", x, self.template_args()) if self.peek() == "I" else x
        if c.isdigit():
            x = self.unqualified(None)
            return ("args", x, self.template_args()) if self.peek() == "I" else x
        return self.operation(two)

    def unresolved(self):
        """A name in a scope: levels, E and a name; or a type and a name."""
        start, nr_subs = self.at, len(self.subs)
        if self.peek().isdigit():
            scope = self.level()
            while self.peek().isdigit():
                scope = ("in", scope, self.level())
            if self.take("E") and (self.peek().isdigit() or self.peek(2) in ("on", "dn")):
                return ("in", scope, self.base())
            self.at = start
            del self.subs[nr_subs:]
        scope = self.type()
        return ("in", scope, self.base())

    def level(self):
        x = self.source_name()
        return ("args", x, self.template_args()) if self.peek() == "I" else x

    def base(self):
        if not self.take("on"):
            self.take("dn")
        x = self.unqualified(None)
        return ("args", x, self.template_args()) if self.peek() == "I" else x

    def template_param_plain(self):
        self.need("T")
        return ("param", self.compact())

    def function_param(self):
        if self.take("fpT"):
            return ("name", "this")
        self.need("fp")
        while self.peek() in ("r", "V", "K"):
            self.at += 1
        return ("name", "{parm#%d}" % (self.compact() + 1))

    def expressions(self, end):
        out = []
        while not self.take(end):
            out.append(self.expression())
        return out

    def operation(self, code):
        if code == "cv":
            self.at += 2
            of = self.type()
            if self.take("_"):
                return ("cast", of, self.expressions("E"))
            return ("cast", of, [self.expression()])
        if code not in OPERATORS:
            raise Stop
        self.at += 2
        text, nr = OPERATORS[code]
        if code in ("st", "ti", "at"):
            return ("unary", text, self.type())
        if code == "sZ":
            return ("sizeof-pack", self.expression())
        if code in ("pp", "mm") and not self.take("_"):
            return ("postfix", text, self.expression())
        if code == "cl":
            function = self.expression()
            return ("call", function, self.expressions("E"))
        if code in ("sc", "cc", "dc", "rc"):
            of = self.type()
            return ("named-cast", text, of, self.expression())
        if code in ("dt", "pt"):
            return ("access", text, self.expression(), self.expression())
        if nr == 0:
            return ("name", text)
        if nr == 1:
            return ("unary", text, self.expression())
        if nr == 2:
            return ("binary", text, self.expression(), self.expression())
        if code == "qu":
            return ("ternary", self.expression(), self.expression(), self.expression())
        raise Stop

    # ---- printing ----

    def limit(self, s):
        self.steps += 1 + (len(s) >> 6)
        if len(s) > OUTPUT_MAX or self.steps > STEPS_MAX:
            raise Stop
        return s

    def show(self, x):
        return self.limit(getattr(self, "p_" + x[0].replace("-", "_"))(x))

    def declare(self, x, inner):
        """A type, with what is declared to be of it between its parts."""
        kind = x[0]
        if kind in ("ptr", "cv", "member", "fn", "array", "param", "vendor", "expand"):
            return self.limit(getattr(self, "d_" + kind)(x, inner))
        return self.join(self.show(x), inner)

    @staticmethod
    def join(left, inner):
        if inner[:1] == "(" and left[-1:] not in ("(", "*", " ", ""):
            return left + " " + inner
        return left + inner

    def d_ptr(self, x, inner):
        _, text, of = x
        of, templates = self.resolved(of)
        hold, self.templates = self.templates, templates
        try:
            of = self.into_array(of)
            if of[0] == "ptr" and text != "*" and of[1] != "*":	# references collapse
                return self.declare(("ptr", "&" if "&" in (text, of[1]) else "&&", of[2]), inner)
            if of[0] in ("fn", "array"):
                return self.declare(of, "(" + self.join(text, inner) + ")")
            if inner[:1] == "(" and text[-1:] == "*" and not self.is_function(of):
                return self.declare(of, text + " " + inner)
            return self.declare(of, self.join(text, inner))
        finally:
            self.templates = hold

    def into_array(self, x):
        """A constant array is one of constant elements."""
        qualifiers, of = [], x
        while of[0] == "cv":
            qualifiers.append(of[1])
            of, templates = self.resolved(of[2])
            if of[0] == "array":
                self.templates = templates
                element = of[2]
                for q in reversed(qualifiers):
                    element = ("cv", q, element)
                return ("array", of[1], element)
        return x

    def is_function(self, x):
        """What is pointed to in the end."""
        hold = self.templates
        try:
            while x[0] in ("ptr", "cv", "param"):
                x, self.templates = (x[2], self.templates) if x[0] != "param" else self.resolved(x)
            return x[0] in ("fn", "array")
        finally:
            self.templates = hold

    def d_cv(self, x, inner):
        _, text, of = x
        of, templates = self.resolved(of)
        hold, self.templates = self.templates, templates
        try:
            if of[0] == "cv" and of[1] == text:
                return self.declare(of, inner)
            return self.declare(of, self.join(text, inner))
        finally:
            self.templates = hold

    def d_vendor(self, x, inner):
        return self.declare(x[2], self.join(" " + self.show(x[1]), inner))

    def d_member(self, x, inner):
        _, of, what = x
        text = self.show(of) + "::*"
        what, templates = self.resolved(what)
        hold, self.templates = self.templates, templates
        try:
            if what[0] in ("fn", "array"):
                return self.declare(what, "(" + self.join(text, inner) + ")")
            return self.declare(what, " " + self.join(text, inner))
        finally:
            self.templates = hold

    def d_fn(self, x, inner):
        _, result, parameters, qualifiers = x
        text = inner + "(" + self.list(parameters) + ")" + qualifiers
        if result is None:
            return text
        if inner[:1] in ("(", "") :
            return self.declare(result, text)
        return self.declare(result, " " + text)

    def d_array(self, x, inner):
        _, size, of = x
        size = size if isinstance(size, str) else self.show(size)
        if inner[:1] == "(":
            text = " " + inner + " [" + size + "]"
        elif inner[:2] == " [":
            text = " [" + size + "]" + inner[1:]
        else:
            text = (inner if inner else "") + " [" + size + "]"
        return self.declare(of, text)

    def d_param(self, x, inner):
        x, templates = self.resolved(x)
        hold, self.templates = self.templates, templates
        try:
            return self.declare(x, inner)
        finally:
            self.templates = hold

    def d_expand(self, x, inner):
        return self.p_expand(x) + inner

    def resolved(self, x):
        """What a template parameter stands for, and in which templates that is to be read."""
        templates = self.templates
        for _ in range(64):
            if x[0] != "param":
                return x, templates
            self.step()
            if self.in_lambda:
                return ("name", "auto:%d" % (x[1] + 1)), templates
            if not templates:
                raise Stop
            args = templates[-1]
            if x[1] >= len(args):
                raise Stop
            x, templates = args[x[1]], templates[:-1]
            if x[0] == "pack" and self.pack_at is not None:
                if self.pack_at >= len(x[1]):
                    raise Stop
                x = x[1][self.pack_at]
        raise Stop

    pack_at = None

    def list(self, items):
        return self.items(items)[0]

    def items(self, items):
        """What is empty at the end leaves no comma, elsewhere it does. And whether the end was so."""
        out, cut = None, False
        for s in reversed([self.show(x) for x in items]):
            if out is None:
                out = s
            elif out:
                out = s + ", " + out
            else:
                out, cut = s, True
        return self.limit(out or ""), cut

    def p_type(self, x):
        return self.declare(x, "")

    p_ptr = p_cv = p_member = p_fn = p_array = p_vendor = p_type

    def p_name(self, x):
        return x[1]

    def p_param(self, x):
        y, templates = self.resolved(x)
        hold, self.templates = self.templates, templates
        try:
            return self.show(y)
        finally:
            self.templates = hold

    def p_in(self, x):
        return self.show(x[1]) + "::" + self.show(x[2])

    def p_local(self, x):
        return self.show(x[1]) + "::" + self.show(x[2])

    def p_method(self, x):
        return self.show(x[1]) + x[2]

    def p_tagged(self, x):
        return self.show(x[1]) + "[abi:" + x[2] + "]"

    def p_args(self, x):
        name = self.show(x[1])
        args, cut = self.items(x[2])
        return name + (" <" if name[-1:] == "<" else "<") + args + (" >" if args[-1:] == ">" and not cut else ">")

    def p_pack(self, x):
        return self.list(x[1])

    def p_expand(self, x):
        """The pattern once for each element of the pack in it."""
        pack = self.find_pack(x[1])
        if pack is None:
            return self.show(x[1]) + "..."
        out, hold = [], self.pack_at
        try:
            for i in range(len(pack)):
                self.pack_at = i
                out.append(self.show(x[1]))
        finally:
            self.pack_at = hold
        return self.limit(", ".join(out))

    def find_pack(self, x):
        todo = [x]
        while todo:
            self.step()
            x = todo.pop()
            if x[0] == "param":
                if self.templates and x[1] < len(self.templates[-1]) and self.templates[-1][x[1]][0] == "pack":
                    return self.templates[-1][x[1]][1]
                continue
            if x[0] in ("expand", "lambda", "encoding"):
                continue
            for y in reversed(x[1:]):
                if isinstance(y, tuple):
                    todo.append(y)
                elif isinstance(y, list):
                    todo += reversed(y)
        return None

    def p_ctor(self, x):
        return x[1][1]

    def p_dtor(self, x):
        return "~" + x[1][1]

    def p_operator(self, x):
        text = x[1].rstrip() if x[1][-1:] == " " else x[1]
        return "operator" + (" " if text[:1].islower() else "") + text

    def p_conversion(self, x):
        return "operator " + self.show(x[1])

    in_lambda = 0

    def p_lambda(self, x):
        self.in_lambda += 1
        try:
            return "{lambda(%s)#%d}" % (self.list(x[1]), x[2])
        finally:
            self.in_lambda -= 1

    def p_default_argument(self, x):
        return "{default arg#%d}::%s" % (x[2], self.show(x[1]))

    def p_special(self, x):
        return x[1] + self.show(x[2])

    def p_vtable_in(self, x):
        return "construction vtable for " + self.show(x[1]) + "-in-" + self.show(x[2])

    def p_temporary(self, x):
        return "reference temporary #%d for %s" % (x[2], self.show(x[1]))

    def p_clone(self, x):
        return self.show(x[1]) + " [clone " + x[2] + "]"

    def p_decltype(self, x):
        return "decltype (" + self.show(x[1]) + ")"

    def p_vector(self, x):
        return self.show(x[2]) + " __vector(" + x[1] + ")"

    def p_encoding(self, x):
        _, name, function = x
        template = name
        while template[0] in ("in", "local", "tagged"):
            template = template[1] if template[0] == "tagged" else template[2]
        pushed = template[0] == "args"
        shown = None
        if pushed:
            conversion = self.conversion_of(template[1])
            if conversion:
                self.templates = self.templates + [template[2]]
                shown = self.show(name)
                self.templates = self.templates[:-1]
            else:
                shown = self.show(name)
            self.templates = self.templates + [template[2]]
        try:
            return self.declare(function, shown if shown is not None else self.show(name))
        finally:
            if pushed:
                self.templates = self.templates[:-1]

    @staticmethod
    def conversion_of(x):
        while x[0] in ("in", "local"):
            x = x[2]
        return x[0] == "conversion"

    # ---- printing of expressions ----

    def p_literal(self, x):
        _, of, value, code = x
        if code == "b":
            return {"0": "false", "1": "true"}.get(value, "(bool)" + value)
        if code:
            return value + LITERAL_SUFFIX[code]
        return "(" + self.show(of) + ")" + value

    def operand(self, x):
        s = self.show(x)
        return s if x[0] in ("name", "in", "braces") else "(" + s + ")"

    def p_unary(self, x):
        _, text, of = x
        if of[0] == "encoding" and of[1][0] == "in" and not of[2][3] and text == "&":
            return "&" + self.show(of[1])
        if text == "sizeof " or text == "alignof ":
            return text + "(" + self.show(of) + ")"
        return text + self.operand(of)

    def p_postfix(self, x):
        return self.operand(x[2]) + x[1]

    def p_binary(self, x):
        _, text, a, b = x
        if text == "[]":
            return self.operand(a) + "[" + self.show(b) + "]"
        s = self.operand(a) + text + self.operand(b)
        return "(" + s + ")" if text == ">" else s

    def p_access(self, x):
        return self.operand(x[2]) + x[1] + self.operand(x[3])

    def p_ternary(self, x):
        return self.operand(x[1]) + "?" + self.operand(x[2]) + " : " + self.operand(x[3])

    def p_call(self, x):
        return self.operand(x[1]) + "(" + self.list(x[2]) + ")"

    def p_cast(self, x):
        return "(" + self.show(x[1]) + ")" + (self.operand(x[2][0]) if len(x[2]) == 1 else "(" + self.list(x[2]) + ")")

    def p_named_cast(self, x):
        return x[1] + "<" + self.show(x[2]) + ">(" + self.show(x[3]) + ")"

    def p_braces(self, x):
        return (self.show(x[1]) if x[1] else "") + "{" + self.list(x[2]) + "}"

    def p_sizeof_pack(self, x):
        pack = self.find_pack(x[1])
        return str(len(pack)) if pack is not None else "sizeof...(" + self.show(x[1]) + ")"


# Templates of characters that have a short name in the library, as std::string: lib/sym/demangle.c.
OF_CHARS = re.compile(
    r"(?<![A-Za-z0-9_:])std::(?:__cxx11::|__1::)?basic_([a-z_]*)<char, std::"
    r"(?:char_traits<char>(?:, std::allocator<char>)?|__1::char_traits<char>(?:, std::__1::allocator<char>)?) >(?: (?=>))?")


def cpp(name):
    try:
        x = Name(name)
        tree = x.mangled()
        x.steps = 0
        return OF_CHARS.sub(r"std::\1", x.show(tree))
    except (Stop, RecursionError, AttributeError, IndexError, KeyError, TypeError):
        return None


# ---- Rust ----

ESCAPES = {"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}


def rust_legacy(name):
    """_ZN, elements with their length, a hash, E."""
    at, elements = 3, []
    while name[at:at + 1].isdigit():
        m = re.compile(r"\d+").match(name, at)
        n = int(m[0][:9])
        if not n or m.end() + n > len(name):
            return None
        elements.append(name[m.end():m.end() + n])
        at = m.end() + n
    rest = name[at + 1:]
    if len(elements) < 2 or name[at:at + 1] != "E" or rest and rest[0] != ".":
        return None
    if not re.fullmatch(r"h[0-9a-f]{16}", elements[-1]) or len(set(elements[-1][1:])) < 5:
        return None

    def element(s):
        if s[:2] == "_$":
            s = s[1:]
        return re.sub(r"\$(SP|BP|RF|LT|GT|LP|RP|C)\$|\$u([0-9a-f]{1,7})\$|\.\.", put, s, flags=re.I)

    def put(m):
        if m[0] == "..":
            return "::"
        if m[1]:
            return ESCAPES.get(m[1], m[0])
        c = int(m[2], 16)
        if c < 0x20:
            return m[0]
        return chr(c) if c <= 0x10ffff and not 0xd800 <= c < 0xe000 else "\ufffd"

    out = "::".join(element(e) for e in elements[:-1])
    return out if rest.startswith(".llvm.") else out + rest


def demangle(name):
    """The readable name, or the name itself. What follows an @ is no part of the mangling."""
    if name[:1] != "_":
        return name
    at = name.find("@")
    plain, rest = (name[:at], name[at:]) if 0 <= at < OUTPUT_MAX else (name, "")
    out = None
    if plain.startswith("_ZN"):
        out = rust_legacy(plain)
    if out is None and plain.startswith("_Z"):
        out = cpp(plain)
    return name if out is None else out + rest
