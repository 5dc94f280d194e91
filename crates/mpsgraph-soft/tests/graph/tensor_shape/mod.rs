//! Views, slices, concatenations, splits, padding, casts and coordinates.

use mpsgraph_soft::objc::Id;

use super::messages::{alone, array, msg, numbers, objects, refused, shape};
use super::session::{
    BOOL, F16, F32, Graph, I8, I32, I64, U8, U32, Value, bools, floats, ints, run, run_one, value,
};

/// 0, 1, 2, … in this shape.
fn counted(shape: &[usize]) -> Value {
    let elements: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
    ints(shape, &elements)
}

/// An operation on the tensor 0, 1, 2, … of this shape, and arrays.
fn moved(from: &[usize], selector: &str, arrays: &[&[i64]]) -> Value {
    run_one(&[counted(from)], |graph, x| {
        let arguments: Vec<Id> = std::iter::once(x[0])
            .chain(arrays.iter().map(|&array| numbers(array)))
            .collect();
        graph.op(selector, &arguments)
    })
}

/// The same as refused.
#[track_caller]
fn refuses(from: &[i64], selector: &str, arrays: &[&[i64]], reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(from, F32);
    let arguments: Vec<Id> = std::iter::once(x)
        .chain(arrays.iter().map(|&array| numbers(array)))
        .collect();
    refused(selector, reason, || graph.op(selector, &arguments));
}

#[test]
fn reshape() {
    let _alone = alone();
    let selector = "reshapeTensor:withShape:name:";
    assert_eq!(moved(&[2, 3], selector, &[&[3, 2]]), counted(&[3, 2]));
    assert_eq!(
        moved(&[2, 3], selector, &[&[3, -1, 1]]),
        counted(&[3, 2, 1])
    );
    refuses(&[2, 3], selector, &[&[5]], "another volume");
    refuses(&[2, 3], selector, &[&[-1, 4]], "another volume");
    refuses(&[2, 3], selector, &[&[-1, -1]], "two extents open");
    refuses(&[2, 3], selector, &[&[]], "empty");
    refuses(&[2, 3], selector, &[&[0, 6]], "zero");
}

#[test]
fn transpose() {
    let _alone = alone();
    let selector = "transposeTensor:permutation:name:";
    assert_eq!(
        moved(&[2, 3], selector, &[&[1, 0]]),
        ints(&[3, 2], &[0, 3, 1, 4, 2, 5])
    );
    assert_eq!(
        moved(&[1, 2, 2], selector, &[&[2, 0, 1]]),
        ints(&[2, 1, 2], &[0, 2, 1, 3])
    );
    refuses(&[2, 3], selector, &[&[1]], "1 numbers for 2 dimensions");
    refuses(&[2, 3], selector, &[&[1, 1]], "no permutation");
    refuses(&[2, 3], selector, &[&[0, -1]], "no permutation");
    let selector = "transposeTensor:dimension:withDimension:name:";
    let swap = |graph: &Graph, x: Id, a: usize, b: usize| msg!(graph.id(), selector, x => Id, a => usize, b => usize, Id::NIL => Id; Id);
    let result = run_one(&[counted(&[2, 3])], |graph, x| swap(graph, x[0], 0, 1));
    assert_eq!(result, ints(&[3, 2], &[0, 3, 1, 4, 2, 5]));
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 3], F32);
    refused(selector, "no shape", || swap(&graph, x, 0, 2));
}

#[test]
fn reverse_broadcast_tile() {
    let _alone = alone();
    let reverse = "reverseTensor:axes:name:";
    assert_eq!(
        moved(&[2, 2], reverse, &[&[-1]]),
        ints(&[2, 2], &[1, 0, 3, 2])
    );
    assert_eq!(
        moved(&[2, 2], "reverseTensor:name:", &[]),
        ints(&[2, 2], &[3, 2, 1, 0])
    );
    refuses(&[2, 2], reverse, &[&[0, -2]], "twice");
    refuses(&[2, 2], reverse, &[&[2]], "not one of 2 dimensions");
    let broadcast = "broadcastTensor:toShape:name:";
    assert_eq!(
        moved(&[2, 1], broadcast, &[&[2, 2, 2]]),
        ints(&[2, 2, 2], &[0, 0, 1, 1, 0, 0, 1, 1])
    );
    refuses(&[2, 1], broadcast, &[&[3, 2]], "silently filled with 0");
    refuses(&[2, 2], broadcast, &[&[2]], "silently filled with 0");
    refuses(&[2, 2], broadcast, &[&[2, 1]], "silently filled with 0");
    let tile = "tileTensor:withMultiplier:name:";
    assert_eq!(
        moved(&[1, 2], tile, &[&[2, 2]]),
        ints(&[2, 4], &[0, 1, 0, 1, 0, 1, 0, 1])
    );
    assert_eq!(moved(&[2], tile, &[&[1]]), ints(&[2], &[0, 1]));
    refuses(&[2], tile, &[&[0]], "below 1");
    refuses(&[2], tile, &[&[2, 2]], "2 numbers for 1 dimensions");
    refuses(&[2], tile, &[&[1 << 40]], "2^31");
}

