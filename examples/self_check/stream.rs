//! Programs, threads and memory instead of single operations.

use burn::tensor::{DType, Distribution, Tensor};
use burn_mpsgraph::{MpsGraphDevice, eagerly};
use test_support::Outcome;

use crate::agreement::{EXACT, F32, close_floats};
use crate::table::{Trap, check, note};
use crate::values::{B, f32s, floats, noise};

pub const TRAPS: &[Trap] = &[
    check("300 operations in one program", long_chain),
    check("2000 operations in a row in one program, compiled on a stack of 512 KiB", small_stack),
    check("one operation per program gives the same", eager),
    check("four threads that compile and run at once", threads),
    check("a tensor that another thread has recorded", handed_over),
    check("2000 steps: buffers do not grow, nothing is compiled again", steps),
    check("a value that is read twice and changed between", reread),
    check("large buffers: 64 MB there and back", large),
    check("values of one program that are equal: constants, views, sums", equal_values),
    check("numbers of one program that are equal, and then are not", equal_numbers),
    check("operands dropped and memory released while work is in flight", released),
    check("100 programs of 4 MB in a row, all kept, without a read", unread),
    note("microseconds per step of 10 small operations with a read", latency),
];

fn long_chain() -> Outcome {
    chain(100)
}

/// Who flushes compiles on its own stack, and threads of Grand Central Dispatch have 512 KiB.
fn small_stack() -> Outcome {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(|| chain(2000 / 3));
    match thread.map(|thread| thread.join()) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) | Err(_) => Outcome::fact("a result", "a panic, or no thread", false),
    }
}

/// So many times three operations, each on the result of the one before.
fn chain(times: usize) -> Outcome {
    let x = noise(64, 1);
    let mut tensor = f32s(&x, [8, 8]);
    let mut expected = x;
    for i in 0..times {
        let factor = if i % 2 == 0 { 0.75 } else { -1.25 };
        tensor = (tensor * factor + 0.125).abs();
        expected.iter_mut().for_each(|x| *x = (*x * factor + 0.125).abs());
    }
    close_floats(&tensor.into_data(), &[8, 8], &expected, F32)
}

fn eager() -> Outcome {
    let work = || {
        let x = f32s(&noise(60, 2), [6, 10]);
        let y = x.clone().matmul(x.clone().transpose()).exp().sum_dim(1);
        (x * y).into_data().iter::<f64>().collect::<Vec<_>>()
    };
    let recorded = work();
    let x = eagerly(work);
    let worst = recorded.iter().zip(&x).map(|(a, b)| (a - b).abs() / a.abs().max(1.0)).fold(0.0, f64::max);
    Outcome { expected: "equal".into(), got: format!("{worst:.1e} apart"), error: worst, agrees: worst <= 1e-5 }
}

fn threads() -> Outcome {
    let run = |salt: u64| {
        let mut outcomes = Vec::new();
        for round in 1..12 {
            // Each round has its own shape, so every round compiles.
            let count = 16 * (round + 12 * salt as usize);
            let x = noise(count, salt);
            let got = f32s(&x, [count]) * 3.0 + 1.0;
            let expected: Vec<f64> = x.iter().map(|x| x * 3.0 + 1.0).collect();
            outcomes.push(close_floats(&got.into_data(), &[count], &expected, F32));
        }
        Outcome::of(outcomes)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..5).map(|salt| scope.spawn(move || run(salt))).collect();
        Outcome::of(
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Outcome::fact("a result", "a panic", false))),
        )
    })
}

fn handed_over() -> Outcome {
    let x = noise(100, 3);
    let recorded = f32s(&x, [100]) * 2.0;
    let other = std::thread::spawn({
        let recorded = recorded.clone();
        move || (recorded + 1.0).into_data()
    });
    let expected: Vec<f64> = x.iter().map(|x| x * 2.0 + 1.0).collect();
    let doubled: Vec<f64> = x.iter().map(|x| x * 2.0).collect();
    match other.join() {
        Ok(data) => Outcome::of([
            close_floats(&data, &[100], &expected, F32),
            close_floats(&recorded.into_data(), &[100], &doubled, F32),
        ]),
        Err(_) => Outcome::fact("a result", "a panic", false),
    }
}

