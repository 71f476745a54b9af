//! A store of the fixture library, built once per test program and copied for each test.

use std::sync::OnceLock;

use crate::Bench;

/// Records generated per model stage: enough to see order, gaps and reuse.
pub const RECORDS: u32 = 3;

/// A bench whose store was built by `almanac build --max-records 3`.
pub fn built_bench() -> Bench {
    static BUILT: OnceLock<Bench> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let bench = Bench::with_picolib();
        bench.build(RECORDS, &[]).exits(0);
        bench
    });
    Bench::copy_of(built)
}
