//! Rules of systems other than the one that the tests run as: tried in processes that pretend to be those.

use std::process::Command;

use mpsgraph_soft::objc::Id;

use super::messages::{alone, refused};
use super::selectors::{REDUCTIONS, TRUTHS, binary, reduced, reduction};
use super::session::{BF16, F32, Graph, I32, I64};

/// Runs the ignored tests of a module as that system would.
#[track_caller]
fn run_as(system: &str, module: &str, tests: usize) {
    let program = std::env::current_exe().expect("the path of the tests");
    let mut command = Command::new(program);
    command.env("MPSGRAPH_SOFT_MACOS", system).args(["--ignored", &format!("graph::systems::{module}::")]);
    let output = command.output().expect("the tests run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ran = text.matches(" ... ok").count();
    assert!(output.status.success() && ran == tests, "{ran} passed:\n{text}");
}

#[test]
fn on_macos_13_0() {
    run_as("13.0", "as_of_13_0", 4);
}

mod as_of_13_0 {
    use super::*;

    /// pytorch/pytorch MPSGraphSonomaOps.h.
    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn bfloat_is_refused() {
        let _alone = alone();
        refused("placeholderWithShape:dataType:name:", "MPSDataTypeBFloat16 needs macOS 14.0", || {
            Graph::new().placeholder(&[2], BF16)
        });
    }

    /// pytorch/pytorch ReduceOps.mm.
    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn reductions_refuse_64_bit_integers() {
        let _alone = alone();
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

    /// pytorch/pytorch BinaryOps.mm.
    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn power_refuses_64_bit_integers() {
        let _alone = alone();
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I64);
        let power = binary("power");
        refused(&power, "the kernel for Int64 needs macOS 13.2", || graph.op(&power, &[x, x]));
        let graph = Graph::new();
        let x = graph.placeholder(&[2], I32);
        graph.op(&power, &[x, x]);
    }

    /// dotnet/macios src/metalperformanceshadersgraph.cs.
    #[test]
    #[ignore = "run by `on_macos_13_0` with the environment it needs"]
    fn reinterpretation_is_refused() {
        let _alone = alone();
        let selector = "reinterpretCastTensor:toType:name:";
        refused(selector, "needs macOS 13.2", || {
            let graph = Graph::new();
            let x = graph.placeholder(&[2], F32);
            crate::graph::messages::msg!(
                graph.id(), selector, x => Id, I32 => u32, Id::NIL => Id; Id
            )
        });
    }
}
