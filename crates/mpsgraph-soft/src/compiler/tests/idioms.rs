//! What graphs compose becomes one operation, with the bits that the nodes give one by one.

use super::*;

const SIGNED: [DType; 4] = [DType::I8, DType::I16, DType::I32, DType::I64];

/// Two operands of a graph, and constants for them.
struct Pair {
    nodes: Nodes,
    a: ValueId,
    b: ValueId,
    zero: ValueId,
}

impl Pair {
    fn new(dtype: DType, count: usize) -> Self {
        let mut nodes = Nodes::default();
        let [a, b] = [0; 2].map(|_| push(&mut nodes, Leaf::Placeholder, [], TensorType::new(dtype, [count])));
        let zero = push(&mut nodes, Leaf::Splat([0; 8]), [], TensorType::new(dtype, [1]));
        Self { nodes, a, b, zero }
    }

    fn number(&mut self, number: i64) -> ValueId {
        let dtype = self.nodes.ty(self.a).dtype;
        push(&mut self.nodes, Leaf::Splat(number.to_ne_bytes()), [], TensorType::new(dtype, [1]))
    }

    fn make(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.nodes.ty(if a == self.zero { b } else { a }).clone();
        let dtype = if op.is_comparison() { DType::Bool } else { ty.dtype };
        push(&mut self.nodes, op, [a, b], TensorType::new(dtype, ty.shape))
    }

    fn choice(&mut self, test: ValueId, a: ValueId, b: ValueId) -> ValueId {
        let ty = TensorType::new(self.nodes.ty(self.a).dtype, self.nodes.ty(test).shape.clone());
        push(&mut self.nodes, ElementwiseOp::Select, [test, a, b], ty)
    }

    fn is_below_zero(&mut self, x: ValueId) -> ValueId {
        self.make(BinaryOp::Less, x, self.zero)
    }

    /// Where `rest` is not 0 and has another sign than `other`.
    fn is_far(&mut self, rest: ValueId, other: ValueId) -> ValueId {
        let [rest_below, other_below] = [rest, other].map(|x| self.is_below_zero(x));
        let differ = self.make(BinaryOp::Xor, rest_below, other_below);
        let is_rest = self.make(BinaryOp::NotEqual, rest, self.zero);
        self.make(BinaryOp::And, differ, is_rest)
    }

    /// A quotient toward zero and its remainder, each with the correction of a quotient that is rounded otherwise.
    fn corrected(&mut self) -> [ValueId; 2] {
        let (a, b, zero) = (self.a, self.b, self.zero);
        let quotient = self.make(BinaryOp::Div, a, b);
        let product = self.make(BinaryOp::Mul, quotient, b);
        let rest = self.make(BinaryOp::Sub, a, product);
        let far = self.is_far(rest, a);
        let [a_below, b_below] = [a, b].map(|x| self.is_below_zero(x));
        let signs = self.make(BinaryOp::Xor, a_below, b_below);
        let [one, minus_one] = [1, -1].map(|number| self.number(number));
        let toward = self.choice(signs, one, minus_one);
        let step = self.choice(far, toward, zero);
        let back = self.make(BinaryOp::Mul, step, b);
        [self.make(BinaryOp::Add, quotient, step), self.make(BinaryOp::Sub, rest, back)]
    }
}

/// All pairs of some numbers, the least and the largest among them.
fn pairs(dtype: DType) -> [Vec<u8>; 2] {
    let least = i64::MIN >> (64 - 8 * dtype.size());
    let numbers = [0, 1, -1, 2, -2, 3, -7, 100, -100, 127, least, least + 1, -1 - least, least / 3, 86 - least / 2];
    let bytes = |x: i64| x.to_ne_bytes()[..dtype.size()].to_vec();
    let all = || numbers.into_iter().flat_map(|a| numbers.into_iter().map(move |b| (a, b)));
    [all().flat_map(|(a, _)| bytes(a)).collect(), all().flat_map(|(_, b)| bytes(b)).collect()]
}

