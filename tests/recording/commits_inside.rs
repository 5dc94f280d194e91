//! MPSGraph may commit the command buffer in the middle of an encode and go on in another: the values are then the
//! same, and a fault in either of the two is reported.

use burn::tensor::backend::Backend;
use mpsgraph_soft::metal::fault;

use super::mlp::Trainer;
use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// `MTLCommandBufferErrorOutOfMemory`
const OUT_OF_MEMORY: usize = 8;

/// Lets every encode commit so many times inside, until this is dropped.
struct CommitsInside {
    before: usize,
}

impl CommitsInside {
    fn of(times: usize) -> Self {
        Self { before: fault::commit_inside_encode(times) }
    }
}

impl Drop for CommitsInside {
    fn drop(&mut self) {
        fault::commit_inside_encode(self.before);
    }
}

#[test]
fn training_gives_the_same_losses() {
    let _turn = Turn::take();
    let losses = |commits: usize| {
        let _inside = CommitsInside::of(commits);
        B::seed(&MpsGraphDevice, 5);
        let mut trainer = Trainer::adam();
        (0..6).map(|_| trainer.step_and_read()).collect::<Vec<f32>>()
    };
    let whole = losses(0);
    assert!(whole[5].is_finite() && whole[5] != whole[0]);
    assert_eq!(losses(1), whole);
    assert_eq!(losses(3), whole);
}

#[test]
fn a_fault_before_or_after_the_commit_is_an_error_of_the_read() {
    let _turn = Turn::take();
    let _inside = CommitsInside::of(1);
    for failing in [1, 2] {
        fault::fail_next(failing, OUT_OF_MEMORY);
        let x = vector(&[1.0, 2.0]) + 1.0;
        let error = x.try_into_data().expect_err("half of the work failed");
        assert!(error.to_string().contains("command buffer"), "{error}");
        assert!(B::sync(&MpsGraphDevice).is_err());
        assert_eq!(read(vector(&[3.0]) + 1.0), [4.0]);
        assert!(B::sync(&MpsGraphDevice).is_ok());
    }
}
