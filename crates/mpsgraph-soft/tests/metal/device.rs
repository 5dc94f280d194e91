//! `MTLDevice`: what it says of itself, on the system and the GPU that the environment names.

use mpsgraph_soft::objc::{Id, version};
use mpsgraph_soft::symbols;

use super::messages::*;
use crate::support::{Documented, Reported};

/// Checks that a test of this file passes on such a GPU.
#[track_caller]
fn passes_on(gpu: &str, test: &str) {
    passes_with("MPSGRAPH_SOFT_GPU_FAMILY", gpu, &["--ignored", "--exact", &format!("metal::device::{test}")], 1);
}

fn supports(family: isize) -> bool {
    msg!(device().id(), "supportsFamily:", family => isize; bool)
}

#[test]
fn one_device_of_apple_silicon() {
    let _test = plain();
    let device = device();
    assert_eq!(device, super::messages::device(), "always the same object");
    assert_eq!(text(msg!(device.id(), "name"; Id)), "mpsgraph-soft");
    assert_ne!(msg!(device.id(), "registryID"; u64), 0);
    assert!(msg!(device.id(), "hasUnifiedMemory"; bool));
    let (largest, working_set) =
        (msg!(device.id(), "maxBufferLength"; usize), msg!(device.id(), "recommendedMaxWorkingSetSize"; u64));
    assert!(largest >= 1 << 28 && (largest as u64) < working_set);
    assert!(supports(1007) && supports(2002) && supports(3003), "Apple7, Mac2, Common3");
    assert!(!supports(4002) && !supports(0), "MacCatalyst2, nothing");
}

#[test]
fn families_of_later_systems_are_not_supported() {
    let _test = rule(Documented("Apple's MTLDevice.h: Metal3 is of macOS 13, Metal4 of macOS 26"));
    assert_eq!(supports(5001), version::macos() >= (13, 0));
    assert_eq!(supports(5002), version::macos() >= (26, 0));
}

#[test]
fn families_are_those_up_to_the_configured_one() {
    let _test =
        rule(Documented("Apple's Metal feature set tables: M1 is Apple7, M2 Apple8, M3 and M4 Apple9, M5 Apple10"));
    for family in 7..=10 {
        passes_on(&family.to_string(), "the_family_that_the_environment_names");
    }
}

#[test]
fn a_discrete_gpu_has_memory_of_its_own_and_no_family_of_apples() {
    let _test = rule(Documented("Apple's MTLDevice.h: hasUnifiedMemory; the Metal feature set tables: AMD's are Mac2"));
    passes_on("discrete", "the_discrete_gpu_that_the_environment_names");
}

#[test]
#[ignore = "run by `a_discrete_gpu_has_memory_of_its_own_and_no_family_of_apples` with the environment it needs"]
fn the_discrete_gpu_that_the_environment_names() {
    let _test = plain();
    assert!(!msg!(device().id(), "hasUnifiedMemory"; bool));
    assert!((1001..=1012).all(|family| !supports(family)));
    assert!(supports(2002), "Mac2");
}

#[test]
fn the_gpu_of_a_virtual_mac_is_of_an_old_family() {
    let _test = rule(Reported("JuliaGPU/Metal.jl#309: an `Apple Paravirtual device` is of Apple5, not of Apple6"));
    passes_on("virtual", "the_virtual_gpu_that_the_environment_names");
}

#[test]
#[ignore = "run by `the_gpu_of_a_virtual_mac_is_of_an_old_family` with the environment it needs"]
fn the_virtual_gpu_that_the_environment_names() {
    let _test = plain();
    assert!(msg!(device().id(), "hasUnifiedMemory"; bool));
    assert!(supports(1005) && !supports(1006));
}

#[test]
fn a_hidden_gpu_is_listed_though_it_is_not_the_default() {
    let _test = rule(Reported("huggingface/candle#3449: `MTLCreateSystemDefaultDevice` gives nil without a window"));
    passes_on("hidden", "the_hidden_gpu_that_the_environment_names");
}

#[test]
#[ignore = "run by `a_hidden_gpu_is_listed_though_it_is_not_the_default` with the environment it needs"]
fn the_hidden_gpu_that_the_environment_names() {
    let _test = plain();
    // SAFETY: no preconditions.
    let default = unsafe { symbols::MTLCreateSystemDefaultDevice() };
    assert!(default.is_null());
    let all = all_devices();
    assert_eq!(msg!(all.id(), "count"; usize), 1);
    let device = msg!(all.id(), "objectAtIndex:", 0 => usize; Id);
    assert!(msg!(device, "hasUnifiedMemory"; bool));
}

#[test]
#[ignore = "run by `families_are_those_up_to_the_configured_one` with the environment it needs"]
fn the_family_that_the_environment_names() {
    let _test = plain();
    let named = std::env::var("MPSGRAPH_SOFT_GPU_FAMILY").expect("the family to find");
    let named: isize = named.parse().expect("a number");
    for family in 1..=12 {
        assert_eq!(supports(1000 + family), family <= named, "Apple{family}");
    }
}
