//! Steps that stand together in models, which single ops rarely make by chance: what the patterns of `src/bridge` look
//! for, and what MPSGraph's compiler is known to put together wrongly.

use burn::tensor::{DType, Slice};

use super::Grower;
use crate::program::{Binary, Float, Function, Id, Int, Move, Number, Op, Reduction};
use crate::value::{ValueKind, kind};

impl Grower {
    pub(super) fn grow_idiom(&mut self) {
        let x = self.value(|step| kind(step.dtype) == ValueKind::Float && !step.shape.contains(&0));
        match self.random.below(9) {
            0 => {
                let dim = self.dim(x);
                self.softmax_by_parts(x, dim);
            }
            1 => self.attention(x),
            2 => self.normalization(x),
            3 => self.products(x),
            4 => self.sums(x),
            5 => self.regions(x),
            6 => self.quotients(x),
            7 if !self.plain => self.sixteen_bit_product(),
            _ => self.product_between_reshapes(x),
        }
    }

    fn binary_of(&mut self, op: Binary, x: Id, y: Id) -> Id {
        self.elementwise(Op::Number(Number::Binary(op)), x, Some(y), None)
    }

    fn reduced(&mut self, reduction: Reduction, x: Id, dim: usize) -> Id {
        let mut shape = self.shape_of(x);
        shape[dim] = 1;
        let dtype = self.steps[x].dtype;
        self.push(Op::Number(Number::Reduce(reduction, Some(dim))), vec![x], shape, dtype)
    }

    /// The product of matrices that go together.
    fn product(&mut self, x: Id, y: Id) -> Id {
        let (mut shape, rank) = (self.shape_of(x), self.steps[x].shape.len());
        shape[rank - 1] = self.steps[y].shape[rank - 1];
        self.push(Op::Number(Number::Matmul), vec![x, y], shape, self.steps[x].dtype)
    }

    fn turned(&mut self, x: Id) -> Id {
        let (mut shape, rank) = (self.shape_of(x), self.steps[x].shape.len());
        let mut axes: Vec<usize> = (0..rank).collect();
        axes.swap(rank - 2, rank - 1);
        shape.swap(rank - 2, rank - 1);
        self.push(Op::Move(Move::Permute(axes)), vec![x], shape, self.steps[x].dtype)
    }

    fn softmax_by_parts(&mut self, x: Id, dim: usize) -> Id {
        let most = self.reduced(Reduction::Max, x, dim);
        let below = self.binary_of(Binary::Sub, x, most);
        let powers = self.elementwise(Op::Float(Float::Function(Function::Exp)), below, None, None);
        let total = self.reduced(Reduction::Sum, powers, dim);
        self.binary_of(Binary::Div, powers, total)
    }

    fn attention(&mut self, query: Id) {
        let (shape, dtype) = (self.shape_of(query), self.steps[query].dtype);
        let rank = shape.len();
        if rank < 2 || self.count(query) > 512 {
            return;
        }
        let [key, value] = [(); 2].map(|()| self.twin(&shape, dtype));
        let key = self.turned(key);
        let scores = self.product(query, key);
        let weights = if self.random.one_in(2) {
            self.softmax_by_parts(scores, rank - 1)
        } else {
            self.elementwise(Op::Float(Float::Softmax(rank - 1)), scores, None, None)
        };
        self.product(weights, value);
    }

    fn normalization(&mut self, x: Id) {
        let dim = self.dim(x);
        if self.plain && self.steps[x].shape[dim] < 3 {
            return;
        }
        let mean = self.reduced(Reduction::Mean, x, dim);
        let centred = self.binary_of(Binary::Sub, x, mean);
        let squares = self.binary_of(Binary::Mul, centred, centred);
        let variance = self.reduced(Reduction::Mean, squares, dim);
        let moved = self.elementwise(Op::Number(Number::WithScalar(Binary::Add, 1)), variance, None, None);
        let root = self.elementwise(Op::Float(Float::Function(Function::Sqrt)), moved, None, None);
        self.binary_of(Binary::Div, centred, root);
    }

    /// Products with the same left operand, and their sum, as gates have them.
    fn products(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let rank = shape.len();
        if rank < 2 || self.count(x) > 512 {
            return;
        }
        let mut right = shape.clone();
        right[rank - 2] = shape[rank - 1];
        right[rank - 1] = self.random.pick(&[1, 2, 4]);
        let [a, b] = [(); 2].map(|()| {
            let right = self.twin(&right, dtype);
            self.product(x, right)
        });
        self.binary_of(Binary::Add, a, b);
    }

    fn sums(&mut self, x: Id) {
        let rank = self.steps[x].shape.len();
        let reduction = self.random.pick(&[Reduction::Sum, Reduction::Mean]);
        let mut sum = x;
        for dim in self.random.order(rank).into_iter().take(3) {
            sum = self.reduced(reduction, sum, dim);
        }
    }

