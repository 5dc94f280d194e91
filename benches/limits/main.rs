//! How near the software runtime's kernels come to what the machine can do. In one run it measures how fast all threads
//! together copy memory and multiply small matrices, each thread its own, and how soon one core sees what another has
//! written; and then of kernels that only move memory, and of products, which share of that they reach. Last comes a
//! whole training step against the sum of its kernels.
//!
//! ```sh
//! cargo bench --bench limits
//! ```

#[cfg(not(target_vendor = "apple"))]
mod perceptron;

/// Elsewhere the kernels are Apple's.
#[cfg(target_vendor = "apple")]
fn main() {}

#[cfg(not(target_vendor = "apple"))]
fn main() {
    soft::run();
}

#[cfg(not(target_vendor = "apple"))]
mod soft {
    use std::hint::{black_box, spin_loop};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use burn::backend::Autodiff;
    use burn::module::{Param, ParamId};
    use burn::nn::LayerNormConfig;
    use burn::optim::{AdamConfig, GradientsParams, Optimizer};
    use burn::tensor::backend::Backend;
    use burn::tensor::{Distribution, Tensor, activation};
    use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
    use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
    use mpsgraph_soft::compiler::time_steps;
    use mpsgraph_soft::kernels::matmul::{Matrix, product};
    use mpsgraph_soft::kernels::threads;

    use crate::perceptron::Trainer;

    type B = MpsGraph;

    /// Rows and columns of what is moved: so much that no cache holds a copy.
    const SHAPE: [usize; 2] = [16_384, 1024];
    const BYTES: usize = SHAPE[0] * SHAPE[1] * size_of::<f32>();
    /// Rows of the matrices that each thread multiplies by itself.
    const OWN: usize = 384;

