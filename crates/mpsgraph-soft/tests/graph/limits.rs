//! Sizes that no tensor may have: zero extents, rank 0, too many dimensions, elements or bytes; and axes out of reach.

use mpsgraph_soft::objc::Id;

use super::messages::{array, numbers};
use super::selectors::{NAN_REDUCTIONS, POSITIONS, REDUCTIONS, TRUTHS, reduced, reduction};
use super::session::{BOOL, F32, Graph, I32, I64, U8, floats, run_one, shaped_type};
use crate::support::{Assumed, Documented, Probed, Reported, class, msg, refused, rule};

const PLACEHOLDER: &str = "placeholderWithShape:dataType:name:";
const FILLED: &str = "constantWithScalar:shape:dataType:";
const DATA: &str = "constantWithData:shape:dataType:";
const COORDINATE: &str = "coordinateAlongAxis:withShape:name:";
const RANDOM: &str = "randomUniformTensorWithShape:stateTensor:name:";
const BROADCAST: &str = "broadcastTensor:toShape:name:";
const MEAN: &str = "meanOfTensor:axes:name:";
const SCATTER: &str = "scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:";

/// Checks that everything that makes a tensor of a given shape refuses this one.
#[track_caller]
fn shape_refused(extents: &[i64], reason: &str) {
    let nil = Id::NIL;
    #[track_caller]
    fn on(selector: &str, reason: &str, build: impl Fn(&Graph) -> Id) {
        let graph = Graph::new();
        refused(selector, reason, || build(&graph));
    }
    let shape = || numbers(extents);
    on(PLACEHOLDER, reason, |graph| graph.placeholder(extents, F32));
    on(FILLED, reason, |graph| msg!(graph.id(), FILLED, 1.0 => f64, shape() => Id, F32 => u32; Id));
    let data = msg!(class("NSData"), "data"; Id);
    on(DATA, reason, |graph| msg!(graph.id(), DATA, data => Id, shape() => Id, F32 => u32; Id));
    on(COORDINATE, reason, |graph| msg!(graph.id(), COORDINATE, 0 => isize, shape() => Id, nil => Id; Id));
    on(RANDOM, reason, |graph| {
        let state = graph.placeholder(&[7], I32);
        msg!(graph.id(), RANDOM, shape() => Id, state => Id, nil => Id; Id)
    });
    on(BROADCAST, reason, |graph| graph.op(BROADCAST, &[graph.placeholder(&[1], F32), shape()]));
    on(SCATTER, reason, |graph| {
        let (updates, at) = (graph.placeholder(&[1], F32), graph.placeholder(&[1], I32));
        msg!(
            graph.id(), SCATTER, updates => Id, at => Id, shape() => Id,
            0 => isize, 0 => isize, nil => Id; Id
        )
    });
    refused("initWithShape:dataType:", reason, || shaped_type(extents, F32));
}

#[test]
fn zero_extents_are_refused() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0 (\"device may not be nil\"); pytorch/pytorch#117941"));
    shape_refused(&[2, 0], "zero extent");
}

#[test]
fn empty_shapes_are_refused() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0 (\"a constant must be passed a ranked shape\"); doom-fish/mpsgraph-rs \
         graph.rs",
    ));
    shape_refused(&[], "is empty");
}

#[test]
fn dynamic_extents_are_refused() {
    let _test = rule(Reported(
        "ChanLumerico/lucid MpsBuilder.mm: constants that end up with a symbolic axis abort when they are specialised",
    ));
    shape_refused(&[-1, 2], "dynamic");
}

#[test]
fn placeholders_without_a_rank_are_refused() {
    let _test = rule(Assumed(
        "every shape is known here, although pytorch/pytorch SoftMax.mm feeds a placeholder without a rank",
    ));
    let graph = Graph::new();
    refused(
        PLACEHOLDER,
        "unknown rank",
        || msg!(graph.id(), PLACEHOLDER, Id::NIL => Id, F32 => u32, Id::NIL => Id; Id),
    );
}

#[test]
fn a_number_of_rank_0_broadcasts() {
    let _test = rule(Reported(
        "doom-fish/mpsgraph-rs graph.rs; gomlx/go-coreml: `constantWithScalar:dataType:` is of rank 0 and fine",
    ));
    let doubled = run_one(&[floats(&[2], &[1.5, 2.0])], |graph, x| {
        let two = graph.scalar(2.0, F32);
        graph.op("multiplicationWithPrimaryTensor:secondaryTensor:name:", &[x[0], two])
    });
    assert_eq!(doubled, floats(&[2], &[3.0, 4.0]));
}

