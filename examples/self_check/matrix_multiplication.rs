//! Matrix products.

use burn::nn::LinearConfig;
use burn::tensor::{DType, Tensor, activation, module::linear};
use burn_mpsgraph::MpsGraphDevice;
use test_support::Outcome;

use crate::agreement::{EXACT, Tolerance, close_floats, same_integers, unit, within};
use crate::table::{Trap, check};
use crate::values::{B, coordinates, f32s, floats, ints, noise, position, wide_integers, wrapped};

pub const TRAPS: &[Trap] = &[
    check("K = 32768 with 16 to 33 rows and columns (wrong on M1, M2)", long_inner),
    check("K = 50000 with the first matrix turned, in a batch (wrong on an M2 Max)", long_inner_turned),
    check("K = 32768 and 40000 with one row or column", long_inner_vectors),
    check("f16 with K = 32768", long_inner_narrow),
    check("f16 and bf16 accumulate in f32: K = 4096 of ones", narrow_accumulation),
    check("one row with a bias (lost on M1 with macOS 26)", one_row_with_bias),
    check("linear layer of ranks 2, 3 and 4", layers),
    check("two layers with biases of a computed [1, 1, 20] (macOS 26)", layers_of_one),
    check("batches broadcast both ways", broadcasting),
    check("products with zeros and ones", one_number),
    check("f16 and bf16 batches (random on M5)", narrow_batches),
    check("f16 batches twice give the same bits", narrow_batches_twice),
    check("f16 with few rows and odd strides", narrow_few_rows),
    check("few rows of f16 and bf16 that are apart: cut out, permuted", narrow_few_rows_apart),
    check("transposed operands, both sides", transposed),
    check("transposed operands of a batch, permuted batch", transposed_batches),
    check("shapes with several extents of 1 (aborts on macOS 27)", lone_extents),
    check("70000 matrices of 2 x 2", many_matrices),
    check("rank 5 and 6", ranks),
    check("products of i32 and i64 beyond 2^24 wrap", integers),
    check("product with a slice of a computed tensor", sliced_operand),
    check("product with rows 50257 apart (wrong before macOS 14.4)", distant_rows),
    check("256 x 300 x 280", ordinary),
];

/// The product of the last two axes, the others broadcast.
pub fn product(a: &[f64], shape_a: &[usize], b: &[f64], shape_b: &[usize]) -> Vec<f64> {
    let rank = shape_a.len();
    let (m, k, n) = (shape_a[rank - 2], shape_a[rank - 1], shape_b[rank - 1]);
    let [batch_a, batch_b] = [shape_a, shape_b].map(|shape| &shape[..rank - 2]);
    let batch: Vec<usize> = batch_a.iter().zip(batch_b).map(|(&a, &b)| a.max(b)).collect();
    coordinates(&batch)
        .iter()
        .flat_map(|at| {
            let a = &a[position(batch_a, at) * m * k..][..m * k];
            let b = &b[position(batch_b, at) * k * n..][..k * n];
            let mut whole = vec![0.0; m * n];
            for (row, out) in a.chunks(k).zip(whole.chunks_mut(n)) {
                for (x, line) in row.iter().zip(b.chunks(n)) {
                    out.iter_mut().zip(line).for_each(|(sum, y)| *sum += x * y);
                }
            }
            whole
        })
        .collect()
}

fn of<const D: usize>(a: [usize; D], b: [usize; D], dtype: DType, tolerance: Tolerance) -> Outcome {
    let (x, y) = (noise(a.iter().product(), 1), noise(b.iter().product(), 2));
    let mut shape: Vec<usize> = a.iter().zip(b).map(|(&a, b)| a.max(b)).collect();
    (shape[D - 2], shape[D - 1]) = (a[D - 2], b[D - 1]);
    let got = floats(&x, a, dtype).matmul(floats(&y, b, dtype));
    close_floats(&got.into_data(), &shape, &product(&x, &a, &y, &b), tolerance)
}

