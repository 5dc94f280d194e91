//! Placeholders and constants.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, array, class, data_type, msg, numbers, objects, refused, shape};
use super::session::{
    BF16, BOOL, F16, F32, Graph, I8, I32, I64, U8, bools, floats, halves, ints, run, value,
};

fn data(bytes: &[u8]) -> Id {
    msg!(
        class("NSData"), "dataWithBytes:length:",
        bytes.as_ptr().cast() => *const std::ffi::c_void, bytes.len() => usize; Id
    )
}

fn constant(graph: &Graph, bytes: &[u8], extents: &[i64], code: u32) -> Id {
    let (data, shape) = (data(bytes), numbers(extents));
    msg!(graph.id(), "constantWithData:shape:dataType:", data => Id, shape => Id, code => u32; Id)
}

fn filled(graph: &Graph, value: f64, extents: &[i64], code: u32) -> Id {
    let shape = numbers(extents);
    msg!(graph.id(), "constantWithScalar:shape:dataType:", value => f64, shape => Id, code => u32; Id)
}

#[test]
fn constants() {
    let _alone = alone();
    let results = run(&[floats(&[2], &[1.0, 2.0])], |graph, x| {
        let two = graph.scalar(2.0, F32);
        vec![
            constant(graph, &[1, 0, 0, 0, 255, 255, 255, 255], &[2, 1], I32),
            filled(graph, 0.5, &[2], F16),
            filled(graph, 1.0, &[2], BOOL),
            filled(graph, -3.0, &[1, 2], I64),
            graph.op(
                "multiplicationWithPrimaryTensor:secondaryTensor:name:",
                &[x[0], two],
            ),
            filled(graph, 1.0, &[1], BF16),
        ]
    });
    assert_eq!(results[0], ints(&[2, 1], &[1, -1]));
    assert_eq!(results[1], halves(&[2], &[0.5, 0.5]));
    assert_eq!(results[2], bools(&[2], &[1, 1]));
    assert_eq!(results[3], value(I64, &[1, 2], &[-3i64, -3]));
    assert_eq!(results[4], floats(&[2], &[2.0, 4.0]));
    assert_eq!(results[5], value(BF16, &[1], &[0x3f80u16]));
}

#[test]
fn placeholders() {
    let _alone = alone();
    let graph = Graph::new();
    let a = graph.placeholder(&[2, 3], F16);
    let shape_array = numbers(&[4]);
    let b = msg!(graph.id(), "placeholderWithShape:name:", shape_array => Id, Id::NIL => Id; Id);
    assert_eq!((shape(a), data_type(a)), (vec![2, 3], F16));
    assert_eq!((shape(b), data_type(b)), (vec![4], F32));
    assert_eq!(objects(msg!(graph.id(), "placeholderTensors"; Id)), [a, b]);
}

#[test]
fn refusals() {
    let _alone = alone();
    for (extents, code, reason) in [
        (&[][..], F32, "rank 0"),
        (&[2, 0], F32, "zero extent"),
        (&[-1, 2], F32, "dynamic"),
        (&[1 << 16, 1 << 15], U8, "2^31"),
        (&[1 << 30], I64, "4 GiB"),
        (&[1; 17], F32, "more than 16 dimensions"),
        (&[2], 0x1000_0040, "no MPSDataType"),
    ] {
        let graph = Graph::new();
        refused("placeholderWithShape:dataType:name:", reason, || {
            graph.placeholder(extents, code)
        });
    }
    let selector = "placeholderWithShape:dataType:name:";
    let wrong = |shape: Id, name: Id, reason: &str| {
        let graph = Graph::new();
        refused(
            selector,
            reason,
            || msg!(graph.id(), selector, shape => Id, F32 => u32, name => Id; Id),
        );
    };
    wrong(Id::NIL, Id::NIL, "unknown rank");
    wrong(array(&[array(&[])]), Id::NIL, "holds NSArray");
    wrong(numbers(&[1]), numbers(&[1]), "not an NSString");
    for (value, code, reason) in [
        (2.0, BOOL, "become 0"),
        (0.5, I32, "rounded"),
        (1e17, I64, "2^53"),
        (128.0, I8, "out of the range"),
        (-1.0, U8, "out of the range"),
    ] {
        let graph = Graph::new();
        refused("constantWithScalar:dataType:", reason, || {
            graph.scalar(value, code)
        });
    }
    let graph = Graph::new();
    refused("constantWithScalar:shape:dataType:", "rank 0", || {
        filled(&graph, 1.0, &[], F32)
    });
    let graph = Graph::new();
    refused("constantWithData:shape:dataType:", "3 bytes", || {
        constant(&graph, &[1, 2, 3], &[2], I8)
    });
    let graph = Graph::new();
    refused(
        "constantWithData:shape:dataType:",
        "other than 0 and 1",
        || constant(&graph, &[1, 2], &[2], BOOL),
    );
}
