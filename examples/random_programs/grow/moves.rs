//! Ops of every kind of tensor.

use burn::tensor::{DType, Slice};
use test_support::BOOL;

use super::Grower;
use crate::program::{Id, Made, Move, Op, Step};

impl Grower {
    pub(super) fn grow_move(&mut self) {
        let x = self.value(|_| true);
        match self.random.below(17) {
            0 => {
                let rank = 1 + self.random.below(5);
                let shape = self.split(self.count(x), rank);
                self.moved(Move::Reshape(shape.clone()), vec![x], shape);
            }
            1 | 2 => {
                let shape = self.shape_of(x);
                let axes = self.random.order(shape.len());
                let permuted = axes.iter().map(|&axis| shape[axis]).collect();
                self.moved(Move::Permute(axes), vec![x], permuted);
            }
            3 => {
                let shape = self.shape_of(x);
                let axes = (0..shape.len()).filter(|_| self.random.one_in(2)).collect();
                self.moved(Move::Flip(axes), vec![x], shape);
            }
            4 => self.expand(x),
            5 | 6 => {
                let (slices, shape) = self.slices(x);
                self.moved(Move::Slice(slices), vec![x], shape);
            }
            7 => {
                let (slices, shape) = self.slices(x);
                let value = self.twin(&shape, self.steps[x].dtype);
                self.moved(Move::SliceAssign(slices), vec![x, value], self.shape_of(x));
            }
            8 => {
                let (dim, times) = (self.dim(x), 1 + self.random.below(4));
                let mut shape = self.shape_of(x);
                shape[dim] *= times;
                self.moved(Move::Repeat { dim, times }, vec![x], shape);
            }
            9 => self.unfold(x),
            10 => self.cat(x),
            11 | 12 => self.indexed(x),
            13 => {
                let mask = self.twin(&self.shape_of(x), BOOL);
                let other = self.twin(&self.shape_of(x), self.steps[x].dtype);
                self.moved(Move::MaskWhere, vec![x, mask, other], self.shape_of(x));
            }
            14 => {
                let mask = self.twin(&self.shape_of(x), BOOL);
                let number = self.random.one_in(2);
                self.moved(Move::MaskFill(number), vec![x, mask], self.shape_of(x));
            }
            15 => {
                let equal = self.random.pick(&[true, false]);
                let y = self.partner(x);
                let op = if equal { Move::Equal } else { Move::NotEqual };
                self.elementwise(Op::Move(op), x, Some(y), Some(BOOL));
            }
            _ => self.test(x),
        }
    }

    /// Adds the step, unless its value is large.
    fn moved(&mut self, op: Move, operands: Vec<Id>, shape: Vec<usize>) {
        if shape.iter().product::<usize>() <= self.largest {
            let dtype = self.steps[operands[0]].dtype;
            self.push(Op::Move(op), operands, shape, dtype);
        }
    }

    fn expand(&mut self, x: Id) {
        let shape = self.shape_of(x);
        let mut shape: Vec<usize> =
            shape.iter().map(|&n| if n == 1 { self.random.pick(&[1, 2, 5, 7]) } else { n }).collect();
        if shape.len() < 5 && self.random.one_in(3) {
            shape.insert(0, 2);
        }
        self.moved(Move::Expand(shape.clone()), vec![x], shape);
    }

    /// A region that another step has read from or written to this shape.
    fn known_region(&mut self, shape: &[usize]) -> Option<(Vec<Slice>, Vec<usize>)> {
        let region = |step: &Step| match &step.made {
            Made::By(Op::Move(Move::Slice(slices)), operands) if self.steps[operands[0]].shape == shape => {
                Some((slices.clone(), step.shape.clone()))
            }
            Made::By(Op::Move(Move::SliceAssign(slices)), operands) if step.shape == shape => {
                Some((slices.clone(), self.steps[operands[1]].shape.clone()))
            }
            Made::By(..) | Made::Fed(_) => None,
        };
        let regions: Vec<_> = self.steps.iter().filter_map(region).collect();
        (!regions.is_empty()).then(|| regions[self.random.below(regions.len())].clone())
    }

