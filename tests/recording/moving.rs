//! Slices whose place changes from run to run compile once more, not for each place.

use burn::tensor::{DType, Int, Tensor, TensorData, s};

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// Rows with the numbers 0, 1, 2, … in all columns.
fn rows(count: usize, columns: usize) -> Tensor<B, 2> {
    let values: Vec<f32> = (0..count * columns).map(|at| (at / columns) as f32).collect();
    Tensor::from_data(TensorData::new(values, [count, columns]), &MpsGraphDevice)
}

#[test]
fn mini_batches_cut_from_a_tensor() {
    let turn = Turn::take();
    let data = rows(300 * 4, 3);
    for epoch in 0..2 {
        for batch in 0..300 {
            let found = read((data.clone().slice(s![batch * 4..(batch + 1) * 4]) * 2.0).sum());
            let expected: usize = (batch * 4..(batch + 1) * 4).map(|row| 2 * 3 * row).sum();
            assert_eq!(found, [expected as f32], "batch {batch} of epoch {epoch}");
        }
    }
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn crops_that_move_along_two_axes() {
    let turn = Turn::take();
    let values: Vec<f32> = (0..2 * 12 * 10).map(|at| at as f32).collect();
    let image = Tensor::<B, 3>::from_data(TensorData::new(values, [2, 12, 10]), &MpsGraphDevice);
    for at in 0..40 {
        let (y, x) = (at * 7 % 9, at * 5 % 8);
        let found = read(image.clone().slice([0..2, y..y + 4, x..x + 3]) + 1.0);
        let expected: Vec<f32> = (0..2 * 4 * 3)
            .map(|i| {
                let (c, i) = (i / 12, i % 12);
                (c * 120 + (y + i / 3) * 10 + x + i % 3) as f32 + 1.0
            })
            .collect();
        assert_eq!(found, expected, "{y}, {x}");
    }
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn crops_of_a_few_images_of_many() {
    const IMAGES: usize = 500;
    let _turn = Turn::take();
    let number = |image: usize, y: usize, x: usize| (image * 1024 + y * 32 + x) as f32;
    let values: Vec<f32> = (0..IMAGES * 1024).map(|at| at as f32).collect();
    let images = Tensor::<B, 3>::from_data(TensorData::new(values, [IMAGES, 32, 32]), &MpsGraphDevice);
    let mut most = 0;
    for step in 0..40 {
        let (first, y, x) = (step * 3, step % 4, step * 3 % 5);
        let fixed = images.clone().slice([3..5, y..y + 28, x..x + 27]) * 1.0;
        let moving = images.clone().slice([first..first + 2, y..y + 28, x..x + 27]) * 1.0;
        MpsGraphDevice.flush();
        most = most.max(MpsGraphDevice.stats().bytes_held);
        for (crop, first) in [(fixed, 3), (moving, first)] {
            let place = |at: usize| number(first + at / (28 * 27), y + at / 27 % 28, x + at % 27);
            assert_eq!(read(crop), (0..2 * 28 * 27).map(place).collect::<Vec<_>>(), "step {step}");
        }
    }
    assert!(most < (IMAGES * 1024) as u64, "{most} bytes are held to cut out two images of {IMAGES}");
}

#[test]
fn every_dtype_and_step_moves() {
    let _turn = Turn::take();
    for start in 0..6 {
        let whole = Tensor::<B, 1, Int>::arange(16_777_210..16_777_226, &MpsGraphDevice);
        let part = whole.slice(s![start..start + 7]).flip([0]);
        let expected: Vec<i32> = (0..7).rev().map(|at| 16_777_210 + start + at).collect();
        assert_eq!(part.into_data().convert::<i32>().to_vec::<i32>().expect("integers"), expected);
        let even = vector(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        let even = even.slice(s![start..start + 4;2]);
        assert_eq!(read(even), [start as f32, start as f32 + 2.0]);
        let truth = vector(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).greater_elem(3.0).slice(s![start..start + 1]);
        assert_eq!(truth.into_data().to_vec::<bool>().expect("bools"), [start > 3]);
    }
}

#[test]
fn narrow_dtypes_move() {
    let _turn = Turn::take();
    for (dtype, highest) in [(DType::I8, 127), (DType::U8, 255), (DType::I16, 32_767), (DType::U16, 65_535)] {
        let whole = Tensor::<B, 1, Int>::arange(highest - 11..highest + 1, (&MpsGraphDevice, dtype)).reshape([6, 2]);
        let device = MpsGraphDevice;
        device.sync().expect("the device works");
        for start in 0..4 {
            let rows = read_integers(whole.clone().slice(s![start..start + 2]).flip([1]));
            let first = highest as i32 - 11 + 2 * start as i32;
            assert_eq!(rows, [first + 1, first, first + 3, first + 2], "{dtype:?}");
            let zeros = Tensor::<B, 2, Int>::zeros([6, 2], (&device, dtype));
            let put = zeros.slice_assign(s![start..start + 2], whole.clone().slice(s![4..6]));
            let mut expected = [0; 12];
            expected[2 * start..2 * start + 4].copy_from_slice(&[3, 2, 1, 0].map(|less| highest as i32 - less));
            assert_eq!(read_integers(put), expected, "{dtype:?}");
        }
    }
}

fn read_integers<const D: usize>(tensor: Tensor<B, D, Int>) -> Vec<i32> {
    tensor.into_data().convert::<i32>().to_vec().expect("integers")
}

/// A dataset of bytes is not widened for a mini-batch of it, however the batch is taken.
#[cfg(soft_runtime)] // the software runtime counts operations
#[test]
fn narrow_dtypes_stay_narrow() {
    let _turn = Turn::take();
    let operations = |dtype: DType, take: fn(Tensor<B, 2, Int>, usize) -> Tensor<B, 2, Int>| {
        let data = Tensor::<B, 2, Int>::ones([32, 3], (&MpsGraphDevice, dtype));
        MpsGraphDevice.sync().expect("the device works");
        take(data.clone(), 0).into_data();
        let before = mpsgraph_soft::mpsgraph::counters::operations_compiled();
        take(data, 8).into_data();
        mpsgraph_soft::mpsgraph::counters::operations_compiled() - before
    };
    let sliced = |data: Tensor<B, 2, Int>, start: usize| data.slice(s![start..start + 8]);
    let selected = |data: Tensor<B, 2, Int>, start: usize| {
        let rows = start as i64..start as i64 + 4;
        data.select(0, Tensor::arange(rows, &MpsGraphDevice)).repeat_dim(0, 1 + start)
    };
    for take in [sliced, selected] {
        // There and back, the bits of an i32 and those of a u8 are read as another dtype's, and i8 is as it is.
        let expected = operations(DType::I32, take);
        assert_eq!(operations(DType::U8, take), expected);
        assert_eq!(operations(DType::I8, take), expected - 2);
    }
}

#[test]
fn a_token_put_into_a_cache_of_fixed_size() {
    let turn = Turn::take();
    let device = MpsGraphDevice;
    let mut cache = Tensor::<B, 3>::zeros([1, 64, 4], &device);
    for t in 0..64 {
        let token = Tensor::<B, 3>::ones([1, 1, 4], &device) * (t + 1) as f32;
        cache = cache.slice_assign([0..1, t..t + 1, 0..4], token);
        let expected: usize = (1..=t + 1).map(|token| 4 * token).sum();
        assert_eq!(read(cache.clone().sum()), [expected as f32]);
    }
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn regions_with_steps_and_other_partial_axes_are_replaced() {
    let turn = Turn::take();
    for start in 0..5 {
        let data = rows(12, 5);
        let update = Tensor::<B, 2>::full([3, 2], -1.0, &MpsGraphDevice);
        let found = read(data.slice_assign(s![start..start + 6;2, 1..3], update));
        let expected: Vec<f32> = (0..12 * 5)
            .map(|at| {
                let (row, column) = (at / 5, at % 5);
                let inside = row >= start && row < start + 6 && (row - start) % 2 == 0 && (1..3).contains(&column);
                if inside { -1.0 } else { row as f32 }
            })
            .collect();
        assert_eq!(found, expected, "{start}");
    }
    assert!(turn.used().programs_compiled <= 4, "{:?}", turn.used());
}

#[test]
fn what_stays_in_place_stays_a_plain_slice() {
    let turn = Turn::take();
    let x = rows(6, 6);
    for _ in 0..5 {
        let [q, k] = [0, 3].map(|at| x.clone().slice([0..6, at..at + 3]));
        assert_eq!(read((q - k).abs().sum()), [0.0]);
    }
    assert_eq!(turn.used().programs_compiled, 1);
}
