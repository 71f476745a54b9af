# Sourced by quickstart.sh and tests/run.sh: installs what a bare Debian 12 lacks and builds.
# Rust (https://rustup.rs) and Python 3 are expected; everything else is brought here.

set -euo pipefail

almanac_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# One target folder for runs, tests and every clone: the dependencies are built once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/almanac/target}

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
fail() { printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2; exit 69; }

# Debian packages: FAISS is built from source with cmake and linked to OpenBLAS.
install_packages() {
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "missing: ${missing[*]}" "install them with your system's package manager"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

install_needs() {
    command -v cargo >/dev/null || fail "cargo was not found" "install Rust from https://rustup.rs and open a new shell"
    install_packages build-essential cmake libopenblas-dev pkg-config git ca-certificates
    if ! python3 -m pip --version >/dev/null 2>&1; then
        install_packages python3 python3-pip
    fi
}

# cargo tells stale from fresh by modification time, and names the crates of two clones alike: what
# another clone built last would pass for this one's. So after a change of clones, this one's
# sources count as just changed; the dependencies stay.
claim_target_folder() {
    local mark=$CARGO_TARGET_DIR/last-clone
    mkdir -p "$CARGO_TARGET_DIR"
    [ "$(cat "$mark" 2>/dev/null)" = "$almanac_root" ] && return 0
    find "$almanac_root"/{stages,config,tests,eval} -type f \( -name '*.rs' -o -name '*.toml' -o -name '*.md' \) \
        -not -path '*/fixtures/*' -exec touch {} +
    printf '%s' "$almanac_root" > "$mark"
}

# Builds every binary; the first time takes most of an hour on two cores, later seconds.
build_binaries() {
    say "building (target folder $CARGO_TARGET_DIR)"
    claim_target_folder
    (cd "$almanac_root" && cargo build --release --workspace --bins --locked)
    export PATH=$CARGO_TARGET_DIR/release:$PATH
}
