//! Ops of floats and of integers.

use burn::tensor::Scalar;
use burn::tensor::backend::Backend;
use burn_backend::tensor::Ordered;

use crate::program::{Binary, Number, Order, Reduction, Running};
use crate::value::{Kind, Value};

pub fn apply<B: Backend, K: Kind<B> + Ordered<B>>(op: &Number, operands: Vec<Value<B>>) -> Value<B> {
    let mut operands = operands.into_iter();
    let mut value = || operands.next().expect("the program has the op's operands");
    let x = K::tensor(value());
    let dtype = K::dtype(&x);
    let scalar = |number: i64| Scalar::new(number, &dtype);
    K::value(match *op {
        Number::Binary(op) => binary::<B, K>(op, x, K::tensor(value())),
        Number::WithScalar(op, y) => with_scalar::<B, K>(op, x, scalar(y)),
        Number::Neg => K::neg(x),
        Number::Abs => K::abs(x),
        Number::Sign => K::sign(x),
        Number::Clamp(low, high) => K::clamp(x, scalar(low), scalar(high)),
        Number::ClampMin(low) => K::clamp_min(x, scalar(low)),
        Number::ClampMax(high) => K::clamp_max(x, scalar(high)),
        Number::Compare(order) => {
            let y = K::tensor(value());
            return Value::Bool(match order {
                Order::Greater => K::greater(x, y),
                Order::GreaterEqual => K::greater_equal(x, y),
                Order::Lower => K::lower(x, y),
                Order::LowerEqual => K::lower_equal(x, y),
            });
        }
        Number::CompareElem(order, y) => {
            return Value::Bool(match order {
                Order::Greater => K::greater_elem(x, scalar(y)),
                Order::GreaterEqual => K::greater_equal_elem(x, scalar(y)),
                Order::Lower => K::lower_elem(x, scalar(y)),
                Order::LowerEqual => K::lower_equal_elem(x, scalar(y)),
            });
        }
        Number::Reduce(reduction, dim) => reduce::<B, K>(reduction, x, dim),
        Number::Cumulative(running, dim) => match running {
            Running::Sum => K::cumsum(x, dim),
            Running::Prod => K::cumprod(x, dim),
            Running::Max => K::cummax(x, dim),
            Running::Min => K::cummin(x, dim),
        },
        Number::ArgMax(dim) => return Value::Int(K::argmax(x, dim)),
        Number::ArgMin(dim) => return Value::Int(K::argmin(x, dim)),
        Number::Sort { dim, descending } => K::sort(x, dim, descending),
        Number::Argsort { dim, descending } => return Value::Int(K::argsort(x, dim, descending)),
        Number::Topk { dim, k } => K::topk(x, dim, k),
        Number::GatherNd => K::gather_nd(x, value().int()),
        Number::ScatterNd(update) => {
            let indices = value().int();
            K::scatter_nd(x, indices, K::tensor(value()), update)
        }
        Number::Matmul => K::matmul(x, K::tensor(value())),
    })
}

fn binary<B: Backend, K: Ordered<B>>(op: Binary, x: K::Primitive, y: K::Primitive) -> K::Primitive {
    match op {
        Binary::Add => K::add(x, y),
        Binary::Sub => K::sub(x, y),
        Binary::Mul => K::mul(x, y),
        Binary::Div => K::div(x, y),
        Binary::Remainder => K::remainder(x, y),
        Binary::Pow => K::powi(x, y),
    }
}

fn with_scalar<B: Backend, K: Ordered<B>>(op: Binary, x: K::Primitive, y: Scalar) -> K::Primitive {
    match op {
        Binary::Add => K::add_scalar(x, y),
        Binary::Sub => K::sub_scalar(x, y),
        Binary::Mul => K::mul_scalar(x, y),
        Binary::Div => K::div_scalar(x, y),
        Binary::Remainder => K::remainder_scalar(x, y),
        Binary::Pow => K::powi_scalar(x, y),
    }
}

fn reduce<B: Backend, K: Ordered<B>>(reduction: Reduction, x: K::Primitive, dim: Option<usize>) -> K::Primitive {
    match (reduction, dim) {
        (Reduction::Sum, None) => K::sum(x),
        (Reduction::Sum, Some(dim)) => K::sum_dim(x, dim),
        (Reduction::Mean, None) => K::mean(x),
        (Reduction::Mean, Some(dim)) => K::mean_dim(x, dim),
        (Reduction::Prod, None) => K::prod(x),
        (Reduction::Prod, Some(dim)) => K::prod_dim(x, dim),
        (Reduction::Max, None) => K::max(x),
        (Reduction::Max, Some(dim)) => K::max_dim(x, dim),
        (Reduction::Min, None) => K::min(x),
        (Reduction::Min, Some(dim)) => K::min_dim(x, dim),
        (Reduction::MaxAbs, None) => K::max_abs(x),
        (Reduction::MaxAbs, Some(dim)) => K::max_abs_dim(x, dim),
    }
}
