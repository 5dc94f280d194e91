//! Many threads record, share tensors and read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use burn::tensor::{DType, ElementConversion, Tensor};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

#[test]
fn eight_threads_share_a_recorded_tensor_and_read_right_numbers() {
    let _turn = Turn::take();
    for _ in 0..20 {
        let shared = vector(&[1.0, 2.0, 3.0]) * 2.0;
        let workers: Vec<_> = (0..8)
            .map(|i| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut x = shared.clone();
                    for _ in 0..10 {
                        x = x + shared.clone() * i as f32;
                    }
                    read(x)
                })
            })
            .collect();
        for (i, worker) in workers.into_iter().enumerate() {
            let factor = 2.0 + 20.0 * i as f32;
            assert_eq!(worker.join().expect("no panic"), [factor, 2.0 * factor, 3.0 * factor]);
        }
        assert_eq!(read(shared), [2.0, 4.0, 6.0]);
    }
}

/// Two threads gather values of the same recordings: one the earlier ones, one those that are made of them.
#[test]
fn threads_that_gather_from_many_do_not_wait_for_each_other() {
    let _turn = Turn::take();
    type Made = Mutex<Option<[Tensor<B, 1>; 2]>>;
    let (slots, ended) =
        (Arc::new((0..4).map(|_| Made::default()).collect::<Vec<_>>()), Arc::new(AtomicBool::new(false)));
    let makers: Vec<_> = (0..slots.len())
        .map(|slot| {
            let (slots, ended) = (slots.clone(), ended.clone());
            thread::spawn(move || {
                let mut x = vector(&[1.0; 4]);
                while !ended.load(Ordering::Relaxed) {
                    let early = x * 0.5;
                    let late = early.clone() + 1.0;
                    x = late.clone();
                    *slots[slot].lock().expect("no panic") = Some([early, late]);
                    thread::yield_now();
                }
            })
        })
        .collect();
    let gatherers = [0, 1].map(|which| {
        let slots = slots.clone();
        thread::spawn(move || {
            for _ in 0..200 {
                let made = slots.iter().filter_map(|slot| slot.lock().expect("no panic").clone());
                let made: Vec<_> = made.map(|both| both[which].clone()).collect();
                if !made.is_empty() {
                    assert!(read(Tensor::cat(made, 0)).iter().all(|x| (0.5..=2.0).contains(x)));
                }
            }
        })
    });
    for gatherer in gatherers {
        gatherer.join().expect("no panic");
    }
    ended.store(true, Ordering::Relaxed);
    for maker in makers {
        maker.join().expect("no panic");
    }
}

#[test]
fn another_thread_s_read_flushes_only_up_to_the_value_it_asks_for() {
    let turn = Turn::take();
    let first = vector(&[1.0, 2.0]) + 1.0;
    let second = first.clone() * 10.0;
    let sent = first.clone();
    let found = thread::spawn(move || read(sent)).join().expect("no panic");
    assert_eq!(found, [2.0, 3.0]);
    assert_eq!(turn.used().executions, 1);
    assert_eq!(read(second), [20.0, 30.0]);
    let used = turn.used();
    assert_eq!((used.executions, used.programs_compiled), (2, 2));
}

#[test]
fn what_a_thread_recorded_outlives_it() {
    let _turn = Turn::take();
    let x = thread::spawn(|| vector(&[1.0, 2.0]).exp()).join().expect("no panic");
    assert_eq!(read(x.log().round()), [1.0, 2.0]);
}

#[test]
fn a_pipeline_of_threads_hands_recorded_tensors_on() {
    let _turn = Turn::take();
    let (to_worker, at_worker) = mpsc::sync_channel::<Tensor<B, 1>>(1);
    let (to_reader, at_reader) = mpsc::sync_channel::<Tensor<B, 1>>(1);
    let worker = thread::spawn(move || {
        for x in at_worker {
            to_reader.send(x * 2.0 + 1.0).expect("the reader listens");
        }
    });
    let reader = thread::spawn(move || at_reader.into_iter().map(read).collect::<Vec<_>>());
    for i in 0..50 {
        to_worker.send(vector(&[i as f32]) + 0.5).expect("the worker listens");
    }
    drop(to_worker);
    worker.join().expect("no panic");
    let found = reader.join().expect("no panic");
    let expected: Vec<Vec<f32>> = (0..50).map(|i| vec![2.0 * (i as f32 + 0.5) + 1.0]).collect();
    assert_eq!(found, expected);
}

