//! Reads inside the tasks of thread pools end, whatever the pool lets its threads do meanwhile.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

use super::{B, Turn};
use burn_mpsgraph::MpsGraphDevice;

/// More than a slow machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `work` on a thread of its own; a test that would hang fails.
fn within_patience(work: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        ended.send(()).expect("the test waits");
    });
    if end.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("no end within {PATIENCE:?}");
    }
    worker.join().expect("no panic");
}

/// The sum of a product that is large enough for several threads.
fn product(value: usize) -> f32 {
    let x = Tensor::<B, 2>::from_data(TensorData::new(vec![value as f32; 256 * 256], [256, 256]), &MpsGraphDevice);
    x.clone().matmul(x).sum().into_scalar()
}

fn expected(value: usize) -> f32 {
    (value * value * 256 * 256 * 256) as f32
}

fn all_right(found: &[f32]) {
    for (value, found) in found.iter().enumerate() {
        assert!((found - expected(value)).abs() <= 1e-5 * expected(value), "{value}: {found}");
    }
}

#[test]
fn tasks_of_the_global_pool() {
    let _turn = Turn::take();
    within_patience(|| {
        for _ in 0..5 {
            let found: Vec<f32> = (0..32).into_par_iter().map(product).collect();
            all_right(&found);
        }
    });
}

#[test]
fn tasks_of_a_pool_in_tasks_of_another() {
    let _turn = Turn::take();
    within_patience(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        for _ in 0..3 {
            let found: Vec<f32> = (0..16)
                .into_par_iter()
                .map(|value| pool.install(|| rayon::join(|| product(value), || product(1)).0))
                .collect();
            all_right(&found);
        }
    });
}

#[test]
fn values_made_in_tasks_and_read_in_others() {
    let _turn = Turn::take();
    within_patience(|| {
        let made: Vec<Tensor<B, 1>> = (0..64)
            .into_par_iter()
            .map(|value| Tensor::<B, 1>::full([70_000], value as f32, &MpsGraphDevice) + 1.0)
            .collect();
        let sums: Vec<f32> = made.into_par_iter().map(|x| x.mean().into_scalar()).collect();
        assert_eq!(sums, (0..64).map(|value| value as f32 + 1.0).collect::<Vec<_>>());
    });
}

#[test]
fn scoped_threads_that_share_a_model() {
    let _turn = Turn::take();
    within_patience(|| {
        let weight = Tensor::<B, 2>::ones([128, 128], &MpsGraphDevice) * 0.5;
        thread::scope(|scope| {
            for worker in 0..6 {
                let weight = weight.clone();
                scope.spawn(move || {
                    for _ in 0..20 {
                        let x = Tensor::<B, 2>::full([64, 128], worker as f32, &MpsGraphDevice);
                        assert_eq!(x.matmul(weight.clone()).mean().into_scalar(), 64.0 * worker as f32);
                    }
                });
            }
        });
    });
}
