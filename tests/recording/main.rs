//! What recording, flushing, caching and submitting do, shown by the device's counters.
//!
//! The counters belong to the process, so the tests of this binary take turns.

mod alike;
mod bound;
mod cnn;
#[cfg(soft_runtime)] // commits inside an encode are ordered from the software runtime
mod commits_inside;
#[cfg(soft_runtime)] // compilations are held up in the software runtime
mod compiling;
mod crops;
mod datasets;
mod decoding;
mod environment;
mod everyday;
#[cfg(soft_runtime)] // faults are injected into the software runtime
mod faults;
#[cfg(soft_runtime)] // hangs are injected into the software runtime
mod futures;
#[cfg(soft_runtime)]
mod hangs;
mod kept;
mod lengths;
mod liveness;
mod lookalikes;
mod memory;
mod mishaps;
mod mlp;
mod moving;
#[cfg(soft_runtime)] // the software runtime counts operations and kernels
mod nodes;
mod orphans;
mod pieces;
mod pools;
mod products;
mod quantized;
mod random;
mod recurrent;
mod rounds;
mod scalars;
mod signs;
mod threads;
mod training;
mod transforms;
mod trees;
#[cfg(soft_runtime)] // hangs are injected into the software runtime
mod wakers;

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::Tensor;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, Stats};

type B = MpsGraph;

/// Holds the other tests off and starts with nothing recorded, nothing in flight and nothing compiled.
struct Turn {
    _guard: MutexGuard<'static, ()>,
    start: Stats,
}

impl Turn {
    fn take() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let guard = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let device = MpsGraphDevice;
        device.sync().expect("the device works");
        device.memory_cleanup();
        device.clear_programs();
        Self { _guard: guard, start: device.stats() }
    }

    /// What was counted since the turn began or was last restarted.
    fn used(&self) -> Stats {
        MpsGraphDevice.stats().since(&self.start)
    }

    fn restart(&mut self) {
        self.start = MpsGraphDevice.stats();
    }
}

/// Numbers below a bound, the same on every run.
struct Choice(u64);

impl Choice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

fn vector(values: &[f32]) -> Tensor<B, 1> {
    Tensor::from_data(values, &MpsGraphDevice)
}

fn read<const D: usize>(tensor: Tensor<B, D>) -> Vec<f32> {
    tensor.into_data().to_vec().expect("f32 data")
}

#[test]
fn skipped_without_device() {
    test_support::assert_skipped("skipped_without_device", cfg!(soft_runtime), || MpsGraphDevice.name());
}