/// The tolerance for any order in which `inner` products are summed.
pub fn sums(inner: usize) -> Tolerance {
    within(2e-7 * inner as f64, 1e-5)
}

fn long_inner() -> Outcome {
    Outcome::of([
        of([16, 32_768], [32_768, 16], DType::F32, within(2e-3, 1e-5)),
        of([33, 32_768], [32_768, 17], DType::F32, within(2e-3, 1e-5)),
        of([4, 32_768], [32_768, 5], DType::F32, within(2e-3, 1e-5)),
        of([2, 16, 32_768], [2, 32_768, 16], DType::F32, within(2e-3, 1e-5)),
    ])
}

/// Products of 50,000 rows of 25 by themselves depend on what lies behind in memory (pytorch/pytorch#193487).
fn long_inner_turned() -> Outcome {
    let [batch, rows, columns] = [3, 50_000, 25];
    let x = noise(batch * rows * columns, 3);
    let turned: Vec<f64> = (0..batch * columns * rows)
        .map(|at| x[(at / (columns * rows) * rows + at % rows) * columns + at / rows % columns])
        .collect();
    let tensor = f32s(&x, [batch, rows, columns]);
    let expected = product(&turned, &[batch, columns, rows], &x, &[batch, rows, columns]);
    let got = tensor.clone().transpose().matmul(tensor);
    // Long sums of positive numbers; the reports have errors of tenths.
    close_floats(&got.into_data(), &[batch, columns, columns], &expected, within(0.1, 1e-3))
}

fn long_inner_vectors() -> Outcome {
    Outcome::of([
        of([1, 32_768], [32_768, 16], DType::F32, within(2e-3, 1e-5)),
        of([16, 40_000], [40_000, 1], DType::F32, within(2e-3, 1e-5)),
        of([1, 40_000], [40_000, 1], DType::F32, within(2e-3, 1e-5)),
    ])
}

fn long_inner_narrow() -> Outcome {
    of([16, 32_768], [32_768, 16], DType::F16, within(1e-2, 1.0 / 1024.0))
}

fn narrow_accumulation() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let flat = floats(&[1.0; 4096 * 3], [3, 4096], dtype);
        let tall = floats(&[1.0; 4096 * 2], [4096, 2], dtype);
        let batch = flat
            .clone()
            .unsqueeze::<3>()
            .expand([2, 3, 4096])
            .matmul(tall.clone().unsqueeze::<3>().expand([2, 4096, 2]));
        [
            close_floats(&flat.matmul(tall).into_data(), &[3, 2], &[4096.0; 6], EXACT),
            close_floats(&batch.into_data(), &[2, 3, 2], &[4096.0; 12], EXACT),
        ]
    }))
}

fn one_row_with_bias() -> Outcome {
    let (k, n) = (64, 48);
    let (x, w, b) = (noise(k, 3), noise(k * n, 4), noise(n, 5));
    let expected: Vec<f64> = product(&x, &[1, k], &w, &[k, n]).iter().zip(&b).map(|(y, b)| y + b).collect();
    Outcome::of([DType::F32, DType::F16].into_iter().flat_map(|dtype| {
        let tolerance = if dtype == DType::F32 { sums(k) } else { within(1e-2, 2e-3) };
        let weight = || floats(&w, [k, n], dtype);
        let row = || floats(&x, [1, k], dtype);
        let layer = linear(row(), weight(), Some(floats(&b, [n], dtype)));
        let by_hand = row().matmul(weight()) + floats(&b, [1, n], dtype);
        let batch = row().unsqueeze::<3>().matmul(weight().unsqueeze::<3>()) + floats(&b, [1, 1, n], dtype);
        [
            close_floats(&layer.into_data(), &[1, n], &expected, tolerance),
            close_floats(&by_hand.into_data(), &[1, n], &expected, tolerance),
            close_floats(&batch.into_data(), &[1, 1, n], &expected, tolerance),
        ]
    }))
}

