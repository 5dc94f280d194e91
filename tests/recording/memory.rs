//! What recorded ops, free buffers and work in flight hold is bounded.

use std::sync::mpsc::sync_channel;
use std::thread::spawn;

use burn::tensor::{Tensor, TensorData, s};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

const MIB: u64 = 1 << 20;

fn batch(elements: usize) -> Tensor<B, 1> {
    Tensor::from_data(TensorData::new(vec![1.0_f32; elements], [elements]), &MpsGraphDevice)
}

#[test]
fn uploads_that_are_summed_up_are_not_all_kept() {
    let turn = Turn::take();
    MpsGraphDevice.reset_peak();
    let mut sum = Tensor::<B, 1>::zeros([1], &MpsGraphDevice);
    for _ in 0..900 {
        sum = sum + batch(1 << 20).sum();
    }
    let used = turn.used();
    assert!(used.bytes_peak + used.bytes_cached <= 512 * MIB, "{used:?}");
    assert!(used.programs_compiled <= 4, "{used:?}");
    assert_eq!(read(sum), [(900 << 20) as f32]);
}

#[test]
fn the_bound_is_a_setting() {
    let turn = Turn::take();
    MpsGraphDevice.set_held_limit(8 << 20);
    MpsGraphDevice.reset_peak();
    let mut sum = Tensor::<B, 1>::zeros([1], &MpsGraphDevice);
    for _ in 0..64 {
        sum = sum + batch(1 << 18).sum();
    }
    let held = turn.used().bytes_held;
    MpsGraphDevice.set_held_limit(128 << 20);
    assert!(held <= 11 * MIB, "the bound and the quarter between two looks: {held}");
    assert!(turn.used().flushes_at_bounds >= 5, "{:?}", turn.used());
    assert_eq!(read(sum), [(64 << 18) as f32]);
}

/// Another thread that reads now and then cuts its values out, and what stays counts as before.
#[test]
fn what_is_held_counts_though_another_thread_reads() {
    let turn = Turn::take();
    MpsGraphDevice.set_held_limit(8 << 20);
    let (sender, receiver) = sync_channel::<Tensor<B, 1>>(0);
    let (answer, answered) = sync_channel(0);
    let reader = spawn(move || receiver.into_iter().for_each(|x| answer.send(read(x)[0]).expect("it is awaited")));
    let mut sum = Tensor::<B, 1>::zeros([1], &MpsGraphDevice);
    let mut most = 0;
    for _ in 0..64 {
        let x = batch(1 << 18);
        sum = sum + x.clone().sum();
        sender.send(x.slice(s![0..2]).sum()).expect("it is received");
        assert_eq!(answered.recv(), Ok(2.0));
        most = most.max(turn.used().bytes_held);
    }
    drop(sender);
    reader.join().expect("no panic");
    MpsGraphDevice.set_held_limit(128 << 20);
    assert!(most <= 12 * MIB, "the bound, the quarter between two looks, and a batch: {most}");
    assert_eq!(read(sum), [(64 << 18) as f32]);
}

/// Values that a cut leaves to the ops that stay are held by these.
#[test]
fn what_a_cut_leaves_behind_counts() {
    let turn = Turn::take();
    MpsGraphDevice.set_held_limit(8 << 20);
    let mut sum = Tensor::<B, 1>::zeros([1], &MpsGraphDevice);
    let mut most = 0;
    for _ in 0..64 {
        let x = Tensor::<B, 1>::ones([1 << 18], &MpsGraphDevice) * 2.0;
        let loss = x.clone().mean();
        sum = sum + x.exp().log().sum();
        assert_eq!(spawn(move || read(loss)).join().expect("no panic"), [2.0]);
        most = most.max(turn.used().bytes_held);
    }
    MpsGraphDevice.set_held_limit(128 << 20);
    assert!(most <= 12 * MIB, "{most}");
    assert_eq!(read(sum), [(128 << 18) as f32]);
}

#[test]
fn what_ended_threads_leave_has_a_bound() {
    let turn = Turn::take();
    MpsGraphDevice.set_held_limit(8 << 20);
    let means = (0..40).map(|_| spawn(|| batch(1 << 18).mean()).join().expect("no panic")).collect::<Vec<_>>();
    let held = turn.used().bytes_held;
    MpsGraphDevice.set_held_limit(128 << 20);
    assert!(held <= 8 * MIB, "{held}");
    assert_eq!(read(Tensor::cat(means, 0).sum()), [40.0]);
}

