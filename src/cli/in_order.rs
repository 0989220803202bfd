//! Work on several processors whose results come in the order of the items, so that their number changes no byte.

use std::num::NonZero;
use std::sync::mpsc;
use std::thread;

/// More would wait for whoever takes the results.
const MOST: usize = 8;
/// Items that a thread works on at a time: what is handed over costs something too.
const PART: usize = 8;
/// Parts of a thread that may wait, so that memory does not grow with the items.
const AHEAD: usize = 2;

/// Threads that are worth their start on this machine. A limit of a container counts.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST)
}

/// Gives `take` what `work` makes of each item. `worker` makes what a thread keeps from item to item.
///
/// # Errors
///
/// The first error of `take`, which is not called again after it.
pub(super) fn in_order<I: Sync, W, R: Send, E>(
    items: &[I],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &I) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let parts = items.len().div_ceil(PART);
    let threads = threads.min(parts);
    if threads < 2 {
        let mut worker = worker();
        return items.iter().try_for_each(|item| take(work(&mut worker, item)));
    }
    thread::scope(|scope| {
        let start = |first| {
            let (give, made) = mpsc::sync_channel::<Vec<R>>(AHEAD);
            let (worker, work) = (&worker, &work);
            scope.spawn(move || {
                let mut worker = worker();
                for part in items.chunks(PART).skip(first).step_by(threads) {
                    let results = part.iter().map(|item| work(&mut worker, item)).collect();
                    if give.send(results).is_err() {
                        // An error has ended it all.
                        return;
                    }
                }
            });
            made
        };
        let made: Vec<mpsc::Receiver<Vec<R>>> = (0..threads).map(start).collect();
        for part in made.iter().cycle().take(parts) {
            // A thread that ended early has panicked, and so does this scope at its end.
            let Ok(results) = part.recv() else { return Ok(()) };
            results.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::in_order;

    /// As many threads as there are, the results are those of one.
    #[test]
    fn results_come_in_the_order_of_their_items() {
        for length in [0, 1, 7, 8, 9, 100, 1000] {
            let items: Vec<usize> = (0..length).collect();
            for threads in [0, 1, 2, 3, 8] {
                let mut made = Vec::new();
                let work = |count: &mut usize, item: &usize| {
                    *count += 1;
                    (*item, *count)
                };
                let done: Result<(), ()> = in_order(
                    &items,
                    threads,
                    || 0,
                    work,
                    |(item, count)| {
                        assert!(count > 0);
                        made.push(item);
                        Ok(())
                    },
                );
                assert_eq!((done, &made), (Ok(()), &items), "{threads} threads");
            }
        }
    }

    #[test]
    fn the_first_error_ends_it_for_all() {
        let items: Vec<usize> = (0..1000).collect();
        for threads in [1, 2, 5] {
            let mut taken = 0;
            let done = in_order(
                &items,
                threads,
                || (),
                |(), item| *item,
                |item| {
                    taken += 1;
                    if item == 20 { Err(item) } else { Ok(()) }
                },
            );
            assert_eq!((done, taken), (Err(20), 21), "{threads} threads");
        }
    }

    /// What fails in a thread fails the run: a result that is left out would be a file that is removed.
    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_is_not_a_result_that_is_left_out() {
        let items: Vec<usize> = (0..100).collect();
        let work = |(): &mut (), item: &usize| assert!(*item != 50);
        let _: Result<(), ()> = in_order(&items, 2, || (), work, |()| Ok(()));
    }
}