#[test]
fn expand_squeeze_flatten() {
    let _alone = alone();
    let expand = "expandDimsOfTensor:axes:name:";
    assert_eq!(moved(&[2, 3], expand, &[&[0, -1]]), counted(&[1, 2, 3, 1]));
    refuses(&[2, 3], expand, &[&[4]], "not one of 3 dimensions");
    let squeeze = "squeezeTensor:axes:name:";
    assert_eq!(moved(&[1, 2, 1], squeeze, &[&[-1]]), counted(&[1, 2]));
    assert_eq!(moved(&[1, 2, 1], "squeezeTensor:name:", &[]), counted(&[2]));
    refuses(&[1, 2, 1], squeeze, &[&[1]], "has not the extent 1");
    refuses(&[1, 1], "squeezeTensor:name:", &[], "rank 0");
    let results = run(&[counted(&[2, 1, 3])], |graph, x| {
        vec![
            graph.axis_op("expandDimsOfTensor:axis:name:", x[0], -1),
            graph.axis_op("expandDimsOfTensor:axis:name:", x[0], 0),
            graph.axis_op("squeezeTensor:axis:name:", x[0], 1),
            graph.axis_op("flatten2DTensor:axis:name:", x[0], 2),
            graph.axis_op("flatten2DTensor:axis:name:", x[0], 3),
        ]
    });
    let shapes: Vec<&[usize]> = vec![&[2, 1, 3, 1], &[1, 2, 1, 3], &[2, 3], &[2, 3], &[6, 1]];
    for (result, shape) in results.iter().zip(shapes) {
        assert_eq!(*result, counted(shape));
    }
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 3], F32);
    let flatten = "flatten2DTensor:axis:name:";
    refused(flatten, "negative", || graph.axis_op(flatten, x, -1));
}

