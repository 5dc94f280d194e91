//! Ops of signals, images and volumes.

use burn::tensor::DType;
use burn_backend::ops::conv::calculate_pool_output_size;

use super::Grower;
use crate::program::{Id, Image, Move, Number, Op, Resize, Window};

impl Grower {
    pub(super) fn grow_image(&mut self, x: Id) {
        let extents = self.random.pick(&[1, 2, 2, 2, 3]);
        let axes = if self.random.one_in(2) { extents } else { 2 };
        let Some(x) = self.with_axes(x, 2 + axes) else { return };
        match (self.random.below(12), axes) {
            (0..4, _) | (_, 3) => self.convolution(x),
            (4..6, _) => self.transposed_convolution(x),
            (6..9, _) | (_, 1) => self.pool(x),
            (9, _) => self.resized(x),
            (10, _) => self.sampled(x),
            _ => self.unfolded(x),
        }
    }

    /// The elements of `x` with so many axes, if it has not many.
    pub(super) fn with_axes(&mut self, x: Id, axes: usize) -> Option<Id> {
        if !(1..self.largest / 8).contains(&self.count(x)) {
            return None;
        }
        if self.steps[x].shape.len() == axes {
            return Some(x);
        }
        let shape = self.split(self.count(x), axes);
        Some(self.push(Op::Move(Move::Reshape(shape.clone())), vec![x], shape, self.steps[x].dtype))
    }

    /// A window of at most these extents.
    fn window(&mut self, extents: &[usize]) -> Window {
        let size: Vec<usize> = extents.iter().map(|&n| 1 + self.random.below(n.min(3))).collect();
        let stride = extents.iter().map(|_| 1 + self.random.below(2)).collect();
        let padding = size.iter().map(|n| self.random.below(n / 2 + 1)).collect();
        Window { size, stride, padding, dilation: vec![1; extents.len()], groups: 1 }
    }

    /// Dilates a window where that fits these extents.
    fn dilate(&mut self, window: &mut Window, extents: &[usize]) {
        for (i, &extent) in extents.iter().enumerate() {
            if 2 * (window.size[i] - 1) < extent {
                window.dilation[i] = 1 + self.random.below(2);
            }
        }
    }

    fn push_image(&mut self, op: Image, operands: Vec<Id>, shape: Vec<usize>, dtype: DType) {
        if shape.iter().product::<usize>() <= self.largest {
            self.push(Op::Image(op), operands, shape, dtype);
        }
    }

    fn pool(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let mut window = self.window(&shape[2..]);
        // burn-flex's gradients of means leave out the windows that are only there by rounding up.
        let ceil = !self.plain && self.random.one_in(4);
        if self.random.one_in(3) {
            let counts_padding = self.random.one_in(2);
            let pooled = pooled(&shape, &window, ceil);
            return self.push_image(Image::AvgPool { window, counts_padding, ceil }, vec![x], pooled, dtype);
        }
        if self.random.one_in(3) {
            self.dilate(&mut window, &shape[2..]);
        }
        let pooled = pooled(&shape, &window, ceil);
        if self.random.one_in(3) {
            self.push_image(Image::MaxPoolIndices { window, ceil }, vec![x], pooled, DType::I32);
        } else {
            self.push_image(Image::MaxPool { window, ceil }, vec![x], pooled, dtype);
        }
    }

    fn convolution(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let mut window = self.window(&shape[2..]);
        window.groups = if self.random.one_in(3) { shape[1] } else { 1 };
        self.dilate(&mut window, &shape[2..]);
        let mut pooled = pooled(&shape, &window, false);
        pooled[1] = window.groups * (1 + self.random.below(3));
        let filters = [&[pooled[1], shape[1] / window.groups], &window.size[..]].concat();
        let operands = self.with_filters(x, &filters, pooled[1]);
        self.push_image(Image::Conv(window), operands, pooled, dtype);
    }

