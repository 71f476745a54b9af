#!/usr/bin/env bash
# usage: bash tests/run.sh [ARGUMENTS OF cargo test]
#
# Installs what the tests need, builds, fetches the two default models and runs every test.
source "$(dirname "${BASH_SOURCE[0]}")/../stages/install.sh"

install_needs
install_packages slurm-wlm munge shellcheck
# The compiler that judges parse and graph, and what the fixture library's tests include.
install_packages libclang1-14 libclang-common-14-dev libgtest-dev
build_binaries

say "fetching the models that the tests load"
almanac models get smollm2-135m-instruct all-minilm-l6-v2

say "testing"
cd "$almanac_root"
cargo test --release --workspace --locked "$@"
