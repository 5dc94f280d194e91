//! What the device tells Burn, and `flush`.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use burn_backend::ops::{FloatTensorOps, IntTensorOps, QTensorOps};
use burn_backend::quantization::{QuantScheme, QuantStore};
use burn_backend::{
    Backend, BoolDType, BoolStore, DType, DeviceError, DeviceOps, FloatDType, IntDType, ProfileOptions, ProfileToken,
    Slice, TensorData, TensorMetadata, TimingMethod, get_device_settings, profile_with_tokens, read_sync,
    set_default_dtypes,
};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor};

use super::program::alone;

const BOOL: DType = DType::Bool(BoolStore::Native);

#[test]
fn defaults() {
    let settings = MpsGraphDevice.defaults();
    assert_eq!(settings.float_dtype, FloatDType::F32);
    assert_eq!(settings.int_dtype, IntDType::I32);
    assert_eq!(settings.bool_dtype, BoolDType::Native);
}

fn described<T: TensorMetadata<Device = MpsGraphDevice>>(tensor: &T, shape: &[usize], dtype: DType) {
    assert_eq!((&tensor.shape()[..], tensor.rank(), tensor.dtype()), (shape, shape.len(), dtype));
    assert_eq!(tensor.device(), MpsGraphDevice);
    assert!(!tensor.can_mut());
}

/// Before anything has run, and without running it.
#[test]
fn a_tensor_knows_shape_dtype_and_device() {
    let floats = || MpsGraph::float_from_data(TensorData::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]), &MpsGraphDevice);
    described(&floats(), &[2, 3], DType::F32);
    described(&MpsGraph::float_cast(floats(), FloatDType::BF16), &[2, 3], DType::BF16);
    described(&MpsGraph::float_sum(floats()), &[1], DType::F32);
    described(&MpsGraph::float_argmax(floats(), 1, IntDType::U16), &[2, 1], DType::U16);
    described(&MpsGraph::float_greater_elem(floats(), 2.0f32.into(), BoolDType::Native), &[2, 3], BOOL);
    described(&MpsGraph::float_slice(floats(), &[Slice::from(0..0)]), &[0, 3], DType::F32);
    let scheme = QuantScheme::default().with_store(QuantStore::Native);
    let quantized = MpsGraph::quantize_dynamic(floats(), &scheme);
    described(&quantized, &[2, 3], DType::QFloat(scheme));
    assert_eq!(quantized.scheme(), scheme);
    assert!(catch_unwind(|| floats().scheme()).is_err());
}

/// They are the process's and set once: before the first tensor of a default dtype is made.
#[test]
fn settings_are_refused_where_they_cannot_be_kept_and_late() {
    if !alone("device::settings_are_refused_where_they_cannot_be_kept_and_late") {
        return;
    }
    let set = |float: FloatDType, int: IntDType, bool: BoolDType| {
        set_default_dtypes::<MpsGraph>(&MpsGraphDevice, float, int, bool)
    };
    let refused = [
        set(FloatDType::F64, IntDType::I32, BoolDType::Native),
        set(FloatDType::F32, IntDType::I32, BoolDType::U8),
        set(FloatDType::F32, IntDType::I32, BoolDType::U32),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(DeviceError::UnsupportedDType { .. })), "{refused:?}");
    }
    set(FloatDType::F16, IntDType::I64, BoolDType::Native).expect("both can be computed with");
    let settings = get_device_settings::<MpsGraph>(&MpsGraphDevice);
    assert_eq!((settings.float_dtype, settings.int_dtype), (FloatDType::F16, IntDType::I64));
    let late = set(FloatDType::F32, IntDType::I32, BoolDType::Native);
    assert!(matches!(late, Err(DeviceError::AlreadyInitialized { .. })), "{late:?}");
}

#[test]
fn flush_says_what_could_not_be_submitted() {
    if !alone("device::flush_says_what_could_not_be_submitted") {
        return;
    }
    let x = MpsGraph::float_from_data(TensorData::from([1.0f32; 5000].as_slice()), &MpsGraphDevice);
    MpsGraphDevice.set_memory_limit(MpsGraphDevice.stats().bytes_live + 1000);
    let sum = MpsGraph::float_add_scalar(x, 1.0f32.into());
    let refused = MpsGraph::flush(&MpsGraphDevice).expect_err("there is no memory").to_string();
    assert!(refused.contains("out of memory") && refused.contains("set_memory_limit"), "{refused}");
    MpsGraphDevice.set_memory_limit(u64::MAX);
    assert!(MpsGraph::flush(&MpsGraphDevice).is_ok(), "there is nothing left to submit");
    assert!(read_sync(MpsGraph::float_into_data(sum)).is_err());
    assert!(MpsGraphDevice.sync().is_err());
}

