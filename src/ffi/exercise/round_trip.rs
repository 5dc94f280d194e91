//! The whole way through Objective-C, once: graph, compilation, binding by identity, execution, results; and what the
//! wrappers promise about strings, numbers, errors and ownership. Runs on Apple's frameworks and on `mpsgraph-soft`.

use std::ffi::CStr;

use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::foundation::ns_data::NSData;
use crate::ffi::foundation::ns_dictionary::NSDictionary;
use crate::ffi::foundation::ns_error::{NSError, NsError};
use crate::ffi::foundation::ns_number::NSNumber;
use crate::ffi::foundation::ns_process_info::NSProcessInfo;
use crate::ffi::objc::{self, Message, Retained, Selector};
use crate::ffi::{
    Buffer, CommandBufferStatus, DataType, Device, GpuFamily, Graph, GraphDevice, MpsCommandBuffer, ShapedType,
    TensorData, autoreleasepool, os_version, symbols,
};

use super::device;

/// All of it.
pub(super) fn all() {
    the_device_describes_itself();
    numbers_and_arrays_keep_their_values();
    bytes_and_entries_are_counted();
    errors_say_what_went_wrong();
    objects_say_what_they_answer();
    the_process_knows_its_system();
    objects_live_as_long_as_their_owners();
    a_graph_computes();
}

fn buffer_of(device: &Device, values: &[f32]) -> Buffer {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let buffer = device.new_buffer(bytes.len()).expect("there is memory");
    buffer.write(0, bytes);
    buffer
}

fn read(buffer: &Buffer, count: usize) -> Vec<f32> {
    let mut values = vec![0.0; count];
    buffer.read(0, bytemuck::cast_slice_mut(&mut values));
    values
}

#[test]
fn the_device_describes_itself() {
    let device = device();
    assert!(!device.name().is_empty());
    assert!(device.max_buffer_length() >= 1 << 28);
    assert!(device.recommended_max_working_set_size() > 0);
    assert_eq!(device.registry_id(), device.registry_id());
    assert!(device.has_unified_memory(), "Apple's own GPUs have");
    let [older, newer] = [GpuFamily::Apple7, GpuFamily::Apple8].map(|family| device.supports_family(family.code()));
    assert!(older || !newer, "each family has what the one before has");
    assert!(device.new_buffer(usize::MAX).is_none());
    let before = device.current_allocated_size();
    let buffer = device.new_buffer(1 << 20).expect("there is memory");
    assert_eq!(buffer.length(), 1 << 20);
    assert!(device.current_allocated_size() >= before.min(1 << 20));
    let queue = device.new_command_queue().expect("a queue");
    let work = MpsCommandBuffer::from_queue(&queue).commit();
    work.wait_until_completed();
    assert_eq!(work.status(), CommandBufferStatus::Completed);
    assert_eq!(work.error(), None);
}

#[test]
fn numbers_and_arrays_keep_their_values() {
    autoreleasepool(|| {
        let numbers = NSArray::of_numbers([3, -1, 1 << 40].into_iter());
        assert_eq!(numbers.count(), 3);
        // SAFETY: of_numbers makes NSNumbers.
        let back: Vec<Retained<NSNumber>> = unsafe { numbers.to_vec() };
        assert_eq!(back.iter().map(|number| number.integer_value()).collect::<Vec<_>>(), [3, -1, 1 << 40]);
    });
}

#[test]
fn bytes_and_entries_are_counted() {
    autoreleasepool(|| {
        assert_eq!(NSData::copy_of(&[1, 2, 3]).length(), 3);
        let (one, two) = (NSNumber::number(1), NSNumber::number(2));
        assert_eq!(NSDictionary::of(&[(&*one, &*two), (&*two, &*one)]).count(), 2);
    });
}

