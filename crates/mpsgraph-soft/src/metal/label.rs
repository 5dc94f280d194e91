//! The `label` property that buffers, queues and command buffers show to tools.

use std::sync::Mutex;

use crate::ignore_poison::IgnorePoison;
use crate::objc::{Id, Sel, Strong, This};
use crate::violation;

/// The label that an object shows to tools.
#[derive(Default)]
pub struct Label(Mutex<Option<Strong>>);

impl Label {
    /// The autoreleased string, or nil.
    pub fn get(&self) -> Id {
        let label = self.0.lock().ignore_poison().clone();
        label.map_or(Id::NIL, Strong::autorelease)
    }

    /// Keeps a string, or nothing if it is nil.
    pub fn set(&self, this: This<'_>, cmd: Sel, label: Id) {
        if !label.is_nil() && !label.is_kind_of("NSString") {
            violation!(this, cmd, "the label is a {}, not an NSString", label.class_name());
        }
        // Apple copies; strings do not change here, so a reference is a copy.
        let label = (!label.is_nil()).then(|| Strong::retain(label));
        *self.0.lock().ignore_poison() = label;
    }
}
