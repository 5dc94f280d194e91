//! Flushes with many slices at places that are others each time.

use burn::tensor::{Tensor, TensorData};

use super::{B, Choice, Turn, read};
use burn_mpsgraph::{MpsGraphDevice, Stats};

/// The numbers 0, 1, 2, … in one row.
fn row(count: usize) -> Tensor<B, 2> {
    let values: Vec<f32> = (0..count).map(|at| at as f32).collect();
    Tensor::from_data(TensorData::new(values, [1, count]), &MpsGraphDevice)
}

/// What the last 100 of 300 steps use that join so many crops.
fn used_by_crops(turn: &mut Turn, crops: usize, choice: &mut Choice) -> Stats {
    let row = row(1000);
    for step in 0..300 {
        if step == 200 {
            turn.restart();
        }
        let starts: Vec<usize> = (0..crops).map(|_| choice.below(990)).collect();
        let parts = starts.iter().map(|&start| row.clone().slice([0..1, start..start + 7]) * 2.0).collect();
        let found = read(Tensor::cat(parts, 0));
        let expected = starts.iter().flat_map(|start| (0..7).map(move |at| 2.0 * (start + at) as f32));
        assert_eq!(found, expected.collect::<Vec<_>>(), "step {step}");
    }
    turn.used()
}

#[test]
fn batches_of_many_crops_are_one_program() {
    for crops in [17, 32, 64, 256] {
        let mut turn = Turn::take();
        let used = used_by_crops(&mut turn, crops, &mut Choice(3));
        assert_eq!((used.programs_compiled, used.executions), (0, 100), "{crops} crops: {used:?}");
    }
}

#[test]
fn few_crops_behind_many_are_one_program_too() {
    let mut turn = Turn::take();
    let mut choice = Choice(4);
    for crops in [32, 8, 17, 9, 3] {
        let used = used_by_crops(&mut turn, crops, &mut choice);
        assert_eq!((used.programs_compiled, used.executions), (0, 100), "{crops} crops: {used:?}");
    }
}

/// Before it is clear that the places never come again, few programs are compiled for them.
#[test]
fn crops_compile_few_programs_at_first() {
    let mut turn = Turn::take();
    turn.restart();
    let row = row(1000);
    let mut choice = Choice(5);
    for _ in 0..100 {
        let sum = (0..30).map(|_| choice.below(990)).map(|start| row.clone().slice([0..1, start..start + 7]));
        assert!(read(sum.reduce(|a, b| a + b).expect("thirty crops")).iter().all(|value| value.is_finite()));
    }
    assert!(turn.used().programs_compiled <= 20, "{:?}", turn.used());
}

#[test]
fn crops_that_move_along_two_axes() {
    const IMAGES: usize = 24;
    let mut turn = Turn::take();
    let values: Vec<f32> = (0..IMAGES * 2 * 12 * 12).map(|at| at as f32).collect();
    let images = Tensor::<B, 4>::from_data(TensorData::new(values, [IMAGES, 2, 12, 12]), &MpsGraphDevice);
    let mut choice = Choice(6);
    for step in 0..200 {
        if step == 150 {
            turn.restart();
        }
        let places: Vec<[usize; 2]> = (0..IMAGES).map(|_| [choice.below(9), choice.below(9)]).collect();
        let crop =
            |(image, &[y, x]): (usize, &[usize; 2])| images.clone().slice([image..image + 1, 0..2, y..y + 4, x..x + 4]);
        let found = read(Tensor::cat(places.iter().enumerate().map(crop).collect(), 0) + 1.0);
        let expected = (0..IMAGES * 32).map(|at| {
            let [y, x] = places[at / 32];
            (at / 16 * 144 + (y + at / 4 % 4) * 12 + x + at % 4) as f32 + 1.0
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "step {step}");
    }
    let used = turn.used();
    assert_eq!((used.programs_compiled, used.executions), (0, 50), "{used:?}");
}
