//! Many threads at once.

use std::sync::Barrier;
use std::thread;

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::objc::{ClassDef, ClassKind, Id, Sel, This, method0, method1, new_object};
use mpsgraph_soft::stats::live_count;

use crate::runtime::messages::{Object, release, retain, send, test_class};
use crate::support::{plain, pooled};

const THREADS: usize = 8;

struct Value(i64);

static SHARED: ClassDef = ClassDef {
    name: "TestShared",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[method1("plus:", plus)],
    class: &[method0("shared", shared)],
};

extern "C-unwind" fn plus(this: This<'_>, _cmd: Sel, other: i64) -> i64 {
    this.state::<Value>().0 + other
}

extern "C-unwind" fn shared(_this: This<'_>, _cmd: Sel) -> Id {
    new_object(&SHARED, Value(40)).autorelease()
}

#[test]
fn one_object_used_and_counted_by_all() {
    let _test = plain();
    let object = pooled(|| retain(send!(Object; test_class(&SHARED), "shared")));
    let address = object.addr();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let barrier = &barrier;
            scope.spawn(move || {
                let object: Object = std::ptr::with_exposed_provenance_mut(address);
                barrier.wait();
                for at in 0..20_000 {
                    retain(object);
                    assert_eq!(send!(i64; object, "plus:", at => i64), 40 + at);
                    if at % 64 == thread as i64 {
                        pooled(|| {
                            send!(Object; retain(object), "autorelease");
                            let own = send!(Object; test_class(&SHARED), "shared");
                            assert_eq!(send!(i64; own, "plus:", 2 => i64), 42);
                        });
                    }
                    release(object);
                }
            });
        }
    });
    assert_eq!(send!(usize; object, "retainCount"), 1);
    release(object);
    assert_eq!(live_count("TestShared"), 0);
}

#[test]
fn selectors_registered_at_once_are_one() {
    let _test = plain();
    let barrier = Barrier::new(THREADS);
    let addresses: Vec<Vec<usize>> = thread::scope(|scope| {
        let register = |_| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                (0..500).map(|at| crate::runtime::messages::selector(&format!("racing{at}")).addr()).collect()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(register).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(addresses.iter().all(|own| *own == addresses[0]));
}