/// Which the graph may keep as one number.
fn one_number() -> Outcome {
    let (m, k, n) = (40, 48, 33);
    let x = noise(m * k, 26);
    let sums_of_rows: Vec<f64> = x.chunks(k).flat_map(|row| vec![row.iter().sum(); n]).collect();
    Outcome::of([DType::F32, DType::F16].into_iter().flat_map(|dtype| {
        let tolerance = if dtype == DType::F32 { sums(k) } else { within(1e-2, 2e-3) };
        let left = || floats(&x, [m, k], dtype);
        let ones = left().matmul(Tensor::ones([k, n], (&MpsGraphDevice, dtype)));
        let zeros = left().matmul(Tensor::zeros([k, n], (&MpsGraphDevice, dtype)));
        [
            close_floats(&ones.into_data(), &[m, n], &sums_of_rows, tolerance),
            close_floats(&zeros.into_data(), &[m, n], &vec![0.0; m * n], EXACT),
        ]
    }))
}

fn layers() -> Outcome {
    let layer = LinearConfig::new(20, 30).init::<B>(&MpsGraphDevice);
    let w: Vec<f64> = layer.weight.val().into_data().iter::<f64>().collect();
    let b: Vec<f64> =
        layer.bias.iter().flat_map(|bias| bias.val().into_data().iter::<f64>().collect::<Vec<_>>()).collect();
    let x = noise(2 * 3 * 4 * 20, 6);
    let mut expected = product(&x, &[24, 20], &w, &[20, 30]);
    expected.iter_mut().enumerate().for_each(|(i, y)| *y += b[i % 30]);
    Outcome::of([
        close_floats(&layer.forward(f32s(&x, [24, 20])).into_data(), &[24, 30], &expected, sums(20)),
        close_floats(&layer.forward(f32s(&x, [6, 4, 20])).into_data(), &[6, 4, 30], &expected, sums(20)),
        close_floats(&layer.forward(f32s(&x, [2, 3, 4, 20])).into_data(), &[2, 3, 4, 30], &expected, sums(20)),
    ])
}

fn layers_of_one() -> Outcome {
    let (x, w, b) = (noise(20, 7), noise(20 * 20, 8), noise(20, 9));
    let layer = |x: &[f64]| -> Vec<f64> {
        product(x, &[1, 20], &w, &[20, 20]).iter().zip(&b).map(|(y, b)| (y + b).max(0.0)).collect()
    };
    let computed: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    let expected = layer(&layer(&computed));
    let weight = || f32s(&w, [20, 20]);
    let layer = |x: Tensor<B, 3>| activation::relu(linear(x, weight(), Some(f32s(&b, [20]))));
    let got = layer(layer(f32s(&x, [1, 1, 20]) * 2.0));
    close_floats(&got.into_data(), &[1, 1, 20], &expected, within(1e-5, 1e-5))
}

fn broadcasting() -> Outcome {
    Outcome::of([
        of([2, 1, 3, 4], [1, 5, 4, 6], DType::F32, sums(4)),
        of([5, 3, 4], [1, 4, 6], DType::F32, sums(4)),
        of([1, 3, 4], [5, 4, 6], DType::F32, sums(4)),
        of([2, 3, 4, 5], [2, 1, 5, 6], DType::F32, sums(5)),
    ])
}

fn narrow_batches() -> Outcome {
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        let relative = unit(dtype);
        [
            of([6, 33, 64], [6, 64, 40], dtype, within(1e-3, relative)),
            of([2, 3, 16, 128], [2, 3, 128, 16], dtype, within(1e-3, relative)),
            of([6, 33, 64], [1, 64, 40], dtype, within(1e-3, relative)),
        ]
    }))
}

fn narrow_batches_twice() -> Outcome {
    let (x, y) = (noise(8 * 64 * 96, 7), noise(8 * 96 * 64, 8));
    let run = || {
        let got = floats(&x, [8, 64, 96], DType::F16).matmul(floats(&y, [8, 96, 64], DType::F16));
        got.into_data().iter::<f64>().collect::<Vec<_>>()
    };
    let first = run();
    let different = (0..5).map(|_| run().iter().zip(&first).filter(|(a, b)| a != b).count()).max().unwrap_or(0);
    Outcome::fact("0 differ", format!("{different} differ"), different == 0)
}

