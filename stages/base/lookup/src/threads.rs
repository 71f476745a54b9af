//! Threads of FAISS, which takes every processor of the machine unless it is told.

use std::ffi::c_int;

#[expect(unsafe_code, reason = "FAISS runs on OpenMP, whose thread count no crate sets")]
mod openmp {
    use std::ffi::c_int;

    // Both take and give plain numbers and may be called at any time (OpenMP 5.2, 18.2).
    unsafe extern "C" {
        pub(super) safe fn omp_set_num_threads(threads: c_int);
        pub(super) safe fn omp_get_max_threads() -> c_int;
    }
}

/// Lets FAISS use this many threads, for calls from this thread, and gives what it will use. The
/// text index is written by one thread in any case. No number changes a byte of what is written.
pub fn use_threads(threads: usize) -> usize {
    openmp::omp_set_num_threads(c_int::try_from(threads.max(1)).unwrap_or(c_int::MAX));
    usize::try_from(openmp::omp_get_max_threads()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faiss_takes_the_number_it_is_given() {
        for threads in [1, 3, 2] {
            assert_eq!(use_threads(threads), threads);
        }
        assert_eq!(use_threads(0), 1);
    }
}
