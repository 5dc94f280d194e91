//! Completed handlers: blocks that are called when a command buffer has ended.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use mpsgraph_soft::metal::fault;
use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::symbols;

use super::messages::*;
use crate::support::{Block, Closure, Documented};

fn send_block(buffer: Id, block: *const c_void) {
    msg!(buffer, "addCompletedHandler:", block => *const c_void; ());
}

/// Sends `addCompletedHandler:` with a block on the stack, which is gone when this returns.
fn add(buffer: &Strong, closure: impl Fn(Id) + Send + Sync + 'static) {
    let block = Block::of_one(Arc::new(Box::new(move |objects| closure(objects[0]))));
    send_block(buffer.id(), block.address());
}

/// Adds a handler that notes `name` and the status.
fn note(buffer: &Strong, name: &'static str, notes: &mpsc::Sender<(&'static str, usize)>) {
    let notes = notes.clone();
    add(buffer, move |ended| notes.send((name, msg!(ended, "status"; usize))).unwrap());
}

fn root(buffer: &Strong) -> Strong {
    Strong::retain(msg!(buffer.id(), "rootCommandBuffer"; Id))
}

#[test]
fn handlers_are_called_in_order_before_the_wait_ends() {
    let _test = rule(Documented("Apple's documentation of addCompletedHandler: and waitUntilCompleted"));
    let (notes, found) = mpsc::channel();
    let buffer = mps(&queue());
    note(&buffer, "first", &notes);
    note(&root(&buffer), "second", &notes);
    encode(&buffer, || ());
    let elsewhere = Arc::new(Mutex::new(None));
    let place = Arc::clone(&elsewhere);
    add(&buffer, move |_| *place.lock().unwrap() = Some(thread::current().id()));
    commit(&buffer);
    wait(&buffer);
    assert_eq!(found.try_iter().collect::<Vec<_>>(), [("first", COMPLETED), ("second", COMPLETED)]);
    let place = elsewhere.lock().unwrap().take();
    assert!(place.is_some_and(|place| place != thread::current().id()), "on a thread of Metal's");
    assert_eq!(Arc::strong_count(&elsewhere), 1, "called, so the block is gone");
}

#[test]
fn handlers_are_called_without_anyone_waiting() {
    let _test = rule(Documented("Apple's documentation of addCompletedHandler:"));
    let queue = queue();
    let (notes, found) = mpsc::channel();
    for _ in 0..200 {
        pooled(|| {
            let buffer = mps(&queue);
            note(&buffer, "ended", &notes);
            commit(&buffer);
        });
    }
    drop(notes);
    assert_eq!(found.iter().collect::<Vec<_>>(), [("ended", COMPLETED); 200]);
}

#[test]
fn an_open_pool_does_not_hold_handlers_back() {
    let _test = plain();
    let queue = queue();
    let (place, places) = mpsc::channel();
    let commit_one = || {
        pooled(|| {
            let (buffer, place) = (mps(&queue), place.clone());
            add(&buffer, move |_| place.send(thread::current().id()).unwrap());
            commit(&buffer);
        });
    };
    pooled(|| {
        for _ in 0..3 {
            commit_one();
            assert_ne!(places.recv().unwrap(), thread::current().id(), "in the middle of a pool");
        }
    });
    commit_one();
    assert!(places.recv().is_ok(), "called by this thread, which has no pool any more, or by that of handlers");
}

#[test]
fn handlers_are_called_after_an_error_too() {
    let _test = rule(Documented("Apple's documentation of addCompletedHandler:: look at the status and the error"));
    let (notes, found) = mpsc::channel();
    let buffer = mps(&queue());
    note(&buffer, "failed", &notes);
    fault::fail_next(1, 8);
    commit(&buffer);
    wait(&root(&buffer));
    assert_eq!(found.try_iter().collect::<Vec<_>>(), [("failed", ERROR)]);
}

