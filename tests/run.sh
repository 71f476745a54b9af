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

# The client that stands for a coding agent.
mcp_client=mcp==2.3.0
if [ "$(cat "$CARGO_TARGET_DIR/python/.is" 2>/dev/null)" != "$mcp_client" ]; then
    say "installing $mcp_client"
    rm -rf "$CARGO_TARGET_DIR/python"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --target "$CARGO_TARGET_DIR/python" "$mcp_client"
    printf '%s' "$mcp_client" >"$CARGO_TARGET_DIR/python/.is"
fi

say "fetching the models that the tests load"
almanac models get smollm2-135m-instruct all-minilm-l6-v2

say "testing"
cd "$almanac_root"
cargo test --release --workspace --locked "$@"