#[test]
fn slices() {
    let _alone = alone();
    let selector = "sliceTensor:starts:ends:strides:name:";
    let slice = |from: &[usize], starts: &[i64], ends: &[i64], strides: &[i64]| {
        moved(from, selector, &[starts, ends, strides])
    };
    assert_eq!(
        slice(&[3, 3], &[1, 0], &[3, 3], &[1, 2]),
        ints(&[2, 2], &[3, 5, 6, 8])
    );
    assert_eq!(slice(&[5], &[-2], &[9], &[1]), ints(&[2], &[3, 4]));
    assert_eq!(slice(&[5], &[4], &[0], &[-2]), ints(&[2], &[4, 2]));
    assert_eq!(slice(&[5], &[-1], &[-6], &[-3]), ints(&[2], &[4, 1]));
    assert_eq!(slice(&[5], &[0], &[-1], &[3]), ints(&[2], &[0, 3]));
    refuses(&[5], selector, &[&[5], &[6], &[1]], "out of bounds");
    refuses(&[5], selector, &[&[-6], &[6], &[1]], "out of bounds");
    refuses(&[5], selector, &[&[2], &[2], &[1]], "aborts when run");
    refuses(&[5], selector, &[&[2], &[4], &[-1]], "aborts when run");
    refuses(&[5], selector, &[&[2], &[4], &[0]], "stride 0");
    refuses(
        &[5, 5],
        selector,
        &[&[2], &[4], &[1]],
        "1 numbers for 2 dimensions",
    );

    let selector = "sliceTensor:dimension:start:length:name:";
    let slice = |graph: &Graph, x: Id, dimension: usize, start: isize, length: isize| msg!(graph.id(), selector, x => Id, dimension => usize, start => isize, length => isize, Id::NIL => Id; Id);
    let result = run_one(&[counted(&[2, 3])], |graph, x| slice(graph, x[0], 1, -2, 2));
    assert_eq!(result, ints(&[2, 2], &[1, 2, 4, 5]));
    for (dimension, start, length, reason) in [
        (2, 0, 1, "dimension 2"),
        (1, 2, 2, "bounds"),
        (1, 0, 0, "empty"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(selector, reason, || {
            slice(&graph, x, dimension, start, length)
        });
    }
}

#[test]
fn masked_slices() {
    let _alone = alone();
    let selector = "sliceTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:";
    let slice = |graph: &Graph, x: Id, masks: [u32; 3]| {
        let (starts, ends, strides) = (numbers(&[1, 1]), numbers(&[2, 2]), numbers(&[1, 1]));
        msg!(
            graph.id(), selector, x => Id, starts => Id, ends => Id, strides => Id,
            masks[0] => u32, masks[1] => u32, masks[2] => u32, Id::NIL => Id; Id
        )
    };
    let results = run(&[counted(&[3, 3])], |graph, x| {
        [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1]]
            .map(|masks| slice(graph, x[0], masks))
            .to_vec()
    });
    assert_eq!(results[0], ints(&[1, 1], &[4]));
    assert_eq!(results[1], ints(&[2, 1], &[1, 4]));
    assert_eq!(results[2], ints(&[1, 2], &[4, 5]));
    assert_eq!(results[3], ints(&[1], &[4]));
    for (masks, reason) in [
        ([4, 0, 0], "beyond the 2 dimensions"),
        ([0, 0, 3], "rank 0"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(&[3, 3], F32);
        refused(selector, reason, || slice(&graph, x, masks));
    }
}

#[test]
fn concatenations() {
    let _alone = alone();
    let concat = |graph: &Graph, tensors: &[Id], dimension: isize| {
        let tensors = array(tensors);
        msg!(graph.id(), "concatTensors:dimension:name:", tensors => Id, dimension => isize, Id::NIL => Id; Id)
    };
    let operands = [
        ints(&[2, 1], &[1, 2]),
        ints(&[2, 2], &[3, 4, 5, 6]),
        ints(&[2, 1], &[7, 8]),
    ];
    let results = run(&operands, |graph, x| {
        let two = "concatTensor:withTensor:dimension:name:";
        let interleaved = "concatTensors:dimension:interleave:name:";
        let stack = |axis: isize| msg!(graph.id(), "stackTensors:axis:name:", array(&[x[0], x[2]]) => Id, axis => isize, Id::NIL => Id; Id);
        vec![
            concat(graph, x, -1),
            msg!(graph.id(), two, x[0] => Id, x[2] => Id, 0 => isize, Id::NIL => Id; Id),
            msg!(graph.id(), interleaved, array(&[x[0], x[2]]) => Id, 0 => isize, true => bool, Id::NIL => Id; Id),
            stack(0),
            stack(-1),
        ]
    });
    assert_eq!(results[0], ints(&[2, 4], &[1, 3, 4, 7, 2, 5, 6, 8]));
    assert_eq!(results[1], ints(&[4, 1], &[1, 2, 7, 8]));
    assert_eq!(results[2], ints(&[4, 1], &[1, 7, 2, 8]));
    assert_eq!(results[3], ints(&[2, 2, 1], &[1, 2, 7, 8]));
    assert_eq!(results[4], ints(&[2, 1, 2], &[1, 7, 2, 8]));
    let on = |tensors: &[(&[i64], u32)], dimension: isize, reason: &str| {
        let graph = Graph::new();
        let tensors: Vec<Id> = tensors
            .iter()
            .map(|&(shape, code)| graph.placeholder(shape, code))
            .collect();
        refused("concatTensors:dimension:name:", reason, || {
            concat(&graph, &tensors, dimension)
        });
    };
    on(&[], 0, "no tensors");
    on(&[(&[2], F32), (&[2], F16)], 0, "differ in element type");
    on(&[(&[2, 2], F32), (&[3, 2], F32)], 1, "do not fit");
    on(&[(&[2, 2], F32), (&[2], F32)], 0, "do not fit");
    on(&[(&[2], F32)], 1, "not one of 1 dimensions");
}

#[test]
fn splits() {
    let _alone = alone();
    let sizes = |graph: &Graph, x: Id, sizes: &[i64]| {
        let sizes = numbers(sizes);
        msg!(graph.id(), "splitTensor:splitSizes:axis:name:", x => Id, sizes => Id, 1 => isize, Id::NIL => Id; Id)
    };
    let evenly = |graph: &Graph, x: Id, count: usize| msg!(graph.id(), "splitTensor:numSplits:axis:name:", x => Id, count => usize, -1 => isize, Id::NIL => Id; Id);
    let results = run(&[counted(&[2, 4])], |graph, x| {
        [
            objects(sizes(graph, x[0], &[1, 3])),
            objects(evenly(graph, x[0], 2)),
        ]
        .concat()
    });
    assert_eq!(results[0], ints(&[2, 1], &[0, 4]));
    assert_eq!(results[1], ints(&[2, 3], &[1, 2, 3, 5, 6, 7]));
    assert_eq!(results[2], ints(&[2, 2], &[0, 1, 4, 5]));
    assert_eq!(results[3], ints(&[2, 2], &[2, 3, 6, 7]));
    for (wrong, reason) in [
        (&[0, 4][..], "exception"),
        (&[1, 2], "sum up"),
        (&[5, -1], "crashes"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 4], F32);
        refused("splitTensor:splitSizes:axis:name:", reason, || {
            sizes(&graph, x, wrong)
        });
    }
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 4], F32);
    refused("splitTensor:numSplits:axis:name:", "equal parts", || {
        evenly(&graph, x, 3)
    });
}

