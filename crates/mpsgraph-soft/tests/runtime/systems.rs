//! Which selectors answer on which system: those of Apple's headers, from the macOS that brought them on.

use std::ffi::c_void;
use std::process::Command;

use mpsgraph_soft::classes::CLASSES;
use mpsgraph_soft::objc::{ClassKind, Method, register, version};
use mpsgraph_soft::symbols;

use crate::runtime::messages::{Object, class, new, panic_message, release, selector, send};

fn responds(class: Object, method: &str) -> bool {
    // SAFETY: a class of the runtime and a registered selector.
    unsafe { symbols::class_respondsToSelector(class, selector(method)) }
}

/// getmirai/mpsgraph-rs and pytorch/pytorch MPSStream.mm use them; no header of Apple's has them.
#[test]
fn private_selectors_are_absent() {
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
    let message = panic_message(|| send!((); descriptor, "setEnableCommitAndContinue:", 0 => u8));
    assert_eq!(message, "-[MPSGraphExecutableExecutionDescriptor setEnableCommitAndContinue:]: unrecognized selector");
    release(descriptor);
}

/// Apple's headers (API_AVAILABLE); dotnet/macios src/metalperformanceshadersgraph.cs.
#[test]
fn selectors_and_classes_answer_from_their_system_on() {
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
fn on_other_systems() {
    let program = std::env::current_exe().expect("the path of the tests");
    for system in ["11.0", "12.3", "13.0", "14.4", "15.0", "26.0"] {
        let mut command = Command::new(&program);
        command
            .env("MPSGRAPH_SOFT_MACOS", system)
            .args(["--exact", "runtime::systems::selectors_and_classes_answer_from_their_system_on"]);
        let output = command.output().expect("the tests run");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("1 passed"), "macOS {system}: {text}");
    }
}
