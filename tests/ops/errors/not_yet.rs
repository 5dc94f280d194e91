//! Methods that are not implemented: each panics with the shared text, and ARCHITECTURE.md lists exactly these.

use std::collections::BTreeSet;

use burn::tensor::ops::{
    ConvOptions, ConvTransposeOptions, DeformConvOptions, FloatTensorOps, GridSampleOptions, IntTensorOps,
    InterpolateMode, InterpolateOptions, ModuleOps, QTensorOps,
};
use burn::tensor::quantization::{QuantScheme, QuantizationParametersPrimitive};
use burn::tensor::{IntDType, TensorData};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor};

use super::message;

type B = MpsGraph;

/// A method's name and a call of it.
type Call = (&'static str, fn());

/// Arguments do not matter: nothing is looked at before the panic.
fn t() -> MpsGraphTensor {
    B::float_from_data(TensorData::from([1.0f32]), &MpsGraphDevice)
}

macro_rules! calls {
    ($trait:ident: $($method:ident($($argument:expr),*);)*) => {
        &[$((stringify!($method), || drop(<B as $trait<B>>::$method($($argument),*)))),*]
    };
}

const FLOAT: &[Call] = calls! { FloatTensorOps:
    float_cumsum(t(), 0);
    float_cumprod(t(), 0);
    float_cummin(t(), 0);
    float_cummax(t(), 0);
    float_sort(t(), 0, false);
    float_sort_with_indices(t(), 0, true, IntDType::I32);
    float_argsort(t(), 0, false, IntDType::I32);
    float_topk(t(), 0, 1);
    float_argtopk(t(), 0, 1, IntDType::I32);
    float_grid_sample_2d(t(), t(), GridSampleOptions::default());
};

const INT: &[Call] = calls! { IntTensorOps:
    int_cumsum(t(), 0);
    int_cumprod(t(), 0);
    int_cummin(t(), 0);
    int_cummax(t(), 0);
    int_argtopk(t(), 0, 1);
    int_topk(t(), 0, 1);
    int_sort(t(), 0, false);
    int_sort_with_indices(t(), 0, false);
    int_argsort(t(), 0, false);
};

fn conv<const N: usize>() -> ConvOptions<N> {
    ConvOptions::new([1; N], [0; N], [1; N], 1)
}

fn transposed<const N: usize>() -> ConvTransposeOptions<N> {
    ConvTransposeOptions::new([1; N], [0; N], [0; N], [1; N], 1)
}

fn deform() -> DeformConvOptions<2> {
    DeformConvOptions::new([1; 2], [0; 2], [1; 2], 1, 1)
}

fn resize() -> InterpolateOptions {
    InterpolateOptions::new(InterpolateMode::Nearest)
}

const CONVOLUTION: &[Call] = calls! { ModuleOps:
    conv1d(t(), t(), None, conv());
    conv1d_x_backward(t(), t(), t(), conv());
    conv1d_weight_backward(t(), t(), t(), conv());
    conv1d_bias_backward(t(), t(), t());
    conv2d(t(), t(), None, conv());
    conv2d_x_backward(t(), t(), t(), conv());
    conv2d_weight_backward(t(), t(), t(), conv());
    conv2d_bias_backward(t(), t(), t());
    conv3d(t(), t(), None, conv());
    conv3d_x_backward(t(), t(), t(), conv());
    conv3d_weight_backward(t(), t(), t(), conv());
    conv3d_bias_backward(t(), t(), t());
    deform_conv2d(t(), t(), t(), None, None, deform());
    deform_conv2d_backward(t(), t(), t(), None, None, t(), deform());
    conv_transpose1d(t(), t(), None, transposed());
    conv_transpose1d_x_backward(t(), t(), transposed());
    conv_transpose1d_weight_backward(t(), t(), t(), transposed());
    conv_transpose1d_bias_backward(t(), t(), t());
    conv_transpose2d(t(), t(), None, transposed());
    conv_transpose2d_x_backward(t(), t(), transposed());
    conv_transpose2d_weight_backward(t(), t(), t(), transposed());
    conv_transpose2d_bias_backward(t(), t(), t());
    conv_transpose3d(t(), t(), None, transposed());
    conv_transpose3d_x_backward(t(), t(), transposed());
    conv_transpose3d_weight_backward(t(), t(), t(), transposed());
    conv_transpose3d_bias_backward(t(), t(), t());
};

const POOLING_AND_OTHERS: &[Call] = calls! { ModuleOps:
    avg_pool1d(t(), 1, 1, 0, true, false);
    avg_pool1d_backward(t(), t(), 1, 1, 0, true, false);
    adaptive_avg_pool1d(t(), 1);
    adaptive_avg_pool1d_backward(t(), t());
    max_pool1d(t(), 1, 1, 0, 1, false);
    max_pool1d_with_indices(t(), 1, 1, 0, 1, false);
    max_pool1d_with_indices_backward(t(), 1, 1, 0, 1, false, t(), t());
    avg_pool2d(t(), [1; 2], [1; 2], [0; 2], true, false);
    avg_pool2d_backward(t(), t(), [1; 2], [1; 2], [0; 2], true, false);
    adaptive_avg_pool2d(t(), [1; 2]);
    adaptive_avg_pool2d_backward(t(), t());
    max_pool2d(t(), [1; 2], [1; 2], [0; 2], [1; 2], false);
    max_pool2d_with_indices(t(), [1; 2], [1; 2], [0; 2], [1; 2], false);
    max_pool2d_with_indices_backward(t(), [1; 2], [1; 2], [0; 2], [1; 2], false, t(), t());
    interpolate(t(), [1; 2], resize());
    interpolate_backward(t(), t(), [1; 2], resize());
    ctc_loss(t(), t(), t(), t(), 0);
    rfft(t(), 0, None);
    irfft(t(), t(), 0, None);
};

const QUANTIZATION: &[Call] = calls! { QTensorOps:
    q_from_data(TensorData::from([1.0f32]), &MpsGraphDevice);
    quantize(t(), &QuantScheme::default(), QuantizationParametersPrimitive { scales: t() });
    quantize_dynamic(t(), &QuantScheme::default());
};

/// These take a quantized tensor, which nobody can make as long as the three above panic.
const NEED_A_QUANTIZED_TENSOR: [&str; 9] =
    ["dequantize", "q_into_data", "q_reshape", "q_expand", "q_swap_dims", "q_permute", "q_flip", "q_select", "q_slice"];

fn calls() -> impl Iterator<Item = &'static Call> {
    [FLOAT, INT, CONVOLUTION, POOLING_AND_OTHERS, QUANTIZATION].into_iter().flatten()
}

