//! Products that Apple's compiler takes for something else.

use mpsgraph_soft::objc::Id;
use mpsgraph_soft::objc::version::macos;

use super::{ADD, COMPILE};
use crate::graph::messages::numbers;
use crate::graph::selectors::reduced;
use crate::graph::session::{F16, F32, Graph, Value, close, floats, halves, run_one};
use crate::support::{Reported, plain, refused, rule};

const MATMUL: &str = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:";
const SUB: &str = "subtractionWithPrimaryTensor:secondaryTensor:name:";
const MUL: &str = "multiplicationWithPrimaryTensor:secondaryTensor:name:";
const DIV: &str = "divisionWithPrimaryTensor:secondaryTensor:name:";
const MAX: &str = "maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:";

/// What goes into softmax(QKᵀ)V: Q and K of zeros, so that all weights are equal; V, whose rows are 0, 1, …, 19;
/// and the least number.
fn queries_keys_and_values() -> [Value; 4] {
    let zeros = || floats(&[3, 20, 20], &[0.0; 1200]);
    let rows: Vec<f32> = (0..1200).map(|at| (at / 20 % 20) as f32).collect();
    [zeros(), zeros(), floats(&[3, 20, 20], &rows), floats(&[1], &[f32::NEG_INFINITY])]
}

/// The result of softmax(QKᵀ)V, where `of` makes the softmax of the scores, and `between` does something to it
/// before the product.
fn attention(of: impl Fn(&Graph, Id) -> Id, between: impl Fn(&Graph, Id, Id) -> Id) -> impl FnOnce() -> Value {
    move || {
        run_one(&queries_keys_and_values(), |graph, x| {
            let scores = graph.op(MATMUL, &x[..2]);
            let weights = between(graph, of(graph, scores), x[3]);
            graph.op(MATMUL, &[weights, x[2]])
        })
    }
}

fn softmax(graph: &Graph, scores: Id) -> Id {
    graph.axis_op("softMaxWithTensor:axis:name:", scores, 2)
}

fn powers_over_sum(graph: &Graph, scores: Id) -> Id {
    let top = reduced(graph, "Maximum", scores, 2);
    let exponents = graph.op(SUB, &[scores, top]);
    let powers = graph.op("exponentWithTensor:name:", &[exponents]);
    let sum = reduced(graph, "Sum", powers, 2);
    graph.op(DIV, &[powers, sum])
}

fn powers_times_share(graph: &Graph, scores: Id) -> Id {
    let powers = graph.op("exponentWithTensor:name:", &[scores]);
    let sum = reduced(graph, "Sum", powers, 2);
    let share = graph.op("reciprocalWithTensor:name:", &[sum]);
    graph.op(MUL, &[share, powers])
}

#[test]
fn attention_is_refused_in_every_form_that_is_taken_for_it() {
    let _test = rule(Reported(
        "ChanLumerico/lucid: softmax(QK^T)V written by hand is fused and silently wrong on M1 Pro with macOS 26; \
         MIT-RLX/rlx: barriers that can be folded do not help",
    ));
    type Form = fn(&Graph, Id) -> Id;
    let forms: [Form; 3] = [softmax, powers_over_sum, powers_times_share];
    for form in forms {
        let on = |between: fn(&Graph, Id, Id) -> Id| {
            refused(COMPILE, "softmax(QK^T)V", attention(form, between));
        };
        on(|_, weights, _| weights);
        on(|graph, weights, _| {
            let one = graph.scalar(1.0, F32);
            graph.op(MUL, &[one, weights])
        });
        on(|graph, weights, _| {
            let zero = graph.scalar(0.0, F32);
            graph.op(ADD, &[weights, zero])
        });
        on(|graph, weights, _| graph.cast(graph.cast(weights, F16), F32));
        // What only a run knows cannot be folded.
        let mean = attention(form, |graph, weights, least| graph.op(MAX, &[weights, least]))();
        close(&mean, &[3, 20, 20], &[9.5; 1200]);
        let scaled = |graph: &Graph, scores: Id| {
            let half = graph.scalar(0.5, F32);
            form(graph, graph.op(MUL, &[scores, half]))
        };
        refused(COMPILE, "softmax(QK^T)V", attention(scaled, |_, x, _| x));
    }
}

#[test]
fn a_softmax_of_no_product_may_be_multiplied() {
    let _test = plain();
    let scores = floats(&[1, 2, 2], &[0.0, 3f32.ln(), 0.0, 0.0]);
    let values = floats(&[1, 2, 2], &[4.0, 8.0, 0.0, 4.0]);
    let result = run_one(&[scores, values], |graph, x| graph.op(MATMUL, &[softmax(graph, x[0]), x[1]]));
    close(&result, &[1, 2, 2], &[1.0, 5.0, 2.0, 6.0]);
}

