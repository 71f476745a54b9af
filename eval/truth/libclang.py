"""The part of libclang's C interface that is needed, through ctypes."""

import glob
import os
from ctypes import CDLL, CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_longlong, c_uint, c_void_p, py_object

# CXCursorKind, as in clang-c/Index.h.
STRUCT, UNION, CLASS, ENUM, FIELD, ENUMERATOR, FUNCTION, VARIABLE, PARAMETER = 2, 3, 4, 5, 6, 7, 8, 9, 10
TYPEDEF, METHOD, NAMESPACE, LINKAGE, CONSTRUCTOR, DESTRUCTOR, CONVERSION = 20, 21, 22, 23, 24, 25, 26
TYPE_PARAMETER, VALUE_PARAMETER, TEMPLATE_PARAMETER = 27, 28, 29
FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALISATION, ALIAS, ALIAS_TEMPLATE = 30, 31, 32, 36, 601
TYPE_REF, OVERLOADED_REF, UNEXPOSED_EXPR, DECL_REF_EXPR, MEMBER_REF_EXPR, CALL_EXPR, LAMBDA_EXPR = 43, 49, 100, 101, 102, 103, 144
COMPOUND_STMT, TRY_STMT = 202, 224
MACRO_DEFINITION, MACRO_EXPANSION, FRIEND = 501, 502, 603

FUNCTIONS = {FUNCTION, METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION, FUNCTION_TEMPLATE}
TEMPLATES = {FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALISATION}
RECORDS = {STRUCT, UNION, CLASS, CLASS_TEMPLATE, PARTIAL_SPECIALISATION}
CONTAINERS = RECORDS | {NAMESPACE, LINKAGE, FRIEND, 1}

BREAK, CONTINUE, RECURSE = 0, 1, 2
# CXTranslationUnit_DetailedPreprocessingRecord
DETAILED_PREPROCESSING = 1


class String(Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class Cursor(Structure):
    _fields_ = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]

    def node(self):
        """Address of the syntax node: the identity of an instantiation."""
        return self.data[0]


class Location(Structure):
    _fields_ = [("data", c_void_p * 2), ("offset", c_uint)]


class Range(Structure):
    _fields_ = [("data", c_void_p * 2), ("start", c_uint), ("end", c_uint)]


class RangeList(Structure):
    _fields_ = [("count", c_uint), ("ranges", POINTER(Range))]


class Type(Structure):
    _fields_ = [("kind", c_int), ("data", c_void_p * 2)]


VISITOR = CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)

PROTOTYPES = {
    "createIndex": (c_void_p, [c_int, c_int]),
    "parseTranslationUnit2": (c_int, [c_void_p, c_char_p, POINTER(c_char_p), c_int, c_void_p, c_uint, c_uint, POINTER(c_void_p)]),
    "disposeTranslationUnit": (None, [c_void_p]),
    "getNumDiagnostics": (c_uint, [c_void_p]),
    "getDiagnostic": (c_void_p, [c_void_p, c_uint]),
    "getDiagnosticSeverity": (c_int, [c_void_p]),
    "formatDiagnostic": (String, [c_void_p, c_uint]),
    "getTranslationUnitCursor": (Cursor, [c_void_p]),
    "visitChildren": (c_uint, [Cursor, VISITOR, c_void_p]),
    "getCString": (c_char_p, [String]),
    "disposeString": (None, [String]),
    "getCursorSpelling": (String, [Cursor]),
    "getCursorUSR": (String, [Cursor]),
    "getCursorReferenced": (Cursor, [Cursor]),
    "getCursorSemanticParent": (Cursor, [Cursor]),
    "getCursorLexicalParent": (Cursor, [Cursor]),
    "getCursorLocation": (Location, [Cursor]),
    "getCursorExtent": (Range, [Cursor]),
    "getCursorType": (Type, [Cursor]),
    "getPointeeType": (Type, [Type]),
    "getTypeDeclaration": (Cursor, [Type]),
    "getCanonicalType": (Type, [Type]),
    "getCanonicalCursor": (Cursor, [Cursor]),
    "getRangeStart": (Location, [Range]),
    "getRangeEnd": (Location, [Range]),
    "getFileLocation": (None, [Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]),
    "getFileName": (String, [c_void_p]),
    "getSpecializedCursorTemplate": (Cursor, [Cursor]),
    "getTemplateCursorKind": (c_int, [Cursor]),
    "isCursorDefinition": (c_uint, [Cursor]),
    "Cursor_isNull": (c_int, [Cursor]),
    "Cursor_isAnonymous": (c_uint, [Cursor]),
    "Cursor_isInlineNamespace": (c_uint, [Cursor]),
    "Cursor_isFunctionInlined": (c_uint, [Cursor]),
    "Cursor_getNumArguments": (c_int, [Cursor]),
    "Cursor_getArgument": (Cursor, [Cursor, c_uint]),
    "CXXMethod_isVirtual": (c_uint, [Cursor]),
    "CXXMethod_isDefaulted": (c_uint, [Cursor]),
    "getNumOverloadedDecls": (c_uint, [Cursor]),
    "getOverloadedDecl": (Cursor, [Cursor, c_uint]),
    "getAllSkippedRanges": (POINTER(RangeList), [c_void_p]),
    "disposeSourceRangeList": (None, [POINTER(RangeList)]),
}


