//! What the device tells Burn, and `flush`.

use std::sync::Mutex;

use burn_backend::ops::FloatTensorOps;
use burn_backend::{Backend, BoolDType, DeviceOps, FloatDType, IntDType, TensorData, TensorMetadata, read_sync};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

/// Tests that count take turns.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn defaults() {
    let settings = MpsGraphDevice.defaults();
    assert_eq!(settings.float_dtype, FloatDType::F32);
    assert_eq!(settings.int_dtype, IntDType::I32);
    assert_eq!(settings.bool_dtype, BoolDType::Native);
}

#[test]
fn a_tensor_knows_its_device() {
    let tensor = MpsGraph::float_from_data(TensorData::from([1.0f32]), &MpsGraphDevice);
    assert_eq!(tensor.device(), MpsGraphDevice);
    assert!(!tensor.can_mut());
}

#[test]
fn flush_submits_what_this_thread_recorded_and_waits_for_nothing() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let x = MpsGraph::float_from_data(TensorData::from([1.0f32, 2.0]), &MpsGraphDevice);
    let (recorded, flushed) = std::sync::mpsc::channel::<()>();
    let (ready, others) = std::sync::mpsc::channel();
    let elsewhere = {
        let x = x.clone();
        std::thread::spawn(move || {
            let y = MpsGraph::float_add_scalar(x, 5.0f32.into());
            ready.send(()).expect("the test waits");
            flushed.recv().expect("the test goes on");
            read_sync(MpsGraph::float_into_data(y)).expect("a value")
        })
    };
    others.recv().expect("the other thread records");
    let y = MpsGraph::float_mul_scalar(x, 3.0f32.into());
    let before = MpsGraphDevice.stats();
    MpsGraph::flush(&MpsGraphDevice).expect("the device works");
    let used = MpsGraphDevice.stats().since(&before);
    assert_eq!((used.executions, used.commits, used.waits), (1, 1, 0), "{used:?}");
    recorded.send(()).expect("the other thread waits");
    assert_eq!(elsewhere.join().expect("no panic"), TensorData::from([6.0f32, 7.0]));
    assert_eq!(read_sync(MpsGraph::float_into_data(y)).expect("a value"), TensorData::from([3.0f32, 6.0]));
}

#[test]
fn memory_in_use() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let usage = || MpsGraph::memory_pool_usage(&MpsGraphDevice).expect("this backend counts");
    let before = usage();
    let tensor = MpsGraph::float_from_data(TensorData::new(vec![0.0f32; 1 << 20], [1 << 20]), &MpsGraphDevice);
    let with = usage();
    assert!(with.bytes_in_use >= before.bytes_in_use + (4 << 20), "{before:?} {with:?}");
    assert!(with.bytes_reserved >= with.bytes_in_use, "{with:?}");
    drop(tensor);
}

#[test]
fn work_is_timed() {
    let work = || {
        MpsGraph::float_add_scalar(
            MpsGraph::float_from_data(TensorData::from([1.0f32]), &MpsGraphDevice),
            1.0f32.into(),
        )
    };
    let (tensor, _duration) = MpsGraph::profile(&MpsGraphDevice, Default::default(), work).expect("the device works");
    assert_eq!(read_sync(MpsGraph::float_into_data(tensor)).expect("a value"), TensorData::from([2.0f32]));
}