    /// The shares stand in the last column: of the time that copying as many bytes takes, of the multiplications that
    /// the threads do by themselves, of the step's time. All are of the shortest times, so other load on the machine
    /// counts little.
    pub fn run() {
        let mut criterion = Criterion::default()
            .sample_size(20)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1))
            .configure_from_args();
        signal(&mut criterion);
        let copy = copy(&mut criterion);
        moving(&mut criterion, copy);
        let peak = peak(&mut criterion);
        products(&mut criterion, peak);
        step(&mut criterion);
        criterion.final_summary();
    }

    /// Measures `run`; the shortest time that it took. `None` if it was not asked for.
    fn shortest<R>(
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        mut run: impl FnMut() -> R,
    ) -> Option<Duration> {
        let mut shortest = None;
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| {
                let mut sum = Duration::ZERO;
                for _ in 0..times {
                    let start = Instant::now();
                    black_box(run());
                    let time = start.elapsed();
                    shortest = Some(shortest.map_or(time, |shortest: Duration| shortest.min(time)));
                    sum += time;
                }
                sum
            });
        });
        shortest
    }

    fn show(name: &str, time: Option<Duration>, limit: Option<Duration>, bar: f64) {
        if let (Some(time), Some(limit)) = (time, limit) {
            let share = limit.as_secs_f64() / time.as_secs_f64();
            let verdict = if share >= bar { "" } else { "  below the bar" };
            println!("{name:24} {:9.1} µs of {:9.1}: {:4.0} %{verdict}", micros(limit), micros(time), 100.0 * share);
        }
    }

    fn micros(time: Duration) -> f64 {
        time.as_secs_f64() * 1e6
    }

    fn sync() {
        B::sync(&MpsGraphDevice).expect("the device works");
    }

    /// How long a thread takes to tell another one something and to be answered. Work that threads share takes some of
    /// these, and a virtual machine's cores may have a cache together in one minute and none in the next: then all that
    /// is small takes longer. Not on a single core.
    fn signal(criterion: &mut Criterion) {
        const END: u64 = u64::MAX;
        if std::thread::available_parallelism().map_or(1, usize::from) == 1 {
            return;
        }
        let (asked, answered) = (&threads::OwnLine(AtomicU64::new(0)), &threads::OwnLine(AtomicU64::new(0)));
        let wait = |line: &AtomicU64, last: u64| {
            while line.load(Ordering::Acquire) == last {
                spin_loop();
            }
            line.load(Ordering::Acquire)
        };
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut last = 0;
                while last != END {
                    last = wait(asked, last);
                    answered.0.store(last, Ordering::Release);
                }
            });
            let mut number = 0;
            criterion.benchmark_group("limit").bench_function("signal and answer", |bencher| {
                bencher.iter(|| {
                    asked.0.store(number + 1, Ordering::Release);
                    number = wait(answered, number);
                });
            });
            asked.0.store(END, Ordering::Release);
        });
    }

    /// How long all threads together take to copy a tensor.
    fn copy(criterion: &mut Criterion) -> Option<Duration> {
        const CHUNK: usize = 1 << 14;
        let (from, mut to) = (vec![1.0_f32; BYTES / 4], vec![0.0_f32; BYTES / 4]);
        let mut group = criterion.benchmark_group("limit");
        group.throughput(Throughput::Bytes(2 * BYTES as u64));
        shortest(&mut group, "copy", || {
            threads::share(true, CHUNK, &mut to, |at, to| to.copy_from_slice(&from[at * CHUNK..][..to.len()]));
        })
    }

    /// Kernels that do little else than moving memory. A copy reads one tensor and writes one.
    fn moving(criterion: &mut Criterion, copy: Option<Duration>) {
        let group = &mut criterion.benchmark_group("moving");
        let device = MpsGraphDevice;
        let floats = || Tensor::<B, 2>::random(SHAPE, Distribution::Normal(0.0, 1.0), &device);
        let [x, y] = [floats(), floats()];
        sync();
        let mut case = |name: &str, tensors: f64, run: &mut dyn FnMut()| {
            let time = shortest(group, name, run);
            show(name, time, copy.map(|copy| copy.mul_f64(tensors / 2.0)), 0.7);
        };
        let wait = |result: Tensor<B, 2>| {
            sync();
            drop(result);
        };
        case("add", 3.0, &mut || wait(x.clone() + y.clone()));
        case("relu", 2.0, &mut || wait(activation::relu(x.clone())));
        case("multiply and add", 3.0, &mut || wait(x.clone() * y.clone() + x.clone()));
        case("compare and select", 3.0, &mut || wait(x.clone().mask_where(x.clone().greater(y.clone()), y.clone())));
        case("sum of all", 1.0, &mut || _ = x.clone().sum().into_scalar());
        case("sum of rows", 1.0, &mut || wait(x.clone().sum_dim(1)));
        case("sum of columns", 1.0, &mut || wait(x.clone().sum_dim(0)));
        case("maximum of rows", 1.0, &mut || wait(x.clone().max_dim(1)));
        case("softmax", 2.0, &mut || wait(activation::softmax(x.clone(), 1)));
        let norm = LayerNormConfig::new(SHAPE[1]).init::<B>(&device);
        sync();
        case("layer norm", 2.0, &mut || wait(norm.forward(x.clone())));
        // Reads weight, gradient and both moments, and writes all but the gradient.
        let mut update = adam(x.clone(), y.clone());
        case("Adam update", 7.0, &mut update);
    }

    /// Updates a weight with the same gradient again and again.
    fn adam(weight: Tensor<B, 2>, gradient: Tensor<B, 2>) -> impl FnMut() {
        let mut optimizer = AdamConfig::new().init::<Autodiff<B>, Param<Tensor<Autodiff<B>, 2>>>();
        let id = ParamId::new();
        let mut weight = Some(Param::initialized(id, Tensor::from_inner(weight).require_grad()));
        move || {
            let mut gradients = GradientsParams::new();
            gradients.register::<B, 2>(id, gradient.clone());
            weight = weight.take().map(|weight| optimizer.step(1e-3, weight, gradients));
            sync();
        }
    }

    /// How long all threads together take for one multiplication each of small matrices, divided by their number.
    fn peak(criterion: &mut Criterion) -> Option<f64> {
        const ROUNDS: usize = 16;
        let (a, b) = (vec![1.0_f32; OWN * OWN], vec![1.0_f32; OWN * OWN]);
        let results: Vec<Mutex<Vec<f32>>> =
            (0..threads::count()).map(|_| Mutex::new(vec![0.0_f32; OWN * OWN])).collect();
        let strides = [OWN, 1];
        let multiply = |at: usize| {
            let mut result = results[at % results.len()].lock().expect("no panic");
            let [a, b] = [&a, &b].map(|elements| Matrix { elements, strides });
            product((OWN, OWN, OWN), a, b, (&mut result, OWN), false);
        };
        let group = &mut criterion.benchmark_group("limit");
        let count = ROUNDS * threads::count();
        group.throughput(Throughput::Elements((count * OWN.pow(3)) as u64));
        let time = shortest(group, "multiplications", || {
            threads::for_each(threads::count(), 1, &|at| {
                (0..ROUNDS).for_each(|_| multiply(at));
            })
        })?;
        Some((count * OWN.pow(3)) as f64 / time.as_secs_f64())
    }

    fn products(criterion: &mut Criterion, peak: Option<f64>) {
        let group = &mut criterion.benchmark_group("product");
        let matrix = |shape: [usize; 2]| Tensor::<B, 2>::random(shape, Distribution::Default, &MpsGraphDevice);
        for [m, k, n] in [[256; 3], [512; 3], [1024; 3], [64, 784, 512], [784, 64, 512], [1024, 128, 512]] {
            let (a, b) = (matrix([m, k]), matrix([k, n]));
            sync();
            let name = format!("{m} x {k} x {n}");
            let time = shortest(group, &name, || {
                let result = a.clone().matmul(b.clone());
                sync();
                result
            });
            let limit = peak.map(|peak| Duration::from_secs_f64((m * k * n) as f64 / peak));
            show(&name, time, limit, 0.9);
        }
    }

    /// A training step against the sum of its kernels, each at its shortest.
    fn step(criterion: &mut Criterion) {
        let mut trainer = Trainer::<Autodiff<B>>::new();
        (0..20).for_each(|_| _ = trainer.step());
        let time = shortest(&mut criterion.benchmark_group("step"), "perceptron", || trainer.step());
        if time.is_none() {
            return;
        }
        let mut shortest: Vec<(String, Duration)> = time_steps(|| trainer.step()).1;
        for _ in 0..200 {
            let (_, times) = time_steps(|| trainer.step());
            assert_eq!(times.len(), shortest.len(), "each step runs the same kernels");
            for (shortest, (_, time)) in shortest.iter_mut().zip(times) {
                shortest.1 = shortest.1.min(time);
            }
        }
        let sum = shortest.iter().map(|(_, time)| *time).sum();
        for (kernel, time) in shortest {
            println!("{:9.1} µs {kernel}", micros(time));
        }
        show("kernels of a step", time, Some(sum), 0.8);
    }
}
