//! What of a recording was wanted when the node had just been recorded that another thread asks for.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::node::{Input, Node};
use crate::bridge::value::Value;

/// What the nodes read that are asked for, of which `asked` has the last one for each node.
pub(super) fn consumed(nodes: &[Node], asked: &[u64]) -> HashSet<*const Value, FixedState> {
    let last = nodes.iter().zip(asked).filter(|(node, asked)| node.serial == **asked);
    let made = |input: &Input| input.place_in(nodes).map(|at| &nodes[at].value);
    let value = |input| Input::given(input).or_else(|| made(input)).map(Arc::as_ptr);
    last.flat_map(|(node, _)| &node.inputs).filter_map(value).collect()
}

/// Whether something could ask for a value when the node `asked` of its part had just been recorded.
///
/// Another thread asks for that one, and how far the recording thread has come since must not decide which values leave
/// the program. What that op itself has consumed was dropped before anybody could see its result.
pub(super) fn was_wanted(value: &Value, asked: u64, consumed: &HashSet<*const Value, FixedState>) -> bool {
    let dropped = value.dropped_before();
    dropped > asked && !(dropped == asked + 1 && consumed.contains(&std::ptr::from_ref(value)))
}
