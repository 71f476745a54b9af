"""Source text as tokens, for what libclang does not tell: parameter lists as written, annotations."""

import bisect
import re

TOKEN = re.compile(
    r"""
      (?P<blank> \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<directive> ^[ \t]*\#(?: /\*.*?\*/ | //[^\n]* | \\\r?\n | [^\n] )* )
    | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" )
    | (?P<quoted> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*' )
    | (?P<name> [A-Za-z_$][\w$]* )
    | (?P<number> \.?\d(?: [eEpP][+-] | '(?=\w) | [\w.] )* )
    | (?P<sign> -> | :: | . )
    """,
    re.X | re.S | re.M,
)
CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}


class Source:
    """One file's text; offsets are bytes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            # One character a byte, so that libclang's offsets fit.
            self.text = file.read().decode("latin-1")
        self.offsets = []
        self.tokens = []
        for match in TOKEN.finditer(self.text):
            if match.lastgroup == "blank":
                continue
            if match.group("directive"):
                self.offsets.append(match.start())
                self.tokens.append("#")
                continue
            self.offsets.append(match.start())
            self.tokens.append(match.group())
        self.lines = [0] + [at + 1 for at, character in enumerate(self.text) if character == "\n"]
        # Macro expansions: past their last byte -> first byte.
        self.expansions = {}
        # First bytes of macro expansions.
        self.expanded = set()
        self.spans = None

    def line(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def at(self, offset):
        """Number of the token at or after a byte."""
        return bisect.bisect_left(self.offsets, offset)

    def starts_with(self, offset, name):
        return self.text.startswith(name, offset)

    def is_comparison(self, at):
        """Whether token `at` begins `<=` or `>=` between two values: `> =` gives a parameter its default."""
        return (
            self.tokens[at] in ("<", ">")
            and self.tokens[at + 1 : at + 2] == ["="]
            and self.offsets[at + 1] == self.offsets[at] + 1
        )

    def closing(self, at):
        """Number of the token that closes the bracket at token `at`; None for a `<` that opens nothing."""
        opening = self.tokens[at]
        closing, depth = CLOSING[opening], 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token == opening and not self.is_comparison(at):
                depth += 1
            elif token == closing and not self.is_comparison(at):
                depth -= 1
                if depth == 0:
                    return at
            elif opening == "<" and token in ("(", "[", "{"):
                at = self.closing(at) or at
            elif opening == "<" and token in (";", ")"):
                return None
            at += 1
        return None

    def opening(self, at):
        """Number of the token that opens the bracket which token `at` closes."""
        closing, depth = self.tokens[at], 0
        opening = {close: open for open, close in CLOSING.items()}[closing]
        while at > 0:
            token = self.tokens[at]
            if token in (opening, closing) and not self.is_comparison(at):
                depth += 1 if token == closing else -1
                if depth == 0:
                    break
            elif closing == ">" and token in (")", "]", "}"):
                at = self.opening(at)
            elif closing == ">" and token in (";", "("):
                break
            at -= 1
        return at

    def outer_offset(self, offset):
        """First byte of a declaration with what stands before it: annotation macros, attributes, and
        the template heads of enclosing classes, which libclang leaves out."""
        at = self.at(offset)
        while at > 0:
            previous = at - 1
            token = self.tokens[previous]
            end = self.offsets[previous] + len(token)
            if end in self.expansions:
                at = self.at(self.expansions[end])
            elif token == "]" and self.tokens[previous - 1] == "]":
                at = self.opening(previous)
            elif token == ">" and self.tokens[self.opening(previous) - 1] == "template":
                at = self.opening(previous) - 1
            else:
                break
        return self.offsets[at] if at < len(self.offsets) else offset

    def is_in_expansion(self, offset):
        """Whether a byte belongs to a macro expansion, its arguments included."""
        if self.spans is None:
            self.spans = sorted((first, end) for end, first in self.expansions.items())
        at = bisect.bisect_right(self.spans, (offset, len(self.text))) - 1
        return at >= 0 and self.spans[at][0] <= offset < self.spans[at][1]

    def template_heads(self, offset):
        """The parameter lists of `template <...>` at a byte, each as tokens."""
        at, heads = self.at(offset), []
        while at + 1 < len(self.tokens) and self.tokens[at] != "template":
            if self.tokens[at] == "[" or self.offsets[at] in self.expanded:
                at = self.closing(at) + 1 if self.tokens[at] == "[" else self.past_expansion(at)
            else:
                return heads
        while at + 1 < len(self.tokens) and self.tokens[at] == "template" and self.tokens[at + 1] == "<":
            end = self.closing(at + 1)
            if end is None:
                break
            heads.append(" ".join(self.tokens[at + 2 : end]))
            at = end + 1
        return heads

    def past_expansion(self, at):
        """Number of the token behind the macro expansion that begins at token `at`."""
        start = self.offsets[at]
        ends = [end for end, first in self.expansions.items() if first == start]
        return self.at(max(ends)) if ends else at + 1

    def conversion_name(self, offset):
        """`operator T` as written."""
        at = self.at(offset)
        end = at
        while end < len(self.tokens) and self.tokens[end] != "(":
            if self.tokens[end] == "<":
                end = self.closing(end) or end
            end += 1
        return " ".join(self.tokens[at:end])

    def parameters(self, offset):
        """Parameter list and qualifiers, as written, of the function whose name stands at a byte, and what
        follows: `default` or `delete` or nothing."""
        at = self.at(offset)
        if at >= len(self.tokens) or self.offsets[at] != offset:
            return None
        if self.tokens[at] == "operator":
            at += 1
            if self.tokens[at] == "(" and self.tokens[at + 1] == ")":
                at += 2
            else:
                while self.tokens[at] != "(":
                    conversion = self.tokens[at] == "<" and self.tokens[at - 1] not in ("operator", "<", "-")
                    at = (self.closing(at) or at) if conversion else at
                    at += 1
        else:
            at += 2 if self.tokens[at] == "~" else 1
        if at < len(self.tokens) and self.tokens[at] == "<":
            end = self.closing(at)
            at = len(self.tokens) if end is None else end + 1
        # `(name)(...)` keeps a function-like macro from being expanded.
        while at < len(self.tokens) and self.tokens[at] == ")":
            at += 1
        if at >= len(self.tokens) or self.tokens[at] != "(":
            return None
        end = self.closing(at)
        if end is None:
            return None
        qualifiers, after = [], end + 1
        while after < len(self.tokens) and self.tokens[after] not in ("{", ";", ":", "=", "->", "#", ","):
            token = self.tokens[after]
            if token in ("const", "volatile", "&"):
                qualifiers.append(token)
            if token == "requires":
                break
            after = (self.closing(after) or after) + 1 if token in ("(", "[") else after + 1
        ending = ""
        if self.tokens[after : after + 1] == ["="] and self.tokens[after + 1] in ("default", "delete"):
            ending = self.tokens[after + 1]
        return " ".join(self.tokens[at + 1 : end]), " ".join(qualifiers), ending

    def is_include_guard(self, name, offset):
        """Whether a macro without a body is defined right behind `#ifndef` of it."""
        before = self.text.rfind("#", 0, self.text.rfind("#", 0, offset))
        directive = re.match(r"#[ \t]*(?:ifndef[ \t]+|if[ \t]+!?[ \t]*defined[ \t]*\(?[ \t]*)(\w+)", self.text[max(before, 0) :])
        rest = self.text[offset + len(name) : self.text.find("\n", offset)]
        return bool(directive) and directive.group(1) == name and not re.sub(r"/\*.*?\*/|//.*", "", rest).strip()