fn narrow_few_rows() -> Outcome {
    Outcome::of([1, 3, 7, 16].into_iter().flat_map(|few| {
        [
            of([few, 67], [67, 45], DType::F16, within(1e-3, 1.0 / 1024.0)),
            of([45, 67], [67, few], DType::F16, within(1e-3, 1.0 / 1024.0)),
        ]
    }))
}

/// Heads of an attention layer as its projections leave them: `[rows, heads * width]`, of which one head is cut out, or
/// all are permuted to the front.
fn narrow_few_rows_apart() -> Outcome {
    const HEADS: usize = 5;
    const WIDTH: usize = 24;
    let head = |x: &[f64], rows: usize, head: usize| -> Vec<f64> {
        (0..rows * WIDTH).map(|i| 2.0 * x[i / WIDTH * HEADS * WIDTH + head * WIDTH + i % WIDTH]).collect()
    };
    Outcome::of([DType::F16, DType::BF16].into_iter().flat_map(|dtype| {
        [1, 8, 16].into_iter().flat_map(move |rows| {
            let (x, y) = (noise(rows * HEADS * WIDTH, 14), noise(40 * HEADS * WIDTH, 15));
            let [x_made, y_made] =
                [(&x, rows), (&y, 40)].map(|(x, rows)| floats(x, [rows, HEADS * WIDTH], dtype) * 2.0);
            let cut = |x: &Tensor<B, 2>| x.clone().narrow(1, 2 * WIDTH, WIDTH);
            let sliced = cut(&x_made).matmul(cut(&y_made).transpose());
            let scores =
                |at| product(&head(&x, rows, at), &[rows, WIDTH], &turned(&head(&y, 40, at), 40, WIDTH), &[WIDTH, 40]);
            let of_sliced = scores(2);
            let permuted = |x: Tensor<B, 2>, rows| x.reshape([1, rows, HEADS, WIDTH]).swap_dims(1, 2);
            let batched = permuted(x_made, rows).matmul(permuted(y_made, 40).transpose());
            let of_batched: Vec<f64> = (0..HEADS).flat_map(scores).collect();
            let near = within(1e-2, unit(dtype));
            [
                close_floats(&sliced.into_data(), &[rows, 40], &of_sliced, near),
                close_floats(&batched.into_data(), &[1, HEADS, rows, 40], &of_batched, near),
            ]
        })
    }))
}

/// `x` with rows and columns exchanged.
pub fn turned(x: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows * columns).map(|i| x[i % rows * columns + i / rows]).collect()
}

fn transposed() -> Outcome {
    let (m, k, n) = (9, 14, 11);
    let (x, y) = (noise(m * k, 9), noise(k * n, 10));
    let expected = product(&x, &[m, k], &y, &[k, n]);
    let left = || f32s(&turned(&x, m, k), [k, m]).transpose();
    let right = || f32s(&turned(&y, k, n), [n, k]).transpose();
    Outcome::of([
        close_floats(&left().matmul(f32s(&y, [k, n])).into_data(), &[m, n], &expected, sums(k)),
        close_floats(&f32s(&x, [m, k]).matmul(right()).into_data(), &[m, n], &expected, sums(k)),
        close_floats(&left().matmul(right()).into_data(), &[m, n], &expected, sums(k)),
        close_floats(&(left() * 1.0).matmul(right() + 0.0).into_data(), &[m, n], &expected, sums(k)),
    ])
}

