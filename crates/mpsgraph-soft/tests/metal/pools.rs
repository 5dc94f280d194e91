//! Programs whose own thread pools commit and wait: no wait may depend on a thread that waits itself.
//!
//! A hang cannot be ended inside of its process, so each test runs against a clock and fails when the time is over.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mpsgraph_soft::kernels::threads;
use mpsgraph_soft::mps::mps_command_buffer;
use mpsgraph_soft::objc::Strong;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::messages::*;

/// Runs `program` on a thread without a name, as programs do; panics if it takes longer than any machine would need.
fn against_the_clock(program: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let program = thread::spawn(move || {
        program();
        // The thread that listens is gone if the time was over.
        let _ = done.send(());
    });
    if ended.recv_timeout(Duration::from_secs(60)) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("the program hangs");
    }
    program.join().expect("no panic");
}

/// One program: commits work that is shared by the threads that compute, and waits for it.
fn compute(queue: &Strong) {
    pooled(|| {
        let (buffer, commands) = (buffer(1 << 20), mps(queue));
        let mut to = span_mut(&buffer);
        let work = move || {
            threads::share(true, 1 << 14, to.slice::<u32>(), |at, out| out.fill(at as u32));
        };
        mps_command_buffer::encode(commands.id(), Box::new(work), vec![], vec![buffer.clone()]);
        commit(&commands);
        wait(&commands);
        let found = contents::<u32>(&buffer);
        assert_eq!((found[0], found[1 << 14], found.len()), (0, 1, 1 << 18));
    });
}

#[test]
fn tasks_of_rayon_s_global_pool_commit_and_wait() {
    let _test = plain();
    let queue = queue();
    against_the_clock(move || {
        for _ in 0..20 {
            (0..64).into_par_iter().for_each(|_| compute(&queue));
        }
    });
}

#[test]
fn tasks_of_nested_pools_commit_and_wait() {
    let _test = plain();
    let queues = [queue(), queue()];
    against_the_clock(move || {
        let pools = [1, 2, 3].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
        for _ in 0..10 {
            (0..8).into_par_iter().for_each(|at| {
                pools[at % 3].install(|| {
                    rayon::join(
                        || compute(&queues[0]),
                        || {
                            pools[(at + 1) % 3]
                                .install(|| (0..4).into_par_iter().for_each(|at| compute(&queues[at % 2])))
                        },
                    );
                });
            });
        }
    });
}

#[test]
fn scoped_threads_and_tasks_commit_and_wait_side_by_side() {
    let _test = plain();
    let queue = queue();
    against_the_clock(move || {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..40).for_each(|_| compute(&queue)));
                scope.spawn(|| (0..40).into_par_iter().for_each(|_| compute(&queue)));
            }
        });
    });
}
