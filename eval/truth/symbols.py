"""Declarations and definitions, one symbol for all declarations of one thing."""

import os

from libclang import (
    ALIAS, ALIAS_TEMPLATE, CLASS, CLASS_TEMPLATE, COMPOUND_STMT, CONSTRUCTOR, CONVERSION, DESTRUCTOR, ENUM, ENUMERATOR,
    FIELD, FUNCTION, FUNCTIONS, LINKAGE, METHOD, NAMESPACE, PARTIAL_SPECIALISATION, RECORDS, STRUCT,
    TEMPLATES, TRY_STMT, TYPEDEF, UNION, VARIABLE,
)
from sources import Source

KINDS = {
    FUNCTION: "function", METHOD: "method", CONSTRUCTOR: "constructor", DESTRUCTOR: "destructor",
    CONVERSION: "conversion", STRUCT: "struct", UNION: "union", CLASS: "class", ENUM: "enum", ENUMERATOR: "enumerator",
    FIELD: "field", VARIABLE: "variable", TYPEDEF: "alias", ALIAS: "alias", ALIAS_TEMPLATE: "alias",
    CLASS_TEMPLATE: "class", PARTIAL_SPECIALISATION: "class",
}
SCOPES = RECORDS | FUNCTIONS | {NAMESPACE, ENUM}