fn steps() -> Outcome {
    let device = MpsGraphDevice;
    let weight = floats(&noise(32 * 32, 4), [32, 32], DType::F32) * 0.1;
    let mut state = floats(&noise(32 * 32, 5), [32, 32], DType::F32);
    let mut step = |rate: f64| {
        state = state.clone().matmul(weight.clone()).tanh() * rate;
        state.clone().sum().into_scalar()
    };
    (0..50).for_each(|i| {
        step(1.0 + f64::from(i) * 1e-6);
    });
    let before = device.stats();
    (0..2000).for_each(|i| {
        step(1.0 + f64::from(i) * 1e-7);
    });
    let after = device.stats();
    let compiled = after.programs_compiled - before.programs_compiled;
    let grown = after.bytes_live as i128 - before.bytes_live as i128;
    Outcome::fact(
        "0 compiled, 0 bytes",
        format!("{compiled} compiled, {grown} bytes"),
        compiled == 0 && grown <= 1 << 16,
    )
}

fn reread() -> Outcome {
    let x = noise(32, 6);
    let tensor = f32s(&x, [32]);
    let first = tensor.clone().into_data();
    let changed = (tensor.clone() * 2.0).into_data();
    let again = tensor.into_data();
    let doubled: Vec<f64> = x.iter().map(|x| x * 2.0).collect();
    Outcome::of([
        close_floats(&first, &[32], &x, EXACT),
        close_floats(&changed, &[32], &doubled, EXACT),
        close_floats(&again, &[32], &x, EXACT),
    ])
}

fn large() -> Outcome {
    let count = 16 << 20;
    let ones = Tensor::<B, 1>::random([count], Distribution::Bernoulli(1.0), &MpsGraphDevice);
    let data = (ones + 1.5).into_data();
    let wrong = data.iter::<f32>().filter(|x| *x != 2.5).count();
    Outcome::fact("0 differ", format!("{wrong} differ"), wrong == 0)
}

fn equal_values() -> Outcome {
    let x = noise(12, 8);
    let tensor = f32s(&x, [3, 4]);
    let zeros: [Tensor<B, 2>; 4] = std::array::from_fn(|_| Tensor::zeros([2, 3], &MpsGraphDevice));
    let turned = [tensor.clone().transpose(), tensor.clone().transpose()];
    let sums = [tensor.clone() + 1.5, tensor + 1.5];
    let expected: Vec<f64> = (0..12).map(|i| x[i % 3 * 4 + i / 3]).collect();
    let added: Vec<f64> = x.iter().map(|x| x + 1.5).collect();
    let zeros = zeros.map(|zeros| close_floats(&zeros.into_data(), &[2, 3], &[0.0; 6], EXACT));
    let turned = turned.map(|x| close_floats(&x.into_data(), &[4, 3], &expected, EXACT));
    let sums = sums.map(|x| close_floats(&x.into_data(), &[3, 4], &added, EXACT));
    Outcome::of(zeros.into_iter().chain(turned).chain(sums))
}

fn equal_numbers() -> Outcome {
    let x = noise(20, 9);
    Outcome::of([(2.0, 2.0), (0.5, 0.5), (2.0, 0.25), (4.0, 4.0), (-1.0, 3.0)].map(|(factor, term)| {
        let expected: Vec<f64> = x.iter().map(|x| x * factor + term).collect();
        close_floats(&(f32s(&x, [20]) * factor + term).into_data(), &[20], &expected, EXACT)
    }))
}

fn released() -> Outcome {
    let x = noise(256 * 256, 10);
    let mut tensor = f32s(&x, [256, 256]);
    for _ in 0..40 {
        tensor = tensor.clone().transpose() * 0.5 + tensor * 0.5;
        MpsGraphDevice.flush();
        MpsGraphDevice.clear_cache();
    }
    let expected: Vec<f64> = (0..256 * 256).map(|i| 0.5 * (x[i] + x[i % 256 * 256 + i / 256])).collect();
    close_floats(&tensor.into_data(), &[256, 256], &expected, EXACT)
}

fn unread() -> Outcome {
    let mut last = Tensor::<B, 1>::zeros([1 << 20], &MpsGraphDevice);
    let kept: Vec<Tensor<B, 1>> = (0..100)
        .map(|_| {
            last = last.clone() + 1.0;
            MpsGraphDevice.flush();
            last.clone()
        })
        .collect();
    let differ = |(at, tensor): (usize, Tensor<B, 1>)| {
        tensor.into_data().iter::<f32>().filter(|&x| x != at as f32 + 1.0).count()
    };
    let wrong: usize = kept.into_iter().enumerate().map(differ).sum();
    Outcome::fact("0 differ", format!("{wrong} differ"), wrong == 0)
}

fn latency() -> Outcome {
    let mut x = f32s(&noise(64, 7), [64]);
    let mut run = |steps: u32| {
        let start = std::time::Instant::now();
        for _ in 0..steps {
            for _ in 0..5 {
                x = x.clone() * 0.5 + 0.25;
            }
            let _ = x.clone().into_data();
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(steps)
    };
    run(20);
    Outcome::fact("-", format!("{:.0} us", run(200)), true)
}
