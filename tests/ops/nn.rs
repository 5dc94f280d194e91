//! Every layer and loss of `burn::nn`, forward and backward. Both backends get the same numbers in all parameters and
//! inputs. The results, weighted by position, are summed; compared are the results and the gradients of that sum.

mod activation;
mod attention;
#[cfg(test)]
mod complete;
mod convolution;
mod encoding;
mod linear;
mod loss;
#[cfg(test)]
mod noise;
mod normalization;
mod patterns;
mod pooling;
#[cfg(test)]
mod records;
mod recurrent;
mod resize;
mod training;
mod transformer;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Bool, DType, Int, Tensor, TensorData};
use test_support::Tolerance::{self, RelativeOf};

modules! {
    activation attention convolution encoding linear loss normalization patterns pooling recurrent resize training
    transformer
}

/// f32 sums differ by their order, and functions by their approximations, by some units in the last place of numbers up
/// to 10, so some of 2^-20. In 16 bits each op rounds by half a unit, 2^-11 or 2^-8 of the number, and the ops of a
/// layer add several of these.
const LAYER: Tolerance = RelativeOf([5e-6, 4e-3, 3e-2]);
/// The same where layers follow one another, or a standard deviation divides.
const CHAIN: Tolerance = RelativeOf([2e-5, 1e-2, 8e-2]);

/// The layers and inputs of a line, whose gradients are asked for.
pub struct Parts<B: AutodiffBackend> {
    dtype: DType,
    numbered: usize,
    leaves: Vec<Leaf<B>>,
}

/// A gradient to be picked.
type Leaf<B> = Box<dyn Fn(&<B as AutodiffBackend>::Gradients) -> TensorData>;

impl<B: AutodiffBackend> Parts<B> {
    pub fn new(dtype: DType) -> Self {
        Self { dtype, numbered: 0, leaves: Vec::new() }
    }

    /// Multiples of 1/16 from -2 to 2.
    pub fn input<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<B, D> {
        self.numbered += 1;
        let salt = self.numbered * 11;
        let number = |i: usize| ((i * 37 + salt + i / 7 * 5) % 65) as f32 / 16.0 - 2.0;
        let numbers = (0..shape.iter().product()).map(number).collect();
        let leaf = of_numbers(numbers, shape, self.dtype).require_grad();
        self.leaf(&leaf, "input");
        leaf
    }

    /// `layer` with numbers in its parameters that are the same on every backend.
    pub fn layer<M: Module<B>>(&mut self, layer: M) -> M {
        let mut numbers = Numbers { dtype: self.dtype, numbered: self.numbered, names: Vec::new() };
        let layer = layer.map(&mut numbers);
        self.numbered = numbers.numbered;
        layer.visit(self);
        layer
    }

    fn leaf<const D: usize>(&mut self, leaf: &Tensor<B, D>, what: &'static str) {
        let leaf = leaf.clone();
        self.leaves.push(Box::new(move |gradients| {
            let gradient = leaf.grad(gradients);
            gradient.unwrap_or_else(|| panic!("the {what} {:?} takes no part", leaf.shape())).into_data()
        }));
    }

    /// The results, then the gradients.
    pub fn differentiate(&self, results: impl Results<B>) -> Vec<TensorData> {
        let mut all = Vec::new();
        let sums = results.weighted(&mut all);
        let sum = sums.into_iter().reduce(|sum, more| sum + more).expect("at least one result");
        let gradients = sum.backward();
        all.extend(self.leaves.iter().map(|leaf| leaf(&gradients)));
        all
    }
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Parts<B> {
    fn visit_float<const D: usize>(&mut self, weight: &Param<Tensor<B, D>>) {
        if weight.is_require_grad() {
            self.leaf(&weight.val(), "parameter");
        }
    }
}

/// Puts multiples of 1/64 from -1/2 to 1/2, which every float dtype holds exactly, into every parameter.
struct Numbers {
    dtype: DType,
    numbered: usize,
    /// The fields in which the parameter is.
    names: Vec<String>,
}

impl<B: Backend> ModuleMapper<B> for Numbers {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.names.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.names.pop();
    }

    fn map_float<const D: usize>(&mut self, weight: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        self.numbered += 1;
        let salt = self.numbered * 13;
        let number = |i: usize| ((i * 37 + salt + i / 7 * 5) % 63) as f32 / 64.0 - 0.484375;
        let variance = self.names.last().is_some_and(|name| name == "running_var");
        let number = |i: usize| if variance { number(i).abs() + 0.5 } else { number(i) };
        let required = weight.is_require_grad();
        weight.map(|weight| {
            let numbers = (0..weight.shape().num_elements()).map(number).collect();
            of_numbers(numbers, weight.dims(), self.dtype).set_require_grad(required)
        })
    }
}

/// What a line computes: a tensor, or several.
pub trait Results<B: Backend> {
    /// Pushes the results and returns their sums weighted by position.
    fn weighted(self, all: &mut Vec<TensorData>) -> Vec<Tensor<B, 1>>;
}

impl<B: Backend, const D: usize> Results<B> for Tensor<B, D> {
    fn weighted(self, all: &mut Vec<TensorData>) -> Vec<Tensor<B, 1>> {
        let salt = all.len() * 5 + 3;
        let weight = |i: usize| ((i * 29 + salt + i / 5 * 3) % 31) as f32 / 16.0 - 0.9375;
        let weights = (0..self.shape().num_elements()).map(weight).collect();
        let weights = of_numbers(weights, self.dims(), self.dtype());
        all.push(self.clone().into_data());
        vec![(self * weights).sum()]
    }
}

impl<B: Backend, R: Results<B>> Results<B> for Vec<R> {
    fn weighted(self, all: &mut Vec<TensorData>) -> Vec<Tensor<B, 1>> {
        self.into_iter().flat_map(|result| result.weighted(all)).collect()
    }
}

macro_rules! several {
    ($($part:ident)+) => {
        impl<B: Backend, $($part: Results<B>),+> Results<B> for ($($part,)+) {
            #[allow(non_snake_case, reason = "a part is named like its type")]
            fn weighted(self, all: &mut Vec<TensorData>) -> Vec<Tensor<B, 1>> {
                let ($($part,)+) = self;
                [$($part.weighted(all)),+].concat()
            }
        }
    };
}

several! { R S }
several! { R S T }
several! { R S T U }

fn of_numbers<B: Backend, const D: usize>(numbers: Vec<f32>, shape: [usize; D], dtype: DType) -> Tensor<B, D> {
    Tensor::from_data(TensorData::new(numbers, shape).convert_dtype(dtype), (&B::Device::default(), dtype))
}

/// Integers from 0 to below `count`.
fn classes<B: Backend, const D: usize>(shape: [usize; D], count: usize) -> Tensor<B, D, Int> {
    let numbers: Vec<i32> = (0..shape.iter().product()).map(|i: usize| ((i * 7 + i / 3) % count) as i32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), &B::Device::default())
}

/// Some elements hidden, but never the first of a row.
fn hidden<B: Backend, const D: usize>(shape: [usize; D]) -> Tensor<B, D, Bool> {
    let hidden = |i: usize| !i.is_multiple_of(shape[D - 1]) && (i * 5 + i / 4) % 3 == 1;
    let hidden: Vec<bool> = (0..shape.iter().product()).map(hidden).collect();
    Tensor::from_data(TensorData::new(hidden, shape), &B::Device::default())
}
