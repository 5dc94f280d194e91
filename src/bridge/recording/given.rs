//! Who else has the values that are given to nodes.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::node::{Input, Node};
use crate::bridge::value::Value;

/// The values that are given to some nodes, each with how often it is.
pub(super) struct Given<'a>(HashMap<*const Value, (&'a Arc<Value>, usize), FixedState>);

impl<'a> Given<'a> {
    pub fn to(nodes: &'a [Node]) -> Self {
        let mut times: HashMap<_, _, _> = HashMap::default();
        for value in nodes.iter().flat_map(|node| &node.inputs).filter_map(Input::given) {
            times.entry(Arc::as_ptr(value)).or_insert((value, 0)).1 += 1;
        }
        Self(times)
    }

    /// Whether a tensor, or a node of another recording, has the value too, which is given to one of the nodes.
    pub fn is_held(&self, value: &Arc<Value>) -> bool {
        self.0.get(&Arc::as_ptr(value)).is_some_and(|(value, times)| Value::holders(value) > *times)
    }

    /// The values.
    pub fn all(&self) -> impl Iterator<Item = &'a Arc<Value>> + '_ {
        self.0.values().map(|(value, _)| *value)
    }

    /// The values that nobody else has.
    pub fn own(&self) -> impl Iterator<Item = &'a Arc<Value>> + '_ {
        self.0.values().filter(|(value, times)| Value::holders(value) <= *times).map(|(value, _)| *value)
    }
}