/// Four rows of two, read as these shapes, times a matrix, in these shapes after each other.
fn product_between_reshapes(before: &[&[i64]], after: &[&[i64]]) -> Vec<f32> {
    let extents = |shape: &[i64]| shape.iter().map(|&extent| extent as usize).collect::<Vec<_>>();
    let rows = floats(&extents(before[0]), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let result = run_one(&[rows, floats(&[2, 2], &[1.0, 0.0, 10.0, 1.0])], |graph, x| {
        let through = |tensor: Id, shapes: &[&[i64]]| {
            shapes.iter().fold(tensor, |tensor, shape| {
                let seen = graph.op("reshapeTensor:withShape:name:", &[tensor, numbers(shape)]);
                graph.cast(graph.cast(seen, F16), F32)
            })
        };
        through(graph.op(MATMUL, &[through(through(x[0], &before[1..]), &[&[4, 2]]), x[1]]), after)
    });
    assert_eq!(result.shape, extents(after[after.len() - 1]));
    result.elements()
}

#[test]
fn a_product_between_reshapes_with_two_extents_of_one() {
    let _test = rule(Reported("pytorch/pytorch#187201, #187379: on macOS 26 and 27 MLIR crashes"));
    let wanted = [10.0, 1.0, 32.0, 3.0, 54.0, 5.0, 76.0, 7.0];
    let (plain, lone, flat): (&[i64], &[i64], &[i64]) = (&[2, 2, 1, 2], &[2, 1, 2, 1, 2], &[8]);
    assert_eq!(product_between_reshapes(&[plain], &[plain]), wanted);
    let forms: [[&[&[i64]]; 2]; 5] = [
        [&[lone], &[lone]],
        [&[lone], &[plain]],
        [&[plain], &[lone]],
        [&[flat, lone, plain], &[flat]],
        [&[flat], &[plain, lone, flat]],
    ];
    for [before, after] in forms {
        if macos() >= (26, 0) {
            refused(COMPILE, "macOS 26 and 27", || product_between_reshapes(before, after));
        } else {
            assert_eq!(product_between_reshapes(before, after), wanted);
        }
    }
}

#[test]
fn a_product_of_halves_between_reshapes() {
    let _test = rule(Reported(
        "pytorch/pytorch#197796: on macOS 27.0 and M5 such a product ends the process, with extents that are not 1; \
         #190352: only if it reads the reshape itself",
    ));
    let product = |behind: fn(&Graph, Id) -> Id| {
        let x = halves(&[2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let w = halves(&[2, 2], &[1.0, 0.0, 10.0, 1.0]);
        let result = run_one(&[x, w], |graph, x| {
            let reshape =
                |tensor: Id, shape: &[i64]| graph.op("reshapeTensor:withShape:name:", &[tensor, numbers(shape)]);
            let flat = behind(graph, reshape(x[0], &[4, 2]));
            reshape(graph.op(MATMUL, &[flat, x[1]]), &[2, 2, 2])
        });
        assert_eq!(result, halves(&[2, 2, 2], &[10.0, 1.0, 32.0, 3.0, 54.0, 5.0, 76.0, 7.0]));
    };
    product(|graph, flat| graph.op("absoluteWithTensor:name:", &[flat]));
    if macos() >= (27, 0) {
        refused(COMPILE, "16-bit matrices between two reshapes", || product(|_, flat| flat));
    } else {
        product(|_, flat| flat);
    }
}

#[test]
fn a_bias_on_a_product_of_one_row_is_refused_on_macos_26() {
    let _test = rule(Reported(
        "pytorch/pytorch mps/operations/Linear.mm: on M1 with macOS 26 the bias of one row is lost; fixed in 27",
    ));
    let biased = |rows: usize| {
        let x = floats(&[rows, 2], &[1.0, 2.0].repeat(rows));
        let (w, bias) = (floats(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0]), floats(&[1, 3], &[10.0, 20.0, 30.0]));
        let result = run_one(&[x, w, bias], |graph, x| graph.op(ADD, &[graph.op(MATMUL, &x[..2]), x[2]]));
        assert_eq!(result, floats(&[rows, 3], &[11.0, 22.0, 33.0].repeat(rows)));
    };
    biased(2);
    match macos() {
        (26, _) => refused(COMPILE, "loses on M1", || biased(1)),
        _ => biased(1),
    }
}
