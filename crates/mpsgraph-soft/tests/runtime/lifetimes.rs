//! Reference counts, autorelease pools, payloads and leak counts.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, new_object};
use mpsgraph_soft::stats::{live_count, live_objects, object_totals};
use mpsgraph_soft::symbols;

use crate::runtime::messages::{Object, class, new, plain_class, release, retain, send, test_class};
use crate::support::{Documented, plain, pooled, rule, violation};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Owner {
    child: Strong,
}

impl Drop for Owner {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
    }
}

static OWNER: ClassDef = ClassDef {
    name: "TestOwner",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method1("initWithChild:", init_with_child), method0("child", child)],
    class: &[method1("ownerWithChild:", owner_with_child)],
};

extern "C-unwind" fn init_with_child(this: This<'_>, _cmd: Sel, child: Id) -> Id {
    this.set_state(Owner { child: Strong::retain(child) });
    this.id()
}

extern "C-unwind" fn child(this: This<'_>, _cmd: Sel) -> Id {
    this.state::<Owner>().child.id()
}

extern "C-unwind" fn owner_with_child(_this: This<'_>, _cmd: Sel, child: Id) -> Id {
    new_object(&OWNER, Owner { child: Strong::retain(child) }).autorelease()
}

static CHILD: ClassDef = plain_class("TestChild");
static POOLED: ClassDef = plain_class("TestPooled");
static LATE: ClassDef = plain_class("TestLate");
static BURIED: ClassDef = plain_class("TestBuried");

fn count(object: Object) -> usize {
    send!(usize; object, "retainCount")
}

#[test]
fn the_last_release_drops_the_payload_and_what_it_owns() {
    let _test = plain();
    let (owners, children) = (test_class(&OWNER), test_class(&CHILD));
    let child = new(children);
    let owner = send!(Object; send!(Object; owners, "alloc"), "initWithChild:", child => Object);
    assert_eq!((count(owner), count(child)), (1, 2));
    release(child);
    assert_eq!(send!(Object; owner, "child"), child);
    assert_eq!((live_count("TestOwner"), live_count("TestChild")), (1, 1));
    assert_eq!(live_objects().get("TestChild"), Some(&1));

    assert_eq!(send!(Object; owner, "retain"), owner);
    send!((); owner, "release");
    assert_eq!(DROPPED.load(SeqCst), 0);
    release(owner);
    assert_eq!(DROPPED.load(SeqCst), 1);
    assert_eq!((live_count("TestOwner"), live_count("TestChild")), (0, 0));

    pooled(|| {
        let child = new(children);
        let owner = send!(Object; owners, "ownerWithChild:", child => Object);
        release(child);
        // SAFETY: a live object.
        let retained = || unsafe { symbols::objc_retainAutoreleasedReturnValue(owner) };
        let kept = retained();
        assert_eq!(count(kept), 1, "taken out of the pool");
        assert_eq!(count(retained()), 2, "not in the pool any more");
        release(kept);
        release(kept);
        assert_eq!(live_count("TestChild"), 0);
    });
    assert_eq!((live_count("TestOwner"), live_count("TestChild")), (0, 0));
    assert_eq!(DROPPED.load(SeqCst), 2);
}

#[test]
fn pools_nest_and_outer_ones_close_inner_ones() {
    let _test = rule(Documented("Apple's objc4 runtime (objc_autoreleasePoolPop)"));
    let class = test_class(&POOLED);
    let autoreleased = || send!(Object; new(class), "autorelease");
    pooled(|| {
        autoreleased();
        pooled(|| {
            autoreleased();
            autoreleased();
            assert_eq!(live_count("TestPooled"), 3);
        });
        assert_eq!(live_count("TestPooled"), 1);
        // SAFETY: opened on this thread; the outer pool closes it.
        let inner = unsafe { symbols::objc_autoreleasePoolPush() };
        assert!(!inner.is_null());
        autoreleased();
    });
    assert_eq!(live_count("TestPooled"), 0);
    let (outer, inner);
    // SAFETY: both are opened and closed on this thread.
    unsafe {
        outer = symbols::objc_autoreleasePoolPush();
        inner = symbols::objc_autoreleasePoolPush();
        symbols::objc_autoreleasePoolPop(outer);
    }
    // SAFETY: the runtime checks the token.
    let message = violation(|| unsafe { symbols::objc_autoreleasePoolPop(inner) });
    assert!(message.contains("popped before"), "{message}");
    // SAFETY: the runtime checks the token.
    let message = violation(|| unsafe { symbols::objc_autoreleasePoolPop(std::ptr::null_mut()) });
    assert!(message.contains("another thread"), "{message}");
}

#[test]
fn autorelease_without_a_pool_is_refused() {
    let _test = rule(Documented(
        "Apple's objc4 runtime: the object just leaks. kulinseth/pytorch#111; tillahoffmann/jax-mps mps_executable.mm",
    ));
    // The thread of the test has a pool; another has none.
    let without_a_pool = || {
        let object = new(class("NSObject"));
        let message = violation(|| send!(Object; object, "autorelease"));
        assert!(message.starts_with("-[NSObject autorelease]: no autorelease pool"), "{message}");
        assert_eq!(count(object), 1);
        release(object);
    };
    std::thread::scope(|scope| scope.spawn(without_a_pool).join()).expect("no panic");
    // SAFETY: nil needs no pool.
    assert!(unsafe { symbols::objc_autorelease(std::ptr::null_mut()) }.is_null());
}

#[test]
fn pools_work_while_a_thread_ends() {
    let _test = plain();
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            pooled(|| send!(Object; new(test_class(&LATE)), "autorelease"));
        }
    }
    thread_local!(static LATE_USER: Late = const { Late });
    let before = live_count("TestLate");
    std::thread::spawn(|| {
        LATE_USER.with(|_| {});
        pooled(|| send!(Object; new(test_class(&LATE)), "autorelease"));
    })
    .join()
    .expect("the destructor runs without a panic");
    assert_eq!(live_count("TestLate"), before);
}

#[test]
fn a_dead_object_is_known_long_after() {
    let _test = rule(Documented("Apple's NSZombieEnabled, always on"));
    let buried = test_class(&BURIED);
    let before = object_totals();
    let dead = new(buried);
    release(dead);
    for _ in 0..60_000 {
        release(new(buried));
    }
    let message = violation(|| retain(dead));
    assert!(message.starts_with("-[TestBuried retain]: "), "{message}");
    for _ in 0..70_000 {
        release(new(buried));
    }
    assert_eq!(live_count("TestBuried"), 0);
    let after = object_totals();
    assert!(after.made - before.made >= 130_001 && after.deallocated - before.deallocated >= 130_001);
}

#[test]
fn classes_are_immortal() {
    let _test = plain();
    let object = class("NSObject");
    for _ in 0..3 {
        release(object);
    }
    assert_eq!(send!(Object; object, "self"), object);
    pooled(|| assert_eq!(send!(Object; object, "autorelease"), object));
}