#[test]
fn threads_that_end_leave_no_buffers_behind() {
    let turn = Turn::take();
    for _ in 0..10 {
        let workers: Vec<_> =
            (0..4).map(|i| thread::spawn(move || drop((vector(&[i as f32; 100]) + 1.0).exp()))).collect();
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    }
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!(turn.used().buffers_live, turn.start.buffers_live);
}

#[test]
fn tensors_of_many_threads_are_joined_by_few_commits() {
    let turn = Turn::take();
    let pool: Vec<_> = (0..4).collect();
    for round in 0..10 {
        let items: Vec<Tensor<B, 1>> = thread::scope(|scope| {
            let workers: Vec<_> = pool
                .iter()
                .map(|worker| {
                    // How many items a worker makes depends on the round, as on a scheduler.
                    let share = (worker * 7 + round * 3) % 9 + 64;
                    scope.spawn(move || {
                        (0..share).map(|i| (vector(&[(i % 3) as f32; 8]) * 2.0).exp().log()).collect::<Vec<_>>()
                    })
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).take(256).collect()
        });
        let sum: f32 = read(Tensor::cat(items, 0)).iter().sum();
        assert!(sum > 0.0);
    }
    let used = turn.used();
    assert!(used.commits <= 2 * 10 && used.programs_compiled <= 4, "{used:?}");
}

#[test]
fn the_order_of_independent_ops_does_not_matter() {
    let turn = Turn::take();
    for round in 0..30 {
        let mut order = [0, 1, 2, 3, 4];
        order.rotate_left(round % 5);
        order.swap(round % 3, 3 + round % 2);
        let mut losses = [const { None }; 5];
        for i in order {
            losses[i] = Some(vector(&[i as f32; 8]).powf_scalar(i as f32 + 1.5));
        }
        let sum = losses.into_iter().flatten().reduce(|a, b| a + b).expect("five");
        read(sum);
    }
    assert_eq!(turn.used().programs_compiled, 1);
}

#[test]
fn unrelated_work_of_a_thread_is_not_flushed_with_what_another_asks_for() {
    let turn = Turn::take();
    let (sender, receiver) = mpsc::channel();
    let (go_on, gone_on) = mpsc::channel::<()>();
    let worker = thread::spawn(move || {
        let unrelated = vector(&[1.0; 100]).exp();
        let asked = vector(&[2.0, 3.0]) * 2.0;
        sender.send(asked).expect("somebody listens");
        gone_on.recv().expect("a word");
        read(unrelated)
    });
    assert_eq!(read(receiver.recv().expect("a tensor")), [4.0, 6.0]);
    go_on.send(()).expect("somebody listens");
    worker.join().expect("no panic");
    assert_eq!(turn.used().executions, 2);
}

#[test]
fn ended_threads_cost_later_flushes_nothing_and_leave_nothing() {
    let turn = Turn::take();
    let kept: Vec<Tensor<B, 1>> = (0..100)
        .map(|_| {
            thread::spawn(|| {
                let mut x = vector(&[1.0; 10]);
                for _ in 0..20 {
                    drop(x.clone().exp());
                    x = x + 1.0;
                }
                x
            })
            .join()
            .expect("no panic")
        })
        .collect();
    assert_eq!(turn.used().ops_waiting, 100 * 20, "what nobody can ask for is dropped with the thread");
    drop(kept);
    let used = turn.used();
    assert_eq!((used.ops_waiting, used.buffers_live), (0, turn.start.buffers_live));
}

#[test]
fn sync_covers_every_thread() {
    let turn = Turn::take();
    let (to_worker, at_worker) = mpsc::channel::<()>();
    let (to_main, at_main) = mpsc::channel();
    let worker = thread::spawn(move || {
        let x = vector(&[1.0]) + 1.0;
        to_main.send(()).expect("somebody listens");
        at_worker.recv().expect("a word");
        read(x)
    });
    at_main.recv().expect("a word");
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!((turn.used().executions, turn.used().ops_waiting), (1, 0));
    to_worker.send(()).expect("somebody listens");
    assert_eq!(worker.join().expect("no panic"), [2.0]);
}

#[test]
fn ops_of_a_thread_that_is_ending_leave_nothing() {
    use std::cell::RefCell;

    struct Late(Tensor<B, 1>);
    impl Drop for Late {
        fn drop(&mut self) {
            drop(self.0.clone() * 2.0);
        }
    }
    thread_local!(static LATE: RefCell<Option<Late>> = const { RefCell::new(None) });
    let turn = Turn::take();
    thread::spawn(|| {
        LATE.with(|late| *late.borrow_mut() = Some(Late(vector(&[1.0; 1000]))));
        drop(vector(&[1.0]) + 1.0);
    })
    .join()
    .expect("no panic");
    MpsGraphDevice.sync().expect("the device works");
    assert_eq!(turn.used().buffers_live, turn.start.buffers_live);
}

/// The software runtime multiplies with memory that it keeps for a thread, and a thread's variables are destroyed one
/// by one.
#[test]
fn variables_of_a_thread_that_is_ending_multiply() {
    use std::cell::Cell;
    use std::sync::mpsc::{Sender, channel};

    /// Sends the largest number of a product of ones when it is destroyed.
    struct Late {
        dtype: DType,
        extent: usize,
        to: Sender<f32>,
    }

    fn product(dtype: DType, extent: usize) -> f32 {
        let ones = Tensor::<B, 2>::ones([extent, extent], (&MpsGraphDevice, dtype));
        (ones.clone() + 0.0).matmul(ones).max().into_scalar().elem()
    }

    impl Drop for Late {
        fn drop(&mut self) {
            self.to.send(product(self.dtype, self.extent)).expect("somebody listens");
        }
    }

    thread_local!(static LATE: Cell<Option<Late>> = const { Cell::new(None) });
    let _turn = Turn::take();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for extent in [1, 2, 8, 15, 40] {
            let (to, late) = channel();
            thread::spawn(move || {
                // Commits run work that was short before: without memory before the variable is there, and with it.
                for _ in 0..4 {
                    assert_eq!(read(vector(&[1.0]) + 1.0), [2.0]);
                }
                LATE.set(Some(Late { dtype, extent, to }));
                for _ in 0..4 {
                    product(dtype, extent);
                }
            })
            .join()
            .expect("no panic");
            assert_eq!(late.recv().expect("the product"), extent as f32, "{dtype:?} {extent}");
        }
    }
}

