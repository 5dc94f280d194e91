//! Operations that convert 16-bit floats themselves, against each operation and each rounding by itself.

use super::*;
use crate::kernels::elementwise::half_loops;
use crate::kernels::elementwise::round::HalfFloat;
use crate::kernels::elementwise::stepped::{BLOCK, Form, Source, Step};

const HALVES: [DType; 2] = [DType::F16, DType::BF16];
/// Whole blocks and a rest, in several tiles; few elements, none of which fill a block; and exactly two blocks.
const LENGTHS: [usize; 3] = [2 * 8192 + 203, 5, 32];

/// The value as `dtype` holds it.
fn rounded(dtype: DType, value: f32) -> f32 {
    Data::floats(dtype, &[value]).float(0)
}

/// Special values of `dtype` in other orders.
fn operands(dtype: DType, len: usize) -> [Data; 3] {
    let special = float_values(dtype);
    [5, 7, 11]
        .map(|step| Data::floats(dtype, &(0..len).map(|at| special[at * step % special.len()]).collect::<Vec<f32>>()))
}

/// A loop that reads whole operands, or the second element of the last one only if that is a `number`, and stores what
/// `body` gives.
fn run_all(
    operands: &[Data],
    is_number: bool,
    body: impl Fn(&mut LoopBuilder, &[Register]) -> Vec<(DType, Register)>,
) -> (Vec<Data>, usize) {
    let len = operands[0].len;
    let mut builder = LoopBuilder::new(len);
    let registers: Vec<Register> = operands
        .iter()
        .enumerate()
        .map(|(at, data)| {
            let single = is_number && at + 1 == operands.len();
            let geometry = if single { Geometry::new(1, &[len], &[0]) } else { Geometry::new(0, &[len], &[1]) };
            builder.load(at, data.dtype, geometry)
        })
        .collect();
    let stored = body(&mut builder, &registers);
    let mut outputs = Vec::new();
    for (dtype, value) in stored {
        builder.store(dtype, value);
        outputs.push(Data::new(dtype, len));
    }
    // SAFETY: the operands and the outputs outlive the run.
    let spans: Vec<Span> = operands.iter().map(|data| unsafe { Span::of(data.bytes()) }).collect();
    let mut targets: Vec<SpanMut> = outputs
        .iter_mut()
        .map(|data| {
            let bytes = data.len * data.dtype.size();
            // SAFETY: as above.
            unsafe { SpanMut::of(&mut bytemuck::cast_slice_mut::<u64, u8>(&mut data.words)[..bytes]) }
        })
        .collect();
    let made = builder.finish();
    made.run(&spans, &mut targets);
    drop(targets);
    (outputs, made.instructions())
}

/// What the third operand is at an element.
fn third(data: &Data, is_number: bool, at: usize) -> f32 {
    data.float(if is_number { 1 } else { at })
}

#[test]
fn two_operations_round_twice() {
    for (dtype, len) in HALVES.iter().flat_map(|&dtype| LENGTHS.map(|len| (dtype, len))) {
        let operands = operands(dtype, len);
        for ((first, of_two), (second, of_made)) in BASIC.iter().flat_map(|&first| BASIC.map(|second| (first, second)))
        {
            for (is_left, is_number) in [(true, false), (true, true), (false, false), (false, true)] {
                let (got, _) = run_all(&operands, is_number, |builder, r| {
                    let made = builder.binary(first, dtype, r[0], r[1]);
                    let [x, y] = if is_left { [made, r[2]] } else { [r[2], made] };
                    vec![(dtype, builder.binary(second, dtype, x, y))]
                });
                for at in 0..len {
                    let [a, b] = [0, 1].map(|operand| operands[operand].float(at));
                    let c = third(&operands[2], is_number, at);
                    let made = rounded(dtype, of_two(a, b));
                    let [x, y] = if is_left { [made, c] } else { [c, made] };
                    let want = rounded(dtype, of_made(x, y));
                    assert_same(
                        got[0].float(at),
                        want,
                        &format!("{dtype:?} {first:?} {second:?} at {at}: {a} {b} {c}"),
                    );
                }
            }
        }
    }
}

