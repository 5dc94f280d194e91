//! Makes programs: a seed decides what is fed, which op comes next, and which values it reads.
//!
//! Each op gets operands that Burn allows and that burn-flex computes rightly; where a function is not defined
//! everywhere, its operand mostly goes through a clamp or a magnitude first, so that NaN does not take over.

mod floats;
mod idioms;
mod images;
mod moves;
mod numbers;

use burn::tensor::DType;
use test_support::{BOOL, FLOATS, INTEGERS};

use crate::options::{Options, SMALL};
use crate::program::{Binary, Bits, Bool, Content, Feeds, Id, Int, Made, Number, Op, Program, Step};
use crate::random::Random;
use crate::value::{ValueKind, kind};

pub struct Grower {
    random: Random,
    /// No empty tensors, of which burn-flex's products end the process, no special numbers, and f32 if they are floats.
    plain: bool,
    /// Integers, bools and casts mostly.
    whole: bool,
    /// Elements that a value has at most.
    largest: usize,
    steps: Vec<Step>,
}

/// The program of a seed.
pub fn program(seed: u64, options: &Options) -> Program {
    let Options { gradients: plain, largest, .. } = *options;
    let mut random = Random::new(seed, 0);
    let whole = !plain && random.one_in(4);
    let mut grower = Grower { random, plain, whole, largest, steps: Vec::new() };
    let fed = |grower: &Grower| grower.steps.iter().filter(|step| matches!(step.made, Made::Fed(_))).count();
    for dtype in [DType::F32, DType::I32] {
        let shape = grower.shape();
        grower.feed(shape, dtype);
    }
    while grower.steps.len() < options.ops + fed(&grower) {
        grower.grow();
    }
    Program { steps: grower.steps }
}

/// What a program is fed; each `round` has other numbers.
pub fn feeds(program: &Program, seed: u64, round: u64) -> Feeds {
    let mut random = Random::new(seed, round + 1);
    let fed = |step: &Step| match step.made {
        Made::Fed(content) => Some(random.data(&step.shape, step.dtype, content)),
        Made::By(..) => None,
    };
    program.steps.iter().map(fed).collect()
}

impl Grower {
    fn grow(&mut self) {
        // The compiler puts equal steps together.
        if self.random.one_in(24) {
            let step = self.random.below(self.steps.len());
            let step = self.steps[step].clone();
            if let Made::By(..) = step.made {
                self.steps.push(step);
            }
            return;
        }
        if self.random.one_in(16) {
            return self.grow_idiom();
        }
        match self.random.below(10) {
            6.. if self.plain => self.grow_float(),
            6..8 if self.whole => self.cast(),
            5 if self.whole => self.grow_int(),
            0 => self.cast(),
            1..4 => self.grow_move(),
            4..6 => self.grow_number(),
            6..8 => self.grow_float(),
            8 => self.grow_int(),
            _ => self.grow_bool(),
        }
    }

    fn cast(&mut self) {
        let x = self.value(|_| true);
        let to = self.dtype();
        self.push(Op::Cast(to), vec![x], self.shape_of(x), to);
    }

    fn grow_int(&mut self) {
        let x = self.of_kind(ValueKind::Int);
        let bits = self.random.pick(&[Bits::And, Bits::Or, Bits::Xor]);
        let width = 8 * self.steps[x].dtype.size();
        let by = self.random.below(width) as i64;
        let (op, y) = match self.random.below(5) {
            0 => (Int::Bits(bits), Some(self.partner(x))),
            1 => (Int::BitsScalar(bits, self.random.below(100) as i64), None),
            2 => (Int::Not, None),
            3 => (Int::ShiftLeft(by), None),
            _ => (Int::ShiftRight(by), None),
        };
        self.elementwise(Op::Int(op), x, y, None);
    }

    fn grow_bool(&mut self) {
        let x = self.of_kind(ValueKind::Bool);
        let (op, y) = match self.random.below(4) {
            0 => (Bool::And, Some(self.partner(x))),
            1 => (Bool::Or, Some(self.partner(x))),
            2 => (Bool::Xor, Some(self.partner(x))),
            _ => (Bool::Not, None),
        };
        self.elementwise(Op::Bool(op), x, y, None);
    }

    fn push(&mut self, op: Op, operands: Vec<Id>, shape: Vec<usize>, dtype: DType) -> Id {
        self.steps.push(Step { made: Made::By(op, operands), shape, dtype });
        self.steps.len() - 1
    }

    /// An op of elements one by one, whose operands may be repeated along extents of 1.
    fn elementwise(&mut self, op: Op, x: Id, y: Option<Id>, dtype: Option<DType>) -> Id {
        let mut shape = self.shape_of(x);
        for (extent, &other) in shape.iter_mut().zip(y.iter().flat_map(|&y| &self.steps[y].shape)) {
            *extent = if *extent == 1 { other } else { *extent };
        }
        let dtype = dtype.unwrap_or(self.steps[x].dtype);
        self.push(op, [x].into_iter().chain(y).collect(), shape, dtype)
    }

    fn feed(&mut self, shape: Vec<usize>, dtype: DType) -> Id {
        let content = if !self.plain && self.random.one_in(4) { Content::Special } else { Content::Ordinary };
        self.fed(shape, dtype, content)
    }

    fn fed(&mut self, shape: Vec<usize>, dtype: DType, content: Content) -> Id {
        self.steps.push(Step { made: Made::Fed(content), shape, dtype });
        self.steps.len() - 1
    }