class Symbols:
    """What is declared below the root."""

    def __init__(self, root):
        self.root = os.path.normpath(os.path.abspath(root)) + os.sep
        self.sources = {}
        self.symbols = {}
        self.ids = {}
        # (USR, path, first byte of the name) -> symbol. A USR alone is not enough: function templates
        # that differ only in a constraint share theirs.
        self.by_place = {}
        # Templates of which an instantiation was seen.
        self.instantiated = set()
        self.inline_namespaces = set()
        # Classes and enumerations without a name.
        self.unnamed = set()
        self.macros = set()
        self.expansions = set()
        # File -> set of lines the preprocessor skipped in every reading.
        self.skipped = {}
        # (path, first byte of a lambda expression) -> symbol of the variable it is bound to.
        self.lambdas = {}

    # Places

    def is_inside(self, path):
        return path.startswith(self.root)

    def relative(self, path):
        return path[len(self.root) :]

    def source(self, path):
        source = self.sources.get(path)
        if source is None:
            source = self.sources[path] = Source(path)
        return source

    def is_expanded(self, place):
        """Whether what libclang places here comes from the body of a macro that is expanded here."""
        path, _, offset = place
        return self.is_inside(path) and offset in self.source(path).expanded

    # Names

    def name_parts(self, library, cursor):
        """Names of the scopes around, outermost first; unnamed and inline ones are left out."""
        parts = []
        scope = library.getCursorSemanticParent(cursor)
        while scope.kind in SCOPES or scope.kind == LINKAGE:
            if scope.kind in (NAMESPACE, ENUM) or scope.kind in RECORDS:
                name = library.text(library.getCursorSpelling(scope))
                unnamed = not name or "(" in name or library.Cursor_isAnonymous(scope)
                if scope.kind == NAMESPACE and library.Cursor_isInlineNamespace(scope):
                    self.inline_namespaces.add(name)
                elif not unnamed and not (scope.kind == ENUM and cursor.kind == ENUMERATOR):
                    parts.append(bare(name))
            elif scope.kind in FUNCTIONS:
                name = bare(library.text(library.getCursorSpelling(scope)))
                if name != "operator()" or not self.is_lambda_class(library, library.getCursorSemanticParent(scope)):
                    parts.append(name)
            scope = library.getCursorSemanticParent(scope)
        return parts[::-1]

    def is_lambda_class(self, library, cursor):
        name = library.text(library.getCursorSpelling(cursor))
        return cursor.kind == CLASS and (not name or name.startswith("(lambda"))

    def own_name(self, library, cursor, kind, path, offset, in_macro):
        name = library.text(library.getCursorSpelling(cursor))
        if kind == CONVERSION and not in_macro:
            return self.source(path).conversion_name(offset)
        return bare(name)

    # Recording

    def number(self, key):
        return self.ids.setdefault(key, len(self.ids))

    def key(self, library, cursor):
        """The symbol a declaration belongs to, and the name it is or would be known by."""
        usr = library.text(library.getCursorUSR(cursor))
        path, _, offset = library.place(library.getCursorLocation(library.getCanonicalCursor(cursor)))
        return self.by_place.get((usr, path, offset)), (usr, path, offset)

    def declare(self, library, cursor, is_in_template=False):
        """Records a declaration below the root; gives its symbol."""
        path, line, offset = library.place(library.getCursorLocation(cursor))
        if not self.is_inside(path):
            return None
        is_template = cursor.kind in TEMPLATES
        kind = library.getTemplateCursorKind(cursor) if is_template else cursor.kind
        start, end = library.extent(cursor)
        if start[0] != path:
            start = (path, line, offset)
        source = self.source(path)
        # Spelled in a macro's body, or at least among its arguments.
        in_macro = self.is_expanded((path, line, offset))
        is_made = in_macro or source.is_in_expansion(offset)
        if self.is_unnamed(library, cursor, kind):
            self.unnamed.add((self.relative(path), start[1]))
            return None
        is_body = bool(library.isCursorDefinition(cursor))
        if kind in RECORDS and "{" not in source.text[start[2] : end[2]] and not is_made:
            is_body = False
            if not source.template_heads(start[2]) and source.starts_with(start[2], "template"):
                return None  # an explicit instantiation declares nothing
        key = self.symbol_of(library, cursor, kind, (path, offset), is_made)
        symbol = self.symbols[key]
        place = self.new_place(path, start, line, end)
        place.update(is_definition=is_body, in_macro=in_macro)
        tags = set()
        if kind in FUNCTIONS:
            self.describe_function(library, cursor, place, None if is_made else offset)
            self.function_tags(library, cursor, kind, symbol, tags)
        if start[2] <= offset:
            place["templates"] = source.template_heads(source.outer_offset(start[2]))
        is_template = is_template or bool(place["templates"])
        out_of_line = library.is_out_of_line(cursor)
        for tag, holds in (("template", is_template), ("macro", is_made), ("out-of-line", out_of_line)):
            if holds:
                tags.add(tag)
        place["tags"] = sorted(tags)
        # Out of its class, a member of a template has that template's head.
        symbol["is_in_template"] |= is_in_template or is_template and kind not in RECORDS
        symbol["places"][(path, offset, line)] = place
        return key

    def is_unnamed(self, library, cursor, kind):
        spelling = library.text(library.getCursorSpelling(cursor))
        is_type = kind in RECORDS or kind == ENUM
        return is_type and (not spelling or "(" in spelling or library.Cursor_isAnonymous(cursor))

    def symbol_of(self, library, cursor, kind, place, is_made):
        """The symbol of a declaration at a place, made when it is the first."""
        key, canonical = self.key(library, cursor)
        own = (canonical[0], *place)
        key = key or self.by_place.get(own) or canonical
        self.by_place[canonical] = self.by_place[own] = key
        if key not in self.symbols:
            name = self.own_name(library, cursor, kind, *place, is_made)
            self.new_symbol(key, KINDS[kind], self.name_parts(library, cursor) + [name])
        return key

    def new_symbol(self, key, kind, name):
        self.symbols[key] = {
            "record": "symbol", "id": self.number(key), "kind": kind, "name": "::".join(name),
            "is_in_template": False, "places": {},
        }

    def new_place(self, path, start, line, end):
        source = self.source(path)
        return {
            "path": self.relative(path), "outer_line": source.line(source.outer_offset(start[2])), "line": start[1],
            "name_line": line, "end_line": end[1], "is_definition": True, "is_generated": False, "in_macro": False,
            "tags": [], "parameters": None, "qualifiers": None, "templates": [],
        }

    def describe_function(self, library, cursor, place, offset):
        """Whether it has a body, and its signature as written, which a macro does not show."""
        has_body = any(child.kind in (COMPOUND_STMT, TRY_STMT) for child in library.children(cursor))
        # `= default` and `= delete`: neither asked for nor held against anyone.
        place["is_generated"] = place["is_definition"] and not has_body
        place["is_definition"] = has_body
        written = None if offset is None else self.source(self.root + place["path"]).parameters(offset)
        if written is not None:
            place["parameters"], place["qualifiers"], ending = written
            if ending:
                place["is_definition"], place["is_generated"] = False, True

    def function_tags(self, library, cursor, kind, symbol, tags):
        name = symbol["name"].rsplit("::", 1)[-1]
        tags.add({FUNCTION: "free", METHOD: "member"}.get(kind) or KINDS[kind])
        if name.startswith("operator") and kind in (FUNCTION, METHOD):
            tags.add("operator")
        if kind in (METHOD, DESTRUCTOR, CONVERSION) and library.CXXMethod_isVirtual(cursor):
            tags.add("virtual")

    def declare_lambda(self, library, cursor, expression):
        """A variable that holds a lambda: a definition that can be called."""
        path, line, offset = library.place(library.getCursorLocation(cursor))
        if not self.is_inside(path):
            return None
        key = ("lambda", path, offset)
        name = library.text(library.getCursorSpelling(cursor))
        if key not in self.symbols:
            self.new_symbol(key, "lambda", self.name_parts(library, cursor) + [name])
        start, end = library.extent(cursor)
        place = self.symbols[key]["places"][(path, offset, line)] = self.new_place(path, start, line, end)
        place["tags"] = ["lambda"]
        first = library.extent(expression)[0]
        self.lambdas[(first[0], first[2])] = key
        self.lambdas[library.text(library.getCursorUSR(cursor))] = key
        return key

    # Preprocessor

    def define_macro(self, library, cursor):
        path, line, offset = library.place(library.getCursorLocation(cursor))
        if not self.is_inside(path):
            return
        name = library.text(library.getCursorSpelling(cursor))
        if not self.source(path).is_include_guard(name, offset):
            self.macros.add((self.relative(path), line, name))

    def expand_macro(self, library, cursor):
        start, end = library.extent(cursor)
        path, line, offset = start
        if not self.is_inside(path) or end[0] != path:
            return
        self.source(path).expansions[end[2]] = offset
        self.source(path).expanded.add(offset)
        definition = library.getCursorReferenced(cursor)
        defined = ("", 0, 0)
        if not library.Cursor_isNull(definition):
            defined = library.place(library.getCursorLocation(definition))
        if self.is_inside(defined[0]):
            name = library.text(library.getCursorSpelling(cursor))
            self.expansions.add((self.relative(path), line, name, self.relative(defined[0]), defined[1]))

    def skip(self, readings):
        """Takes over which lines one unit skipped: path -> lines."""
        for path, lines in readings.items():
            known = self.skipped.get(path)
            self.skipped[path] = lines if known is None else known & lines

    # Output

    def records(self):
        overloads = {}
        for symbol in self.symbols.values():
            if symbol["kind"] in ("function", "method", "constructor", "conversion"):
                overloads.setdefault(symbol["name"], set()).add(symbol["id"])
        yield {"record": "inline_namespaces", "names": sorted(self.inline_namespaces)}
        for path, lines in sorted(self.skipped.items()):
            yield {"record": "file", "path": self.relative(path), "skipped": ranges(sorted(lines))}
        for path, line in sorted(self.unnamed):
            yield {"record": "unnamed", "path": path, "line": line}
        for path, line, name in sorted(self.macros):
            yield {"record": "macro", "path": path, "line": line, "name": name}
        for path, line, name, defined, at in sorted(self.expansions):
            yield {
                "record": "expansion", "path": path, "line": line, "name": name, "macro_path": defined, "macro_line": at,
            }
        for key, symbol in sorted(self.symbols.items(), key=lambda item: item[1]["id"]):
            symbol["is_instantiated"] = key in self.instantiated
            places = [place for _, place in sorted(symbol["places"].items())]
            for place in places:
                if len(overloads.get(symbol["name"], ())) > 1:
                    place["tags"] = sorted(set(place["tags"]) | {"overload"})
            yield {**symbol, "places": places}


def bare(name):
    """A name without template arguments; operators keep their signs."""
    if name.startswith("operator"):
        return name
    return name.split("<", 1)[0]


def ranges(lines):
    found = []
    for line in lines:
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return found
