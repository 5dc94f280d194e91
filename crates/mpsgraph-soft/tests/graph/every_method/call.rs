//! A call that is accepted, made of a selector: each argument by its keyword.

use mpsgraph_soft::objc::{Id, Method};

use super::element_types::accepted;
use super::send::{Argument, send};
use crate::graph::messages::{array, numbers};
use crate::graph::session::{BOOL, F32, Graph, I32};
use crate::support::{class, msg};

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A tensor of the type and shape that the call is made for.
    Data,
    /// An array of such tensors.
    Tensors,
    Indices,
    Predicate,
    RandomState,
    Axis,
    Axes,
    Shape,
    /// An array with a number for each dimension.
    PerDimension,
    ElementType,
    Name,
    Descriptor,
    /// An `NSData`.
    Bytes,
    /// A mode, a mask, a count, or a number that ends up in the tensor.
    Number,
}

/// The role of an argument with this keyword.
fn role_of(selector: &str, keyword: &str) -> Role {
    match keyword {
        "name" => Role::Name,
        "axis" | "dimension" => Role::Axis,
        "axes" => Role::Axes,
        "shape" | "withShape" | "toShape" => Role::Shape,
        "dataType" | "toType" => Role::ElementType,
        "starts" | "ends" | "strides" | "permutation" | "leftPadding" | "rightPadding" => Role::PerDimension,
        "descending" | "start" | "length" | "startMask" | "endMask" | "squeezeMask" => Role::Number,
        "mode" | "withPaddingMode" | "batchDimensions" => Role::Number,
        "constantWithScalar" | "constantValue" => Role::Number,
        "constantWithData" => Role::Bytes,
        "descriptor" => Role::Descriptor,
        "indicesTensor" => Role::Indices,
        "stateTensor" => Role::RandomState,
        "selectWithPredicateTensor" => Role::Predicate,
        _ if keyword.ends_with("AlongAxis") => Role::Axis,
        _ if keyword.ends_with("WithShape") => Role::Shape,
        _ if keyword.ends_with("Tensor") || keyword.ends_with("IncomingGradient") => Role::Data,
        _ if keyword.ends_with("Tensors") => Role::Tensors,
        _ => panic!("{selector}: what is `{keyword}:`? Add it to `role_of`"),
    }
}

/// The roles of an operation's arguments.
pub fn roles(method: &Method) -> Vec<Role> {
    let selector = method.selector();
    selector.split_terminator(':').map(|keyword| role_of(selector, keyword)).collect()
}

/// The type and shape of a call's tensors.
#[derive(Clone, Debug)]
pub struct Base {
    pub extents: Vec<i64>,
    pub code: u32,
}

impl Base {
    pub fn of(method: &Method, extents: &[i64]) -> Self {
        Self { extents: extents.to_vec(), code: accepted(method.selector()).first().copied().unwrap_or(F32) }
    }

    pub fn rank(&self) -> i64 {
        self.extents.len() as i64
    }
}

/// A message to a graph.
pub struct Call {
    pub graph: Graph,
    pub base: Base,
    pub roles: Vec<Role>,
    pub arguments: Vec<Argument>,
    method: &'static Method,
}

impl Call {
    /// A call that is accepted, to a new graph.
    pub fn new(method: &'static Method, base: Base) -> Self {
        let selector = method.selector();
        let graph = Graph::new();
        let roles = roles(method);
        let keywords = selector.split_terminator(':').zip(method.argument_encodings());
        let made = keywords
            .zip(&roles)
            .map(|((keyword, encoding), &role)| argument(&graph, &base, selector, keyword, role, encoding));
        let arguments = made.collect();
        Self { graph, base, roles, arguments, method }
    }

    pub fn selector(&self) -> &'static str {
        self.method.selector()
    }

    pub fn send(&self) -> Id {
        let encodings: Vec<&str> = self.method.argument_encodings().collect();
        send(self.graph.id(), self.method.selector(), &encodings, &self.arguments)
    }
}

/// A random number generator's descriptor.
fn descriptor() -> Id {
    let class = class("MPSGraphRandomOpDescriptor");
    msg!(class, "descriptorWithDistribution:dataType:", 0 => usize, F32 => u32; Id)
}

fn zeros(base: &Base) -> Id {
    let bytes = vec![0u8; base.extents.iter().product::<i64>() as usize * 4];
    let start: *const u8 = bytes.as_ptr();
    msg!(class("NSData"), "dataWithBytes:length:", start.cast() => *const std::ffi::c_void, bytes.len() => usize; Id)
}

/// The shape of indices that lead to all that the data has.
fn indices(selector: &str, base: &Base) -> Vec<i64> {
    if selector.contains("AlongAxis") {
        base.extents.clone()
    } else if selector.contains("ND") {
        vec![base.extents[0], 1]
    } else {
        vec![base.extents[0]]
    }
}

fn argument(graph: &Graph, base: &Base, selector: &str, keyword: &str, role: Role, encoding: &str) -> Argument {
    let whole = |number: isize| match encoding {
        "q" => Argument::Signed(number),
        "Q" => Argument::Unsigned(number.unsigned_abs()),
        "I" => Argument::Bits(number as u32),
        "d" => Argument::Double(number as f64),
        "B" => Argument::Truth(number != 0),
        _ => panic!("{selector}: `{keyword}:` is encoded as {encoding}, which is not a number"),
    };
    let rank = base.rank();
    let object = match role {
        Role::Data => graph.placeholder(&base.extents, base.code),
        Role::Tensors => array(&[(); 2].map(|()| graph.placeholder(&base.extents, base.code))),
        Role::Indices => graph.placeholder(&indices(selector, base), I32),
        Role::Predicate => graph.placeholder(&base.extents, BOOL),
        Role::RandomState => graph.placeholder(&[7], I32),
        Role::Axes => numbers(&[0]),
        Role::Shape => numbers(&base.extents),
        Role::PerDimension => match keyword {
            "ends" => numbers(&base.extents),
            "strides" => numbers(&vec![1; rank as usize]),
            "permutation" => numbers(&(0..rank).collect::<Vec<_>>()),
            _ => numbers(&vec![0; rank as usize]),
        },
        Role::Name => Id::NIL,
        Role::Descriptor => descriptor(),
        Role::Bytes => zeros(base),
        Role::ElementType => return Argument::Bits(base.code),
        // Replacing is the mode that every type has.
        Role::Number if keyword == "mode" => return whole(6),
        Role::Number if keyword == "length" => return whole(1),
        Role::Axis | Role::Number => return whole(0),
    };
    Argument::Object(object)
}
