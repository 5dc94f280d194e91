//! `Linear`, `Embedding` and `Unfold4d`.

use burn::nn::{EmbeddingConfig, LinearConfig, LinearLayout, Unfold4dConfig};
use burn::tensor::DType::F32;
use test_support::FLOATS;

use super::{LAYER, classes};

cases! {
    trained(FLOATS, LAYER) {
        linear = |layer = (LinearConfig::new(5, 4)), x = [2, 3, 5]| layer.forward(x);
        embedding = |layer = (EmbeddingConfig::new(7, 4))| layer.forward(classes([3, 5], 7));
    }

    trained([F32], LAYER) {
        linear_by_columns = |layer = (LinearConfig::new(5, 4).with_layout(LinearLayout::Col)), x = [3, 5]|
            layer.forward(x);
        linear_without_bias = |layer = (LinearConfig::new(5, 4).with_bias(false)), x = [5]| layer.forward(x);
        unfold_4d = |x = [2, 3, 6, 5]| Unfold4dConfig::new([2, 3]).with_stride([2, 1]).init().forward(x);
        unfold_4d_padded = |x = [2, 3, 6, 5]|
            Unfold4dConfig::new([2, 3]).with_dilation([2, 1]).with_padding([1, 2]).init().forward(x);
    }
}