/// Of every form, whatever processor the tests run on has.
#[test]
fn loops_of_all_instruction_sets_give_the_same_bits() {
    const STEPS: [Step; 8] =
        [Step::Add, Step::Sub, Step::SubFrom, Step::Mul, Step::Div, Step::Root, Step::Min, Step::Max];
    // Blocks together, by themselves, and what is left of one.
    let n = 11 * BLOCK + 7;
    for (dtype, float) in HALVES.into_iter().zip([HalfFloat::F16, HalfFloat::BF16]) {
        let narrow = operands(dtype, n);
        let wide = [5, 7, 11].map(|step| {
            let special = float_values(DType::F32);
            Data::floats(DType::F32, &(0..n).map(|at| special[at * step % special.len()]).collect::<Vec<f32>>())
        });
        for (first, second) in STEPS.iter().flat_map(|&a| STEPS.map(|b| (a, Some(b))).into_iter().chain([(a, None)])) {
            for which in 0..16 {
                let bit = |at: usize| which & 1 << at != 0;
                let source = |is_narrow| if is_narrow { Source::Narrow } else { Source::Wide };
                let sources = [source(bit(0)), source(bit(1)), source(!bit(0))];
                let form = Form {
                    second,
                    sources,
                    float: Some(float),
                    rounds: [bit(2), bit(3)],
                    narrow: bit(3),
                    ..Form::of(first)
                };
                let src = [0, 1, 2].map(|at| {
                    let data = if sources[at] == Source::Narrow { &narrow[at] } else { &wide[at] };
                    data.bytes().as_ptr()
                });
                let made: Vec<Data> = half_loops::runnable(float)
                    .map(|run| {
                        let mut made = Data::new(if form.narrow { dtype } else { DType::F32 }, n);
                        // SAFETY: all operands and the result have `n` elements, and the processor can run the loop.
                        unsafe { run(made.words.as_mut_ptr().cast(), src, &form, n) };
                        made
                    })
                    .collect();
                for other in &made[1..] {
                    for at in 0..n {
                        assert_same(other.float(at), made[0].float(at), &format!("{form:?} at {at}"));
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_stored_and_read_again_is_rounded() {
    for (dtype, len) in HALVES.iter().flat_map(|&dtype| LENGTHS.map(|len| (dtype, len))) {
        let operands = operands(dtype, len);
        let (got, _) = run_all(&operands, true, |builder, r| {
            let sum = builder.binary(BinaryOp::Add, dtype, r[0], r[1]);
            let product = builder.binary(BinaryOp::Mul, dtype, sum, r[2]);
            // By an operation that converts nothing itself, and as f32, too.
            let larger = builder.binary(BinaryOp::Max, dtype, product, r[0]);
            let root = builder.unary(UnaryOp::Sqrt, dtype, product);
            let shifted = builder.binary(BinaryOp::Add, dtype, root, r[2]);
            let wide = builder.cast(dtype, DType::F32, sum);
            vec![(dtype, sum), (dtype, product), (dtype, larger), (dtype, shifted), (DType::F32, wide), (dtype, sum)]
        });
        for at in 0..len {
            let ([a, b], c) = ([0, 1].map(|operand| operands[operand].float(at)), operands[2].float(1));
            let sum = rounded(dtype, a + b);
            let product = rounded(dtype, sum * c);
            let larger = product.max(a);
            let shifted = rounded(dtype, rounded(dtype, product.sqrt()) + c);
            for (output, want) in [sum, product, larger, shifted, sum, sum].into_iter().enumerate() {
                let got = got[output].float(at);
                // Which zero is the larger one is not said.
                if got != want {
                    assert_same(got, want, &format!("{dtype:?} output {output} at {at}: {a} {b} {c}"));
                }
            }
        }
    }
}

#[test]
fn between_casts_nothing_is_rounded() {
    for dtype in HALVES {
        let operands = operands(dtype, LENGTHS[0]);
        let (got, _) = run_all(&operands, true, |builder, r| {
            let wide: Vec<Register> = r.iter().map(|&x| builder.cast(dtype, DType::F32, x)).collect();
            let sum = builder.binary(BinaryOp::Add, DType::F32, wide[0], wide[1]);
            let product = builder.binary(BinaryOp::Mul, DType::F32, sum, wide[2]);
            vec![(dtype, builder.cast(DType::F32, dtype, product))]
        });
        for at in 0..LENGTHS[0] {
            let ([a, b], c) = ([0, 1].map(|operand| operands[operand].float(at)), operands[2].float(1));
            assert_same(got[0].float(at), rounded(dtype, (a + b) * c), &format!("{dtype:?} at {at}: {a} {b} {c}"));
        }
    }
}

#[test]
fn operands_that_are_stored_as_f32_are_made() {
    for (dtype, is_number) in HALVES.iter().flat_map(|&dtype| [(dtype, false), (dtype, true)]) {
        let operands = operands(dtype, LENGTHS[1]);
        let (got, _) = run_all(&operands, is_number, |builder, r| {
            let wide = builder.cast(dtype, DType::F32, r[2]);
            let sum = builder.binary(BinaryOp::Add, dtype, r[0], r[2]);
            vec![(DType::F32, wide), (dtype, sum)]
        });
        for at in 0..LENGTHS[1] {
            let (a, c) = (operands[0].float(at), third(&operands[2], is_number, at));
            assert_same(got[0].float(at), c, &format!("{dtype:?} {is_number} at {at}"));
            assert_same(got[1].float(at), rounded(dtype, a + c), &format!("{dtype:?} {is_number} at {at}: {a} {c}"));
        }
    }
}

#[test]
fn from_one_float_to_another() {
    let operands = operands(DType::F16, LENGTHS[0]);
    let (got, _) = run_all(&operands, false, |builder, r| {
        let sum = builder.binary(BinaryOp::Add, DType::F16, r[0], r[1]);
        let [sum, c] = [sum, r[2]].map(|x| builder.cast(DType::F16, DType::BF16, x));
        vec![(DType::BF16, builder.binary(BinaryOp::Mul, DType::BF16, sum, c))]
    });
    for at in 0..LENGTHS[0] {
        let [a, b, c] = std::array::from_fn(|operand| operands[operand].float(at));
        let sum = rounded(DType::BF16, rounded(DType::F16, a + b));
        let want = rounded(DType::BF16, sum * rounded(DType::BF16, c));
        assert_same(got[0].float(at), want, &format!("at {at}: {a} {b} {c}"));
    }
}

#[test]
fn an_update_has_no_instructions_for_conversions() {
    for dtype in HALVES {
        let (_, instructions) = run_all(&operands(dtype, 64), true, |builder, r| {
            let step = builder.binary(BinaryOp::Mul, dtype, r[1], r[2]);
            vec![(dtype, builder.binary(BinaryOp::Sub, dtype, r[0], step))]
        });
        assert_eq!(instructions, 1, "{dtype:?}");
    }
}

#[test]
fn a_square_is_rounded_before_it_is_scaled() {
    for (dtype, len) in HALVES.iter().flat_map(|&dtype| LENGTHS.map(|len| (dtype, len))) {
        let operands = operands(dtype, len);
        let (got, instructions) = run_all(&operands, true, |builder, r| {
            let square = builder.unary(UnaryOp::Square, dtype, r[0]);
            vec![(dtype, builder.binary(BinaryOp::Mul, dtype, square, r[2]))]
        });
        assert_eq!(instructions, 1, "{dtype:?}");
        for at in 0..len {
            let (a, c) = (operands[0].float(at), third(&operands[2], true, at));
            let want = rounded(dtype, rounded(dtype, a * a) * c);
            assert_same(got[0].float(at), want, &format!("{dtype:?} at {at}: {a} {c}"));
        }
    }
}

#[test]
fn selections_move_bits() {
    for (dtype, len) in HALVES.iter().flat_map(|&dtype| LENGTHS.map(|len| (dtype, len))) {
        let operands = operands(dtype, len);
        for is_number in [true, false] {
            let (got, instructions) = run_all(&operands, is_number, |builder, r| {
                let larger = builder.binary(BinaryOp::Greater, dtype, r[0], r[1]);
                vec![(dtype, builder.select(dtype, larger, r[0], r[2]))]
            });
            // Both operands of the comparison are widened.
            assert_eq!(instructions, 4, "{dtype:?}");
            // What is selected is also added to, or was made.
            let (computed, _) = run_all(&operands, is_number, |builder, r| {
                let larger = builder.binary(BinaryOp::Greater, dtype, r[0], r[1]);
                let selected = builder.select(dtype, larger, r[0], r[2]);
                let sum = builder.binary(BinaryOp::Add, dtype, selected, r[1]);
                let made = builder.select(dtype, larger, sum, r[2]);
                vec![(dtype, selected), (dtype, made)]
            });
            for at in 0..len {
                let [a, b] = [0, 1].map(|operand| operands[operand].float(at));
                let c = third(&operands[2], is_number, at);
                let (name, selected) = (format!("{dtype:?} at {at}: {a} {b} {c}"), if a > b { a } else { c });
                assert_same(got[0].float(at), selected, &name);
                assert_same(computed[0].float(at), selected, &name);
                let made = if a > b { rounded(dtype, a + b) } else { c };
                assert_same(computed[1].float(at), made, &name);
            }
        }
    }
}

#[test]
fn a_number_is_selected_and_added() {
    for (dtype, len) in HALVES.iter().flat_map(|&dtype| LENGTHS.map(|len| (dtype, len))) {
        let operands = operands(dtype, len);
        for first in [true, false] {
            let (got, _) = run_all(&operands, true, |builder, r| {
                let larger = builder.binary(BinaryOp::Greater, dtype, r[0], r[1]);
                let selected = builder.select(dtype, larger, r[2], r[0]);
                let sum = builder.binary(BinaryOp::Add, dtype, r[0], r[2]);
                if first { vec![(dtype, selected), (dtype, sum)] } else { vec![(dtype, sum), (dtype, selected)] }
            });
            for at in 0..len {
                let ([a, b], c) = ([0, 1].map(|operand| operands[operand].float(at)), operands[2].float(1));
                let (name, [selected, sum]) =
                    (format!("{dtype:?} at {at}: {a} {b} {c}"), if first { [0, 1] } else { [1, 0] });
                assert_same(got[selected].float(at), if a > b { c } else { a }, &name);
                assert_same(got[sum].float(at), rounded(dtype, a + c), &name);
            }
        }
    }
}
