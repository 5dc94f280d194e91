//! Digits that the example draws itself when there is no data: strokes of varied width, moved, turned, scaled,
//! slanted and overlaid with noise. The same seed draws the same digits.

use std::f32::consts::TAU;

use super::{Digit, PIXELS, SIDE};

type Point = (f32, f32);

/// `count` digits, each class about equally often.
pub fn digits(count: usize, seed: u64) -> Vec<Digit> {
    let mut random = Random(seed ^ 0x5851_f42d_4c95_7f2d);
    (0..count).map(|_| draw(&mut random)).collect()
}

fn draw(random: &mut Random) -> Digit {
    let label = random.below(10) as u8;
    let angle = random.between(-0.25, 0.25);
    let (sin, cos) = angle.sin_cos();
    let slant = random.between(-0.2, 0.2);
    let size = (random.between(7.0, 9.5), random.between(8.0, 10.5));
    let centre = (13.5 + random.between(-2.5, 2.5), 13.5 + random.between(-2.0, 2.0));
    let wobble = random.between(0.0, 0.08);
    let strokes: Vec<Vec<Point>> = skeleton(label)
        .into_iter()
        .map(|stroke| {
            let place = |(x, y): Point| {
                let (x, y) = (x + random.between(-wobble, wobble), y + random.between(-wobble, wobble));
                let (x, y) = ((x - slant * y) * size.0, y * size.1);
                (centre.0 + x * cos - y * sin, centre.1 + x * sin + y * cos)
            };
            stroke.into_iter().map(place).collect()
        })
        .collect();
    let width = random.between(0.9, 1.8);
    let noise = random.between(0.0, 0.12);
    let mut pixels = [0u8; PIXELS];
    for (at, pixel) in pixels.iter_mut().enumerate() {
        let here = ((at % SIDE) as f32, (at / SIDE) as f32);
        let ink = (width + 0.5 - distance(here, &strokes)).clamp(0.0, 1.0);
        let value = ink + noise * random.between(-1.0, 1.0);
        *pixel = (value.clamp(0.0, 1.0) * 255.0) as u8;
    }
    Digit { pixels, label }
}

/// Strokes of a digit in a box from -1 to 1, y downwards.
fn skeleton(label: u8) -> Vec<Vec<Point>> {
    match label {
        0 => vec![arc((0.0, 0.0), (0.7, 1.0), 0.0, 1.0)],
        1 => vec![vec![(-0.3, -0.6), (0.1, -1.0), (0.1, 1.0)]],
        2 => vec![joined(arc((0.0, -0.45), (0.65, 0.55), 0.5, 1.08), vec![(-0.7, 1.0), (0.75, 1.0)])],
        3 => vec![arc((0.0, -0.5), (0.6, 0.5), 0.55, 1.25), arc((0.0, 0.5), (0.7, 0.5), 0.75, 1.45)],
        4 => vec![vec![(0.2, -1.0), (-0.75, 0.3), (0.8, 0.3)], vec![(0.35, -0.3), (0.35, 1.0)]],
        5 => vec![joined(vec![(0.65, -1.0), (-0.5, -1.0), (-0.55, -0.1)], arc((0.0, 0.35), (0.7, 0.62), 0.65, 1.42))],
        6 => vec![joined(vec![(0.45, -1.0), (-0.3, -0.35), (-0.62, 0.4)], arc((0.0, 0.42), (0.62, 0.56), 0.5, 1.5))],
        7 => vec![vec![(-0.7, -1.0), (0.7, -1.0), (-0.1, 1.0)]],
        8 => vec![arc((0.0, -0.5), (0.52, 0.48), 0.0, 1.0), arc((0.0, 0.5), (0.66, 0.52), 0.0, 1.0)],
        9 => vec![arc((0.0, -0.42), (0.6, 0.55), 0.0, 1.0), vec![(0.6, -0.42), (0.55, 0.3), (0.3, 1.0)]],
        _ => unreachable!("a digit is below ten"),
    }
}

/// Points of an ellipse from one part of a turn to another, clockwise from the right.
fn arc(centre: Point, radius: Point, from: f32, to: f32) -> Vec<Point> {
    let turn = |step: usize| (from + (to - from) * step as f32 / 14.0) * TAU;
    (0..=14).map(|step| (centre.0 + radius.0 * turn(step).cos(), centre.1 + radius.1 * turn(step).sin())).collect()
}

fn joined(mut first: Vec<Point>, second: Vec<Point>) -> Vec<Point> {
    first.extend(second);
    first
}

/// Distance from a point to the nearest stroke.
fn distance(from: Point, strokes: &[Vec<Point>]) -> f32 {
    let segments = strokes.iter().flat_map(|stroke| stroke.windows(2));
    segments.map(|ends| to_segment(from, ends[0], ends[1])).fold(f32::INFINITY, f32::min)
}

fn to_segment((x, y): Point, a: Point, b: Point) -> f32 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = (dx * dx + dy * dy).max(1e-9);
    let along = (((x - a.0) * dx + (y - a.1) * dy) / length).clamp(0.0, 1.0);
    (x - a.0 - along * dx).hypot(y - a.1 - along * dy)
}

/// A small generator (SplitMix64) for drawing only.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}