#[test]
fn data_gets_the_memory_that_only_recorded_ops_hold() {
    let turn = Turn::take();
    MpsGraphDevice.set_memory_limit(turn.used().bytes_live + 16 * MIB);
    let sums = (0..64).map(|_| batch(1 << 18).sum()).reduce(|sum, x| sum + x);
    MpsGraphDevice.set_memory_limit(u64::MAX);
    assert_eq!(read(sums.expect("there are sums")), [(64 << 18) as f32]);
}

/// What is free between numbers that stay is too little for larger values, which take memory elsewhere.
#[test]
fn small_values_among_what_stays_take_no_pages_of_their_own() {
    let turn = Turn::take();
    let numbers: Vec<_> = (0..8192).map(|_| vector(&[1.0])).collect();
    let kept: Vec<_> = numbers.into_iter().step_by(8).collect();
    MpsGraphDevice.memory_cleanup();
    let before = turn.used().bytes_of_driver;
    let values: Vec<_> = (0..2000).map(|_| vector(&[1.0; 1024])).collect();
    let taken = turn.used().bytes_of_driver - before;
    assert!(taken <= 12 * MIB, "{taken} bytes for {} of {} kB beside {}", values.len(), 4, kept.len());
}

/// Programs that each come to twice the bound, one after the other.
fn assert_no_compilation_after_the_second_round(held: usize) {
    let mut turn = Turn::take();
    MpsGraphDevice.set_held_limit(held);
    let round = || {
        for up in [true, false] {
            let mut sum = Tensor::<B, 1>::zeros([1], &MpsGraphDevice);
            for _ in 0..8 {
                let x = batch(held / 16) * 2.0;
                sum = sum + if up { x.sum() } else { x.mean() };
            }
            let expected = if up { held } else { 16 };
            assert_eq!(read(sum), [expected as f32]);
        }
    };
    round();
    round();
    turn.restart();
    round();
    round();
    MpsGraphDevice.set_held_limit(128 << 20);
    assert_eq!(turn.used().programs_compiled, 0, "{held}: {:?}", turn.used());
}

#[test]
fn programs_beyond_the_bound_repeat_whatever_the_bound() {
    for held in [1 << 10, 1 << 16, 1 << 20, 1 << 24] {
        assert_no_compilation_after_the_second_round(held);
    }
}

#[test]
fn an_optimizer_s_step_does_not_keep_all_parameters_twice() {
    use burn::backend::Autodiff;
    use burn::nn::{Linear, LinearConfig};
    use burn::optim::{AdamConfig, GradientsParams, Optimizer};

    const LAYERS: usize = 16;
    const WIDTH: usize = 2048;
    let turn = Turn::take();
    let device = MpsGraphDevice;
    let layer = |_| LinearConfig::new(WIDTH, WIDTH).with_bias(false).init(&device);
    let mut model: Vec<Linear<Autodiff<B>>> = (0..LAYERS).map(layer).collect();
    let mut optimizer = AdamConfig::new().init();
    for _ in 0..3 {
        device.reset_peak();
        let x = Tensor::<Autodiff<B>, 2>::ones([1, WIDTH], &device);
        let loss = model.iter().fold(x, |x, layer| layer.forward(x)).sum();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(1e-3, model, gradients);
        device.sync().expect("the device works");
    }
    let parameters = (LAYERS * WIDTH * WIDTH * 4) as u64;
    let used = turn.used();
    assert!(used.bytes_live >= 3 * parameters, "parameters and both moments: {used:?}");
    // With all gradients, and what recorded ops may hold.
    let most = 4 * parameters + (128 + 32) * MIB;
    assert!(used.bytes_peak <= most, "{} MiB where {} are allowed", used.bytes_peak / MIB, most / MIB);
}

#[cfg(soft_runtime)] // hangs are injected into the software runtime
#[test]
fn work_in_flight_is_bounded_by_what_it_holds() {
    use super::hangs::Hangs;
    let turn = Turn::take();
    let _hangs = Hangs::begin();
    mpsgraph_soft::metal::fault::hang_next(1);
    let begun = turn.used().bytes_live;
    let (flushed, at_main) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let mut kept = Vec::new();
        for _ in 0..10 {
            // Of each 64 MiB nobody needs when the program has run.
            kept.push(batch(1 << 24).sum());
            MpsGraphDevice.flush_thread();
            flushed.send(MpsGraphDevice.stats()).expect("the test listens");
        }
        kept
    });
    let most = at_main.into_iter().map(|stats| (stats.in_flight, stats.bytes_live - begun)).max().expect("ten");
    drop(worker.join().expect("no panic"));
    assert!(most.0 <= 5 && most.1 <= 5 * 65 * MIB, "{most:?}");
    drop(MpsGraphDevice.sync());
}