fn pad(graph: &Graph, x: Id, mode: isize, left: &[i64], right: &[i64]) -> Id {
    let selector = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:";
    let (left, right) = (numbers(left), numbers(right));
    msg!(
        graph.id(), selector, x => Id, mode => isize, left => Id, right => Id, 9.0 => f64, Id::NIL => Id; Id
    )
}

#[test]
fn paddings() {
    let _alone = alone();
    let results = run(
        &[ints(&[3], &[1, 2, 3]), ints(&[1, 2], &[1, 2])],
        |graph, x| {
            let on = |mode: isize| pad(graph, x[0], mode, &[2], &[1]);
            vec![
                on(0),
                on(1),
                on(2),
                on(3),
                on(4),
                pad(graph, x[0], 0, &[-1], &[1]),
                pad(graph, x[0], 1, &[-1], &[1]),
                pad(graph, x[1], 3, &[1, 0], &[0, 1]),
                pad(graph, x[0], 0, &[0], &[0]),
            ]
        },
    );
    assert_eq!(results[0], ints(&[6], &[9, 9, 1, 2, 3, 9]));
    assert_eq!(results[1], ints(&[6], &[3, 2, 1, 2, 3, 2]));
    assert_eq!(results[2], ints(&[6], &[2, 1, 1, 2, 3, 3]));
    assert_eq!(results[3], ints(&[6], &[1, 1, 1, 2, 3, 3]));
    assert_eq!(results[4], ints(&[6], &[0, 0, 1, 2, 3, 0]));
    assert_eq!(results[5], ints(&[3], &[2, 3, 9]));
    assert_eq!(results[6], ints(&[3], &[2, 3, 2]));
    assert_eq!(results[7], ints(&[2, 3], &[1, 2, 2, 1, 2, 2]));
    assert_eq!(results[8], ints(&[3], &[1, 2, 3]));
    let on = |code: u32, mode: isize, left: &[i64], right: &[i64], reason: &str| {
        let graph = Graph::new();
        let x = graph.placeholder(&[3], code);
        refused("padTensor:withPaddingMode:", reason, || {
            pad(&graph, x, mode, left, right)
        });
    };
    on(F32, 1, &[3], &[0], "2 is the most");
    on(F32, 2, &[0], &[4], "3 is the most");
    on(F32, 5, &[1], &[0], "periodic");
    on(BOOL, 0, &[1], &[0], "Bool");
    on(F32, 0, &[-2], &[-1], "leaves nothing");
    on(F32, 0, &[1, 1], &[0, 0], "2 numbers for 1 dimensions");
    on(F32, 0, &[1 << 31], &[0], "2^31");
}

