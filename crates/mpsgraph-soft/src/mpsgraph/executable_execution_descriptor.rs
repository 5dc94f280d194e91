//! `MPSGraphExecutableExecutionDescriptor`: how to run an executable, and who is told when it has ended.

#![expect(unsafe_code, reason = "a block that the caller gives")]

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::ignore_poison::IgnorePoison;
use crate::metal::fault::{self, Telling};
use crate::objc::{Block, ClassDef, ClassKind, Id, RawBlock, Sel, Strong, This, method0, method1, pool};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "MPSGraphExecutableExecutionDescriptor",
    superclass: Some(&super::graph_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (12, 0),
    instance: &[
        method0("init", init),
        method0("waitUntilCompleted", wait_until_completed),
        method1("setWaitUntilCompleted:", set_wait_until_completed),
        method1("setCompletionHandler:", set_completion_handler),
    ],
    class: &[],
};

/// Payload of an execution descriptor.
pub(crate) struct ExecutionDescriptor {
    wait: AtomicBool,
    completion_handler: Mutex<Option<Block<2>>>,
}

impl ExecutionDescriptor {
    /// Whether the sender wants to block.
    pub fn waits(&self) -> bool {
        self.wait.load(Relaxed)
    }

    /// What tells the completion handler that an execution with these results has ended.
    pub fn ended(&self, results: &Strong) -> Option<impl Fn(Option<&Strong>) + Send + use<>> {
        let handler = self.completion_handler.lock().ignore_poison().clone()?;
        let (results, telling) = (results.clone(), fault::telling());
        (telling != Telling::Never).then_some(move |error: Option<&Strong>| match telling {
            Telling::InOrder => tell(&handler, &results, error),
            Telling::After(time) => {
                let (handler, results, error) = (handler.clone(), results.clone(), error.cloned());
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    pool(|| tell(&handler, &results, error.as_ref()));
                });
            }
            Telling::Never => {}
        })
    }
}

/// Calls the handler: with the results, or with nil and an error. Apple says what the results are if there is no error;
/// nobody may look at them if there is one.
fn tell(handler: &Block<2>, results: &Strong, error: Option<&Strong>) {
    match error {
        None => handler.call(results.id(), Id::NIL),
        Some(error) => handler.call(Id::NIL, error.id()),
    }
}

extern "C-unwind" fn init(this: This<'_>, _: Sel) -> Id {
    this.set_state(ExecutionDescriptor { wait: AtomicBool::new(false), completion_handler: Mutex::default() });
    this.id()
}

extern "C-unwind" fn wait_until_completed(this: This<'_>, _: Sel) -> bool {
    this.state::<ExecutionDescriptor>().waits()
}

extern "C-unwind" fn set_wait_until_completed(this: This<'_>, _: Sel, wait: bool) {
    this.state::<ExecutionDescriptor>().wait.store(wait, Relaxed);
}

/// Nil takes the handler away.
extern "C-unwind" fn set_completion_handler(this: This<'_>, cmd: Sel, handler: RawBlock) {
    // SAFETY: the sender passes nil or a live block.
    if unsafe { handler.is_on_the_stack() } {
        violation!(this, cmd, "the block is on the stack; the property does not copy it, so copy it first");
    }
    // SAFETY: as above.
    let copy = || unsafe { Block::copy(handler) }.unwrap_or_else(|reason| violation!(this, cmd, "{reason}"));
    let handler = if handler.is_nil() { None } else { Some(copy()) };
    *this.state::<ExecutionDescriptor>().completion_handler.lock().ignore_poison() = handler;
}
