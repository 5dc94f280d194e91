//! 3x3 filters by fewer products.

use super::*;

/// The tiles of the output and of the gradient for the input.
fn tiles(case: &Shapes, windows: [Window; 2], groups: usize) -> [Option<Tiles>; 2] {
    let types = [&case.input, &case.weights, &case.output].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
    [Wanted::Output, Wanted::InputGradient].map(|wanted| {
        let op = Convolution { wanted, windows, groups };
        let [x, result] = if wanted == Wanted::Output { [&types[0], &types[2]] } else { [&types[2], &types[0]] };
        Tiles::of(&Extents::new(&op, [x, &types[1]], result), wanted)
    })
}

/// Odd extents and padding by side, several panels, rows that are no whole blocks, groups.
#[test]
fn few_products() {
    for (channels, input, before, after) in [
        ([1, 32, 64, 1], [33, 37], [1, 1], [1, 1]),
        ([2, 24, 34, 1], [17, 80], [0, 2], [2, 1]),
        ([1, 52, 56, 2], [50, 15], [2, 0], [1, 2]),
        ([9, 64, 24, 1], [12, 14], [1, 1], [1, 1]),
    ] {
        let windows = before.map(|before| window(1, 1, before));
        let case = shapes(channels, input, [3, 3], windows, after);
        check(&case, windows, channels[3]);
        assert!(tiles(&case, windows, channels[3]).iter().all(Option::is_some), "{channels:?}");
    }
}

/// Samples of few tiles, which are multiplied together: whose number is a multiple of those of a piece, and is not; of
/// two, many and more samples than a product has tiles of one; rows that are divided.
#[test]
fn tiles_of_several_samples() {
    for (channels, input) in [
        ([8, 48, 48, 1], [14, 14]),
        ([11, 24, 40, 1], [7, 7]),
        ([9, 32, 256, 1], [13, 9]),
        ([10, 56, 112, 2], [9, 6]),
        ([40, 40, 24, 1], [3, 2]),
    ] {
        let windows = [window(1, 1, 1); 2];
        let case = shapes(channels, input, [3, 3], windows, [1, 1]);
        check(&case, windows, channels[3]);
        for tiles in tiles(&case, windows, channels[3]) {
            let [samples, ..] = tiles.unwrap_or_else(|| panic!("no tiles: {channels:?}")).piece();
            assert!(samples > 1, "{channels:?}: {samples}");
        }
    }
}

/// An element that is not finite reaches only what meets it; sums that overflow only in a transform are right.
#[test]
fn infinite_in_a_tile() {
    // Without padding, with which an infinite weight would make NaN.
    let windows = [window(1, 1, 0), window(1, 1, 0)];
    let many = ([2, 32, 32, 1], 24);
    let few = ([8, 32, 48, 1], 10);
    let one = ([1, 32, 32, 1], 24);
    for ((channels, extent), at) in [(one, 0), (one, 2), (many, 0), (many, 1), (many, 2), (few, 0), (few, 1), (few, 2)]
    {
        let case = shapes(channels, [extent; 2], [3, 3], windows, [0, 0]);
        for special in [f32::INFINITY, f32::NAN, 2e38] {
            let mut operands = [numbers(&case.input, 1), numbers(&case.weights, 2), numbers(&case.output, 3)];
            operands[at].iter_mut().for_each(|x| *x = x.abs() * 0.25);
            let middle = operands[at].len() / 2 + 12;
            operands[at][middle] = special;
            check_operands(&case, windows, 1, operands);
        }
    }
}

/// Largest and mean square errors against f64, of outputs whose mean square is 1, for 64 and 256 channels.
#[test]
fn errors_of_few_products() {
    for channels in [64, 256] {
        let windows = [window(1, 1, 1), window(1, 1, 1)];
        let case = shapes([1, channels, 32, 1], [16, 16], [3, 3], windows, [1, 1]);
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut tensor = |shape: &[usize; 4]| (0..shape.iter().product()).map(|_| random()).collect::<Vec<f32>>();
        let (x, weights) = (tensor(&case.input), tensor(&case.weights));
        let mut exact = vec![0.0f64; case.output.iter().product()];
        products(&case, windows, 1, |i, w, o| exact[o] += f64::from(x[i]) * f64::from(weights[w]));
        let types = [&case.input, &case.weights, &case.output].map(|shape| TensorType::new(DType::F32, shape.to_vec()));
        let op = Convolution { wanted: Wanted::Output, windows, groups: 1 };
        let e = Extents::new(&op, [&types[0], &types[1]], &types[2]);
        let way = Way { wanted: op.wanted, extents: e, tiles: Tiles::of(&e, op.wanted) };
        let mut scratch = vec![0.0; way.scratch_bytes() / 4];
        let square = exact.iter().map(|x| x * x).sum::<f64>() / exact.len() as f64;
        let errors = |out: &[f32]| {
            let errors = out.iter().zip(&exact).map(|(&out, exact)| (f64::from(out) - exact).abs() / square.sqrt());
            let mean = errors.clone().map(|error| error * error).sum::<f64>() / exact.len() as f64;
            [errors.fold(0.0, f64::max), mean.sqrt()]
        };
        let mut out = vec![0.0; exact.len()];
        way.compute((&x, &weights, None), &mut out, &mut scratch);
        let few = errors(&out);
        let all = 0..e.positions();
        output::piece(&e, (&x, &weights, None), all, Columns::all(&mut out, e.positions()), &mut scratch);
        let plain = errors(&out);
        println!("{channels} channels: {few:?}, plainly {plain:?}");
        assert!(few[0] < 4e-6 && few[1] < 1e-6, "{channels} channels: {few:?}, plainly {plain:?}");
    }
}
