//! Recurrent layers, from no state and from a given one, forwards and backwards. Their gates are `GateController`s.

use burn::nn::activation::ActivationConfig;
use burn::nn::{BiGruConfig, BiLstmConfig, BiRnnConfig, GruConfig, LstmConfig, LstmState, RnnConfig, RnnState};
use burn::tensor::DType::F32;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

use super::CHAIN;

cases! {
    trained([F32], CHAIN) {
        rnn = |layer = (RnnConfig::new(3, 4, true)), x = [2, 5, 3]| of_rnn(layer.forward(x, None));
        rnn_from_a_state = |layer = (RnnConfig::new(3, 4, false).with_batch_first(false).with_reverse(true)
            .with_clip(Some(0.4)).with_hidden_activation(ActivationConfig::Relu)), x = [5, 2, 3], hidden = [2, 4]|
            of_rnn(layer.forward(x, Some(RnnState::new(hidden))));
        bi_rnn = |layer = (BiRnnConfig::new(3, 4, true)), x = [2, 5, 3]| of_rnn(layer.forward(x, None));
        bi_rnn_from_a_state = |layer = (BiRnnConfig::new(3, 4, true)), x = [2, 5, 3], hidden = [2, 2, 4]|
            of_rnn(layer.forward(x, Some(RnnState::new(hidden))));
        gru = |layer = (GruConfig::new(3, 4, true)), x = [2, 5, 3]| layer.forward(x, None);
        gru_from_a_state = |layer = (GruConfig::new(3, 4, true).with_reset_after(false).with_clip(Some(0.5))),
            x = [2, 5, 3], hidden = [2, 4]| layer.forward(x, Some(hidden));
        bi_gru = |layer = (BiGruConfig::new(3, 4, true)), x = [2, 5, 3]| layer.forward(x, None);
        bi_gru_from_a_state = |layer = (BiGruConfig::new(3, 4, false)), x = [2, 5, 3], hidden = [2, 2, 4]|
            layer.forward(x, Some(hidden));
        lstm = |layer = (LstmConfig::new(3, 4, true)), x = [2, 5, 3]| of_lstm(layer.forward(x, None));
        lstm_from_a_state = |layer = (LstmConfig::new(3, 4, false).with_batch_first(false).with_reverse(true)
            .with_clip(Some(0.5))), x = [5, 2, 3], cell = [2, 4], hidden = [2, 4]|
            of_lstm(layer.forward(x, Some(LstmState::new(cell, hidden))));
        bi_lstm = |layer = (BiLstmConfig::new(3, 4, true)), x = [2, 5, 3]| of_lstm(layer.forward(x, None));
        bi_lstm_from_a_state = |layer = (BiLstmConfig::new(3, 4, true)), x = [2, 5, 3], cell = [2, 2, 4],
            hidden = [2, 2, 4]| of_lstm(layer.forward(x, Some(LstmState::new(cell, hidden))));
        // One layer, inputs of other sizes and lengths.
        lengths = |layer = (LstmConfig::new(3, 4, true)), x = [2, 5, 3], y = [3, 2, 3], z = [2, 1, 3]|
            [x, y, z].map(|x| layer.forward(x, None).0).to_vec();
    }
}

type Of<B, S> = (Tensor<B, 3>, S);

fn of_rnn<B: Backend, const D: usize>((all, state): Of<B, RnnState<B, D>>) -> (Tensor<B, 3>, Tensor<B, D>) {
    (all, state.hidden)
}

fn of_lstm<B: Backend, const D: usize>(
    (all, state): Of<B, LstmState<B, D>>,
) -> (Tensor<B, 3>, Tensor<B, D>, Tensor<B, D>) {
    (all, state.cell, state.hidden)
}
