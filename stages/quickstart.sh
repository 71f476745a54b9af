#!/usr/bin/env bash
# usage: bash stages/quickstart.sh [TREE [QUESTION]]
#
# Installs what is missing, builds, fetches the two default models, builds a store of TREE (or of
# the fixture library) with about two minutes of explanations, the most important first, and
# answers a question from it.
source "$(dirname "${BASH_SOURCE[0]}")/install.sh"

tree=${1:-$almanac_root/tests/fixtures/picolib}
[ -d "$tree" ] || fail "$tree is not a folder" "give the top folder of a C++ tree"
question=${2:-"Where is the conjugate gradient solver implemented?"}
store=${ALMANAC_STORE:-$almanac_root/artifacts}

install_needs
build_binaries

say "fetching the default models"
almanac models get

say "building the store $store of $tree"
almanac build --profile quickstart --source "$tree" --store "$store"
almanac status --profile quickstart --source "$tree" --store "$store"

say "$question"
almanac ask "$question" --profile quickstart --store "$store"

say "done; in a shell of your own:"
echo "  export PATH=\"$CARGO_TARGET_DIR/release:\$PATH\""
echo "  almanac search \"where are ghost cells filled?\" --profile quickstart --store \"$store\""
