//! Many comparisons on a few threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compares each element of a list on up to four threads, and returns the number of elements for which something was
/// compared. Errors are added to the list that the comparison receives.
///
/// # Panics
///
/// If there are errors.
pub fn compare_each<T: Sync>(all: &[T], compare: impl Fn(&T, &Mutex<Vec<String>>) -> bool + Sync) -> usize {
    let (next, compared, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    compared.fetch_add(usize::from(compare(one, &wrong)), Ordering::Relaxed);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
    compared.into_inner()
}
