//! Several requests at a time, and not more than that.

use std::future::Future;

use tokio::task::JoinSet;

/// Runs all futures, at most `limit` of them at a time. Results come in the order of the futures.
pub(in crate::cluster) async fn all<T, F>(limit: usize, futures: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut waiting = futures.into_iter().enumerate();
    let mut running = JoinSet::new();
    let mut results = Vec::new();
    loop {
        while running.len() < limit
            && let Some((position, future)) = waiting.next()
        {
            running.spawn(async move { (position, future.await) });
        }
        match running.join_next().await {
            Some(Ok(result)) => results.push(result),
            // A task of ours neither panics nor is it aborted; if it did, the panic goes on here.
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            None => break,
        }
    }
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::all;

    #[test]
    fn never_more_than_the_limit_and_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let results = runtime.block_on(all(
            3,
            (0..20).map(|number| {
                let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                async move {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20 - number)).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    number
                }
            }),
        ));
        assert_eq!(results, (0..20).collect::<Vec<_>>());
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }
}