#[test]
fn operations_refuse_rank_0() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs; tillahoffmann/jax-mps gather_scatter_utils.h"));
    let on = |selector: &str, build: &dyn Fn(&Graph, Id) -> Id| {
        let graph = Graph::new();
        let scalar = graph.scalar(1.0, F32);
        refused(selector, "rank 0", || build(&graph, scalar));
    };
    for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS, POSITIONS].concat() {
        let selector = reduction(name);
        on(&selector, &|graph, x| reduced(graph, name, x, 0));
    }
    for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS].concat() {
        let selector = reduction(name);
        on(&selector, &|graph, x| graph.op(&selector, &[x, Id::NIL]));
    }
    on(MEAN, &|graph, x| graph.op(MEAN, &[x, Id::NIL]));
    on("softMaxWithTensor:axis:name:", &|graph, x| graph.axis_op("softMaxWithTensor:axis:name:", x, 0));
    let reinterpret = "reinterpretCastTensor:toType:name:";
    on(reinterpret, &|graph, x| msg!(graph.id(), reinterpret, x => Id, I32 => u32, Id::NIL => Id; Id));
    let slice = "sliceTensor:starts:ends:strides:name:";
    on(slice, &|graph, x| graph.op(slice, &[x, numbers(&[]), numbers(&[]), numbers(&[])]));
    let pad = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:";
    on(
        pad,
        &|graph, x| msg!(graph.id(), pad, x => Id, 0 => isize, numbers(&[]) => Id, numbers(&[]) => Id, 0.0 => f64, Id::NIL => Id; Id),
    );
    let concat = "concatTensors:dimension:name:";
    on(concat, &|graph, x| graph.axis_op(concat, array(&[x, x]), 0));
}

#[test]
fn gathers_and_scatters_refuse_rank_0() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs; tillahoffmann/jax-mps gather_scatter_utils.h"));
    let nil = Id::NIL;
    let gather = "gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:";
    let gather_nd = "gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:";
    let gather_along = "gatherAlongAxis:withUpdatesTensor:indicesTensor:name:";
    let scatter = "scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:";
    let scatter_nd = "scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:";
    let scatter_along = "scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:";
    // Data, updates and indices: each in turn of rank 0.
    for at in 0..3 {
        let operands = |graph: &Graph| {
            let mut tensors = [F32, F32, I32].map(|code| graph.placeholder(&[1], code));
            tensors[at] = graph.scalar(0.0, if at == 2 { I32 } else { F32 });
            tensors
        };
        let on = |selector: &str, build: &dyn Fn(Id, [Id; 3]) -> Id| {
            let graph = Graph::new();
            let operands = operands(&graph);
            refused(selector, "rank 0", || build(graph.id(), operands));
        };
        on(
            scatter,
            &|graph, [x, y, i]| msg!(graph, scatter, x => Id, y => Id, i => Id, 0 => isize, 0 => isize, nil => Id; Id),
        );
        on(
            scatter_nd,
            &|graph, [x, y, i]| msg!(graph, scatter_nd, x => Id, y => Id, i => Id, 0 => usize, 0 => isize, nil => Id; Id),
        );
        on(
            scatter_along,
            &|graph, [x, y, i]| msg!(graph, scatter_along, 0 => isize, x => Id, y => Id, i => Id, 0 => isize, nil => Id; Id),
        );
        if at == 0 {
            continue;
        }
        on(gather, &|graph, [_, x, i]| msg!(graph, gather, x => Id, i => Id, 0 => usize, 0 => usize, nil => Id; Id));
        on(gather_nd, &|graph, [_, x, i]| msg!(graph, gather_nd, x => Id, i => Id, 0 => usize, nil => Id; Id));
        on(gather_along, &|graph, [_, x, i]| msg!(graph, gather_along, 0 => isize, x => Id, i => Id, nil => Id; Id));
    }
}

#[test]
fn more_than_16_dimensions_are_refused() {
    let _test = rule(Documented("Apple's MPSNDArray.h: at most 16 dimensions"));
    let reason = "more than 16 dimensions";
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[1; 17], F32));
    let graph = Graph::new();
    let x = graph.placeholder(&[1; 16], F32);
    let reshape = "reshapeTensor:withShape:name:";
    refused(reshape, reason, || graph.op(reshape, &[x, numbers(&[1; 17])]));
}

