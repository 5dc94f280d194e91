//! Recurrent layers: values as burn-flex's, and work that grows with the length of a sequence, not with its square.

use burn::backend::Autodiff;
use burn::module::Module;
use burn::nn::{Gru, GruConfig, Lstm, LstmConfig};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use super::{B, Turn};
use burn_mpsgraph::MpsGraphDevice;

/// Input of a sequence, the same on every backend.
fn sequence<X: Backend>(steps: usize, device: &X::Device) -> Tensor<X, 3> {
    let values: Vec<f32> = (0..2 * steps * 3).map(|at| ((at * 37 % 101) as f32 - 50.0) / 60.0).collect();
    Tensor::from_data(TensorData::new(values, [2, steps, 3]), device)
}

/// The same numbers on both backends, in the order in which a module has its parameters.
fn lstm<X: Backend>(device: &X::Device) -> Lstm<X> {
    let layer = LstmConfig::new(3, 4, true).with_initializer(burn::nn::Initializer::Constant { value: 0.2 });
    layer.init(device)
}

fn gru<X: Backend>(device: &X::Device) -> Gru<X> {
    GruConfig::new(3, 4, true).with_initializer(burn::nn::Initializer::Constant { value: -0.3 }).init(device)
}

/// Output of both layers one after the other, and the gradient of the input.
fn run<X: Backend>(steps: usize, device: &X::Device) -> [Vec<f32>; 3] {
    let x = sequence::<Autodiff<X>>(steps, device).require_grad();
    let (first, _) = lstm::<Autodiff<X>>(device).no_grad().forward(x.clone(), None);
    let second = gru::<Autodiff<X>>(device).no_grad().forward(x.clone(), None);
    let loss = (first.clone() * first.clone()).sum() + second.clone().sum();
    let gradients = loss.backward();
    let gradient = x.grad(&gradients).expect("x is tracked");
    let read = |data: TensorData| data.to_vec::<f32>().expect("f32");
    [read(first.into_data()), read(second.into_data()), read(gradient.into_data())]
}

#[test]
fn values_and_gradients_are_those_of_burn_flex() {
    let _turn = Turn::take();
    let found = run::<B>(150, &MpsGraphDevice);
    let expected = run::<burn_flex::Flex>(150, &Default::default());
    for (found, expected) in found.iter().zip(&expected) {
        let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(found.len() == expected.len() && worst < 1e-5, "{worst}");
    }
}

#[test]
fn an_unrolled_net_compiles_nothing_when_it_runs_again() {
    let mut turn = Turn::take();
    for _ in 0..2 {
        run::<B>(150, &MpsGraphDevice);
    }
    turn.restart();
    run::<B>(150, &MpsGraphDevice);
    assert_eq!(turn.used().programs_compiled, 0);
}

/// The bits of sums of tensors that are zero outside of a region, one of them with a first term that is zero nowhere.
fn padded_sums() -> Vec<u32> {
    let device = MpsGraphDevice;
    let values = [-0.0_f32, 0.0, 1.5, -1.5, -0.0, f32::NAN, f32::INFINITY, -0.0];
    let whole = || Tensor::<B, 2>::from_data(TensorData::new(values.to_vec(), [4, 2]), &device);
    let term = |row: usize, part: [f32; 2]| {
        let part = Tensor::<B, 2>::from_data([part], &device);
        Tensor::<B, 2>::zeros([4, 2], &device).slice_assign([row..row + 1, 0..2], part)
    };
    let terms = || [term(0, [-0.0, -0.0]), term(2, [-0.0, 0.25]), term(1, [-1.5, 1.5]), term(2, [0.5, -0.0])];
    let sparse = terms().into_iter().reduce(|a, b| a + b).expect("four terms");
    let dense = terms().into_iter().fold(whole(), |a, b| a + b);
    let single = term(0, [-0.0, -0.0]) + whole();
    let read = |x: Tensor<B, 2>| x.into_data().to_vec::<f32>().expect("f32");
    let all = Tensor::cat(vec![sparse, dense, single], 0);
    read(all).into_iter().map(|x| if x.is_nan() { f32::NAN } else { x }.to_bits()).collect()
}

#[test]
fn sums_of_padded_terms_have_the_bits_of_one_op_after_the_other() {
    let _turn = Turn::take();
    assert_eq!(padded_sums(), burn_mpsgraph::eagerly(padded_sums));
}

#[cfg(soft_runtime)] // the software runtime counts operations and kernels
mod work {
    use burn_mpsgraph::MpsGraphDevice;
    use mpsgraph_soft::mpsgraph::counters::{kernels_compiled, operations_compiled};

    use super::super::{B, Turn};
    use super::run;

    /// Recorded ops, operations and kernels of a step that `run` compiles anew.
    fn work(steps: usize) -> [u64; 3] {
        let turn = Turn::take();
        let counts = || [operations_compiled(), kernels_compiled()];
        run::<B>(steps, &MpsGraphDevice);
        MpsGraphDevice.clear_programs();
        let (recorded, before) = (turn.used().ops_recorded, counts());
        run::<B>(steps, &MpsGraphDevice);
        let after = counts();
        [turn.used().ops_recorded - recorded, after[0] - before[0], after[1] - before[1]]
    }

    #[test]
    fn work_grows_with_the_length_of_the_sequence() {
        let [short, middle, long] = [40, 80, 160].map(work);
        for at in 0..3 {
            let growth = [middle[at] - short[at], long[at] - middle[at]];
            assert!(growth[1] <= 2 * growth[0] + growth[0] / 10, "{short:?}, {middle:?}, {long:?}");
        }
    }
}