/// Checks the values that `make` makes, and the operations that their plan names.
fn check(make: impl Fn(&mut Pair) -> Vec<ValueId>, named: &[&str], unnamed: &[&str]) {
    for dtype in SIGNED {
        let inputs = pairs(dtype);
        let mut pair = Pair::new(dtype, inputs[0].len() / dtype.size());
        let targets = make(&mut pair);
        let (feeds, inputs) = ([pair.a, pair.b], [&inputs[0][..], &inputs[1]]);
        let plan = compile(&pair.nodes, &feeds, &targets);
        let text = plan.describe();
        assert!(named.iter().all(|name| text.contains(name)), "{named:?}: {text}");
        assert!(!unnamed.iter().any(|name| text.contains(name)), "{unnamed:?}: {text}");
        assert_eq!(run(&plan, &inputs), unfused(&pair.nodes, &feeds, &inputs, &targets), "{dtype:?} {named:?}");
    }
}

#[test]
fn negation_and_absolute_value() {
    let absolute = |pair: &mut Pair| {
        let a = pair.a;
        let negative = pair.make(BinaryOp::Sub, pair.zero, a);
        let below = pair.is_below_zero(a);
        vec![negative, pair.choice(below, negative, a)]
    };
    check(absolute, &["Neg", "Abs"], &["Sub", "Select"]);
}

#[test]
fn quotient_without_its_remainder() {
    let quotient = |pair: &mut Pair| {
        let rest = pair.make(BinaryOp::Mod, pair.a, pair.b);
        let whole = pair.make(BinaryOp::Sub, pair.a, rest);
        vec![pair.make(BinaryOp::Div, whole, pair.b)]
    };
    check(quotient, &["Div"], &["Mod", "Sub"]);
}

#[test]
fn remainder_with_the_sign_of_the_divisor() {
    let floored = |pair: &mut Pair| {
        let rest = pair.make(BinaryOp::Mod, pair.a, pair.b);
        let wrong = pair.is_far(rest, pair.b);
        let moved = pair.make(BinaryOp::Add, rest, pair.b);
        vec![pair.choice(wrong, moved, rest)]
    };
    check(floored, &["FloorMod"], &["Select"]);
}

#[test]
fn quotient_that_needs_no_correction() {
    check(|pair| pair.corrected().to_vec(), &["Div", "Mul", "Sub"], &["Select", "Less"]);
}

#[test]
fn other_choices_stay_as_they_are() {
    // The absolute value of another number; a remainder with the sign of the dividend.
    let others = |pair: &mut Pair| {
        let negative = pair.make(BinaryOp::Sub, pair.zero, pair.a);
        let below = pair.is_below_zero(pair.b);
        let rest = pair.make(BinaryOp::Mod, pair.a, pair.b);
        let wrong = pair.is_far(rest, pair.a);
        let moved = pair.make(BinaryOp::Add, rest, pair.b);
        vec![pair.choice(below, negative, pair.a), pair.choice(wrong, moved, rest)]
    };
    check(others, &["Select"], &["Abs", "FloorMod"]);
}

#[test]
fn casts_make_zero_of_nan_themselves() {
    let mut nodes = Nodes::default();
    let x = push(&mut nodes, Leaf::Placeholder, [], f32s(&[5]));
    let zero = splat(&mut nodes, 0.0, f32s(&[1]));
    let is_nan = push(&mut nodes, UnaryOp::IsNan, [x], TensorType::new(DType::Bool, [5]));
    let number = push(&mut nodes, ElementwiseOp::Select, [is_nan, zero, x], f32s(&[5]));
    let y = push(&mut nodes, ElementwiseOp::Cast, [number], TensorType::new(DType::I32, [5]));
    let plan = compile(&nodes, &[x], &[y]);
    assert!(!plan.describe().contains("Select"), "{}", plan.describe());
    let input = [1.5, f32::NAN, -2.5, f32::INFINITY, -1e20];
    let got = run(&plan, &[bytemuck::cast_slice(&input)]).remove(0);
    let wanted = [1, 0, -2, i32::MAX, i32::MIN];
    assert_eq!(got, bytemuck::cast_slice::<i32, u8>(&wanted));
}
