//! What a slice finds, held against looking at one assignment after the other.

use burn_backend::{DType, Shape};
use smallvec::SmallVec;

use super::*;
use crate::bridge::program::ProgramNode;
use crate::ops::tensor_shape::TensorShapeOp;
use crate::tensor_type::TensorType;

const EXTENTS: [usize; 2] = [64, 8];

fn operand(source: Source) -> OperandRef {
    OperandRef { source, shape: Shape::from(EXTENTS), barrier: false }
}

/// Regions assigned one after the other: the n-th node assigns the n-th region of what the one before has made. The
/// part is feed n + 1.
fn assignments(regions: &[[AxisRange; 2]]) -> (Program, Written) {
    let mut program = Program::default();
    let mut written = Written::default();
    for (at, region) in (0..).zip(regions) {
        let data = if at == 0 { Source::Feed(0) } else { Source::Node(at - 1) };
        program.nodes.push(ProgramNode {
            op: TensorShapeOp::SliceAssign { region: region.to_vec() }.into(),
            inputs: SmallVec::from_iter([operand(data), operand(Source::Feed(at + 1))]),
            scalars: SmallVec::new(),
            output: TensorType::new(DType::F32, Shape::from(EXTENTS)),
        });
        written.note(&program, at);
    }
    (program, written)
}

/// What a slice of the last value reads, and what was assigned to just that.
fn one_by_one(regions: &[[AxisRange; 2]], region: &[AxisRange; 2]) -> (Source, Option<Source>) {
    for (at, written) in regions.iter().enumerate().rev() {
        if !are_apart(region, written) {
            return (Source::Node(at as u32), (written == region).then_some(Source::Feed(at as u32 + 1)));
        }
    }
    (Source::Feed(0), None)
}

#[test]
fn short_cuts_find_what_looking_at_each_assignment_finds() {
    let mut seed = 7u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as usize % below
    };
    for count in [1, 2, 3, 10, 60] {
        let mut region = |rows: usize| {
            let (low, left) = (next(EXTENTS[0] - rows), next(EXTENTS[1] - 4));
            [AxisRange::between(low, low + 1 + next(rows)), AxisRange::between(left, left + 4)]
        };
        let regions: Vec<[AxisRange; 2]> = (0..count).map(|_| region(3)).collect();
        let (program, written) = assignments(&regions);
        let last = operand(Source::Node(count as u32 - 1));
        for read in (0..200).map(|_| region(9)).chain(regions.iter().copied()) {
            let Behind { data, part } = written.behind(&program, &last, &read);
            assert_eq!((data, part), one_by_one(&regions, &read), "{count} assignments, {read:?}");
        }
    }
}

#[test]
fn time_steps_behind_many_others_are_found() {
    // More than may be looked at one by one.
    let extent = 4 * LOOKS;
    let step = |t: usize| [AxisRange::between(t, t + 1), AxisRange::full(8)];
    let regions: Vec<[AxisRange; 2]> = (0..extent).map(step).collect();
    let (program, written) = assignments(&regions);
    let last = operand(Source::Node(extent as u32 - 1));
    for t in [0, 1, 2, extent / 2, extent - 1] {
        let Behind { data, part } = written.behind(&program, &last, &step(t));
        assert_eq!((data, part), (Source::Node(t as u32), Some(Source::Feed(t as u32 + 1))));
    }
    let elsewhere = written.behind(&program, &last, &step(extent));
    assert_eq!((elsewhere.data, elsewhere.part), (Source::Feed(0), None));
}
