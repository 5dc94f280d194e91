//! Products that Apple's compiler takes for something else.

use mpsgraph_soft::objc::Id;

use super::{ADD, COMPILE};
use crate::graph::messages::numbers;
use crate::graph::selectors::reduced;
use crate::graph::session::{F16, F32, Graph};
use crate::support::{Reported, msg, plain, pooled, refused, rule};

const MATMUL: &str = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:";
const SUB: &str = "subtractionWithPrimaryTensor:secondaryTensor:name:";
const MUL: &str = "multiplicationWithPrimaryTensor:secondaryTensor:name:";
const DIV: &str = "divisionWithPrimaryTensor:secondaryTensor:name:";
const MAX: &str = "maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:";

/// softmax(QKᵀ)V with something done to the scores' softmax in both of its forms, and to the softmax before the
/// product.
fn attention(of: impl Fn(&Graph, Id) -> Id, between: impl Fn(&Graph, Id, Id) -> Id) -> impl FnOnce() -> Id {
    move || {
        let graph = Graph::new();
        let [q, k, v] = [(); 3].map(|()| graph.placeholder(&[3, 20, 20], F32));
        let least = graph.placeholder(&[1], F32);
        let scores = graph.op(MATMUL, &[q, k]);
        let weights = between(&graph, of(&graph, scores), least);
        let result = graph.op(MATMUL, &[weights, v]);
        graph.compile(&[q, k, v, least], &[result])
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
        pooled(attention(form, |graph, weights, least| graph.op(MAX, &[weights, least])));
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
    let graph = Graph::new();
    let [x, v] = [(); 2].map(|()| graph.placeholder(&[3, 20, 20], F32));
    let result = graph.op(MATMUL, &[softmax(&graph, x), v]);
    graph.compile(&[x, v], &[result]);
}

#[test]
fn a_product_between_reshapes_with_two_extents_of_one() {
    let _test = rule(Reported("pytorch/pytorch#187201, #187379: on macOS 26 and 27 MLIR crashes"));
    let build = |outer: &'static [i64]| {
        move || {
            let graph = Graph::new();
            let (x, w) = (graph.placeholder(outer, F32), graph.placeholder(&[2, 2], F32));
            let reshape = |tensor: Id, extents: &[i64]| {
                msg!(
                    graph.id(), "reshapeTensor:withShape:name:",
                    tensor => Id, numbers(extents) => Id, Id::NIL => Id; Id
                )
            };
            let product = graph.op(MATMUL, &[reshape(x, &[4, 2]), w]);
            graph.compile(&[x, w], &[reshape(product, outer)])
        }
    };
    pooled(build(&[2, 2, 1, 2]));
    if mpsgraph_soft::objc::version::macos() >= (26, 0) {
        refused(COMPILE, "macOS 26 and 27", build(&[2, 1, 2, 1, 2]));
    } else {
        pooled(build(&[2, 1, 2, 1, 2]));
    }
}

#[test]
fn a_bias_on_a_product_of_one_row_is_refused_on_macos_26() {
    let _test = rule(Reported(
        "pytorch/pytorch mps/operations/Linear.mm: on M1 with macOS 26 the bias of one row is lost; fixed in 27",
    ));
    let build = |rows: i64| {
        move || {
            let graph = Graph::new();
            let fed = [[rows, 2], [2, 3], [1, 3]].map(|extents| graph.placeholder(&extents, F32));
            let product = graph.op(MATMUL, &fed[..2]);
            let sum = "additionWithPrimaryTensor:secondaryTensor:name:";
            graph.compile(&fed, &[graph.op(sum, &[product, fed[2]])])
        }
    };
    pooled(build(2));
    match mpsgraph_soft::objc::version::macos() {
        (26, _) => refused(COMPILE, "loses on M1", build(1)),
        _ => {
            pooled(build(1));
        }
    }
}