#[test]
fn a_handler_stays_with_the_command_buffer_that_an_encode_commits() {
    let _test =
        rule(Documented("Apple's MPSCommandBuffer.h: handlers added before commitAndContinue stay with the old"));
    let (notes, found) = mpsc::channel();
    let buffer = mps(&queue());
    note(&buffer, "first", &notes);
    fault::commit_inside_encode(2);
    encode(&buffer, || ());
    assert_eq!(found.recv().unwrap(), ("first", COMPLETED), "committed inside");
    note(&buffer, "last", &notes);
    commit(&buffer);
    wait(&buffer);
    assert_eq!(found.try_iter().collect::<Vec<_>>(), [("last", COMPLETED)]);
}

#[test]
fn a_command_buffer_that_is_never_committed_lets_go_of_its_handlers() {
    let _test = plain();
    let alive = Arc::new(());
    pooled(|| {
        let (buffer, captured) = (mps(&queue()), Arc::clone(&alive));
        add(&buffer, move |_| assert_eq!(*captured, ()));
        assert_eq!(Arc::strong_count(&alive), 2);
    });
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_handler_after_the_commit_is_refused() {
    let _test = rule(Documented("Apple's documentation of addCompletedHandler:: only before the commit"));
    let buffer = mps(&queue());
    let root = root(&buffer);
    commit(&buffer);
    assert_eq!(
        violation(|| add(&root, |_| ())),
        "-[MTLCommandBuffer addCompletedHandler:]: Completed handler provided after commit call"
    );
    wait(&root);
}

#[test]
fn no_block_and_blocks_of_other_types_are_refused() {
    let _test = rule(Documented("Apple's MTLCommandBuffer.h: a nonnull block that takes the command buffer"));
    let buffer = mps(&queue());
    let refused = |f: &dyn Fn()| violation(f);
    assert!(refused(&|| send_block(buffer.id(), std::ptr::null())).ends_with("the block is nil"));
    let text = refused(&|| send_block(buffer.id(), Block::of_signature(c"v8@?0").address()));
    assert!(text.ends_with("the block's type is v8@?0; it must take one object and return nothing"), "{text}");
}

#[test]
fn a_handler_that_waits_for_its_own_work_is_refused() {
    let _test = rule(Documented("Apple's documentation of waitUntilCompleted: it waits for the completion handlers"));
    let (notes, found) = mpsc::channel();
    let buffer = mps(&queue());
    add(&buffer, move |ended| {
        let ended = Strong::retain(ended);
        notes.send(violation(|| wait(&ended))).unwrap();
    });
    commit(&buffer);
    wait(&buffer);
    let text = found.recv().unwrap();
    assert!(text.contains("waits forever: it waits for completed handlers"), "{text}");
}

#[test]
fn blocks_are_copied_once_and_counted() {
    let _test = plain();
    let closure: Arc<Closure> = Arc::new(Box::new(|_| ()));
    let mut block = Block::of_one(Arc::clone(&closure));
    // SAFETY: the block is live, and each copy is released once.
    unsafe {
        let one = symbols::_Block_copy(block.address());
        let other = symbols::_Block_copy(block.address());
        assert_ne!(one, other);
        assert_eq!(Arc::strong_count(&closure), 4);
        assert_eq!(symbols::_Block_copy(one), one, "a copy is only counted");
        symbols::_Block_release(one);
        assert_eq!(Arc::strong_count(&closure), 4);
        symbols::_Block_release(one);
        symbols::_Block_release(other);
        assert_eq!(Arc::strong_count(&closure), 2);
        assert!(symbols::_Block_copy(std::ptr::null()).is_null());
        symbols::_Block_release(std::ptr::null());

        block.isa = (&raw const symbols::_NSConcreteGlobalBlock).cast();
        block.flags = 1 << 28 | 1 << 30;
        let constant = block.address();
        assert_eq!(symbols::_Block_copy(constant).cast_const(), constant, "a constant is its own copy");
        symbols::_Block_release(constant);
    }
}
