//! Which segments follow the order of another.

use std::sync::Arc;

use burn_backend::{DType, Shape, Slice};

use super::*;
use crate::bridge::draft::{Flow, same};
use crate::bridge::recording::Cut;
use crate::bridge::thread::current;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, UnaryOp};
use crate::ops::random;
use crate::ops::tensor_shape::slice;
use crate::tensor::MpsGraphTensor;

fn value() -> MpsGraphTensor {
    random::random("random", Shape::from([2, 3]), burn_backend::Distribution::Default, DType::F32)
}

fn sum(a: &MpsGraphTensor, b: &MpsGraphTensor) -> MpsGraphTensor {
    arithmetic::binary(BinaryOp::Add, a.clone(), b.clone())
}

fn exp(x: &MpsGraphTensor) -> MpsGraphTensor {
    arithmetic::unary(UnaryOp::Exp, x.clone())
}

/// What the thread records in `make` apart from the fed values; what `make` gives is wanted.
fn recorded(make: impl FnOnce(&[MpsGraphTensor; 2]) -> Vec<MpsGraphTensor>) -> Segment {
    let recording = current().expect("the thread is not ending");
    let given = [value(), value()];
    drop(recording.cut(Cut::Everything, &Arc::default()));
    let _wanted = make(&given);
    recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded")
}

fn with_draft<R>(segment: &Segment, use_it: impl FnOnce(&Draft<'_>) -> R) -> R {
    let draft = Draft::new(&Flow::new(segment), &segment.wanted, &vec![false; segment.nodes.len()]);
    use_it(&draft.expect("something is wanted"))
}

/// Whether the second segment follows the first, after a look at what it takes over then.
fn follows(first: &Segment, second: &Segment) -> bool {
    let (track, program) = with_draft(first, |draft| (Track::of(draft), draft.program()));
    let mut taken = Draft::default();
    if !track.draft(&program, second, same, &mut taken) {
        return false;
    }
    assert!(taken.is(&program));
    with_draft(second, |own| {
        assert!(own.is(&program) && own.hash() == taken.hash());
        assert_eq!((&own.scalars, own.has_barrier), (&taken.scalars, taken.has_barrier));
        assert!(own.feeds.iter().zip(&taken.feeds).all(|(own, taken)| Arc::ptr_eq(own.value, taken.value)));
        assert!(own.feeds.iter().zip(&taken.feeds).all(|(own, taken)| own.shape == taken.shape));
        assert!(own.output_values().zip(taken.output_values()).all(|(own, taken)| Arc::ptr_eq(own, taken)));
    });
    true
}

#[test]
fn what_is_recorded_alike_follows() {
    let make = |by: f64| {
        move |[a, b]: &[MpsGraphTensor; 2]| {
            let unused = exp(a);
            drop(unused);
            let scaled = arithmetic::binary_scalar(BinaryOp::Mul, sum(a, b), ScalarInput::Float(by));
            vec![exp(b), sum(&scaled, b), scaled]
        }
    };
    let (first, second) = (recorded(make(2.0)), recorded(make(3.0)));
    assert_eq!(key(&first), key(&second));
    assert!(follows(&first, &second) && follows(&second, &first));
}

#[test]
fn another_flow_is_not_followed() {
    type Way = fn(&[MpsGraphTensor; 2]) -> Vec<MpsGraphTensor>;
    let ways: [Way; 6] = [
        |[a, b]| vec![sum(&sum(a, b), a)],
        |[a, b]| vec![sum(&sum(a, b), b)],
        |[a, b]| vec![sum(&sum(a, a), b)],
        |[a, b]| vec![sum(a, &sum(a, b))],
        |[a, b]| {
            let c = sum(a, b);
            vec![sum(&c, a), c]
        },
        |[a, b]| vec![sum(a, b), sum(a, b)],
    ];
    let segments = ways.map(recorded);
    for (at, first) in segments.iter().enumerate() {
        for (other, second) in segments.iter().enumerate() {
            assert_eq!(follows(first, second), at == other, "{other} after {at}");
        }
    }
}

#[test]
fn another_op_type_or_number_of_nodes_is_not_followed() {
    let first = recorded(|[a, _]| vec![exp(&exp(a))]);
    assert!(!follows(&first, &recorded(|[a, _]| vec![exp(a)])));
    assert!(!follows(&recorded(|[a, _]| vec![exp(a)]), &first), "more is recorded than is wanted there");
    assert!(!follows(&first, &recorded(|[a, _]| vec![arithmetic::unary(UnaryOp::Log, exp(a))])));
    let columns = |low: isize, high: isize| {
        recorded(move |[a, _]| vec![exp(&slice(a.clone(), &[Slice::full(), Slice::new(low, Some(high), 1)]))])
    };
    assert!(follows(&columns(0, 2), &columns(0, 2)));
    assert!(!follows(&columns(0, 2), &columns(1, 2)));
    assert!(!follows(&columns(0, 2), &columns(1, 3)));
    assert_eq!(
        key(&columns(0, 2)),
        key(&recorded(|[a, _]| { vec![exp(&slice(a.clone(), &[Slice::full(), Slice::new(1, Some(3), 1)]))] }))
    );
}