/// A thread that ends submits what is too large to be left behind, although its own variables are being destroyed.
#[test]
fn a_thread_that_has_read_ends_with_more_than_may_stay() {
    let _turn = Turn::take();
    MpsGraphDevice.set_held_limit(1 << 16);
    let large = || vector(&[3.0; 1 << 15]);
    for _ in 0..8 {
        let made = thread::spawn(move || {
            for _ in 0..5 {
                assert_eq!(read((vector(&[2.0]) * 2.0 + 1.0).sum()), [5.0]);
            }
            let x = large();
            (x.clone() * x + 1.0).sum()
        });
        assert_eq!(read(made.join().expect("no panic")), [(10 << 15) as f32]);
    }
    MpsGraphDevice.set_held_limit(128 << 20);
}

/// As many submissions are in flight as there may be, so the one of the thread that ends has to wait.
#[test]
fn a_thread_that_ends_may_wait_for_the_device() {
    let _turn = Turn::take();
    MpsGraphDevice.set_held_limit(1 << 16);
    let matrix = Tensor::<B, 2>::ones([512, 512], &MpsGraphDevice) * (1.0 / 512.0);
    let (ready, is_ready) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let thread = thread::spawn(move || {
        let x = vector(&[3.0; 1 << 15]) + 1.0;
        assert_eq!(read(vector(&[2.0]) + 1.0), [3.0]);
        ready.send(()).expect("it is received");
        goes_on.recv().expect("it is sent");
        x * 2.0
    });
    is_ready.recv().expect("it is sent");
    let mut product = matrix.clone();
    for _ in 0..40 {
        product = product.matmul(matrix.clone());
        MpsGraphDevice.flush_thread();
        if product.dims()[0] == 512 {
            let _ = go_on.send(());
        }
    }
    assert_eq!(read(thread.join().expect("no panic").sum()), [(8 << 15) as f32]);
    assert!((read(product.mean())[0] - 1.0 / 512.0).abs() < 1e-5);
    MpsGraphDevice.set_held_limit(128 << 20);
}

/// A thread ends while another drops the last tensor of what it has recorded: whichever is first, nothing stays.
#[test]
fn nothing_stays_of_a_thread_that_ends_while_its_last_tensor_is_dropped() {
    let _turn = Turn::take();
    for round in 0..8_000 {
        let (give, take) = mpsc::sync_channel(1);
        let thread = thread::spawn(move || give.send(vector(&[1.0; 1000]) * 2.0).expect("it is received"));
        let tensor = take.recv().expect("it is sent");
        (0..round % 200).for_each(|_| std::hint::spin_loop());
        drop(tensor);
        thread.join().expect("no panic");
        assert_eq!(MpsGraphDevice.stats().ops_waiting, 0, "after {round} threads");
    }
}