    /// Parts of every axis, forwards or backwards, with their extents.
    fn slices(&mut self, x: Id) -> (Vec<Slice>, Vec<usize>) {
        if self.random.one_in(2)
            && let Some(region) = self.known_region(&self.shape_of(x))
        {
            return region;
        }
        let of = |n: usize| {
            if n == 0 || self.random.one_in(3) {
                return (Slice::new(0, Some(n as isize), 1), n);
            }
            let start = self.random.below(n);
            let end =
                if !self.plain && self.random.one_in(24) { start } else { start + 1 + self.random.below(n - start) };
            let step = self.random.pick(&[1, 1, 2, 3, -1, -2]);
            let slice = Slice::new(start as isize, Some(end as isize), step);
            (slice, (end - start).div_ceil(step.unsigned_abs()))
        };
        self.steps[x].shape.clone().into_iter().map(of).unzip()
    }

    fn unfold(&mut self, x: Id) {
        let dim = self.dim(x);
        let mut shape = self.shape_of(x);
        if shape[dim] == 0 || shape.len() > 4 {
            return;
        }
        let (size, step) = (1 + self.random.below(shape[dim]), 1 + self.random.below(3));
        shape[dim] = (shape[dim] - size) / step + 1;
        shape.push(size);
        self.moved(Move::Unfold { dim, size, step }, vec![x], shape);
    }

    fn cat(&mut self, x: Id) {
        let dim = self.dim(x);
        let mut shape = self.shape_of(x);
        let mut parts = vec![x];
        for _ in 0..1 + self.random.below(2) {
            let dtype = self.steps[x].dtype;
            let fits = |other: &[usize]| {
                other.len() == shape.len() && (0..other.len()).all(|axis| axis == dim || other[axis] == shape[axis])
            };
            let part = self.existing(|step| step.dtype == dtype && fits(&step.shape)).unwrap_or(x);
            parts.push(part);
        }
        shape[dim] = parts.iter().map(|&part| self.steps[part].shape[dim]).sum();
        if self.random.one_in(2) {
            parts.reverse();
        }
        self.moved(Move::Cat(dim), parts, shape);
    }

    /// An op with indices along an axis.
    fn indexed(&mut self, x: Id) {
        let (dim, shape) = (self.dim(x), self.shape_of(x));
        let (end, dtype) = (shape[dim], self.steps[x].dtype);
        // A narrow dtype's remainders, and nothing to point at.
        if end == 0 || shape.contains(&0) {
            return;
        }
        let count = 1 + self.random.below(6);
        let along = |n: usize| shape.iter().enumerate().map(|(axis, &m)| if axis == dim { n } else { m }).collect();
        let grid: Vec<usize> = along(count);
        match self.random.below(4) {
            0 => {
                let indices = self.indices(&grid, end);
                self.moved(Move::Gather(dim), vec![x, indices], grid);
            }
            1 => {
                let indices = self.indices(&[count], end);
                self.moved(Move::Select(dim), vec![x, indices], grid);
            }
            2 => {
                let (indices, values) = (self.indices(&grid, end), self.twin(&grid, dtype));
                self.moved(Move::Scatter(dim), vec![x, indices, values], shape);
            }
            _ => {
                let (indices, values) = (self.indices(&[count], end), self.twin(&grid, dtype));
                self.moved(Move::SelectAssign(dim), vec![x, indices, values], shape);
            }
        }
    }

    /// An op that tells something of the elements.
    fn test(&mut self, x: Id) {
        let mut shape = self.shape_of(x);
        let dim = self.dim(x);
        let whole = self.random.one_in(3);
        let number = self.random.one_in(2);
        let op = match self.random.below(3) {
            0 => Move::EqualElem(number),
            1 => Move::Any((!whole).then_some(dim)),
            _ => Move::All((!whole).then_some(dim)),
        };
        if let Move::Any(along) | Move::All(along) = &op {
            match along {
                Some(dim) => shape[*dim] = 1,
                None => shape = vec![1],
            }
        }
        let dtype: DType = BOOL;
        self.push(Op::Move(op), vec![x], shape, dtype);
    }
}
