//! Operands that are one number for a tile, and pairs of basic operations, against what each operation gives.

use super::*;

/// Long rows, so that tiles stay within them, with a rest behind the last block.
const SHAPE: [usize; 2] = [3, 203];

/// How an operand is read: whole, the same row for all, a number for each row, or one.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Whole,
    Repeated,
    Row,
    Scalar,
}

const KINDS: [Kind; 4] = [Kind::Whole, Kind::Repeated, Kind::Row, Kind::Scalar];

impl Kind {
    fn geometry(self) -> Geometry {
        match self {
            Kind::Whole => Geometry::new(0, &SHAPE, &[SHAPE[1] as isize, 1]),
            Kind::Repeated => Geometry::new(3, &SHAPE, &[0, 1]),
            Kind::Row => Geometry::new(1, &SHAPE, &[1, 0]),
            Kind::Scalar => Geometry::new(2, &SHAPE, &[0, 0]),
        }
    }

    fn at(self, values: &[f32], index: usize) -> f32 {
        match self {
            Kind::Whole => values[index],
            Kind::Repeated => values[3 + index % SHAPE[1]],
            Kind::Row => values[1 + index / SHAPE[1]],
            Kind::Scalar => values[2],
        }
    }
}

/// What `body` makes of three operands that are read so.
fn run(values: &[Vec<f32>; 3], kinds: [Kind; 3], body: impl Fn(&mut LoopBuilder, [Register; 3]) -> Register) -> Data {
    let operands = values.each_ref().map(|values| Data::floats(DType::F32, values));
    let elements = SHAPE.iter().product();
    let mut builder = LoopBuilder::new(elements);
    let registers = std::array::from_fn(|at| builder.load(at, DType::F32, kinds[at].geometry()));
    let value = body(&mut builder, registers);
    builder.store(DType::F32, value);
    let mut output = Data::new(DType::F32, elements);
    // SAFETY: the operands and the output outlive the run.
    let spans = operands.each_ref().map(|data| unsafe { Span::of(data.bytes()) });
    let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut output.words)[..4 * elements];
    // SAFETY: as above.
    builder.finish().run(&spans, &mut [unsafe { SpanMut::of(bytes) }]);
    output
}

#[test]
fn tiles_go_over_the_ends_of_rows_unless_a_number_stands_for_a_row() {
    let tile = |kinds: &[Kind]| {
        let mut builder = LoopBuilder::new(SHAPE.iter().product());
        let first = builder.load(0, DType::F32, Kind::Whole.geometry());
        let sum = kinds.iter().enumerate().fold(first, |sum, (at, kind)| {
            let other = builder.load(1 + at, DType::F32, kind.geometry());
            builder.binary(BinaryOp::Add, DType::F32, sum, other)
        });
        builder.store(DType::F32, sum);
        builder.finish().tile
    };
    assert!(tile(&[Kind::Repeated]) > SHAPE[1]);
    assert!(tile(&[Kind::Repeated, Kind::Scalar]) > SHAPE[1]);
    assert_eq!(tile(&[Kind::Row]), SHAPE[1]);
    assert_eq!(tile(&[Kind::Repeated, Kind::Row]), SHAPE[1]);
}

#[test]
fn two_operations_on_every_mixture_of_operands() {
    let special = float_values(DType::F32);
    let values = [5, 7, 11].map(|step| (0..609).map(|at| special[at * step % special.len()]).collect::<Vec<f32>>());
    for kinds in KINDS.iter().flat_map(|&a| KINDS.iter().flat_map(move |&b| KINDS.map(|c| [a, b, c]))) {
        for ((first, of_two), (second, of_made)) in BASIC.iter().flat_map(|&first| BASIC.map(|second| (first, second)))
        {
            for is_left in [true, false] {
                let got = run(&values, kinds, |builder, [a, b, c]| {
                    let made = builder.binary(first, DType::F32, a, b);
                    let [x, y] = if is_left { [made, c] } else { [c, made] };
                    builder.binary(second, DType::F32, x, y)
                });
                for index in 0..got.len {
                    let [a, b, c] = std::array::from_fn(|at| kinds[at].at(&values[at], index));
                    let made = of_two(a, b);
                    let [x, y] = if is_left { [made, c] } else { [c, made] };
                    let what = format!("{first:?} {second:?} of {kinds:?} at {index}: {a} {b} {c}");
                    assert_same(got.float(index), of_made(x, y), &what);
                }
            }
        }
    }
}

#[test]
fn a_sum_with_a_root() {
    let special = float_values(DType::F32);
    let values = [5, 7, 11].map(|step| (0..609).map(|at| special[at * step % special.len()]).collect::<Vec<f32>>());
    for kinds in KINDS.iter().flat_map(|&a| KINDS.map(|b| [a, b, Kind::Whole])) {
        for is_left in [true, false] {
            let got = run(&values, kinds, |builder, [a, b, c]| {
                let root = builder.unary(UnaryOp::Sqrt, DType::F32, a);
                let [x, y] = if is_left { [root, b] } else { [b, root] };
                let sum = builder.binary(BinaryOp::Add, DType::F32, x, y);
                let quotient = builder.binary(BinaryOp::Div, DType::F32, c, sum);
                builder.binary(BinaryOp::Sub, DType::F32, c, quotient)
            });
            for index in 0..got.len {
                let [a, b, c] = std::array::from_fn(|at| kinds[at].at(&values[at], index));
                let what = format!("of {kinds:?} at {index}: {a} {b} {c}");
                assert_same(got.float(index), c - flushed(c / (a.sqrt() + b)), &what);
            }
        }
    }
}

#[test]
fn a_square_and_what_is_made_of_it() {
    let special = float_values(DType::F32);
    let values = [5, 7, 11].map(|step| (0..609).map(|at| special[at * step % special.len()]).collect::<Vec<f32>>());
    for kinds in KINDS.iter().flat_map(|&a| KINDS.map(|b| [a, b, Kind::Whole])) {
        for ((op, of_square), is_left) in BASIC.iter().flat_map(|&basic| [(basic, true), (basic, false)]) {
            let got = run(&values, kinds, |builder, [a, b, _]| {
                let square = builder.unary(UnaryOp::Square, DType::F32, a);
                let [x, y] = if is_left { [square, b] } else { [b, square] };
                builder.binary(op, DType::F32, x, y)
            });
            for index in 0..got.len {
                let [a, b] = [0, 1].map(|at| kinds[at].at(&values[at], index));
                let [x, y] = if is_left { [flushed(a * a), b] } else { [b, flushed(a * a)] };
                assert_same(got.float(index), of_square(x, y), &format!("{op:?} of {kinds:?} at {index}: {a} {b}"));
            }
        }
    }
}

#[test]
fn a_number_that_is_also_read_as_a_tile() {
    let values = [1.5f32, -2.0, 0.25].map(|start| (0..609).map(|at| start + at as f32).collect::<Vec<f32>>());
    let kinds = [Kind::Whole, Kind::Row, Kind::Scalar];
    let got = run(&values, kinds, |builder, [a, row, scalar]| {
        let sum = builder.binary(BinaryOp::Add, DType::F32, a, row);
        let root = builder.unary(UnaryOp::Abs, DType::F32, row);
        let product = builder.binary(BinaryOp::Mul, DType::F32, sum, root);
        builder.binary(BinaryOp::Max, DType::F32, product, scalar)
    });
    for index in 0..got.len {
        let [a, row, scalar] = std::array::from_fn(|at| kinds[at].at(&values[at], index));
        assert_same(got.float(index), ((a + row) * row.abs()).max(scalar), &format!("at {index}"));
    }
}