#[test]
fn the_process_knows_its_system() {
    let version = autoreleasepool(|| NSProcessInfo::process_info().operating_system_version());
    assert!(version.major >= 14, "{version:?}");
    let (major, minor) = os_version::current();
    assert_eq!((version.major as u64, version.minor as u64), (major, minor));
}

#[test]
fn errors_say_what_went_wrong() {
    autoreleasepool(|| {
        let domain = device().name_object();
        let error = NsError::from(&*NSError::with_domain(&domain, -7, None));
        assert_eq!((error.domain, error.code), (domain.to_text(), -7));
        assert!(!error.description.is_empty());
    });
}

#[test]
fn objects_say_what_they_answer() {
    let number = autoreleasepool(|| NSNumber::number(1));
    let answers = |name: &CStr| {
        // SAFETY: a C string that lives for ever.
        let selector = Selector(unsafe { symbols::sel_registerName(name.as_ptr()) });
        objc::responds(number.as_object(), selector)
    };
    assert!(answers(c"integerValue"));
    assert!(!answers(c"countOfQuaternions"));
}

#[test]
fn objects_live_as_long_as_their_owners() {
    let tensor = autoreleasepool(|| {
        let graph = Graph::new();
        let tensor = graph.placeholder(&[2, 3], DataType::F32);
        assert!(tensor.clone().is(&tensor));
        assert_eq!(tensor.data_type(), DataType::F32);
        // The graph owns the tensor too; both owners go in any order.
        (graph, tensor)
    });
    let (graph, tensor) = tensor;
    assert_eq!(tensor.shape(), Some(vec![2, 3]));
    drop(tensor);
    drop(graph);
}

#[test]
fn a_graph_computes() {
    let device = device();
    let queue = device.new_command_queue().expect("a queue");
    let (executable, feeds, targets) = autoreleasepool(|| {
        let graph = Graph::new();
        let a = graph.placeholder(&[2, 3], DataType::F32);
        let b = graph.placeholder(&[3], DataType::F32);
        let half = graph.constant_with_scalar(0.5, &[1], DataType::F32);
        let sum = graph.addition(&graph.multiplication(&a, &half), &b);
        let total = graph.reduction_sum(&sum, &[1]);
        let ty = ShapedType::new(&[2, 3], DataType::F32);
        let row = ShapedType::new(&[3], DataType::F32);
        let graph_device = GraphDevice::new(&device);
        let executable = graph.compile(&graph_device, &[(&a, &ty), (&b, &row)], &[&sum, &total]);
        let feeds = executable.feed_order(&[&a, &b]);
        let targets = executable.target_order(&[&sum, &total]);
        (executable, feeds, targets)
    });
    let mut sorted = feeds.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1]);

    let buffers = [buffer_of(&device, &[0., 2., 4., 6., 8., 10.]), buffer_of(&device, &[1., 10., 100.])];
    let results = [buffer_of(&device, &[0.; 6]), buffer_of(&device, &[0.; 2])];
    let shapes: [&[usize]; 2] = [&[2, 3], &[3]];
    let result_shapes: [&[usize]; 2] = [&[2, 3], &[2, 1]];
    let bind = |buffers: &[Buffer], shapes: [&[usize]; 2], order: &[usize]| -> Vec<TensorData> {
        order.iter().map(|&index| TensorData::new(&buffers[index], shapes[index], DataType::F32)).collect()
    };
    let inputs = bind(&buffers, shapes, &feeds);
    let outputs = bind(&results, result_shapes, &targets);

    let commands = MpsCommandBuffer::from_queue(&queue);
    executable.encode(&commands, &inputs.iter().collect::<Vec<_>>(), &outputs.iter().collect::<Vec<_>>());
    let root = commands.commit();
    root.wait_until_completed();
    assert_eq!(root.status(), CommandBufferStatus::Completed);
    assert_eq!(read(&results[0], 6), [1., 11., 102., 4., 14., 105.]);
    assert_eq!(read(&results[1], 2), [114., 123.]);
}
