"""One translation unit: declarations first, then bodies as written, then the instantiations reached."""

import os

from libclang import (
    CALL_EXPR, CONTAINERS, CONTINUE, Cursor, DECL_REF_EXPR, ENUM, FUNCTIONS, LAMBDA_EXPR, MACRO_DEFINITION,
    MACRO_EXPANSION, NAMESPACE, RECORDS, RECURSE, TEMPLATES, UNEXPOSED_EXPR, VARIABLE, FIELD,
)
from symbols import KINDS


class Unit:
    def __init__(self, library, symbols, sites, file, flags):
        self.library = library
        self.symbols = symbols
        self.sites = sites
        self.file = os.path.normpath(file)
        self.flags = flags
        self.bodies = []
        self.reached = set()
        # Class templates and what is inside them.
        self.templates = set()
        # Syntax node of a callee -> symbol.
        self.targets = {}
        self.pending = []

    def read(self):
        library = self.library
        unit = library.parse(self.file, self.flags)
        errors = library.errors(unit)
        if errors:
            raise SystemExit("\n".join(errors[:20]))
        root = library.getTranslationUnitCursor(unit)
        library.visit(root, self.preprocessor)
        self.sites.begin(self)
        library.visit(root, self.declaration)
        for cursor, owner in self.bodies:
            self.body(cursor, owner, is_instance=False)
        while self.pending:
            cursor, owner = self.pending.pop()
            self.symbols.instantiated.add(owner)
            self.body(cursor, owner, is_instance=True)
        self.symbols.skip(self.skipped_lines(unit))
        library.disposeTranslationUnit(unit)

    # Declarations

    def preprocessor(self, cursor, _parent):
        if cursor.kind == MACRO_DEFINITION:
            self.symbols.define_macro(self.library, cursor)
        elif cursor.kind == MACRO_EXPANSION:
            self.symbols.expand_macro(self.library, cursor)
        return CONTINUE

    def declaration(self, cursor, parent):
        kind = cursor.kind
        is_in_template = kind in TEMPLATES or parent.node() in self.templates
        if kind in FUNCTIONS:
            self.function(cursor, is_in_template)
            return CONTINUE
        if kind in (VARIABLE, FIELD):
            self.variable(cursor, None)
            return CONTINUE
        if kind == NAMESPACE:
            return RECURSE
        if is_in_template and kind in CONTAINERS:
            self.templates.add(cursor.node())
        if kind in KINDS:
            self.symbols.declare(self.library, cursor)
        return RECURSE if kind in CONTAINERS or kind == ENUM else CONTINUE

    def function(self, cursor, is_in_template):
        key = self.symbols.declare(self.library, cursor, is_in_template)
        path = self.library.place(self.library.getCursorLocation(cursor))[0]
        # Functions of the unit itself are not reported, but show what is instantiated.
        if key is not None or path == self.file:
            self.bodies.append((copy(cursor), key))

    def variable(self, cursor, owner):
        """Records a variable or field; a lambda it holds is a function."""
        expression = self.lambda_of(cursor)
        if expression is not None:
            key = self.symbols.declare_lambda(self.library, cursor, expression)
            owner = owner or key
        elif owner is None:
            self.symbols.declare(self.library, cursor)
        self.bodies.append((copy(cursor), owner))

    def lambda_of(self, cursor):
        for child in self.library.children(cursor):
            while child.kind == UNEXPOSED_EXPR:
                inner = self.library.children(child)
                if len(inner) != 1:
                    break
                child = inner[0]
            if child.kind == LAMBDA_EXPR:
                return child
        return None

    # Bodies

    def body(self, cursor, owner, is_instance):
        """Walks a body whose calls belong to `owner`."""
        library = self.library

        def visitor(child, parent):
            kind = child.kind
            if kind == CALL_EXPR:
                self.sites.call(child, owner, is_instance)
            elif kind == DECL_REF_EXPR:
                self.sites.mention(child, owner)
            elif kind in RECORDS or kind == ENUM:
                if not is_instance:
                    self.declaration(child, parent)
                    library.visit(child, self.declaration)
                return CONTINUE
            elif kind == VARIABLE and not is_instance:
                expression = self.lambda_of(child)
                if expression is not None:
                    self.symbols.declare_lambda(library, child, expression)
            return RECURSE

        library.visit(cursor, visitor)

    def reach(self, cursor, owner):
        """Looks into an instantiation later, unless that was done."""
        node = cursor.node()
        if node in self.reached:
            return
        self.reached.add(node)
        self.pending.append((copy(cursor), owner))

    # Preprocessor

    def skipped_lines(self, unit):
        """Lines left out, for every file below the root that was read."""
        readings = {path: set() for path in self.library.paths.values() if self.symbols.is_inside(path)}
        for (path, first, _), (_, last, _) in self.library.skipped(unit):
            if path in readings:
                # The lines of the directives themselves are not counted.
                readings[path].update(range(first + 1, last))
        return readings


def copy(cursor):
    return Cursor(cursor.kind, cursor.xdata, cursor.data)
