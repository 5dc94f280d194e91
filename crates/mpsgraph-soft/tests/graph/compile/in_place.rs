//! Products and convolutions whose operands are views.

use mpsgraph_soft::objc::Id;
use mpsgraph_soft::objc::version::macos;

use super::COMPILE;
use crate::graph::convolution::{convolution, descriptor};
use crate::graph::messages::numbers;
use crate::graph::session::{F16, F32, Graph, Value, floats, halves, run_one};
use crate::support::{Reported, refused, rule};

const MATMUL: &str = "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:";
const MAXIMUM: &str = "maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:";

fn all(shape: &[usize], number: f32, dtype: u32) -> Value {
    let elements = vec![number; shape.iter().product()];
    if dtype == F16 { halves(shape, &elements) } else { floats(shape, &elements) }
}

/// The product of ones, `rows` by 16 and 16 by 4; the right operand is read by `read` from ones of this shape.
fn product(dtype: u32, rows: usize, shape: &[usize], read: impl Fn(&Graph, Id) -> Id, is_copied: bool) {
    let values = [all(&[rows, 16], 1.0, dtype), all(shape, 1.0, dtype), all(&[1], f32::NEG_INFINITY, dtype)];
    let result = run_one(&values, |graph, x| {
        let right = read(graph, x[1]);
        let right = if is_copied { graph.op(MAXIMUM, &[right, x[2]]) } else { right };
        graph.op(MATMUL, &[x[0], right])
    });
    assert_eq!(result, all(&[rows, 4], 16.0, dtype));
}

fn slice(graph: &Graph, x: Id) -> Id {
    let bounds = [&[0, 0], &[16, 4], &[1, 1]].map(|bounds| numbers(bounds));
    graph.op("sliceTensor:starts:ends:strides:name:", &[x, bounds[0], bounds[1], bounds[2]])
}

fn permuted(graph: &Graph, x: Id, axes: &[i64]) -> Id {
    graph.op("transposeTensor:permutation:name:", &[x, numbers(axes)])
}

#[test]
fn halves_whose_rows_are_apart() {
    let _test = rule(Reported(
        "pytorch/pytorch#178056: 16-bit products with at most 16 rows or columns read beyond padded rows",
    ));
    let apart = |dtype, is_copied| product(dtype, 8, &[16, 10], slice, is_copied);
    refused(COMPILE, "are apart", || apart(F16, false));
    apart(F16, true);
    apart(F32, false);
    // Columns apart; and a matrix that is only turned, or cut where its rows end.
    let turned = |graph: &Graph, x| slice(graph, permuted(graph, x, &[1, 0]));
    refused(COMPILE, "are apart", || product(F16, 8, &[10, 16 + 1], turned, false));
    product(F16, 8, &[4, 16], |graph, x| permuted(graph, x, &[1, 0]), false);
    product(F16, 8, &[20, 4], slice, false);
    // What is between matrices of one batch is between the rows of each.
    let inner = |graph: &Graph, x| {
        graph.op(
            "reshapeTensor:withShape:name:",
            &[permuted(graph, slice_of_batch(graph, x), &[1, 0, 2]), numbers(&[16, 4])],
        )
    };
    refused(COMPILE, "are apart", || product(F16, 8, &[16, 3, 4], inner, false));
}

fn slice_of_batch(graph: &Graph, x: Id) -> Id {
    let bounds = [&[0, 1, 0], &[16, 2, 4], &[1, 1, 1]].map(|bounds| numbers(bounds));
    graph.op("sliceTensor:starts:ends:strides:name:", &[x, bounds[0], bounds[1], bounds[2]])
}

#[test]
fn rows_that_are_repeated() {
    let _test = rule(Reported(
        "pytorch/pytorch#180201: all but every 16th row of the product is 0 on macOS 15.0 to 26.3, and on 27.0",
    ));
    let repeated = |is_copied| {
        let read = |graph: &Graph, x| graph.op("broadcastTensor:toShape:name:", &[x, numbers(&[16, 4])]);
        product(F32, 40, &[1, 4], read, is_copied);
    };
    repeated(true);
    if macos() >= (15, 0) {
        refused(COMPILE, "is repeated", || repeated(false));
    } else {
        repeated(false);
    }
}

#[test]
fn rows_that_are_far_apart() {
    let _test = rule(Reported(
        "pytorch/pytorch#117549: before macOS 14.4 rows of a slice that are more than 32768 elements apart are wrong",
    ));
    let far = |columns: usize, is_copied| product(F32, 40, &[16, columns], slice, is_copied);
    far(1 << 15, false);
    far((1 << 15) + 1, true);
    if macos() < (14, 4) {
        refused(COMPILE, "elements apart", || far((1 << 15) + 1, false));
    } else {
        far((1 << 15) + 1, false);
    }
}

#[test]
fn weights_and_images_of_convolutions() {
    let _test = rule(Reported(
        "pytorch/pytorch#192212, #169342: from macOS 15 on convolutions read operands that are views as if they were \
         packed",
    ));
    // Two images of 4 channels by 2 filters, of ones; one operand is cut out of more channels.
    let convolved = |[channels, filtered]: [usize; 2], is_copied: bool| {
        let values = [[2, channels, 1, 2], [2, filtered, 1, 2]].map(|shape| all(&shape, 1.0, F32));
        let values = [&values[0], &values[1], &all(&[1], f32::NEG_INFINITY, F32)].map(Value::clone);
        let result = run_one(&values, |graph, x| {
            let part = |x: Id| {
                let bounds = [&[0, 0, 0, 0], &[2, 4, 1, 2], &[1; 4]].map(|bounds| numbers(bounds));
                graph.op("sliceTensor:starts:ends:strides:name:", &[x, bounds[0], bounds[1], bounds[2]])
            };
            let part = |at: usize| if is_copied { graph.op(MAXIMUM, &[part(x[at]), x[2]]) } else { part(x[at]) };
            convolution(graph, &[part(0), part(1)], descriptor([1, 1], [1, 1], 1))
        });
        assert_eq!(result, all(&[2, 2, 1, 1], 8.0, F32));
    };
    convolved([4, 4], false);
    for channels in [[5, 4], [4, 5]] {
        convolved(channels, true);
        if macos() >= (15, 0) {
            refused(COMPILE, "as if it were packed", || convolved(channels, false));
        } else {
            convolved(channels, false);
        }
    }
}