#[test]
fn tensors_of_2_to_the_31_elements_are_refused() {
    let _test = rule(Documented(
        "Apple's MPSNDArray.h; pytorch/pytorch#84039; pytorch/pytorch#153560 (slices of more were wrong)",
    ));
    let reason = "2^31 elements or more";
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[1 << 16, 1 << 15], U8));
    let graph = Graph::new();
    let shape = numbers(&[1 << 31]);
    refused(FILLED, reason, || msg!(graph.id(), FILLED, 1.0 => f64, shape => Id, U8 => u32; Id));
    let on = |selector: &str, build: &dyn Fn(&Graph, Id) -> Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[1 << 15, 1], BOOL);
        refused(selector, reason, || build(&graph, x));
    };
    on(BROADCAST, &|graph, x| graph.op(BROADCAST, &[x, numbers(&[1 << 15, 1 << 16])]));
    let and = "logicalANDWithPrimaryTensor:secondaryTensor:name:";
    on(and, &|graph, x| graph.op(and, &[x, graph.placeholder(&[1, 1 << 16], BOOL)]));
    let pad = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:";
    on(pad, &|graph, x| {
        let (left, right) = (numbers(&[0, 1 << 16]), numbers(&[0, 0]));
        msg!(
            graph.id(), pad, x => Id, 3 => isize, left => Id, right => Id, 0.0 => f64, Id::NIL => Id; Id
        )
    });
    let concat = "concatTensors:dimension:name:";
    let graph = Graph::new();
    let x = graph.placeholder(&[1 << 30], U8);
    refused(concat, reason, || graph.axis_op(concat, array(&[x, x]), 0));
}

#[test]
fn tensors_of_more_than_4_gib_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#149261; pytorch/pytorch#149325"));
    let reason = "larger than 4 GiB";
    Graph::new().placeholder(&[1 << 29], I64);
    refused(PLACEHOLDER, reason, || Graph::new().placeholder(&[(1 << 29) + 1], I64));
    let graph = Graph::new();
    let x = graph.placeholder(&[1 << 30], I32);
    refused("castTensor:toType:name:", reason, || graph.cast(x, I64));
}

#[test]
fn reductions_refuse_axes_before_the_last_four() {
    let _test = rule(Reported(
        "pytorch/pytorch#118126 (\"must simplify reduction axes to minor 4 dimensions\"); pytorch/pytorch#187105",
    ));
    let reason = "not one of the last four";
    let on = |selector: &str, build: &dyn Fn(&Graph, Id) -> Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 1, 1, 1, 1], F32);
        refused(selector, reason, || build(&graph, x));
    };
    for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS, POSITIONS].concat() {
        let selector = reduction(name);
        for axis in [0, -5] {
            on(&selector, &|graph, x| reduced(graph, name, x, axis));
        }
    }
    for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS].concat() {
        let selector = reduction(name);
        on(&selector, &|graph, x| graph.op(&selector, &[x, numbers(&[4, 0])]));
        on(&selector, &|graph, x| graph.op(&selector, &[x, Id::NIL]));
    }
    on(MEAN, &|graph, x| graph.op(MEAN, &[x, Id::NIL]));
}

#[test]
fn axes_outside_the_rank_are_refused() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"invalid axes\", then an LLVM error"));
    let reason = "not one of 2 dimensions";
    let on = |selector: &str, build: &dyn Fn(&Graph, Id) -> Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 2], F32);
        refused(selector, reason, || build(&graph, x));
    };
    for axis in [2, -3] {
        for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS, POSITIONS].concat() {
            let selector = reduction(name);
            on(&selector, &|graph, x| reduced(graph, name, x, axis));
        }
        for name in [REDUCTIONS, NAN_REDUCTIONS, TRUTHS].concat() {
            let selector = reduction(name);
            on(&selector, &|graph, x| graph.op(&selector, &[x, numbers(&[0, axis as i64])]));
        }
        for selector in [MEAN, "reverseTensor:axes:name:"] {
            on(selector, &|graph, x| graph.op(selector, &[x, numbers(&[axis as i64])]));
        }
        let softmax = "softMaxWithTensor:axis:name:";
        on(softmax, &|graph, x| graph.axis_op(softmax, x, axis));
        let concat = "concatTensors:dimension:name:";
        on(concat, &|graph, x| graph.axis_op(concat, array(&[x, x]), axis));
        on(
            COORDINATE,
            &|graph, _| msg!(graph.id(), COORDINATE, axis => isize, numbers(&[2, 2]) => Id, Id::NIL => Id; Id),
        );
    }
}
