//! The reads that depend on a device fault return it, and `sync` returns it once; other values are not affected.

use burn::tensor::backend::Backend;
use mpsgraph_soft::metal::fault;

use super::commits_inside::CommitsInside;
use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// `MTLCommandBufferErrorTimeout`
const TIMEOUT: usize = 2;
/// `MTLCommandBufferErrorPageFault`
const PAGE_FAULT: usize = 3;
/// `MTLCommandBufferErrorAccessRevoked`
const ACCESS_REVOKED: usize = 4;
/// `MTLCommandBufferErrorOutOfMemory`
const OUT_OF_MEMORY: usize = 8;

#[test]
fn a_fault_is_an_error_of_the_read_and_of_what_depends_on_it() {
    let _turn = Turn::take();
    fault::fail_next(1, OUT_OF_MEMORY);
    let x = vector(&[1.0, 2.0]) + 1.0;
    let error = x.clone().try_into_data().expect_err("the work failed").to_string();
    assert!(error.contains("command buffer"), "{error}");
    let dependent = (x * 2.0).try_into_data();
    assert!(dependent.is_err(), "a value made from garbage is garbage");
    assert_eq!(read(vector(&[3.0]) + 1.0), [4.0]);
    assert!(B::sync(&MpsGraphDevice).is_err());
    assert!(B::sync(&MpsGraphDevice).is_ok());
}

#[test]
fn faults_that_somebody_can_do_something_about_come_with_advice() {
    let _turn = Turn::take();
    let advices = ["BURN_MPSGRAPH_MAX_OPS", "start the process anew", "smaller batches"];
    for (code, advice) in
        [TIMEOUT, ACCESS_REVOKED, OUT_OF_MEMORY, PAGE_FAULT].into_iter().zip([advices, [""; 3]].concat())
    {
        fault::fail_next(1, code);
        let x = vector(&[1.0, 2.0]) + 1.0;
        let error = B::sync(&MpsGraphDevice).expect_err("the work failed").to_string();
        let found = advices.into_iter().find(|advice| error.contains(advice));
        assert_eq!(found.unwrap_or(""), advice, "{error}");
        drop(x);
    }
}

#[test]
fn memory_that_the_device_does_not_find_is_a_kind_of_error_of_its_own() {
    let _turn = Turn::take();
    fault::fail_next(1, OUT_OF_MEMORY);
    let x = vector(&[1.0, 2.0]) + 1.0;
    let outcome = MpsGraphDevice.sync();
    assert!(matches!(outcome, Err(burn_mpsgraph::Error::OutOfMemory { .. })), "{outcome:?}");
    drop(x);
}

/// The system may ignore all later work of a command queue.
#[test]
fn work_after_what_was_ignored_goes_to_another_queue() {
    let _turn = Turn::take();
    let kept = vector(&[5.0]) + 0.0;
    assert_eq!(read(kept.clone()), [5.0]);
    for inside in [0, 2] {
        let _inside = CommitsInside::of(inside);
        // The first command buffer of the second program.
        fault::fail_next(inside + 2, ACCESS_REVOKED);
        let before = kept.clone() + 1.0;
        MpsGraphDevice.flush();
        let ignored = kept.clone() * 2.0;
        assert!(ignored.try_into_data().is_err());
        assert!(MpsGraphDevice.sync().is_err());
        assert_eq!(read(before.clone()), [6.0], "what was done is there");
        for factor in 2..5 {
            assert_eq!(read((before.clone() + kept.clone()) * factor as f32), [11.0 * factor as f32]);
        }
        assert!(MpsGraphDevice.sync().is_ok());
    }
}

#[test]
fn a_fault_nobody_read_comes_out_of_sync() {
    let _turn = Turn::take();
    fault::fail_next(1, OUT_OF_MEMORY);
    let x = vector(&[1.0, 2.0]) + 1.0;
    assert!(B::sync(&MpsGraphDevice).is_err());
    drop(x);
    assert!(B::sync(&MpsGraphDevice).is_ok());
}

