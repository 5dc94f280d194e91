//! Ops of floats and of integers.

use burn::tensor::{DType, IndexingUpdateOp};
use test_support::BOOL;

use super::Grower;
use crate::program::{Binary, Bits, Id, Int, Move, Number, Op, Order, Reduction, Running};
use crate::value::{ValueKind, kind};

impl Grower {
    pub(super) fn grow_number(&mut self) {
        let x = self.value(|step| kind(step.dtype) != ValueKind::Bool);
        match self.random.below(12) {
            0..3 => self.binary(x),
            3 => {
                let op = self.random.pick(&[0, 1, 2]);
                let op = [Number::Neg, Number::Abs, Number::Sign][op].clone();
                self.elementwise(Op::Number(op), x, None, None);
            }
            4 => self.clamp(x),
            5 => {
                let order = self.random.pick(&[Order::Greater, Order::GreaterEqual, Order::Lower, Order::LowerEqual]);
                let (op, y) = match self.random.below(2) {
                    0 => (Number::Compare(order), Some(self.partner(x))),
                    _ => (Number::CompareElem(order, self.random.below(3) as i64), None),
                };
                self.elementwise(Op::Number(op), x, y, Some(BOOL));
            }
            6 | 7 => self.reduce(x),
            8 => self.cumulative(x),
            // `Autodiff` has no gradient of it.
            9 if !self.plain && self.random.one_in(2) => self.coordinates(x),
            9 => self.sorted(x),
            _ => self.matmul(x),
        }
    }

    fn binary(&mut self, x: Id) {
        let floats = kind(self.steps[x].dtype) == ValueKind::Float;
        // burn-flex's remainders of floats are not exact, so at jumps they are on other sides.
        let ops = [
            Binary::Add,
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Mul,
            Binary::Div,
            Binary::Pow,
            Binary::Remainder,
        ];
        let op = self.random.pick(if self.plain { &ops[..7] } else { &ops });
        if self.random.one_in(3) {
            let scalar = match op {
                Binary::Pow => self.random.below(5) as i64,
                Binary::Div | Binary::Remainder => 2 + self.random.below(7) as i64,
                Binary::Add | Binary::Sub | Binary::Mul => self.random.below(7) as i64,
            };
            self.elementwise(Op::Number(Number::WithScalar(op, scalar)), x, None, None);
            return;
        }
        let mut x = x;
        let mut y = self.partner(x);
        match (op, floats) {
            // Odd divisors, small exponents of integers.
            (Binary::Div | Binary::Remainder, false) => {
                y = self.elementwise(Op::Int(Int::BitsScalar(Bits::Or, 1)), y, None, None);
            }
            (Binary::Pow, false) => y = self.elementwise(Op::Int(Int::BitsScalar(Bits::And, 7)), y, None, None),
            (Binary::Pow, true) => {
                x = self.elementwise(Op::Number(Number::Abs), x, None, None);
                y = self.elementwise(Op::Number(Number::Clamp(-4, 4)), y, None, None);
            }
            (Binary::Add | Binary::Sub | Binary::Mul, _) | (Binary::Div | Binary::Remainder, true) => (),
        }
        self.elementwise(Op::Number(Number::Binary(op)), x, Some(y), None);
    }

    fn clamp(&mut self, x: Id) {
        let low = -(self.random.below(3) as i64);
        let low = if self.steps[x].dtype.is_uint() { -low } else { low };
        let high = low + self.random.below(4) as i64;
        let op = match self.random.below(3) {
            0 => Number::Clamp(low, high),
            1 => Number::ClampMin(low),
            _ => Number::ClampMax(high),
        };
        self.elementwise(Op::Number(op), x, None, None);
    }

    fn reduce(&mut self, x: Id) {
        let reduction = self.random.pick(&[
            Reduction::Sum,
            Reduction::Sum,
            Reduction::Mean,
            Reduction::Prod,
            Reduction::Max,
            Reduction::Min,
            Reduction::MaxAbs,
        ]);
        let mut shape = self.shape_of(x);
        // Nothing has no extreme and no mean.
        let nothing = shape.contains(&0);
        if nothing && !matches!(reduction, Reduction::Sum | Reduction::Prod) {
            return;
        }
        let dim = if self.random.one_in(3) { None } else { Some(self.dim(x)) };
        match dim {
            Some(dim) => shape[dim] = 1,
            None => shape = vec![1],
        }
        let dtype = self.steps[x].dtype;
        self.push(Op::Number(Number::Reduce(reduction, dim)), vec![x], shape, dtype);
    }