    fn transposed_convolution(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let mut window = self.window(&shape[2..]);
        window.groups = if self.random.one_in(3) { shape[1] } else { 1 };
        let columns = 1 + self.random.below(3);
        let mut all = vec![shape[0], columns * window.groups];
        for (i, n) in shape[2..].iter().enumerate() {
            let spread = (n - 1) * window.stride[i] + window.size[i];
            window.padding[i] = window.padding[i].min((spread - 1) / 2);
            all.push(spread - 2 * window.padding[i]);
        }
        let filters = [&[shape[1], columns], &window.size[..]].concat();
        let operands = self.with_filters(x, &filters, all[1]);
        self.push_image(Image::ConvTranspose(window), operands, all, dtype);
    }

    /// `x`, filters of this shape, which may be permuted, and sometimes a bias.
    fn with_filters(&mut self, x: Id, filters: &[usize], channels: usize) -> Vec<Id> {
        let dtype = self.steps[x].dtype;
        let mut operands = vec![x, self.twin(filters, dtype)];
        if self.random.one_in(4) {
            let order = self.random.order(filters.len());
            let made = order.iter().map(|&axis| filters[axis]).collect();
            let made = self.feed(made, dtype);
            let back = (0..order.len()).map(|axis| order.iter().position(|&at| at == axis).unwrap_or(axis)).collect();
            operands[1] = self.push(Op::Move(Move::Permute(back)), vec![made], filters.to_vec(), dtype);
        }
        if self.random.one_in(3) {
            operands.push(self.twin(&[channels], dtype));
        }
        operands
    }

    fn resized(&mut self, x: Id) {
        let (mut shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let size = [2, 3].map(|i| if self.random.one_in(3) { 2 * shape[i] } else { 1 + self.random.below(9) });
        shape.splice(2.., size);
        if self.random.one_in(3) {
            return self.push_image(Image::AdaptiveAvgPool2d(size), vec![x], shape, dtype);
        }
        // burn-flex has no gradient of the last.
        let modes = [Resize::Nearest, Resize::Bilinear, Resize::Bicubic, Resize::Lanczos3];
        let mode = self.random.pick(&modes[..if self.plain { 3 } else { 4 }]);
        let aligned = self.random.one_in(2);
        self.push_image(Image::Interpolate { size, mode, aligned }, vec![x], shape, dtype);
    }

    /// Elements at positions that are computed.
    fn sampled(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        if self.random.one_in(2) {
            let [height, width] = [(); 2].map(|()| 1 + self.random.below(6));
            let grid = self.twin(&[shape[0], height, width, 2], dtype);
            let grid = self.elementwise(Op::Number(Number::Clamp(-2, 2)), grid, None, None);
            let [reflected, aligned] = [(); 2].map(|()| self.random.one_in(2));
            let all = vec![shape[0], shape[1], height, width];
            return self.push_image(Image::GridSample { reflected, aligned }, vec![x, grid], all, dtype);
        }
        let mut window = self.window(&shape[2..]);
        self.dilate(&mut window, &shape[2..]);
        let mut pooled = pooled(&shape, &window, false);
        let taps: usize = window.size.iter().product();
        let channels = 1 + self.random.below(3);
        let of = |channels: usize| vec![shape[0], channels, pooled[2], pooled[3]];
        if of(2 * taps).iter().product::<usize>() > self.largest {
            return;
        }
        let operands = [of(2 * taps), vec![channels, shape[1], window.size[0], window.size[1]], of(taps)];
        let operands = operands.map(|shape| self.twin(&shape, dtype));
        pooled[1] = channels;
        self.push_image(Image::DeformConv2d(window), [&[x], &operands[..]].concat(), pooled, dtype);
    }

    fn unfolded(&mut self, x: Id) {
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let mut window = self.window(&shape[2..]);
        self.dilate(&mut window, &shape[2..]);
        let pooled = pooled(&shape, &window, false);
        let taps: usize = window.size.iter().product();
        self.push_image(
            Image::Unfold4d(window),
            vec![x],
            vec![shape[0], shape[1] * taps, pooled[2] * pooled[3]],
            dtype,
        );
    }
}

/// The shape of what windows give that go over one of this shape.
fn pooled(shape: &[usize], window: &Window, ceil: bool) -> Vec<usize> {
    let Window { size, stride, padding, dilation, .. } = window;
    let mut pooled = shape.to_vec();
    for (i, extent) in pooled[2..].iter_mut().enumerate() {
        *extent = calculate_pool_output_size(size[i], stride[i], padding[i], dilation[i], *extent, ceil);
    }
    pooled
}