#[test]
fn casts() {
    let _alone = alone();
    let results = run(
        &[
            floats(&[4], &[-1.5, 200.0, 0.0, f32::NAN]),
            ints(&[4], &[300, -1, 0, 2]),
        ],
        |graph, x| {
            vec![
                graph.cast(x[0], I8),
                graph.cast(x[0], U8),
                graph.cast(x[1], I8),
                graph.cast(x[1], BOOL),
                graph.cast(x[1], F32),
                graph.cast(x[1], I64),
                graph.cast(x[1], I32),
            ]
        },
    );
    assert_eq!(results[0], value(I8, &[4], &[-1i8, 127, 0, 0]));
    assert_eq!(results[1], value(U8, &[4], &[0u8, 200, 0, 0]));
    assert_eq!(results[2], value(I8, &[4], &[44i8, -1, 0, 2]));
    assert_eq!(results[3], bools(&[4], &[1, 1, 0, 1]));
    assert_eq!(results[4], floats(&[4], &[300.0, -1.0, 0.0, 2.0]));
    assert_eq!(results[5], value(I64, &[4], &[300i64, -1, 0, 2]));
    assert_eq!(results[6], ints(&[4], &[300, -1, 0, 2]));
}

#[test]
fn reinterpretations() {
    let _alone = alone();
    let selector = "reinterpretCastTensor:toType:name:";
    let reinterpret = |graph: &Graph, x: Id, code: u32| msg!(graph.id(), selector, x => Id, code => u32, Id::NIL => Id; Id);
    let results = run(
        &[
            floats(&[1, 2], &[1.0, -2.0]),
            value(I64, &[2, 1], &[1i64 << 32, -1]),
        ],
        |graph, x| {
            vec![
                reinterpret(graph, x[0], U32),
                reinterpret(graph, x[1], I32),
                reinterpret(graph, x[0], I64),
            ]
        },
    );
    assert_eq!(
        results[0],
        value(U32, &[1, 2], &[0x3f80_0000u32, 0xc000_0000])
    );
    assert_eq!(results[1], ints(&[2, 2], &[0, 1, -1, -1]));
    assert_eq!(results[2], value(I64, &[1, 1], &[0xc000_0000_3f80_0000u64]));
    for (extents, from, to, reason) in [
        (&[3][..], F32, I64, "no whole number"),
        (&[2], BOOL, I8, "Bool"),
        (&[2], I8, BOOL, "Bool"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(extents, from);
        refused(selector, reason, || reinterpret(&graph, x, to));
    }
    let graph = Graph::new();
    let x = graph.scalar(1.0, F32);
    refused(selector, "rank 0", || reinterpret(&graph, x, I32));
    let graph = Graph::new();
    let x = graph.placeholder(&[1], F32);
    refused(selector, "no MPSDataType", || {
        reinterpret(&graph, x, 0x1100_0040)
    });
}

#[test]
fn coordinates_and_shapes() {
    let _alone = alone();
    let selector = "coordinateAlongAxis:withShape:name:";
    let coordinate = |graph: &Graph, axis: isize, extents: &[i64]| {
        let shape = numbers(extents);
        msg!(graph.id(), selector, axis => isize, shape => Id, Id::NIL => Id; Id)
    };
    let results = run(&[counted(&[4, 5])], |graph, x| {
        vec![
            coordinate(graph, 0, &[3, 2]),
            coordinate(graph, -1, &[2, 2]),
            graph.op("shapeOfTensor:name:", x),
        ]
    });
    assert_eq!(results[0], ints(&[3, 2], &[0, 0, 1, 1, 2, 2]));
    assert_eq!(results[1], ints(&[2, 2], &[0, 1, 0, 1]));
    assert_eq!(results[2], ints(&[2], &[4, 5]));
    let graph = Graph::new();
    refused(selector, "not one of 2 dimensions", || {
        coordinate(&graph, 2, &[2, 2])
    });
    let graph = Graph::new();
    refused(selector, "zero extent", || coordinate(&graph, 0, &[2, 0]));
}

#[test]
fn shapes_are_known_while_building() {
    let _alone = alone();
    let graph = Graph::new();
    let x = graph.placeholder(&[2, 3], F32);
    let y = graph.op("transposeTensor:permutation:name:", &[x, numbers(&[1, 0])]);
    assert_eq!(shape(y), [3, 2]);
}