#[test]
fn each_panics_with_its_name_and_the_table() {
    for (name, call) in calls() {
        let expected = format!("burn-mpsgraph: {name} is not implemented yet; see the table in ARCHITECTURE.md");
        assert_eq!(message(name, call), expected);
    }
}

/// The names in `not_yet("…")`.
fn named_in_source() -> BTreeSet<&'static str> {
    let sources = [
        include_str!("../../../src/backend/activation.rs"),
        include_str!("../../../src/backend/bool.rs"),
        include_str!("../../../src/backend/float.rs"),
        include_str!("../../../src/backend/int.rs"),
        include_str!("../../../src/backend/module.rs"),
        include_str!("../../../src/backend/quantized.rs"),
        include_str!("../../../src/backend/transaction.rs"),
    ];
    let after = sources.into_iter().flat_map(|source| source.split("not_yet(\"").skip(1));
    after.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_one_in_the_source_is_called_here() {
    let here: BTreeSet<&str> = calls().map(|(name, _)| *name).chain(NEED_A_QUANTIZED_TENSOR).collect();
    assert_eq!(here, named_in_source());
}

/// Missing in parts: what Burn composes of missing methods.
const PARTLY: [&str; 1] = ["unfold4d"];

/// The table says "and the `int_` forms" and "each with its `_backward`": a name may stand for its family.
#[test]
fn the_table_in_architecture_md_lists_exactly_these() {
    let text = include_str!("../../../ARCHITECTURE.md");
    let section = text.split("## Not there yet").nth(1).expect("a section of that name");
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let listed: BTreeSet<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let source = named_in_source();
    for name in &source {
        let float = name.replacen("int_", "float_", 1);
        let known = |name: &str| listed.contains(name);
        let suffixed = listed.iter().any(|&part| part.starts_with('_') && name.strip_suffix(part).is_some_and(known));
        assert!(known(name) || known(&float) || suffixed, "{name} is missing in the table");
    }
    for name in listed.iter().filter(|name| !name.starts_with('_') && !name.ends_with('_')) {
        assert!(source.contains(name) || PARTLY.contains(name), "{name} is in the table, but not in the source");
    }
}