#[test]
fn a_refused_buffer_costs_only_what_depends_on_it() {
    let _turn = Turn::take();
    let (big, one) = (vector(&[1.0; 1_000_003]), vector(&[1.0]));
    B::sync(&MpsGraphDevice).expect("the device works");
    MpsGraphDevice.memory_cleanup();
    // The first attempt, the second, after all work is done, and the halves.
    MpsGraphDevice.set_memory_limit(MpsGraphDevice.stats().bytes_live + 2_000_000);
    let a = big + 1.0;
    let unrelated: Vec<_> = (0..2000).map(|i| one.clone() + i as f32).collect();
    let b = one + 1.0;
    let dependent = a.clone().sum() + b.clone();
    assert!(a.try_into_data().is_err());
    assert!(dependent.try_into_data().is_err());
    assert_eq!(read(b), [2.0]);
    for (i, value) in unrelated.into_iter().enumerate() {
        assert_eq!(read(value), [i as f32 + 1.0]);
    }
    MpsGraphDevice.set_memory_limit(u64::MAX);
    assert!(B::sync(&MpsGraphDevice).is_err());
}

#[test]
fn work_that_could_not_be_submitted_comes_out_of_sync() {
    let _turn = Turn::take();
    MpsGraphDevice.set_memory_limit(MpsGraphDevice.stats().bytes_live + 1000);
    let x = burn::tensor::Tensor::<B, 1>::ones([1_000_003], &MpsGraphDevice);
    let outcome = MpsGraphDevice.sync();
    MpsGraphDevice.set_memory_limit(u64::MAX);
    assert!(matches!(outcome, Err(burn_mpsgraph::Error::OutOfMemory { .. })), "{outcome:?}");
    assert!(x.try_into_data().is_err());
    assert!(MpsGraphDevice.sync().is_ok());
}

#[test]
fn memory_that_is_refused_once_is_found_when_all_work_is_done() {
    let _turn = Turn::take();
    let one = vector(&[1.0; 70_000]);
    MpsGraphDevice.sync().expect("the device works");
    // Without numbers that are fed, so that the result's buffer is the one that is asked for.
    let live_with_the_sum = |refused: bool| {
        MpsGraphDevice.memory_cleanup();
        if refused {
            fault::refuse_allocation_here(1);
        }
        let sum = one.clone() + one.clone();
        MpsGraphDevice.flush_thread();
        let live = MpsGraphDevice.stats().bytes_live;
        assert_eq!(read(sum)[69_999], 2.0);
        live
    };
    let expected = live_with_the_sum(false);
    assert_eq!(live_with_the_sum(true), expected, "a buffer that was refused is not counted");
}

#[test]
fn before_memory_is_asked_for_again_what_is_kept_for_reuse_is_released() {
    let _turn = Turn::take();
    let one = vector(&[1.0; 70_000]);
    let large = vector(&[1.0; 1_000_000]) + 1.0;
    assert_eq!(read(large.clone())[0], 2.0);
    drop(large);
    MpsGraphDevice.sync().expect("the device works");
    assert!(MpsGraphDevice.stats().bytes_cached >= 4_000_000);
    fault::refuse_allocation_here(1);
    let sum = one.clone() + one.clone();
    MpsGraphDevice.flush_thread();
    assert_eq!(MpsGraphDevice.stats().bytes_cached, 0);
    assert_eq!(read(sum)[69_999], 2.0);
}

#[test]
fn before_memory_is_asked_for_again_all_work_has_ended() {
    let turn = Turn::take();
    let one = vector(&[1.0; 70_000]);
    MpsGraphDevice.sync().expect("the device works");
    MpsGraphDevice.memory_cleanup();
    fault::hang_next(1);
    let hung = vector(&[1.0]) + 1.0;
    MpsGraphDevice.flush_thread();
    assert_eq!(turn.used().waits, 0);
    let ending = std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        fault::end_hangs();
    });
    fault::refuse_allocation_here(1);
    let sum = one.clone() + one;
    MpsGraphDevice.flush_thread();
    assert_eq!(turn.used().waits, 1);
    ending.join().expect("no panic");
    assert_eq!((read(hung), read(sum)[69_999]), (vec![2.0], 2.0));
}

#[test]
fn a_fault_is_not_forgotten_while_another_thread_submits() {
    let _turn = Turn::take();
    for _ in 0..50 {
        fault::fail_next(1, OUT_OF_MEMORY);
        let x = vector(&[1.0; 8]) + 1.0;
        MpsGraphDevice.flush();
        let dependent = std::thread::spawn({
            let x = x.clone();
            move || (x * 2.0).try_into_data()
        });
        assert!(x.try_into_data().is_err());
        assert!(dependent.join().expect("no panic").is_err());
        assert!(B::sync(&MpsGraphDevice).is_err());
    }
}