    fn cumulative(&mut self, x: Id) {
        let running = self.random.pick(&[Running::Sum, Running::Prod, Running::Max, Running::Min]);
        let dim = self.dim(x);
        self.elementwise(Op::Number(Number::Cumulative(running, dim)), x, None, None);
    }

    fn sorted(&mut self, x: Id) {
        let (dim, dtype, mut shape) = (self.dim(x), self.steps[x].dtype, self.shape_of(x));
        if shape.contains(&0) {
            return;
        }
        let descending = self.random.one_in(2);
        let k = 1 + self.random.below(shape[dim]);
        // Those of integers have the integers' dtype, if it holds them.
        let highest = match dtype {
            DType::I8 => 0x7f,
            DType::U8 => 0xff,
            DType::I16 => 0x7fff,
            DType::U16 => 0xffff,
            _ => usize::MAX,
        };
        let positions = if dtype.is_float() || shape[dim] - 1 > highest { DType::I32 } else { dtype };
        // `Autodiff` has no gradient of the last one, and that of a sort depends on the order of equal elements.
        let (op, extent, dtype) = match self.random.below(if self.plain { 2 } else { 5 }) {
            0 => (Number::ArgMax(dim), 1, positions),
            1 => (Number::ArgMin(dim), 1, positions),
            2 => (Number::Sort { dim, descending }, shape[dim], dtype),
            3 => (Number::Argsort { dim, descending }, shape[dim], positions),
            _ => (Number::Topk { dim, k }, k, dtype),
        };
        shape[dim] = extent;
        self.push(Op::Number(op), vec![x], shape, dtype);
    }

    /// Parts that are read from coordinates of the first axes, or written there.
    fn coordinates(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        if shape.contains(&0) {
            return;
        }
        let (axes, parts) = (1 + self.random.below(shape.len()), 1 + self.random.below(6));
        // One range for all axes.
        let end = shape[..axes].iter().copied().fold(usize::MAX, usize::min);
        let indices = self.indices(&[parts, axes], end);
        let part: Vec<usize> = [parts].into_iter().chain(shape[axes..].iter().copied()).collect();
        if part.iter().product::<usize>() > self.largest {
            return;
        }
        let update = [IndexingUpdateOp::Add, IndexingUpdateOp::Min, IndexingUpdateOp::Max];
        match self.random.below(4) {
            3 => self.push(Op::Number(Number::GatherNd), vec![x, indices], part, dtype),
            i => {
                let values = self.twin(&part, dtype);
                self.push(Op::Number(Number::ScatterNd(update[i])), vec![x, indices, values], shape, dtype)
            }
        };
    }

    /// The product with a value that fits, or with `x` itself, turned.
    fn matmul(&mut self, x: Id) {
        let mut shape = self.shape_of(x);
        let rank = shape.len();
        if rank < 2 {
            return;
        }
        let dtype = self.steps[x].dtype;
        let [rows, depth] = [shape[rank - 2], shape[rank - 1]];
        let y = if self.random.one_in(3) {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(rank - 2, rank - 1);
            let mut turned = shape.clone();
            turned.swap(rank - 2, rank - 1);
            self.push(Op::Move(Move::Permute(axes)), vec![x], turned, dtype)
        } else {
            let batch = &shape[..rank - 2];
            let fits = |other: &[usize]| {
                other.len() == rank
                    && other[rank - 2] == depth
                    && other.iter().zip(batch).all(|(&a, &b)| a == b || a == 1)
            };
            let columns = self.random.pick(&[1, 2, 3, 5, 16]);
            match self.existing(|step| step.dtype == dtype && fits(&step.shape)) {
                Some(id) => id,
                None => {
                    let thin = self.random.one_in(3);
                    let batch = shape[..rank - 2].iter().map(|&n| if thin { 1 } else { n });
                    let other = batch.chain([depth, columns]).collect();
                    self.feed(other, dtype)
                }
            }
        };
        shape[rank - 2] = rows;
        shape[rank - 1] = self.steps[y].shape[rank - 1];
        if shape.iter().product::<usize>() <= self.largest {
            self.push(Op::Number(Number::Matmul), vec![x, y], shape, dtype);
        }
    }
}
