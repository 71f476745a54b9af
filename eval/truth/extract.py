#!/usr/bin/env python3
"""What a compiler sees in a C++ tree: definitions, declarations and calls, through libclang.

    extract.py DESCRIPTION.json OUTPUT.jsonl

DESCRIPTION holds `root` (the tree; only what stands below it is reported), `units` (a list of
objects with `file` and `flags`) and `clang` (the version of libclang). It shares no code with the
parser it is a measure for. eval/graph/README.md says what is counted.

The units are read one after the other and merged. A body that stands in a template is visited as
written, which shows names and overload sets, and once more in every instantiation that is reachable
from the units, which shows what was really called: libclang hides instantiations from a walk over
the tree, but gives them for a reference to a function, and their bodies can be walked.
"""

import json
import sys

from libclang import Library
from sites import Sites
from symbols import Symbols
from unit import Unit


def main():
    with open(sys.argv[1]) as file:
        description = json.load(file)
    library = Library(description["clang"])
    symbols = Symbols(description["root"])
    sites = Sites(symbols)
    for unit in description["units"]:
        reading = Unit(library, symbols, sites, unit["file"], unit["flags"])
        reading.read()
        print(unit["file"], len(symbols.symbols), "symbols,", len(sites.sites), "sites,", len(reading.reached),
              "instantiations", file=sys.stderr)
    with open(sys.argv[2], "w") as output:
        for record in list(symbols.records()) + list(sites.records()):
            output.write(json.dumps(record, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    main()
