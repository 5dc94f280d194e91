//! Tensors of a graph and the values that they should have: what the exercises of operations are written in.

use std::panic::Location;

use bytemuck::NoUninit;

use crate::ffi::metal::CommandBufferStatus;
use crate::ffi::{
    Buffer, DataType, Graph, GraphDevice, MpsCommandBuffer, Optimization, ShapedType, Tensor, TensorData,
    autoreleasepool,
};

/// One graph, what is fed to it and what should come out.
pub(in crate::ffi) struct Cases {
    pub graph: Graph,
    feeds: Vec<(Tensor, Vec<usize>, DataType, Vec<u8>)>,
    expected: Vec<Case>,
}

/// A tensor and the elements it should have.
struct Case {
    tensor: Tensor,
    shape: Vec<usize>,
    data_type: DataType,
    expected: Vec<f64>,
    at: &'static Location<'static>,
}

impl Cases {
    /// A placeholder that is fed these elements.
    pub fn feed<T: NoUninit>(&mut self, shape: &[usize], data_type: DataType, elements: &[T]) -> Tensor {
        assert_eq!(size_of::<T>(), data_type.size());
        assert_eq!(shape.iter().product::<usize>(), elements.len());
        let tensor = self.graph.placeholder(shape, data_type);
        let bytes = bytemuck::cast_slice(elements).to_vec();
        self.feeds.push((tensor.clone(), shape.to_vec(), data_type, bytes));
        tensor
    }

    pub fn floats(&mut self, shape: &[usize], elements: &[f32]) -> Tensor {
        self.feed(shape, DataType::F32, elements)
    }

    pub fn integers(&mut self, shape: &[usize], elements: &[i32]) -> Tensor {
        self.feed(shape, DataType::I32, elements)
    }

    pub fn bools(&mut self, shape: &[usize], elements: &[bool]) -> Tensor {
        let bytes: Vec<u8> = elements.iter().map(|&element| element.into()).collect();
        self.feed(shape, DataType::Bool, &bytes)
    }

    /// The tensor has this shape and these elements.
    #[track_caller]
    pub fn gives(&mut self, tensor: Tensor, shape: &[usize], expected: &[f64]) {
        assert_eq!(shape.iter().product::<usize>(), expected.len());
        self.expected.push(Case {
            data_type: tensor.data_type(),
            tensor,
            shape: shape.to_vec(),
            expected: expected.to_vec(),
            at: Location::caller(),
        });
    }
}

/// Builds a graph with cases, runs it once and compares.
pub(in crate::ffi) fn check(fill: impl FnOnce(&mut Cases)) {
    autoreleasepool(|| {
        let mut cases = Cases { graph: Graph::new(), feeds: Vec::new(), expected: Vec::new() };
        fill(&mut cases);
        let results = run(&cases);
        for (case, result) in cases.expected.iter().zip(&results) {
            let got = numbers(case.data_type, result);
            let agrees = got.iter().zip(&case.expected).all(|(got, expected)| {
                (got.is_nan() && expected.is_nan())
                    || got == expected
                    || (got - expected).abs() <= 1e-5 * expected.abs().max(1.0)
            });
            assert!(agrees, "{}: {got:?}, not {:?} ({:?})", case.at, case.expected, case.data_type);
        }
    });
}

/// The bytes of every case's tensor.
fn run(cases: &Cases) -> Vec<Vec<u8>> {
    let device = super::device();
    let types: Vec<ShapedType> =
        cases.feeds.iter().map(|(_, shape, data_type, _)| ShapedType::new(shape, *data_type)).collect();
    let given: Vec<(&Tensor, &ShapedType)> = cases.feeds.iter().map(|feed| &feed.0).zip(&types).collect();
    let placeholders: Vec<&Tensor> = given.iter().map(|(tensor, _)| *tensor).collect();
    let targets: Vec<&Tensor> = cases.expected.iter().map(|case| &case.tensor).collect();
    let executable = cases.graph.compile(&GraphDevice::new(&device), &given, &targets, Optimization::Level0);

    let inputs: Vec<TensorData> = executable
        .feed_order(&placeholders)
        .into_iter()
        .map(|at| {
            let (_, shape, data_type, bytes) = &cases.feeds[at];
            let buffer = device.new_buffer(bytes.len()).expect("there is memory");
            buffer.host_write().copy_from_slice(bytes);
            TensorData::new(&buffer, shape, *data_type)
        })
        .collect();
    let length = |case: &Case| case.expected.len() * case.data_type.size();
    let buffers: Vec<Buffer> =
        cases.expected.iter().map(|case| device.new_buffer(length(case)).expect("there is memory")).collect();
    let results: Vec<TensorData> = executable
        .target_order(&targets)
        .into_iter()
        .map(|at| {
            let case = &cases.expected[at];
            TensorData::new(&buffers[at], &case.shape, case.data_type)
        })
        .collect();

    let queue = device.new_command_queue().expect("a queue");
    let mut commands = MpsCommandBuffer::from_queue(&queue);
    executable.encode(&mut commands, inputs.iter(), results.iter(), || (), drop);
    let work = commands.commit();
    for root in work.roots() {
        root.wait_until_completed();
        assert_eq!(root.status(), CommandBufferStatus::Completed);
    }
    drop(work);
    buffers.iter().map(|buffer| buffer.host_read().to_vec()).collect()
}

fn numbers(data_type: DataType, bytes: &[u8]) -> Vec<f64> {
    fn of<T: bytemuck::AnyBitPattern + Into<f64>>(bytes: &[u8]) -> Vec<f64> {
        bytes.chunks_exact(size_of::<T>()).map(|element| bytemuck::pod_read_unaligned::<T>(element).into()).collect()
    }
    match data_type {
        DataType::F32 => of::<f32>(bytes),
        DataType::I32 => of::<i32>(bytes),
        DataType::U32 => of::<u32>(bytes),
        DataType::U8 | DataType::Bool => of::<u8>(bytes),
        DataType::F16
        | DataType::BF16
        | DataType::I8
        | DataType::I16
        | DataType::I64
        | DataType::U16
        | DataType::U64 => unreachable!("no case has a result of {data_type:?}"),
    }
}