#[test]
fn cleaning_up_frees_what_dead_ops_hold_and_keeps_programs() {
    let turn = Turn::take();
    let x = Tensor::<B, 1>::ones([1 << 22], &MpsGraphDevice);
    MpsGraphDevice.sync().expect("the device works");
    drop(x.clone() * 2.0);
    drop(x);
    assert_eq!(turn.used().bytes_live - turn.start.bytes_live, 16 * MIB);
    MpsGraphDevice.memory_cleanup();
    let used = turn.used();
    assert_eq!((used.bytes_live, used.bytes_cached), (turn.start.bytes_live, 0));
    assert_eq!(used.programs_cached, 1);
}

#[test]
fn cleaning_up_frees_the_tables_that_ops_keep() {
    use burn::tensor::module::interpolate;
    use burn::tensor::ops::{InterpolateMode, InterpolateOptions};
    let turn = Turn::take();
    let resize = || {
        let x = Tensor::<B, 4>::ones([1, 1, 5, 7], &MpsGraphDevice);
        let resized = interpolate(x, [9, 4], InterpolateOptions::new(InterpolateMode::Bilinear));
        assert!(read(resized.reshape([-1])).iter().all(|&pixel| (pixel - 1.0).abs() < 1e-6));
    };
    resize();
    let first = turn.used();
    resize();
    assert_eq!(turn.used().bytes_uploaded, first.bytes_uploaded, "the tables are kept");
    assert!(first.bytes_live > turn.start.bytes_live);
    MpsGraphDevice.memory_cleanup();
    assert_eq!(turn.used().bytes_live, turn.start.bytes_live);
}

#[test]
fn free_buffers_stay_below_their_limit_and_the_oldest_goes_first() {
    let turn = Turn::take();
    MpsGraphDevice.set_cache_limit(3 * MIB);
    for elements in [1 << 18, 3 << 17, 1 << 19] {
        drop(batch(elements));
    }
    let cached = turn.used().bytes_cached;
    MpsGraphDevice.set_cache_limit(turn.start.bytes_recommended / 2);
    assert_eq!(cached, 2 * MIB, "the last buffer, of 2 MiB, and not the 1.5 MiB before it");
}

#[test]
fn a_memory_limit_refuses_what_exceeds_it_and_only_that() {
    let turn = Turn::take();
    let one = vector(&[1.0]);
    let big = batch(1 << 20);
    MpsGraphDevice.set_memory_limit(turn.used().bytes_live + 3 * MIB);
    let refused = big.clone() + 1.0;
    let small = one + 1.0;
    let error = refused.try_into_data().expect_err("4 MiB more than the limit").to_string();
    MpsGraphDevice.set_memory_limit(u64::MAX);
    assert!(error.contains("limit"), "{error}");
    assert_eq!(read(small), [2.0]);
    assert_eq!(read((big + 1.0).sum()), [(2 << 20) as f32]);
    assert!(MpsGraphDevice.sync().is_err(), "sync reports what could not be submitted");
    assert!(MpsGraphDevice.sync().is_ok());
}

#[test]
fn the_random_state_can_be_kept_and_set() {
    let _turn = Turn::take();
    let draw = || read(Tensor::<B, 1>::random([5], burn::tensor::Distribution::Default, &MpsGraphDevice));
    let state = MpsGraphDevice.random_state();
    let first = draw();
    assert_ne!(first, draw());
    MpsGraphDevice.set_random_state(state);
    assert_eq!(first, draw());
}

/// Bytes of memory that the process has.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number of pages");
    pages * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn small_values_are_small_and_given_back() {
    let _turn = Turn::take();
    MpsGraphDevice.memory_cleanup();
    let before = resident();
    let kept: Vec<Tensor<B, 1>> = (0..100_000)
        .map(|at| {
            let value = vector(&[at as f32]) + 1.0;
            if at % 1000 == 0 {
                MpsGraphDevice.sync().expect("the device works");
            }
            value
        })
        .collect();
    MpsGraphDevice.sync().expect("the device works");
    let taken = resident().saturating_sub(before);
    assert!(taken <= 100 * MIB, "{} MiB", taken / MIB);
    assert_eq!(read(kept[77_777].clone()), [77_778.0]);
    let driver = MpsGraphDevice.stats().bytes_of_driver;
    drop(kept);
    MpsGraphDevice.memory_cleanup();
    let left = MpsGraphDevice.stats().bytes_of_driver;
    assert!(driver - left >= 20 * MIB, "{driver} became {left}");
}
