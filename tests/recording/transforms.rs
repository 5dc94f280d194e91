//! What a transform of a signal costs the thread that records it. Frames of audio are transformed one by one or a few
//! at a time, so each op more is paid for often.

use burn::tensor::signal::{irfft, rfft};
use burn::tensor::{Distribution, Tensor};
use burn_mpsgraph::MpsGraphDevice;

use super::{B, Turn, read};

/// Frames from a uniform distribution.
fn frames(count: usize, samples: usize) -> Tensor<B, 2> {
    let frames = Tensor::random([count, samples], Distribution::Default, &MpsGraphDevice);
    MpsGraphDevice.sync().expect("the device works");
    frames
}

#[test]
fn a_frame_is_a_few_ops_there_and_back() {
    let mut turn = Turn::take();
    for count in [1, 16] {
        for samples in [64, 512, 4096] {
            let x = frames(count, samples);
            turn.restart();
            let (re, im) = rfft(x.clone(), 1, None);
            let there = turn.used().ops_recorded;
            let back = irfft(re, im, 1, None);
            let error = read((back - x).abs().max())[0];
            let recorded = [there, turn.used().ops_recorded - there];
            // Two products with a rotation between them, or one; and what comes out is two tensors, what goes in is put
            // together. The comparison has three.
            assert!(recorded[0] <= 5 && recorded[1] <= 7 + 3, "{count} x {samples}: {recorded:?}");
            assert!(error < 1e-5, "{count} x {samples}: {error}");
        }
    }
}

#[test]
fn frames_one_after_the_other_compile_once() {
    let turn = Turn::take();
    let signal = frames(1, 512 * 12);
    for at in 0..40 {
        let frame = signal.clone().slice([0..1, 128 * at..128 * at + 512]);
        let (re, im) = rfft(frame, 1, None);
        assert!(read((re.square() + im.square()).sum())[0].is_finite());
    }
    assert!(turn.used().programs_compiled <= 3, "{:?}", turn.used());
}
