//! Ops of every kind of tensor.

use burn::tensor::backend::Backend;
use burn::tensor::{IndexingUpdateOp, Scalar};

use crate::program::Move;
use crate::value::{Kind, Value};

pub fn apply<B: Backend, K: Kind<B>>(op: &Move, operands: Vec<Value<B>>) -> Value<B> {
    let mut operands = operands.into_iter();
    let mut next = || operands.next().expect("the program has the op's operands");
    let x = K::tensor(next());
    let scalar = |number: bool| Scalar::new(i64::from(number), &K::dtype(&x));
    K::value(match op {
        Move::Reshape(shape) => K::reshape(x, shape.clone().into()),
        Move::Permute(axes) => K::permute(x, axes),
        Move::Flip(axes) => K::flip(x, axes),
        Move::Expand(shape) => K::expand(x, shape.clone().into()),
        Move::Slice(slices) => K::slice(x, slices),
        Move::SliceAssign(slices) => K::slice_assign(x, slices, K::tensor(next())),
        Move::Repeat { dim, times } => K::repeat_dim(x, *dim, *times),
        Move::Unfold { dim, size, step } => K::unfold(x, *dim, *size, *step),
        Move::Cat(dim) => K::cat([x].into_iter().chain(operands.map(K::tensor)).collect(), *dim),
        Move::Gather(dim) => K::gather(*dim, x, next().int()),
        Move::Select(dim) => K::select(x, *dim, next().int()),
        Move::Scatter(dim) => K::scatter(*dim, x, next().int(), K::tensor(next()), IndexingUpdateOp::Add),
        Move::SelectAssign(dim) => K::select_assign(x, *dim, next().int(), K::tensor(next()), IndexingUpdateOp::Add),
        Move::MaskWhere => K::mask_where(x, next().bool(), K::tensor(next())),
        Move::MaskFill(number) => {
            let number = scalar(*number);
            K::mask_fill(x, next().bool(), number)
        }
        Move::Equal => return Value::Bool(K::equal(x, K::tensor(next()))),
        Move::NotEqual => return Value::Bool(K::not_equal(x, K::tensor(next()))),
        Move::EqualElem(number) => {
            let number = scalar(*number);
            return Value::Bool(K::equal_elem(x, number));
        }
        Move::Any(None) => return Value::Bool(K::any(x)),
        Move::Any(Some(dim)) => return Value::Bool(K::any_dim(x, *dim)),
        Move::All(None) => return Value::Bool(K::all(x)),
        Move::All(Some(dim)) => return Value::Bool(K::all_dim(x, *dim)),
    })
}
