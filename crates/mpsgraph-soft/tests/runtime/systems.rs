//! Which selectors answer on which system: those of Apple's headers, from the macOS that brought them on.

use std::ffi::c_void;

use mpsgraph_soft::classes::CLASSES;
use mpsgraph_soft::objc::{ClassKind, Method, register, version};
use mpsgraph_soft::symbols;

use crate::runtime::foundation::Version;
use crate::runtime::messages::{Object, class, new, release, selector, send};
use crate::support::{Documented, Reported, passes_with, plain, rule, violation};

fn responds(class: Object, method: &str) -> bool {
    // SAFETY: a class of the runtime and a registered selector.
    unsafe { symbols::class_respondsToSelector(class, selector(method)) }
}

#[test]
fn private_selectors_are_absent() {
    let _test = rule(Documented(
        "getmirai/mpsgraph-rs and pytorch/pytorch MPSStream.mm use them; no header of Apple's has them",
    ));
    for (name, selectors) in [
        (
            "MPSGraphExecutableExecutionDescriptor",
            ["enableCommitAndContinue", "setEnableCommitAndContinue:", "disableANEFallback", "setDisableANEFallback:"],
        ),
        (
            "MPSGraphCompilationDescriptor",
            ["preferredDevice", "setPreferredDevice:", "enableDevicePlacement", "setEnableDevicePlacement:"],
        ),
    ] {
        let object = new(class(name));
        for absent in selectors {
            assert!(!send!(bool; object, "respondsToSelector:", selector(absent) => *const c_void));
        }
        release(object);
    }
    let descriptor = new(class("MPSGraphExecutableExecutionDescriptor"));
    let message = violation(|| send!((); descriptor, "setEnableCommitAndContinue:", 0 => u8));
    assert_eq!(message, "-[MPSGraphExecutableExecutionDescriptor setEnableCommitAndContinue:]: unrecognized selector");
    release(descriptor);
}

#[test]
fn selectors_and_classes_answer_from_their_system_on() {
    let _test = rule(Documented("Apple's headers (API_AVAILABLE); dotnet/macios src/metalperformanceshadersgraph.cs"));
    let system = version::macos();
    let (mut present, mut absent) = (0, 0);
    for def in CLASSES {
        let object = register(def).as_ptr();
        let since = |method: &Method| method.min_macos().unwrap_or(def.min_macos);
        // SAFETY: a class of the runtime.
        let meta = unsafe { symbols::object_getClass(object) };
        for (class, methods) in [(object, def.instance), (meta, def.class)] {
            for method in methods {
                let is_there = since(method).max(def.min_macos) <= system;
                let is_inherited = responds(self::class("NSObject"), method.selector());
                assert_eq!(
                    responds(class, method.selector()),
                    is_there || is_inherited,
                    "{} {}",
                    def.name,
                    method.selector()
                );
                present += usize::from(is_there);
                absent += usize::from(!is_there);
            }
        }
        let found = def.kind == ClassKind::Class && def.min_macos <= system;
        assert_eq!(!class(def.name).is_null(), found, "{}", def.name);
    }
    println!("{present} selectors, {absent} of later systems");
    assert!(present > 100);
    assert!(absent > 0 || system >= (15, 0));
}

#[test]
fn on_other_systems_that_older_programs_see_with_another_number() {
    let _test = plain();
    passes_with("MPSGRAPH_SOFT_MACOS", "16.0", &["--ignored", "runtime::systems::says_16::"], 1);
}

mod says_16 {
    use super::*;

    #[test]
    #[ignore = "run by the test above with the environment it needs"]
    fn it_is_26_and_says_16() {
        let _test = rule(Reported("dotnet/runtime#116503, openjdk/jdk#25865: 16 for programs of older SDKs"));
        let info = send!(Object; class("NSProcessInfo"), "processInfo");
        let version = |major: isize| Version([major, 0, 0]);
        assert_eq!(send!(Version; info, "operatingSystemVersion").0, [16, 0, 0]);
        assert!(!send!(bool; info, "isOperatingSystemAtLeastVersion:", version(26) => Version));
        assert_eq!(version::macos(), (26, 0));
    }
}

#[test]
fn on_other_systems() {
    let _test = plain();
    for system in ["11.0", "12.3", "13.0", "14.4", "15.0", "26.0"] {
        let test = "runtime::systems::selectors_and_classes_answer_from_their_system_on";
        passes_with("MPSGRAPH_SOFT_MACOS", system, &["--exact", test], 1);
    }
}
