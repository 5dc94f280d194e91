//! What handing over and waiting cost: run it by
//! `cargo test --release -p mpsgraph-soft --test main -- --ignored --nocapture latency`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::messages::*;

/// Median and 95th percentile of `rounds` runs of `f`, with `pause` before each.
fn measure(name: &str, pause: Duration, mut f: impl FnMut()) {
    let mut times: Vec<_> = (0..2000)
        .map(|_| {
            let start = Instant::now();
            while start.elapsed() < pause {
                std::hint::spin_loop();
            }
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("{name:<50} median {:>10.2?}   95% {:>10.2?}", times[1000], times[1900]);
}

fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        black_box(0);
    }
}

#[test]
#[ignore = "a measurement"]
fn latency() {
    let _test = plain();
    let queue = queue();
    measure("make a command buffer and its wrapper", Duration::ZERO, || pooled(|| drop(mps(&queue))));
    for pause in [0, 100, 1000].map(Duration::from_micros) {
        measure(&format!("make, commit, wait; idle {pause:?} before"), pause, || {
            pooled(|| {
                let buffer = mps(&queue);
                encode(&buffer, || ());
                commit(&buffer);
                wait(&buffer);
            });
        });
        measure(&format!("make, commit, wait for 100 us of work; idle {pause:?}"), pause, || {
            pooled(|| {
                let buffer = mps(&queue);
                encode(&buffer, || busy(Duration::from_micros(100)));
                commit(&buffer);
                wait(&buffer);
            });
        });
        let mut previous = None;
        measure(&format!("make, commit only (10 us of work); idle {pause:?}"), pause, || {
            let buffer = pooled(|| {
                let buffer = mps(&queue);
                encode(&buffer, || busy(Duration::from_micros(10)));
                commit(&buffer);
                buffer
            });
            previous = Some(buffer);
        });
        wait(&previous.unwrap());
    }
}