class Library:
    """libclang with its functions as methods, without the `clang_`."""

    def __init__(self, version):
        self.handle = CDLL(f"libclang-{version}.so.1")
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(self.handle, f"clang_{name}")
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)
        self.index = self.createIndex(0, 0)
        headers = glob.glob(f"/usr/lib/llvm-{version}/lib/clang/*/include")
        self.flags = ["-resource-dir", os.path.dirname(headers[0])] if headers else []
        self.paths = {}

    def text(self, string):
        value = self.getCString(string)
        value = value.decode("utf-8", "replace") if value else ""
        self.disposeString(string)
        return value

    def parse(self, path, flags):
        self.paths = {}  # addresses of files are used again by the next unit
        arguments = [flag.encode() for flag in self.flags + flags]
        array = (c_char_p * len(arguments))(*arguments)
        unit = c_void_p()
        status = self.parseTranslationUnit2(
            self.index, path.encode(), array, len(arguments), None, 0, DETAILED_PREPROCESSING, byref(unit)
        )
        if status != 0:
            raise SystemExit(f"{path}: libclang cannot parse it (code {status})")
        return unit

    def errors(self, unit):
        found = []
        for at in range(self.getNumDiagnostics(unit)):
            diagnostic = self.getDiagnostic(unit, at)
            if self.getDiagnosticSeverity(diagnostic) >= 3:
                found.append(self.text(self.formatDiagnostic(diagnostic, 1)))
        return found

    def place(self, location):
        """(path, line, offset) in a file: for a macro's argument where it is written, for what else a macro
        brings where the macro is expanded. The path is empty where there is no file."""
        file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
        self.getFileLocation(location, byref(file), byref(line), byref(column), byref(offset))
        if file.value is None:
            return ("", 0, 0)
        path = self.paths.get(file.value)
        if path is None:
            path = os.path.normpath(self.text(self.getFileName(file)))
            self.paths[file.value] = path
        return (path, line.value, offset.value)

    def extent(self, cursor):
        """Places of a cursor's first byte and of the byte past its last token's first."""
        extent = self.getCursorExtent(cursor)
        return self.place(self.getRangeStart(extent)), self.place(self.getRangeEnd(extent))

    def is_out_of_line(self, cursor):
        semantic, lexical = self.getCursorSemanticParent(cursor), self.getCursorLexicalParent(cursor)
        return semantic.node() != lexical.node() and semantic.kind in RECORDS

    def visit(self, cursor, visitor):
        """Walks the children; `visitor(cursor, parent)` gives CONTINUE or RECURSE."""
        failures = []

        def guarded(child, parent, _data):
            try:
                return visitor(child, parent)
            except Exception as failure:  # an exception must not cross the C frames
                failures.append(failure)
                return BREAK

        self.visitChildren(cursor, VISITOR(guarded), None)
        if failures:
            raise failures[0]

    def children(self, cursor):
        found = []

        def keep(child, _parent, _data):
            # The structure is reused by the caller: keep a copy.
            found.append(Cursor(child.kind, child.xdata, child.data))
            return CONTINUE

        self.visitChildren(cursor, VISITOR(keep), None)
        return found

    def skipped(self, unit):
        """Places the preprocessor left out: ((path, line, offset), (path, line, offset))."""
        ranges = self.getAllSkippedRanges(unit)
        found = []
        for at in range(ranges.contents.count):
            skipped = ranges.contents.ranges[at]
            found.append((self.place(self.getRangeStart(skipped)), self.place(self.getRangeEnd(skipped))))
        self.disposeSourceRangeList(ranges)
        return found
