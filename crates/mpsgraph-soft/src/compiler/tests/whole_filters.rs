//! Convolutions whose filter covers the input become products.

use super::*;
use crate::kernels::convolution::{Convolution, Wanted, Window};

/// Extents of `[batch, channels, outputs]`, of the filter, and of the input.
struct Case {
    extents: [usize; 3],
    filter: [usize; 2],
    input: [usize; 2],
    windows: [Window; 2],
}

const PLAIN: Window = Window { stride: 1, dilation: 1, before: 0 };

/// The plan for what is wanted of a convolution with one position for each sample, and its result.
fn computed(case: &Case, wanted: Wanted) -> (String, Vec<f32>) {
    let &Case { extents: [batch, channels, outputs], filter, input, windows } = case;
    let input = f32s(&[batch, channels, input[0], input[1]]);
    let weights = f32s(&[outputs, channels, filter[0], filter[1]]);
    let output = f32s(&[batch, outputs, 1, 1]);
    let [a, b, result] = match wanted {
        Wanted::Output => [input, weights, output],
        Wanted::InputGradient => [output, weights, input],
        Wanted::WeightsGradient => [output, input, weights],
    };
    let mut nodes = Nodes::default();
    let feeds = [numbers(a.elements(), 1), numbers(b.elements(), 2)];
    let [a, b] = [a, b].map(|ty| push(&mut nodes, Leaf::Placeholder, [], ty));
    let made = push(&mut nodes, Convolution { wanted, windows, groups: 1 }, [a, b], result);
    let plan = compile(&nodes, &[a, b], &[made]);
    let results = run(&plan, &[&feeds[0], &feeds[1]]);
    (plan.describe(), floats(&results[0]))
}

#[test]
fn filters_that_cover_the_input() {
    let (batch, channels, outputs, area) = (3, 5, 4, 6);
    let case = Case { extents: [batch, channels, outputs], filter: [2, 3], input: [2, 3], windows: [PLAIN; 2] };
    let columns = channels * area;
    let operand = |count: usize, salt: u32| floats(&numbers(count, salt));
    let check = |wanted, rows: usize, across: usize, depth: usize, term: &dyn Fn(usize, usize, usize) -> f32| {
        let (text, found) = computed(&case, wanted);
        assert!(text.contains("matmul") && !text.contains("Convolution"), "{text}");
        for (at, found) in found.iter().enumerate().take(rows * across) {
            let expected: f32 = (0..depth).map(|l| term(at / across, at % across, l)).sum();
            assert!((found - expected).abs() < 1e-4, "{wanted:?} at {at}: {found}, {expected}");
        }
        assert_eq!(found.len(), rows * across);
    };
    let (x, w) = (operand(batch * columns, 1), operand(outputs * columns, 2));
    check(Wanted::Output, batch, outputs, columns, &|i, j, l| x[i * columns + l] * w[j * columns + l]);
    let (y, w) = (operand(batch * outputs, 1), operand(outputs * columns, 2));
    check(Wanted::InputGradient, batch, columns, outputs, &|i, j, l| y[i * outputs + l] * w[l * columns + j]);
    let (y, x) = (operand(batch * outputs, 1), operand(batch * columns, 2));
    check(Wanted::WeightsGradient, outputs, columns, batch, &|i, j, l| y[l * outputs + i] * x[l * columns + j]);
}

/// One position, but some of the filter lies beside the input, or some of the input beside the filter.
#[test]
fn other_filters_stay() {
    let case = |filter, input, window| Case { extents: [2, 3, 4], filter, input, windows: [window, PLAIN] };
    let cases = [
        case([3, 1], [2, 1], Window { before: 1, ..PLAIN }),
        case([2, 1], [3, 1], Window { stride: 2, ..PLAIN }),
        case([2, 1], [3, 1], Window { dilation: 2, ..PLAIN }),
    ];
    for case in &cases {
        for wanted in [Wanted::Output, Wanted::InputGradient, Wanted::WeightsGradient] {
            let (text, _) = computed(case, wanted);
            assert!(text.contains("Convolution"), "{text}");
        }
    }
}
