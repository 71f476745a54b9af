"""Calls: where they stand, in which function, and what they lead to."""

from libclang import (
    CONSTRUCTOR, CONVERSION, DECL_REF_EXPR, DESTRUCTOR, FUNCTION, FUNCTIONS, MEMBER_REF_EXPR, METHOD, OVERLOADED_REF,
    VARIABLE,
)
from symbols import bare

LAUNCHERS = {"parallel_for", "parallel_reduce", "parallel_scan", "ParallelFor", "forall"}


class Sites:
    """Call sites by place; the same site in several instantiations is one."""

    def __init__(self, symbols):
        self.symbols = symbols
        self.sites = {}

    def begin(self, unit):
        self.unit = unit
        self.library = unit.library

    # Calls

    def call(self, cursor, owner, is_instance):
        library = self.library
        callee = library.getCursorReferenced(cursor)
        if library.Cursor_isNull(callee) or callee.kind == OVERLOADED_REF:
            return self.unresolved(cursor, owner, is_instance)
        if callee.kind == CONSTRUCTOR:
            return self.construction(cursor, callee, owner, is_instance)
        if callee.kind == VARIABLE:
            key = self.symbols.lambdas.get(library.text(library.getCursorUSR(callee)))
            if key is not None:
                start = library.extent(cursor)[0]
                self.add(start, start, owner, is_instance, required=[key], tags={"lambda"})
            return None
        if callee.kind not in FUNCTIONS:
            return None
        target = self.target(callee)
        if target is None:
            return None
        spelling = self.symbols.symbols[target]["name"].rsplit("::", 1)[-1]
        found = self.name_cursor(cursor, callee)
        location = library.getCursorLocation(found) if found is not None else library.getCursorLocation(cursor)
        start = library.extent(cursor)[0]
        place = library.place(location)
        in_macro = self.symbols.is_expanded(place)
        if target[0] == "lambda":
            return self.add(start, start, owner, is_instance, required=[target], tags={"lambda"})
        tags = set(self.tags(target))
        if in_macro:
            tags.add("macro")
        if callee.kind in (METHOD, DESTRUCTOR, CONVERSION) and library.CXXMethod_isVirtual(callee):
            tags.add("virtual")
        if spelling in LAUNCHERS or self.is_kernel_launch(place, spelling):
            tags.add("launch")
        if callee.kind in (FUNCTION, METHOD) and spelling.startswith("operator"):
            tags.add("operator")
            is_written = True
            if not place[0] or not self.symbols.is_inside(place[0]):
                place = start
        else:
            is_written = callee.kind != CONVERSION if in_macro else self.is_written(place, spelling)
        if not place[0]:
            place = start
        key = "required" if is_written and not self.is_generated(target) else "optional"
        self.add(place, start, owner, is_instance, tags=tags, **{key: [target]})
        return None

    def is_kernel_launch(self, place, name):
        """`kernel<T><<<grid, block>>>(...)`."""
        path, _, offset = place
        if not self.symbols.is_inside(path):
            return False
        text = self.symbols.source(path).text
        end = offset + len(name)
        return "<<<" in text[end : max(text.find("(", end), end)].split(";")[0]

    def is_generated(self, target):
        """Whether nobody wrote the function's body: `= default`."""
        places = self.symbols.symbols[target]["places"].values()
        return bool(places) and all(place["is_generated"] for place in places)

    def is_written(self, place, spelling):
        """Whether the callee's name stands at a place of the tree."""
        path, _, offset = place
        if not self.symbols.is_inside(path):
            return False
        return self.symbols.source(path).starts_with(offset, spelling.split(" ")[0])

    def name_cursor(self, cursor, callee):
        """The part of a call that names what is called."""
        library = self.library
        node = callee.node()
        for child in library.children(cursor):
            if child.kind == OVERLOADED_REF:
                continue
            referenced = library.getCursorReferenced(child)
            if referenced.data[0] == node and referenced.kind == callee.kind:
                return child
        return None

    def construction(self, cursor, callee, owner, is_instance):
        """`T x(a)`, `T(a)`, `new T{a}`, `: Base(a)`: written when arguments stand in brackets of their own."""
        library = self.library
        start, end = library.extent(cursor)
        path, _, offset = start
        target = self.target(callee) or self.class_of(callee)
        if target is None or not self.symbols.is_inside(path) or path != end[0]:
            return
        extents = [library.extent(child) for child in library.children(cursor)]
        text = self.symbols.source(path).text
        is_written = (
            not self.symbols.is_expanded(start)
            and text[end[2] - 1 : end[2]] in (")", "}")
            and text[offset : offset + 1] not in ("{", "(")
            and not any(first == start and last == end for first, last in extents)
        )
        tags = set(self.tags(target)) | {"constructor"}
        if self.symbols.is_expanded(start):
            tags.add("macro")
        is_user_written = self.symbols.symbols[target]["kind"] == "constructor" and not self.is_generated(target)
        key = "required" if is_written and is_user_written else "optional"
        self.add(start, start, owner, is_instance, tags=tags, **{key: [target]})

    def unresolved(self, cursor, owner, is_instance):
        """A call whose meaning depends on template arguments: its name, and the overloads in sight."""
        library = self.library
        children = library.children(cursor)
        start = library.extent(cursor)[0]
        if not self.symbols.is_inside(start[0]):
            return
        candidates, name, place, is_open = [], "", start, False
        for child in children:
            reference = child
            if child.kind != OVERLOADED_REF:
                inner = [one for one in library.children(child) if one.kind == OVERLOADED_REF]
                if not inner:
                    continue
                reference = inner[0]
            spelling = library.text(library.getCursorSpelling(reference))
            if child is not children[0] and not spelling.startswith("operator"):
                continue
            name = bare(spelling)
            place = library.place(library.getCursorLocation(reference))
            for at in range(library.getNumOverloadedDecls(reference)):
                target = self.target(library.getOverloadedDecl(reference, at))
                if target is None:
                    is_open = True
                else:
                    candidates.append(target)
            break
        else:
            if children:
                name, place = self.last_name(children[0])
        if not place[0]:
            place = start
        # An operator may turn out to be the language's own, a name that other libraries overload theirs.
        is_open = is_open or name.startswith("operator")
        self.add(
            place, start, owner, is_instance, candidates=candidates, name=name, is_dependent=True, is_open=is_open,
            tags={"launch"} if name in LAUNCHERS else (),
        )

    def last_name(self, cursor):
        """Last name of `a.b<c>` as written, and its place."""
        start, end = self.library.extent(cursor)
        if start[0] != end[0] or not self.symbols.is_inside(start[0]):
            return "", start
        source = self.symbols.source(start[0])
        at = source.at(end[2]) - 1
        if at >= 0 and source.tokens[at] == ">":
            depth = 0
            while at > 0:
                depth += (source.tokens[at] == ">") - (source.tokens[at] == "<")
                at -= 1
                if depth == 0:
                    break
        if at < 0 or source.offsets[at] < start[2]:
            return "", start
        offset = source.offsets[at]
        if not source.tokens[at].isidentifier():
            return "", start
        return source.tokens[at], (start[0], source.line(offset), offset)

    def mention(self, cursor, owner):
        """A lambda's name handed to something: whoever says it is called is not wrong.

        A function that is named, not called, may be instantiated for it: `&Class<int>::member`.
        """
        library = self.library
        referenced = library.getCursorReferenced(cursor)
        if referenced.kind in FUNCTIONS:
            self.target(referenced)
        if referenced.kind == VARIABLE:
            key = self.symbols.lambdas.get(library.text(library.getCursorUSR(referenced)))
            if key is not None:
                place = library.place(library.getCursorLocation(cursor))
                self.add(place, place, owner, False, optional=[key], tags={"lambda"})

    # Targets

    def target(self, callee):
        """The symbol below the root that a cursor is, or is an instantiation of."""
        library = self.library
        node = callee.node()
        if node in self.unit.targets:
            return self.unit.targets[node]
        cursor = callee
        key = self.symbols.key(library, cursor)[0]
        while key is None:
            pattern = library.getSpecializedCursorTemplate(cursor)
            if library.Cursor_isNull(pattern):
                break
            cursor = pattern
            key = self.symbols.key(library, cursor)[0]
        owner = key
        if key is None:
            key = self.lambda_target(cursor)
            # Of another library it may call back; of a lambda it belongs to the function around.
            owner = self.function_around(callee) or key
        if cursor is not callee:
            self.unit.reach(callee, owner)
        self.unit.targets[node] = key
        return key

    def function_around(self, method):
        """The function in which the lambda of a call operator stands."""
        library = self.library
        cursor = method
        while cursor.kind in FUNCTIONS and not library.Cursor_isNull(cursor):
            lambda_class = library.getCursorSemanticParent(cursor)
            if not self.symbols.is_lambda_class(library, lambda_class):
                return self.pattern(cursor)
            cursor = library.getCursorSemanticParent(lambda_class)
        return None

    def pattern(self, cursor):
        """The symbol that a function is, or is an instantiation of."""
        library = self.library
        while not library.Cursor_isNull(cursor):
            key = self.symbols.key(library, cursor)[0]
            if key is not None:
                return key
            cursor = library.getSpecializedCursorTemplate(cursor)
        return None

    def lambda_target(self, cursor):
        """The variable that holds the lambda whose call operator this is."""
        if cursor.kind != METHOD:
            return None
        parent = self.library.getCursorSemanticParent(cursor)
        start = self.library.extent(parent)[0]
        return self.symbols.lambdas.get((start[0], start[2]))

    def class_of(self, constructor):
        """The class of a constructor that nobody wrote."""
        library = self.library
        return self.pattern(library.getCursorSemanticParent(constructor))

    def tags(self, target):
        tags = set()
        for place in self.symbols.symbols[target]["places"].values():
            tags.update(place["tags"])
        return tags - {"macro", "virtual", "lambda"}

    # Recording

    def add(
        self, place, start, owner, is_instance, required=(), optional=(), candidates=(), tags=(), name="",
        is_dependent=False, is_open=False,
    ):
        path, line, offset = place
        if not self.symbols.is_inside(path):
            return
        is_operator = "operator" in tags or name.startswith("operator")
        shape = "operator" if is_operator else "construct" if "constructor" in tags else "call"
        site = self.sites.setdefault(
            (path, offset, shape),
            {"line": line, "from_line": line, "owner": None, "required": set(), "optional": set(), "candidates": set(),
             "tags": set(), "name": "", "is_dependent": False, "is_open": False, "is_instantiated": False},
        )
        if start[0] == path:
            site["from_line"] = min(site["from_line"], start[1])
        site["owner"] = site["owner"] or owner
        site["required"].update(required)
        site["optional"].update(optional)
        site["candidates"].update(candidates)
        site["tags"].update(tags)
        site["name"] = site["name"] or name
        site["is_dependent"] |= is_dependent
        site["is_open"] |= is_open
        site["is_instantiated"] |= is_instance

    def records(self):
        symbols = self.symbols
        number = lambda targets: sorted(symbols.number(target) for target in targets)
        for (path, offset, shape), site in sorted(self.sites.items()):
            source = symbols.source(path)
            yield {
                "record": "call", "path": symbols.relative(path), "line": site["line"], "from_line": site["from_line"],
                "column": offset - source.lines[site["line"] - 1] + 1, "shape": shape,
                "caller": None if site["owner"] is None else symbols.number(site["owner"]),
                "required": number(site["required"]), "optional": number(site["optional"] - site["required"]),
                "candidates": number(site["candidates"]), "tags": sorted(site["tags"]), "name": site["name"],
                "is_dependent": site["is_dependent"], "is_open": site["is_open"], "is_instantiated": site["is_instantiated"],
            }
