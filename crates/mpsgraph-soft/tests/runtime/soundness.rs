//! What safe code can do with objects never reads freed memory.
//!
//! The compiler refuses most of it: see the examples in the documentation of `Id`, `Strong` and `This`, which do not
//! compile. Here is the rest, which is reported when it happens.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;

use mpsgraph_soft::foundation::{ns_array, ns_dictionary, ns_error, ns_number, ns_string};
use mpsgraph_soft::objc::{ClassDef, Id, Strong, new_object, pool};
use mpsgraph_soft::stats::live_count;

use crate::runtime::messages::plain_class;
use crate::support::{Assumed, passes_with, plain, rule, violation};

static KEPT: ClassDef = plain_class("TestKept");
static RACED: ClassDef = plain_class("TestRaced");
static REUSED: ClassDef = plain_class("TestReused");
static STALE: ClassDef = plain_class("TestStale");
static GUARDED: ClassDef = plain_class("TestGuarded");
static KEPT_BY_MANY: ClassDef = plain_class("TestKeptByMany");

/// A payload that cannot be mistaken for another after it was dropped.
struct Canary {
    alive: AtomicBool,
    words: Vec<u64>,
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Canary {
    fn new() -> Self {
        Self { alive: AtomicBool::new(true), words: vec![7; 100] }
    }

    fn check(&self) {
        assert!(self.alive.load(Relaxed) && self.words.iter().all(|&word| word == 7));
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.alive.store(false, Relaxed);
        self.words.fill(9);
        DROPPED.fetch_add(1, Relaxed);
    }
}

#[test]
fn the_address_of_a_dead_object_leads_to_no_payload() {
    let _test = rule(Assumed("Rust: safe code never reads freed memory"));
    let id: Id = new_object(&KEPT, Canary::new()).id();
    assert_eq!((live_count("TestKept"), id.retain_count(), id.class_name()), (0, 0, "TestKept"));
    let message = violation(|| Strong::retain(id));
    assert!(message.starts_with("-[TestKept retain]: ") && message.contains("is deallocated"), "{message}");
}

#[test]
fn a_pool_takes_its_reference_only() {
    let _test = rule(Assumed("Rust: safe code never reads freed memory"));
    let outlived: Id = pool(|| {
        let object = new_object(&GUARDED, Canary::new());
        let id = object.clone().autorelease();
        pool(|| object.clone().autorelease());
        assert_eq!(object.id().retain_count(), 2);
        object.state::<Canary>().check();
        id
    });
    assert_eq!(live_count("TestGuarded"), 0);
    violation(|| Strong::retain(outlived));
    let kept = pool(|| Strong::retain(new_object(&GUARDED, Canary::new()).autorelease()));
    kept.state::<Canary>().check();
    assert_eq!(kept.id().retain_count(), 1);
}

/// One thread gives up the last reference while others try to get one: they get it before the payload is dropped, or
/// are refused. Several at once, because a refused retain must not look like a reference to the next.
#[test]
fn the_last_release_and_a_retain_do_not_meet() {
    let _test = plain();
    let (mut got, mut refused) = (0, 0);
    for _ in 0..1_000 {
        let object = new_object(&RACED, Canary::new());
        let id = object.id();
        let retain = || match std::panic::catch_unwind(|| Strong::retain(id)) {
            Ok(owner) => {
                owner.state::<Canary>().check();
                true
            }
            Err(_) => false,
        };
        let outcomes = thread::scope(|scope| {
            let others = [scope.spawn(retain), scope.spawn(retain)];
            drop(object);
            others.map(|other| other.join().expect("no panic but the one caught"))
        });
        for outcome in outcomes {
            *if outcome { &mut got } else { &mut refused } += 1;
        }
    }
    assert_eq!((got + refused, live_count("TestRaced")), (2_000, 0));
}

/// A header is used again after many others died. An address kept since then is the address of the new object, whose
/// payload is checked by its type. In a process of its own, because other tests rely on headers not being used again.
#[test]
fn a_header_that_is_used_again_has_the_new_payload() {
    let _test = plain();
    let test = "runtime::soundness::a_header_is_used_again";
    passes_with("RUST_TEST_THREADS", "1", &["--ignored", "--exact", test], 1);
}

#[test]
#[ignore = "run by `a_header_that_is_used_again_has_the_new_payload`"]
fn a_header_is_used_again() {
    let _test = plain();
    let stale: Vec<Id> = (0..64).map(|_| new_object(&STALE, Canary::new()).id()).collect();
    let mut reused = Vec::new();
    for _ in 0..200_000 {
        let object = new_object(&REUSED, String::from("new"));
        if stale.contains(&object.id()) {
            reused.push(object);
            break;
        }
    }
    let reused = reused.pop().expect("headers are used again");
    let owner = Strong::retain(reused.id());
    assert!(owner.try_state::<Canary>().is_none());
    assert_eq!(owner.state::<String>(), "new");
}

#[test]
fn a_payload_of_another_type_is_refused() {
    let _test = rule(Assumed("Rust: safe code never reads freed memory"));
    let number = pool(|| Strong::retain(ns_number::number_i64(7)));
    assert!(number.try_state::<Canary>().is_none());
    assert!(violation(|| number.state::<Canary>().words.len()).contains("NSNumber"));
    // An object whose class and payload do not fit together is of no use, and does no harm.
    let string = new_object(&ns_string::CLASS, vec![7_u64; 1000]);
    assert!(violation(|| ns_string::as_str(&string).len()).contains("NSString"));
    violation(|| string.set_state(8_u64));
    assert_eq!(string.state::<Vec<u64>>().len(), 1000);
    assert!(violation(|| Strong::retain(Id::NIL).state::<Canary>().check()).contains("nil"));
}

/// What collections lend is theirs for as long as they are borrowed.
#[test]
fn items_live_as_long_as_their_owner() {
    let _test = plain();
    let text = ns_string::owned("text");
    let (array, dictionary) = pool(|| {
        let key = ns_string::owned("key");
        (
            Strong::retain(ns_array::array([text.id()])),
            Strong::retain(ns_dictionary::dictionary([(key.id(), text.id())])),
        )
    });
    drop(text);
    assert_eq!(ns_string::as_str(&ns_array::items(&array)[0]), "text");
    let value = ns_dictionary::value(&dictionary, &ns_string::owned("key")).expect("an entry");
    assert_eq!(ns_string::as_str(value), "text");
    let owned = value.clone();
    drop((array, dictionary));
    assert_eq!(ns_string::as_str(&owned), "text");
    let error = pool(|| Strong::retain(ns_error::error("domain", 1, "text")));
    assert_eq!(error.id().retain_count(), 1);
}

/// Readers on several threads, each with an owner of its own; whoever is last drops the payload.
#[test]
fn the_last_of_many_owners_drops_the_payload() {
    let _test = plain();
    let before = DROPPED.load(Relaxed);
    let object = new_object(&KEPT_BY_MANY, Canary::new());
    let (done, waits) = mpsc::channel::<()>();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (owner, done) = (object.clone(), done.clone());
            scope.spawn(move || {
                (0..1_000).for_each(|_| owner.clone().state::<Canary>().check());
                drop(done);
            });
        }
        drop((object, done));
        assert!(waits.recv().is_err());
    });
    assert_eq!(live_count("TestKeptByMany"), 0);
    assert!(DROPPED.load(Relaxed) > before);
}
