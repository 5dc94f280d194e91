//! A line of a family's table as data, from which `#[test]`s and rows of `self_check` are made.

use std::sync::LazyLock;

use burn::tensor::{DType, TensorData};
use test_support::{Layout, Outcome, Tolerance, compare};

use crate::compare::{Eager, compare_with, of_dtype};

/// Inputs of a layout and dtype, through the op: its results.
pub type Run = fn(Layout, DType) -> Vec<TensorData>;

#[derive(Clone, Debug)]
pub struct Case {
    /// The modules in which the line stands, and its name.
    pub path: &'static str,
    pub dtypes: Vec<DType>,
    pub layouts: Vec<Layout>,
    pub tolerance: Tolerance,
    pub eager: Eager,
    /// burn-flex's results, or the numbers that stand in the line.
    pub expected: Run,
    pub found: Run,
}

/// The module of the lines whose numbers a person wrote down.
const BY_HAND: &str = "by_hand";

impl Case {
    /// The path within the crate: `activation::functions::relu`.
    pub fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, name)| name)
    }

    /// The op, if the numbers of the line were written down by a person.
    pub fn by_hand(&self) -> Option<&'static str> {
        let (modules, op) = self.path.rsplit_once("::")?;
        modules.ends_with(BY_HAND).then_some(op)
    }

    /// What comes out with tensors of `dtype`, over all layouts.
    pub fn outcome(&self, dtype: DType) -> Outcome {
        Outcome::of(self.layouts.iter().map(|&layout| {
            let (expected, found) = ((self.expected)(layout, dtype), (self.found)(layout, dtype));
            if expected.len() != found.len() {
                return Outcome::fact(format!("{} tensors", expected.len()), format!("{}", found.len()), false);
            }
            let outcome = Outcome::of(
                expected
                    .iter()
                    .zip(&found)
                    .map(|(expected, found)| compare(&of_dtype(expected, found.dtype), found, self.tolerance)),
            );
            if outcome.agrees { outcome } else { Outcome { got: format!("{} {layout:?}", outcome.got), ..outcome } }
        }))
    }

    /// The same as a test, recorded and eagerly.
    #[track_caller]
    pub fn check(&self) {
        assert!(!self.dtypes.is_empty() && !self.layouts.is_empty(), "{} checks no dtype or no layout", self.name());
        for &dtype in &self.dtypes {
            for &layout in &self.layouts {
                compare_with(
                    &format!("{} of {dtype:?}, {layout:?}", self.name()),
                    self.tolerance,
                    self.eager,
                    || (self.expected)(layout, dtype),
                    || (self.found)(layout, dtype),
                );
            }
        }
    }
}

/// Every case of every family.
pub fn all() -> &'static [Case] {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| crate::FAMILIES.iter().flat_map(|(_, cases)| cases()).collect());
    &ALL
}

/// Checks the case of that name; a test for a line calls this.
#[track_caller]
pub fn check(module: &str, name: &str) {
    let path = format!("{module}::{name}");
    let case = all().iter().find(|case| case.path == path).unwrap_or_else(|| {
        panic!("{path} is in no list: neither in the `modules!` of its family, nor in the `families!` of lib.rs")
    });
    case.check();
}