    /// A value that fits, rather a late one.
    fn existing(&mut self, fits: impl Fn(&Step) -> bool) -> Option<Id> {
        let all: Vec<Id> = (0..self.steps.len()).filter(|&id| fits(&self.steps[id])).collect();
        let late = &all[all.len().saturating_sub(4)..];
        let from = if self.random.one_in(2) { late } else { &all };
        (!from.is_empty()).then(|| self.random.pick(from))
    }

    /// One that fits, among those that are there already or fed for it.
    fn value(&mut self, fits: impl Fn(&Step) -> bool) -> Id {
        match self.existing(&fits) {
            Some(id) if !self.random.one_in(8) => id,
            _ => loop {
                let step = Step { made: Made::Fed(Content::Ordinary), shape: self.shape(), dtype: self.dtype() };
                if fits(&step) {
                    return self.feed(step.shape, step.dtype);
                }
            },
        }
    }

    fn of_kind(&mut self, of: ValueKind) -> Id {
        self.value(|step| kind(step.dtype) == of)
    }

    /// A second operand of the dtype of `x`: of its shape, or one that is repeated, or that repeats `x`.
    fn partner(&mut self, x: Id) -> Id {
        let Step { shape, dtype, .. } = self.steps[x].clone();
        let largest = self.largest;
        let goes = |a: usize, b: usize| a == b || a == 1 || b == 1;
        let fits = |step: &Step| {
            let pairs = || step.shape.iter().zip(&shape);
            let result: usize = pairs().map(|(&a, &b)| if a == 1 { b } else { a }).product();
            step.dtype == dtype
                && step.shape.len() == shape.len()
                && pairs().all(|(&a, &b)| goes(a, b))
                && result <= largest
        };
        match self.existing(fits) {
            Some(id) if !self.random.one_in(3) => id,
            _ => {
                let thin = self.random.one_in(2);
                let shape = shape.iter().map(|&n| if thin && self.random.one_in(2) { 1 } else { n }).collect();
                self.feed(shape, dtype)
            }
        }
    }

    /// A second operand of just this shape and dtype.
    fn twin(&mut self, shape: &[usize], dtype: DType) -> Id {
        match self.existing(|step| step.shape == shape && step.dtype == dtype) {
            Some(id) if !self.random.one_in(3) => id,
            _ => self.feed(shape.to_vec(), dtype),
        }
    }

    /// Integers of `shape` in `0..end`: fed, or the remainders of a value that is there.
    fn indices(&mut self, shape: &[usize], end: usize) -> Id {
        let dtype = self.random.pick(&[DType::I32, DType::I64]);
        let there = self.existing(|step| step.shape == shape && step.dtype == dtype);
        match there {
            Some(id) => {
                let op = Number::WithScalar(Binary::Remainder, end as i64);
                self.push(Op::Number(op), vec![id], shape.to_vec(), dtype)
            }
            None => self.fed(shape.to_vec(), dtype, Content::Below(end)),
        }
    }

    fn shape_of(&self, id: Id) -> Vec<usize> {
        self.steps[id].shape.clone()
    }

    fn count(&self, id: Id) -> usize {
        self.steps[id].shape.iter().product()
    }

    fn dim(&mut self, id: Id) -> usize {
        let rank = self.steps[id].shape.len();
        self.random.below(rank)
    }

    fn dtype(&mut self) -> DType {
        match self.random.below(6) {
            _ if self.plain => self.random.pick(&[DType::F32, DType::F32, DType::F32, DType::I32, BOOL]),
            0..2 if self.whole => self.random.pick(&INTEGERS),
            0..2 => DType::F32,
            2 => self.random.pick(&FLOATS),
            3 => self.random.pick(&[DType::I32, DType::I64]),
            4 => self.random.pick(&INTEGERS),
            _ => BOOL,
        }
    }

    /// A shape, sometimes with nothing in it, sometimes large.
    fn shape(&mut self) -> Vec<usize> {
        if self.largest > SMALL && !self.random.one_in(3) {
            return self.large_shape();
        }
        if self.random.one_in(16) {
            return [vec![3, 700], vec![65, 33], vec![2049], vec![2, 3, 16, 17]][self.random.below(4)].clone();
        }
        let rank = self.random.pick(&[1, 2, 2, 3, 3, 4, 4, 5]);
        let empty = !self.plain && self.random.one_in(24);
        let extents = [1, 1, 2, 2, 3, 3, 4, 5, 6, 8];
        let mut shape: Vec<usize> = (0..rank).map(|_| self.random.pick(&extents)).collect();
        if empty {
            let dim = self.random.below(rank);
            shape[dim] = 0;
        }
        shape
    }

    /// A shape of a tenth or more of the elements that a value may have.
    fn large_shape(&mut self) -> Vec<usize> {
        let mut shape = vec![1; 1 + self.random.below(4)];
        let all = |shape: &[usize]| shape.iter().product::<usize>();
        while all(&shape) < self.largest / 10 {
            let dim = self.random.below(shape.len());
            let most = self.largest / (all(&shape) / shape[dim]);
            shape[dim] = most.min(shape[dim] * self.random.pick(&[2, 3, 5, 7, 16, 33]));
        }
        shape
    }

    /// `count` elements in another shape, which has an extent of 0 only if there are none.
    fn split(&mut self, count: usize, rank: usize) -> Vec<usize> {
        let mut shape = vec![1; rank];
        let mut rest = count;
        let mut factor = 2;
        while rest > 1 {
            if rest.is_multiple_of(factor) {
                shape[self.random.below(rank)] *= factor;
                rest /= factor;
            } else {
                factor += 1;
            }
        }
        if count == 0 {
            shape[self.random.below(rank)] = 0;
        }
        shape
    }
}