fn transposed_batches() -> Outcome {
    let (x, y) = (noise(2 * 3 * 8 * 5, 11), noise(2 * 3 * 5 * 7, 12));
    // As attention has it: (batch, position, head, feature) with positions and heads exchanged.
    let left = f32s(&x, [2, 8, 3, 5]).swap_dims(1, 2);
    let right = f32s(&y, [2, 7, 3, 5]).permute([0, 2, 3, 1]);
    let moved_x: Vec<f64> =
        coordinates(&[2, 3, 8, 5]).iter().map(|at| x[position(&[2, 8, 3, 5], &[at[0], at[2], at[1], at[3]])]).collect();
    let moved_y: Vec<f64> =
        coordinates(&[2, 3, 5, 7]).iter().map(|at| y[position(&[2, 7, 3, 5], &[at[0], at[3], at[1], at[2]])]).collect();
    let expected = product(&moved_x, &[2, 3, 8, 5], &moved_y, &[2, 3, 5, 7]);
    close_floats(&left.matmul(right).into_data(), &[2, 3, 8, 7], &expected, sums(5))
}

fn lone_extents() -> Outcome {
    let reshaped = || {
        let got = f32s(&noise(12, 1), [12]).reshape([1, 1, 12]).matmul(f32s(&noise(12, 2), [12]).reshape([1, 12, 1]));
        let expected: f64 = noise(12, 1).iter().zip(noise(12, 2)).map(|(x, y)| x * y).sum();
        close_floats(&got.reshape([1]).into_data(), &[1], &[expected], sums(12))
    };
    Outcome::of([
        of([1, 1, 3], [1, 3, 1], DType::F32, sums(3)),
        of([1, 1, 1, 8], [1, 1, 8, 4], DType::F32, sums(8)),
        of([1, 5, 1, 4], [1, 1, 4, 1], DType::F32, sums(4)),
        reshaped(),
    ])
}

fn many_matrices() -> Outcome {
    of([70_000, 2, 2], [70_000, 2, 2], DType::F32, sums(2))
}

fn ranks() -> Outcome {
    Outcome::of([
        of([2, 3, 2, 4, 5], [2, 3, 2, 5, 3], DType::F32, sums(5)),
        of([2, 1, 2, 2, 4, 5], [1, 3, 2, 1, 5, 3], DType::F32, sums(5)),
    ])
}

fn integers() -> Outcome {
    Outcome::of([DType::I32, DType::I64].map(|dtype| {
        let (a, b) = (wide_integers(2 * 12, 1, dtype), wide_integers(12 * 3, 2, dtype));
        let expected: Vec<i128> = coordinates(&[2, 3])
            .iter()
            .map(|at| {
                (0..12).fold(0, |sum, k| {
                    let term = i128::from(a[at[0] * 12 + k]) * i128::from(b[k * 3 + at[1]]);
                    wrapped(sum + wrapped(term, dtype), dtype)
                })
            })
            .collect();
        let got = ints(&a, [2, 12], dtype).matmul(ints(&b, [12, 3], dtype));
        same_integers(&got.into_data(), &[2, 3], &expected)
    }))
}

fn sliced_operand() -> Outcome {
    let x = noise(20 * 30, 13);
    let doubled: Tensor<B, 2> = f32s(&x, [20, 30]) * 2.0;
    let got = doubled.clone().slice([2..9, 3..15]).matmul(doubled.slice([4..16, 10..20]));
    let part = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
        rows.flat_map(|r| columns.clone().map(move |c| (r, c))).map(|(r, c)| 2.0 * x[r * 30 + c]).collect()
    };
    let expected = product(&part(2..9, 3..15), &[7, 12], &part(4..16, 10..20), &[12, 10]);
    close_floats(&got.into_data(), &[7, 10], &expected, sums(12))
}

fn distant_rows() -> Outcome {
    const WIDE: usize = 50_257;
    let (x, y) = (noise(24 * WIDE, 16), noise(100 * 20, 17));
    let doubled: Tensor<B, 2> = f32s(&x, [24, WIDE]) * 2.0;
    let got = doubled.narrow(1, 7, 100).matmul(f32s(&y, [100, 20]));
    let part: Vec<f64> = (0..24 * 100).map(|i| 2.0 * x[i / 100 * WIDE + 7 + i % 100]).collect();
    close_floats(&got.into_data(), &[24, 20], &product(&part, &[24, 100], &y, &[100, 20]), sums(100))
}

fn ordinary() -> Outcome {
    of([256, 300], [300, 280], DType::F32, sums(300))
}
