//! The completion handler of an execution.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use mpsgraph_soft::metal::fault::{self, Telling};
use mpsgraph_soft::objc::{Id, Strong};

use super::super::messages::objects;
use super::super::session::command_buffer;
use super::{Fitting, fitting};
use crate::support::{Assumed, Block, Documented, Probed, Reported, msg, new, plain, refused, rule, violation};

const SET: &str = "setCompletionHandler:";

/// What a handler was told: how many results, and the error's code.
type Told = (Option<usize>, Option<isize>);

/// A descriptor with a handler that passes on what it is told.
fn descriptor(telling: mpsc::Sender<Told>) -> Strong {
    let descriptor = new("MPSGraphExecutableExecutionDescriptor");
    let told = Mutex::new(telling);
    let block = Block::of_two(Arc::new(Box::new(move |given| {
        let [results, error] = given else { unreachable!("two objects") };
        let count = (!results.is_nil()).then(|| objects(*results).len());
        let code = (!error.is_nil()).then(|| msg!(*error, "code"; isize));
        told.lock().unwrap().send((count, code)).unwrap();
    })));
    set(&descriptor, block.copied().address());
    descriptor
}

fn set(descriptor: &Strong, block: *const c_void) {
    msg!(descriptor.id(), SET, block => *const c_void; ());
}

/// Encodes with so many commits inside and commits; what the handler is told until everybody has let go of it.
fn told_of(fit: &Fitting, commits: usize, failing: Option<usize>) -> Vec<Told> {
    let (telling, told) = mpsc::channel();
    let before = fault::commit_inside_encode(commits);
    if let Some(failing) = failing {
        fault::fail_next_here(failing, 8);
    }
    crate::support::pooled(|| {
        let commands = command_buffer(&fit.queue);
        fit.encode(commands, descriptor(telling).id());
        msg!(commands, "commit"; ());
        msg!(commands, "waitUntilCompleted"; ());
        assert_eq!(msg!(commands, "status"; usize), if failing == Some(commits + 1) { 5 } else { 4 });
    });
    fault::commit_inside_encode(before);
    told.into_iter().collect()
}

#[test]
fn the_handler_of_an_execution_is_called_once_and_let_go() {
    let _test =
        rule(Probed("DrewsChessMachine GPU_CALL_AUDIT_2026-10-09.md: macOS 27.2, also with four commits inside"));
    let fit = fitting();
    for commits in [0, 1, 4] {
        assert_eq!(told_of(&fit, commits, None), [(Some(1), None)]);
    }
}

#[test]
fn the_handler_of_an_execution_is_told_why_it_failed() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h: an error, if one occurred; results, if none did"));
    assert_eq!(told_of(&fitting(), 0, Some(1)), [(None, Some(8))]);
}

#[test]
fn the_handler_of_an_execution_is_told_of_a_fault_between_commits() {
    let _test = rule(Assumed(
        "Apple's MPSGraphExecutable.h: the error is that of the execution; DrewsChessMachine GPUSubmission.swift \
         relies on it and has provoked none",
    ));
    let fit = fitting();
    for failing in 1..=4 {
        assert_eq!(told_of(&fit, 3, Some(failing)), [(None, Some(8))]);
    }
}

#[test]
fn the_handler_of_an_execution_is_called_before_those_added_later() {
    let _test = rule(Reported("DrewsChessMachine GPUSubmission.swift: from the completion of the last command buffer"));
    let (telling, told) = mpsc::channel();
    let fit = fitting();
    let commands = command_buffer(&fit.queue);
    fit.encode(commands, descriptor(telling).id());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (told, notes) = (Mutex::new(told), Arc::clone(&seen));
    let later =
        Block::of_one(Arc::new(Box::new(move |_| notes.lock().unwrap().extend(told.lock().unwrap().try_iter()))));
    msg!(commands, "addCompletedHandler:", later.address() => *const c_void; ());
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    assert_eq!(*seen.lock().unwrap(), [(Some(1), None)]);
}

#[test]
fn tests_choose_when_handlers_of_executions_are_called() {
    let _test = plain();
    let fit = fitting();
    let before = fault::tell_executions(Telling::After(Duration::from_millis(5)));
    assert_eq!(told_of(&fit, 2, Some(2)), [(None, Some(8))]);
    fault::tell_executions(Telling::Never);
    assert_eq!(told_of(&fit, 2, None), []);
    assert_eq!(fault::tell_executions(before), Telling::Never);
}

#[test]
fn an_execution_that_is_never_committed_lets_go_of_its_handler() {
    let _test = plain();
    let (telling, told) = mpsc::channel();
    let fit = fitting();
    crate::support::pooled(|| fit.encode(command_buffer(&fit.queue), descriptor(telling).id()));
    assert_eq!(told.into_iter().count(), 0);
}

#[test]
fn a_handler_on_the_stack_is_refused() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h: the property is declared without `copy`"));
    let descriptor = new("MPSGraphExecutableExecutionDescriptor");
    let block = Block::of_two(Arc::new(Box::new(|_| ())));
    refused(SET, "on the stack", || set(&descriptor, block.address()));
}

#[test]
fn a_handler_that_does_not_take_two_objects_is_refused() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h (MPSGraphExecutableCompletionHandler)"));
    let descriptor = new("MPSGraphExecutableExecutionDescriptor");
    let text = violation(|| set(&descriptor, Block::of_signature(c"v16@?0@8").copied().address()));
    assert!(text.ends_with("the block's type is v16@?0@8; it must take 2 objects and return nothing"), "{text}");
    // The default value is nil.
    set(&descriptor, std::ptr::null());
    let fit = fitting();
    assert_ne!(fit.encode(command_buffer(&fit.queue), descriptor.id()), Id::NIL);
}
