//! The whole way through Objective-C, once: graph, compilation, binding by identity, execution, results; and what the
//! wrappers promise about strings, numbers, errors and ownership. Runs on Apple's frameworks and on `mpsgraph-soft`.

use super::foundation::ns_array::NSArray;
use super::foundation::ns_number::NSNumber;
use super::objc::Retained;
use super::*;

fn device() -> Device {
    Device::system_default().expect("there is a GPU")
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
    assert!(device.new_buffer(usize::MAX).is_none());
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
        assert_eq!(
            back.iter()
                .map(|number| number.integer_value())
                .collect::<Vec<_>>(),
            [3, -1, 1 << 40]
        );
    });
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

    let buffers = [
        buffer_of(&device, &[0., 2., 4., 6., 8., 10.]),
        buffer_of(&device, &[1., 10., 100.]),
    ];
    let results = [buffer_of(&device, &[0.; 6]), buffer_of(&device, &[0.; 2])];
    let shapes: [&[usize]; 2] = [&[2, 3], &[3]];
    let result_shapes: [&[usize]; 2] = [&[2, 3], &[2, 1]];
    let bind = |buffers: &[Buffer], shapes: [&[usize]; 2], order: &[usize]| -> Vec<TensorData> {
        order
            .iter()
            .map(|&index| TensorData::new(&buffers[index], shapes[index], DataType::F32))
            .collect()
    };
    let inputs = bind(&buffers, shapes, &feeds);
    let outputs = bind(&results, result_shapes, &targets);

    let commands = MpsCommandBuffer::from_queue(&queue);
    executable.encode(
        &commands,
        &inputs.iter().collect::<Vec<_>>(),
        &outputs.iter().collect::<Vec<_>>(),
    );
    let root = commands.commit();
    root.wait_until_completed();
    assert_eq!(root.status(), CommandBufferStatus::Completed);
    assert_eq!(read(&results[0], 6), [1., 11., 102., 4., 14., 105.]);
    assert_eq!(read(&results[1], 2), [114., 123.]);
}
