//! Padding.

use mpsgraph_soft::objc::Id;

use crate::graph::messages::numbers;
use crate::graph::session::{BOOL, F32, Graph, bools, ints, run};
use crate::support::{Documented, Probed, Reported, msg, refused, rule};

const PAD: &str = "padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:";

const CONSTANT: isize = 0;
const REFLECT: isize = 1;
const SYMMETRIC: isize = 2;
const CLAMP_TO_EDGE: isize = 3;
const ZERO: isize = 4;
const PERIODIC: isize = 5;
const ANTI_PERIODIC: isize = 6;

fn pad_with(graph: &Graph, x: Id, mode: isize, sides: [&[i64]; 2], value: f64) -> Id {
    let [left, right] = sides.map(numbers);
    msg!(
        graph.id(), PAD, x => Id, mode => isize, left => Id, right => Id, value => f64, Id::NIL => Id; Id
    )
}

fn pad(graph: &Graph, x: Id, mode: isize, sides: [&[i64]; 2]) -> Id {
    pad_with(graph, x, mode, sides, 9.0)
}

#[track_caller]
fn pad_refused(code: u32, mode: isize, sides: [&[i64]; 2], reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(&[3], code);
    refused(PAD, reason, || pad(&graph, x, mode, sides));
}

#[test]
fn modes() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: the mirror across the edge, and the one that repeats it"));
    let results = run(&[ints(&[3], &[1, 2, 3]), ints(&[1, 2], &[1, 2])], |graph, x| {
        let on = |mode: isize| pad(graph, x[0], mode, [&[2], &[1]]);
        vec![
            on(CONSTANT),
            on(REFLECT),
            on(SYMMETRIC),
            on(CLAMP_TO_EDGE),
            on(ZERO),
            pad(graph, x[1], CLAMP_TO_EDGE, [&[1, 0], &[0, 1]]),
            pad(graph, x[0], CONSTANT, [&[0], &[0]]),
            pad(graph, x[0], SYMMETRIC, [&[3], &[0]]),
        ]
    });
    assert_eq!(results[0], ints(&[6], &[9, 9, 1, 2, 3, 9]));
    assert_eq!(results[1], ints(&[6], &[3, 2, 1, 2, 3, 2]));
    assert_eq!(results[2], ints(&[6], &[2, 1, 1, 2, 3, 3]));
    assert_eq!(results[3], ints(&[6], &[1, 1, 1, 2, 3, 3]));
    assert_eq!(results[4], ints(&[6], &[0, 0, 1, 2, 3, 0]));
    assert_eq!(results[5], ints(&[2, 3], &[1, 2, 2, 1, 2, 2]));
    assert_eq!(results[6], ints(&[3], &[1, 2, 3]));
    assert_eq!(results[7], ints(&[6], &[3, 2, 1, 1, 2, 3]));
}

#[test]
fn negative_padding_crops() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let results = run(&[ints(&[3], &[1, 2, 3])], |graph, x| {
        [CONSTANT, REFLECT].map(|mode| pad(graph, x[0], mode, [&[-1], &[1]])).to_vec()
    });
    assert_eq!(results[0], ints(&[3], &[2, 3, 9]));
    assert_eq!(results[1], ints(&[3], &[2, 3, 2]));
}

#[test]
fn pad_refuses_mirrors_beyond_the_tensor() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: \"padding values too large at axis 0, max padding is 2\""));
    for sides in [[&[3][..], &[0][..]], [&[0], &[3]]] {
        pad_refused(F32, REFLECT, sides, "2 is the most");
    }
    for sides in [[&[4][..], &[0][..]], [&[0], &[4]]] {
        pad_refused(F32, SYMMETRIC, sides, "3 is the most");
    }
}

#[test]
fn pad_refuses_periodic_and_unknown_modes() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: \"Unsupported paddingMode\""));
    for mode in [PERIODIC, ANTI_PERIODIC, 7, -1] {
        pad_refused(F32, mode, [&[1], &[0]], "periodic: MPSGraph aborts");
    }
}

#[test]
fn pad_refuses_constants_around_bool() {
    let _test = rule(Reported("pytorch/pytorch Pad.mm casts to Int8"));
    for mode in [CONSTANT, ZERO] {
        pad_refused(BOOL, mode, [&[1], &[0]], "cast to Int8 first");
    }
    let edges = run(&[bools(&[2], &[1, 0])], |graph, x| vec![pad(graph, x[0], CLAMP_TO_EDGE, [&[1], &[1]])]);
    assert_eq!(edges[0], bools(&[4], &[1, 1, 0, 0]));
}

#[test]
fn pad_refuses_to_crop_everything() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: no kernel runs on an empty tensor"));
    pad_refused(F32, CONSTANT, [&[-2], &[-1]], "leaves nothing");
}

#[test]
fn pad_refuses_another_number_of_sides_than_dimensions() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs ops.rs"));
    for sides in [[&[1, 1][..], &[0][..]], [&[1], &[0, 0]]] {
        pad_refused(F32, CONSTANT, sides, "2 numbers for 1 dimensions");
    }
}

#[test]
fn pad_refuses_2_to_the_31_elements() {
    let _test = rule(Documented("Apple's MPSNDArray.h"));
    pad_refused(F32, CONSTANT, [&[1 << 31], &[0]], "2^31");
    pad_refused(F32, CLAMP_TO_EDGE, [&[(1 << 31) - 1], &[0]], "2^31");
}

#[test]
fn pad_refuses_negative_infinity() {
    let _test = rule(Reported("ChanLumerico/lucid MpsBuilder.mm"));
    let graph = Graph::new();
    let x = graph.placeholder(&[3], F32);
    refused(PAD, "-inf", || pad_with(&graph, x, CONSTANT, [&[1], &[0]], f64::NEG_INFINITY));
}

#[test]
fn pad_refuses_large_planes_of_five_dimensions() {
    let _test = rule(Reported(
        "pytorch/pytorch#194922, #194944, #195147: beyond rank 4, with 65536 elements behind the padded dimension or \
         last, constants are written over copied elements; at rank 4 every extent is right",
    ));
    for (shape, sides, is_refused) in [
        (&[1, 1, 2, 256, 256][..], [0, 0, 1, 0, 0], true),
        (&[1, 1, 2, 255, 256], [0, 0, 1, 0, 0], false),
        (&[1, 1, 2, 256, 256], [0, 0, 0, 1, 0], false),
        (&[1, 1, 1, 1, 65_535], [0, 0, 0, 0, 1], true),
        (&[1, 1, 1, 1, 65_534], [0, 0, 0, 0, 1], false),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(shape, F32);
        let padded = || pad(&graph, x, CONSTANT, [&sides, &[0; 5]]);
        if is_refused {
            refused(PAD, "silently overwritten", padded);
        } else {
            padded();
        }
    }
    let graph = Graph::new();
    let plane = graph.placeholder(&[1, 2, 256, 256], F32);
    pad(&graph, plane, CONSTANT, [&[0, 1, 0, 0], &[0; 4]]);
}
