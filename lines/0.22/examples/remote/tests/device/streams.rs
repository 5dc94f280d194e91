//! Threads of the program, which meet on one thread of the server.

use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::Tensor;
use burn_mpsgraph::MpsGraphDevice;

use crate::device;

#[test]
fn what_another_thread_records_changes_no_program() {
    let (device, _turn) = device();
    let stop = AtomicBool::new(false);
    let step = |x: Tensor<1>| (x * 0.5 + 1.0).tanh();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = Tensor::<1>::ones([3], &device);
            while !stop.load(Ordering::Relaxed) {
                other = other.sin();
            }
        });
        let mut x = Tensor::<1>::ones([2], &device);
        let mut expected = 1.0f32;
        let mut before = MpsGraphDevice.stats();
        for at in 0..40 {
            if at == 2 {
                before = MpsGraphDevice.stats();
            }
            x = step(x);
            expected = (expected * 0.5 + 1.0).tanh();
            let found: Vec<f32> = x.to_data().try_to_vec().expect("f32");
            assert!(found.iter().all(|found| (found - expected).abs() < 1e-5), "{found:?} are not {expected}");
        }
        stop.store(true, Ordering::Relaxed);
        let used = MpsGraphDevice.stats().since(&before);
        // The other thread's chain is cut at bounds, by itself: two programs of its own at most.
        assert!(used.programs_compiled <= 2, "{used:?}");
    });
}

#[test]
fn threads_use_each_others_values() {
    let (device, _turn) = device();
    let made = std::thread::scope(|scope| {
        let parts = [1.0f32, 2.0, 3.0].map(|number| {
            let device = &device;
            scope.spawn(move || Tensor::<1>::from_floats([number], device) * 10.0)
        });
        parts.map(|part| part.join().expect("no panic"))
    });
    let [a, b, c] = made;
    assert_eq!((a - b + c).into_data().try_to_vec::<f32>().expect("f32"), [20.0]);
}

#[test]
fn tensors_move_between_sessions() {
    let (device, _turn) = device();
    let other = burn_mpsgraph::session().expect("another session");
    let x = Tensor::<1>::from_floats([1.0, 2.0], &device) + 1.0;
    let y = x.clone().to_device(&other) * 2.0;
    assert_eq!(y.clone().into_data().try_to_vec::<f32>().expect("f32"), [4.0, 6.0]);
    assert_eq!((y.to_device(&device) + x).into_data().try_to_vec::<f32>().expect("f32"), [6.0, 9.0]);
}
