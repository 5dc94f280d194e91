//! Rules of systems other than the one that the tests run as: tried in processes that pretend to be those.

use mpsgraph_soft::objc::Id;

use super::selectors::{REDUCTIONS, TRUTHS, binary, reduced, reduction};
use super::session::{BF16, F32, Graph, I32, I64};
use super::sort::{SORT, sorted};
use crate::support::{Reported, msg, passes_with, plain, refused, rule};

#[test]
fn on_macos_13_0() {
    let _test = plain();
    passes_with("MPSGRAPH_SOFT_MACOS", "13.0", &["--ignored", "graph::systems::as_of_13_0::"], 5);
}

/// What those before 14.4 refuse, which is the one that the tests run as.
#[test]
fn on_macos_14_0() {
    let _test = plain();
    let tests = [
        "graph::newer::selectors_of_later_systems_are_refused",
        "graph::matrix_multiplication::extents_beyond_two_to_the_fifteenth",
        "graph::compile::in_place::rows_that_are_far_apart",
    ];
    passes_with("MPSGRAPH_SOFT_MACOS", "14.0", &[&["--exact"], &tests[..]].concat(), tests.len());
}

mod as_of_13_0 {
    use super::*;

    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn bfloat_is_refused() {
        let _test = rule(Reported("pytorch/pytorch MPSGraphSonomaOps.h"));
        refused("placeholderWithShape:dataType:name:", "MPSDataTypeBFloat16 needs macOS 14.0", || {
            Graph::new().placeholder(&[2], BF16)
        });
    }

    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn reductions_refuse_64_bit_integers() {
        let _test = rule(Reported("pytorch/pytorch ReduceOps.mm"));
        let reason = "the kernel for Int64 needs macOS 13.3";
        for name in [REDUCTIONS, TRUTHS, &["ArgMaximum", "ArgMinimum"]].concat() {
            let graph = Graph::new();
            let x = graph.placeholder(&[2], I64);
            let selector = reduction(name);
            refused(&selector, reason, || reduced(&graph, name, x, 0));
        }
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I64);
        let selector = "meanOfTensor:axes:name:";
        refused(selector, reason, || graph.op(selector, &[x, Id::NIL]));
    }

    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn sorts_refuse_64_bit_integers() {
        let _test = rule(Reported("pytorch/pytorch#102524 shows the gate of Sort.mm"));
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I64);
        refused(SORT, "the kernel for Int64 needs macOS 13.3", || sorted(&graph, x, 0, false));
    }

    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn power_refuses_64_bit_integers() {
        let _test = rule(Reported("pytorch/pytorch BinaryOps.mm"));
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I64);
        let power = binary("power");
        refused(&power, "the kernel for Int64 needs macOS 13.2", || graph.op(&power, &[x, x]));
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I32);
        graph.op(&power, &[x, x]);
    }

    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn reinterpretation_is_refused() {
        let _test = rule(Reported("dotnet/macios src/metalperformanceshadersgraph.cs"));
        let selector = "reinterpretCastTensor:toType:name:";
        refused(selector, "needs macOS 13.2", || {
            let graph = Graph::new();
            let x = graph.placeholder(&[2], F32);
            msg!(graph.id(), selector, x => Id, I32 => u32, Id::NIL => Id; Id)
        });
    }
}
