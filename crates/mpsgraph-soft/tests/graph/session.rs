//! A graph for a test: built, compiled and run in one go.

use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{array, buffer, contents, data_type, dictionary, numbers, objects, shape};
use crate::support::{class, device, msg, new, owned, text};

pub const F32: u32 = 0x1000_0020;
pub const F16: u32 = 0x1000_0010;
pub const BF16: u32 = 0x9000_0010;
pub const I8: u32 = 0x2000_0008;
pub const I16: u32 = 0x2000_0010;
pub const I32: u32 = 0x2000_0020;
pub const I64: u32 = 0x2000_0040;
pub const U8: u32 = 8;
pub const U16: u32 = 16;
pub const U32: u32 = 32;
pub const U64: u32 = 64;
pub const BOOL: u32 = 0x8000_0008;

/// A tensor on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub code: u32,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Value {
    /// The elements; the type must have as many bytes as the value's.
    pub fn elements<T: bytemuck::AnyBitPattern>(&self) -> Vec<T> {
        self.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// A host tensor of these elements; the code must have their size.
pub fn value<T: bytemuck::NoUninit>(code: u32, shape: &[usize], elements: &[T]) -> Value {
    assert_eq!(shape.iter().product::<usize>(), elements.len());
    Value { code, shape: shape.to_vec(), bytes: bytemuck::cast_slice(elements).to_vec() }
}

pub fn floats(shape: &[usize], elements: &[f32]) -> Value {
    value(F32, shape, elements)
}

pub fn ints(shape: &[usize], elements: &[i32]) -> Value {
    value(I32, shape, elements)
}

pub fn bools(shape: &[usize], elements: &[u8]) -> Value {
    value(BOOL, shape, elements)
}

pub fn halves(shape: &[usize], elements: &[f32]) -> Value {
    let elements: Vec<half::f16> = elements.iter().map(|&x| half::f16::from_f32(x)).collect();
    value(F16, shape, &elements)
}

/// A graph that is being built.
pub struct Graph(pub Strong);

impl Graph {
    pub fn new() -> Self {
        Graph(new("MPSGraph"))
    }

    pub fn id(&self) -> Id {
        self.0.id()
    }

    pub fn placeholder(&self, extents: &[i64], code: u32) -> Id {
        let shape = numbers(extents);
        msg!(self.id(), "placeholderWithShape:dataType:name:", shape => Id, code => u32, Id::NIL => Id; Id)
    }

    pub fn scalar(&self, value: f64, code: u32) -> Id {
        msg!(self.id(), "constantWithScalar:dataType:", value => f64, code => u32; Id)
    }

    /// An operation whose arguments are tensors or arrays, and a nil name.
    pub fn op(&self, selector: &str, arguments: &[Id]) -> Id {
        let nil = Id::NIL;
        match *arguments {
            [a] => msg!(self.id(), selector, a => Id, nil => Id; Id),
            [a, b] => msg!(self.id(), selector, a => Id, b => Id, nil => Id; Id),
            [a, b, c] => msg!(self.id(), selector, a => Id, b => Id, c => Id, nil => Id; Id),
            [a, b, c, d] => {
                msg!(self.id(), selector, a => Id, b => Id, c => Id, d => Id, nil => Id; Id)
            }
            _ => unreachable!("no selector of the tests has so many"),
        }
    }

    /// An operation on a tensor and an axis.
    pub fn axis_op(&self, selector: &str, tensor: Id, axis: isize) -> Id {
        msg!(self.id(), selector, tensor => Id, axis => isize, Id::NIL => Id; Id)
    }

    pub fn cast(&self, tensor: Id, code: u32) -> Id {
        msg!(self.id(), "castTensor:toType:name:", tensor => Id, code => u32, Id::NIL => Id; Id)
    }

    /// Compiles for these placeholders, each fed as what it is, as one should.
    pub fn compile(&self, placeholders: &[Id], targets: &[Id]) -> Id {
        let feeds: Vec<(Id, Id)> = placeholders.iter().map(|&tensor| (tensor, type_of(tensor))).collect();
        self.compile_with(dictionary(&feeds), array(targets), descriptor(0, true).id())
    }

    pub fn compile_with(&self, feeds: Id, targets: Id, descriptor: Id) -> Id {
        let device = msg!(class("MPSGraphDevice"), "deviceWithMTLDevice:", device().id() => Id; Id);
        msg!(
            self.id(), "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:",
            device => Id, feeds => Id, targets => Id, Id::NIL => Id, descriptor => Id; Id
        )
    }
}

pub fn descriptor(level: usize, wait: bool) -> Strong {
    let descriptor = new("MPSGraphCompilationDescriptor");
    msg!(descriptor.id(), "setOptimizationLevel:", level => usize; ());
    msg!(descriptor.id(), "setWaitForCompilationCompletion:", wait => bool; ());
    descriptor
}

/// An autoreleased shaped type.
pub fn shaped_type(extents: &[i64], code: u32) -> Id {
    let object = msg!(class("MPSGraphShapedType"), "alloc"; Id);
    let shape = numbers(extents);
    owned(msg!(object, "initWithShape:dataType:", shape => Id, code => u32; Id)).autorelease()
}

/// The shaped type of a tensor.
pub fn type_of(tensor: Id) -> Id {
    let extents: Vec<i64> = shape(tensor).iter().map(|&extent| extent as i64).collect();
    shaped_type(&extents, data_type(tensor))
}

/// Autoreleased tensor data over a buffer.
pub fn tensor_data(buffer: Id, extents: &[usize], code: u32) -> Id {
    let object = msg!(class("MPSGraphTensorData"), "alloc"; Id);
    let extents: Vec<i64> = extents.iter().map(|&extent| extent as i64).collect();
    let shape = numbers(&extents);
    owned(msg!(object, "initWithMTLBuffer:shape:dataType:", buffer => Id, shape => Id, code => u32; Id)).autorelease()
}

pub fn queue() -> Strong {
    owned(msg!(device().id(), "newCommandQueue"; Id))
}

pub fn command_buffer(queue: &Strong) -> Id {
    msg!(class("MPSCommandBuffer"), "commandBufferFromCommandQueue:", queue.id() => Id; Id)
}

pub fn encode(executable: Id, command_buffer: Id, inputs: &[Id], results: &[Id]) -> Id {
    let (inputs, results) = (array(inputs), array(results));
    msg!(
        executable, "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:",
        command_buffer => Id, inputs => Id, results => Id, Id::NIL => Id; Id
    )
}

const fn bytes_of(code: u32) -> usize {
    (code & 0xff) as usize / 8
}

/// What an executable writes, in the order of its targets: buffer, shape and type.
type Output = (Strong, Vec<usize>, u32);

/// Runs an executable on values for its feeds, found by tensor: the command buffer, which has ended, and the outputs.
fn execute(executable: Id, fed: &[(Id, &Value)]) -> (Id, Vec<Output>) {
    let feeds = objects(msg!(executable, "feedTensors"; Id));
    let inputs = feeds.iter().map(|feed| {
        let (_, value) = fed.iter().find(|(tensor, _)| tensor == feed).expect("a value for each feed");
        tensor_data(buffer(&value.bytes).autorelease(), &value.shape, value.code)
    });
    let inputs: Vec<Id> = inputs.collect();
    let targets = objects(msg!(executable, "targetTensors"; Id));
    let outputs = targets.iter().map(|&target| {
        let (shape, code) = (shape(target), data_type(target));
        let bytes = shape.iter().product::<usize>() * bytes_of(code);
        (buffer(&vec![0xa5; bytes]), shape, code)
    });
    let outputs: Vec<Output> = outputs.collect();
    let results: Vec<Id> = outputs.iter().map(|(buffer, shape, code)| tensor_data(buffer.id(), shape, *code)).collect();
    let queue = queue();
    let commands = command_buffer(&queue);
    encode(executable, commands, &inputs, &results);
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    (commands, outputs)
}

/// Runs an executable on values for its feeds, found by tensor, and reads the given targets.
pub fn run_executable(executable: Id, fed: &[(Id, &Value)], targets: &[Id]) -> Vec<Value> {
    let (commands, outputs) = execute(executable, fed);
    let error = msg!(commands, "error"; Id);
    assert!(error.is_nil(), "{:?}", error.is_nil());
    let own_targets = objects(msg!(executable, "targetTensors"; Id));
    let read = |target: &Id| {
        let at = own_targets.iter().position(|own| own == target).expect("a target");
        let (buffer, shape, code) = &outputs[at];
        let bytes = contents(buffer.id(), shape.iter().product::<usize>() * bytes_of(*code));
        Value { code: *code, shape: shape.clone(), bytes }
    };
    targets.iter().map(read).collect()
}

/// A graph with a placeholder for each value, and what `build` returns.
fn built(values: &[Value], build: impl FnOnce(&Graph, &[Id]) -> Vec<Id>) -> (Graph, Vec<Id>, Vec<Id>) {
    let graph = Graph::new();
    let extents = |value: &Value| value.shape.iter().map(|&extent| extent as i64).collect::<Vec<_>>();
    let placeholders: Vec<Id> = values.iter().map(|value| graph.placeholder(&extents(value), value.code)).collect();
    let targets = build(&graph, &placeholders);
    (graph, placeholders, targets)
}

/// Builds a graph with a placeholder for each value, and gives the values of what `build` returns.
pub fn run(values: &[Value], build: impl FnOnce(&Graph, &[Id]) -> Vec<Id>) -> Vec<Value> {
    let (graph, placeholders, targets) = built(values, build);
    let executable = graph.compile(&placeholders, &targets);
    let fed: Vec<(Id, &Value)> = placeholders.iter().copied().zip(values).collect();
    run_executable(executable, &fed, &targets)
}

/// What the error says that the command buffer ends in, for a graph that fails when it is run.
pub fn run_error(values: &[Value], build: impl FnOnce(&Graph, &[Id]) -> Id) -> String {
    let (graph, placeholders, targets) = built(values, |graph, x| vec![build(graph, x)]);
    let executable = graph.compile(&placeholders, &targets);
    let fed: Vec<(Id, &Value)> = placeholders.iter().copied().zip(values).collect();
    let (commands, _) = execute(executable, &fed);
    let error = msg!(commands, "error"; Id);
    assert!(!error.is_nil(), "this had to fail");
    text(msg!(error, "localizedDescription"; Id))
}

/// [`run`] for one result.
pub fn run_one(values: &[Value], build: impl FnOnce(&Graph, &[Id]) -> Id) -> Value {
    run(values, |graph, tensors| vec![build(graph, tensors)]).remove(0)
}

/// Checks a result of floats, NaN included, to within a few units in the last place.
#[track_caller]
pub fn close(result: &Value, shape: &[usize], wanted: &[f32]) {
    assert_eq!((result.code, &result.shape[..]), (F32, shape));
    for (at, (x, want)) in result.elements::<f32>().into_iter().zip(wanted).enumerate() {
        let fine = (x.is_nan() && want.is_nan()) || x == *want || (x - want).abs() <= 1e-6 * want.abs().max(0.5);
        assert!(fine, "element {at} is {x}, not {want}");
    }
}