    /// Signs, products and quotients of two values, and the parts of a quotient's gradient.
    fn quotients(&mut self, x: Id) {
        let y = self.twin(&self.shape_of(x), self.steps[x].dtype);
        let mut values = vec![x, y];
        for _ in 0..3 + self.random.below(4) {
            let [a, b] = [(); 2].map(|()| self.random.pick(&values));
            let made = match self.random.below(6) {
                0..3 => self.negative(a),
                3 => self.binary_of(Binary::Mul, a, b),
                4 => self.elementwise(Op::Float(Float::Function(Function::Recip)), a, None, None),
                _ => {
                    let (negative, square) = (self.negative(a), self.binary_of(Binary::Mul, b, b));
                    self.binary_of(Binary::Div, negative, square)
                }
            };
            values.push(made);
        }
    }

    fn negative(&mut self, x: Id) -> Id {
        self.elementwise(Op::Number(Number::Neg), x, None, None)
    }

    /// A tensor written row by row, as recurrent layers do, and a row of it read.
    fn regions(&mut self, row: Id) {
        let (mut shape, dtype) = (self.shape_of(row), self.steps[row].dtype);
        let rows = 2 + self.random.below(3);
        if shape[0] != 1 || self.count(row) * rows > self.largest {
            return;
        }
        shape[0] = rows;
        let mut all = self.twin(&shape, dtype);
        let region = |at: usize| {
            let rest = shape[1..].iter().map(|&n| Slice::new(0, Some(n as isize), 1));
            [Slice::new(at as isize, Some(at as isize + 1), 1)].into_iter().chain(rest).collect::<Vec<_>>()
        };
        for at in 0..rows {
            let written = self.twin(&self.shape_of(row), dtype);
            all = self.push(Op::Move(Move::SliceAssign(region(at))), vec![all, written], shape.clone(), dtype);
        }
        let at = self.random.below(rows);
        self.push(Op::Move(Move::Slice(region(at))), vec![all], self.shape_of(row), dtype);
    }

    /// A product of what another step may have reshaped, read with extents of 1.
    fn product_between_reshapes(&mut self, x: Id) {
        let dtype = self.steps[x].dtype;
        if self.count(x) > 512 {
            return;
        }
        let maker = if self.plain { 2 } else { self.random.below(4) };
        let x = match maker {
            0 => self.shifted(x),
            1 => self.through_a_region(x),
            _ => x,
        };
        let matrix = self.split(self.count(x), 2);
        let x = self.reshaped(x, matrix.clone());
        let columns = self.random.pick(&[1, 2, 3, 5]);
        let y = self.twin(&[matrix[1], columns], dtype);
        let mut read = self.product(x, y);
        if self.random.one_in(2) {
            read = self.through_a_region(read);
        }
        let mut shape = self.split(self.count(read), 2);
        for _ in 0..1 + self.random.below(2) {
            shape.insert(self.random.below(shape.len() + 1), 1);
        }
        let read = self.reshaped(read, shape);
        self.elementwise(Op::Number(Number::WithScalar(Binary::Add, 1)), read, None, None);
    }

    /// A product of 16 bits, with few columns, of whatever made its operand, seen with extents of 1.
    fn sixteen_bit_product(&mut self) {
        let x = self.value(|step| kind(step.dtype) != ValueKind::Bool && !step.shape.contains(&0));
        if self.count(x) > 512 {
            return;
        }
        let dtype = self.random.pick(&[DType::F16, DType::BF16]);
        let mut shape = self.shape_of(x);
        let mut x = x;
        if self.steps[x].dtype != dtype {
            x = self.push(Op::Cast(dtype), vec![x], shape.clone(), dtype);
        }
        while shape.len() < 3 {
            shape.insert(self.random.below(shape.len() + 1), 1);
        }
        x = self.reshaped(x, shape.clone());
        if self.random.one_in(2) {
            x = self.turned(x);
            shape = self.shape_of(x);
        }
        let rank = shape.len();
        (shape[rank - 2], shape[rank - 1]) = (shape[rank - 1], self.random.pick(&[1, 2, 3]));
        let y = self.twin(&shape, dtype);
        self.product(x, y);
    }

    fn reshaped(&mut self, x: Id, shape: Vec<usize>) -> Id {
        self.push(Op::Move(Move::Reshape(shape.clone())), vec![x], shape, self.steps[x].dtype)
    }

    /// Halves, as integers of 64 bits.
    fn shifted(&mut self, x: Id) -> Id {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let x = self.push(Op::Cast(DType::I64), vec![x], shape.clone(), DType::I64);
        let x = self.elementwise(Op::Int(Int::ShiftRight(1)), x, None, None);
        self.push(Op::Cast(dtype), vec![x], shape, dtype)
    }

    /// Written to all of a tensor, of which all is read.
    fn through_a_region(&mut self, x: Id) -> Id {
        let (shape, dtype) = (vec![1, self.count(x)], self.steps[x].dtype);
        let written = self.reshaped(x, shape.clone());
        let all = self.twin(&shape, dtype);
        let region: Vec<Slice> = shape.iter().map(|&n| Slice::new(0, Some(n as isize), 1)).collect();
        let all = self.push(Op::Move(Move::SliceAssign(region.clone())), vec![all, written], shape.clone(), dtype);
        self.push(Op::Move(Move::Slice(region)), vec![all], shape, dtype)
    }
}