/// As Burn's intermediate representation has it, so that what a server is asked for fits what the client expects.
#[test]
fn positions_have_the_dtype_of_the_integers() {
    let ints = || MpsGraph::int_from_data(TensorData::from([3i64, 1, 2]), &MpsGraphDevice);
    let data = |tensor| read_sync(MpsGraph::int_into_data(tensor)).expect("a value");
    let (sorted, positions) = MpsGraph::int_sort_with_indices(ints(), 0, false);
    assert_eq!([data(sorted), data(positions)], [TensorData::from([1i64, 2, 3]), TensorData::from([1i64, 2, 0])]);
    let (top, positions) = MpsGraph::int_topk_with_indices(ints(), 0, 2);
    assert_eq!([data(top), data(positions)], [TensorData::from([3i64, 2]), TensorData::from([0i64, 2])]);
    assert_eq!(data(MpsGraph::int_argsort(ints(), 0, true)), TensorData::from([0i64, 2, 1]));
    let far =
        MpsGraph::int_from_data(TensorData::new((0..300).map(|i| (i == 299) as u8).collect(), [300]), &MpsGraphDevice);
    assert_eq!(data(MpsGraph::int_argmax(far, 0)), TensorData::from([299]), "u8 cannot hold it");
}

#[test]
fn flush_submits_what_this_thread_recorded_and_waits_for_nothing() {
    if !alone("device::flush_submits_what_this_thread_recorded_and_waits_for_nothing") {
        return;
    }
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
    if !alone("device::memory_in_use") {
        return;
    }
    const BYTES: u64 = 4 << 20;
    let usage = || MpsGraph::memory_pool_usage(&MpsGraphDevice).expect("this backend counts");
    let make = || MpsGraph::float_from_data(TensorData::new(vec![0.0f32; 1 << 20], [1 << 20]), &MpsGraphDevice);
    let before = usage();
    let tensor = make();
    let with = usage();
    assert_eq!(with.number_allocs, before.number_allocs + 1, "{before:?} {with:?}");
    assert_eq!(with.bytes_in_use, before.bytes_in_use + BYTES, "{before:?} {with:?}");
    assert!(with.bytes_reserved >= with.bytes_in_use, "{with:?}");
    drop(tensor);
    let kept = usage();
    assert_eq!((kept.number_allocs, kept.bytes_in_use), (before.number_allocs, before.bytes_in_use), "{kept:?}");
    assert_eq!(kept.bytes_reserved, with.bytes_reserved, "a free buffer is kept");
    MpsGraph::memory_cleanup(&MpsGraphDevice);
    assert!(usage().bytes_reserved + BYTES <= kept.bytes_reserved, "{kept:?} {:?}", usage());
    // It is of pages that are cut into parts, which nothing is here.
    assert_eq!(MpsGraph::memory_pool_report(&MpsGraphDevice), None);
}

fn number(value: f32) -> MpsGraphTensor {
    MpsGraph::float_from_data(TensorData::from([value]), &MpsGraphDevice)
}

/// What was recorded before runs before the time begins; what the closure records has run when it ends.
#[test]
fn work_is_timed() {
    if !alone("device::work_is_timed") {
        return;
    }
    let executions = || MpsGraphDevice.stats().executions;
    let earlier = MpsGraph::float_exp(number(0.0));
    let at_first = executions();
    let work = || (executions(), MpsGraph::float_add_scalar(number(1.0), 1.0f32.into()));
    let outside = Instant::now();
    let timed = MpsGraph::profile(&MpsGraphDevice, ProfileOptions::default().flush(), work);
    let outside = outside.elapsed();
    let ((at_begin, tensor), duration) = timed.expect("the device works");
    assert_eq!((at_begin, executions()), (at_first + 1, at_first + 2));
    assert_eq!(duration.timing_method(), TimingMethod::System);
    let ticks = read_sync(duration.resolve()).expect("it is measured");
    assert!((Duration::from_nanos(1)..outside).contains(&ticks.duration()), "{ticks:?} of {outside:?}");
    assert_eq!(read_sync(MpsGraph::float_into_data(tensor)).expect("a value"), TensorData::from([2.0f32]));
    assert_eq!(read_sync(MpsGraph::float_into_data(earlier)).expect("a value"), TensorData::from([1.0f32]));
}

/// There are no windows on the device's clock, so who asks for one gets the time between two waits.
#[test]
fn who_asks_for_a_window_gets_a_time() {
    assert_eq!(MpsGraph::profile_start(&MpsGraphDevice).expect("no failure"), None);
    let work = || MpsGraph::float_exp(number(0.0));
    let timed = profile_with_tokens::<MpsGraph, _>(&MpsGraphDevice, ProfileOptions::default(), work);
    let (tensor, duration) = timed.expect("the device works");
    assert!(read_sync(duration.resolve()).is_some());
    assert_eq!(read_sync(MpsGraph::float_into_data(tensor)).expect("a value"), TensorData::from([1.0f32]));
    let token = ProfileToken { id: 0, opened_on: 0 };
    assert!(MpsGraph::profile_end(&MpsGraphDevice, token, ProfileOptions::default()).is_err());
}

/// Nobody can hold a graph over fixed buffers, and who wants one is told before anything is captured.
#[test]
fn there_are_no_graphs_over_fixed_buffers() {
    MpsGraph::graph_prepare(&MpsGraphDevice).expect("nothing to do");
    let text = MpsGraph::graph_start_capture(&MpsGraphDevice).expect_err("it is refused").to_string();
    assert!(text.contains("not supported"), "{text}");
    assert!(MpsGraph::graph_stop_capture(&MpsGraphDevice).is_err());
}
