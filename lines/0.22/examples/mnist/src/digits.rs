//! Where the digits come from, and how they become batches.

mod idx;
mod mnist;
mod rendered;

use std::path::Path;
use std::sync::Arc;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Rows and columns of an image.
pub const SIDE: usize = 28;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// Classes to tell apart.
pub const CLASSES: usize = 10;

/// A grey image, 0 black to 255 white, and the digit it shows.
#[derive(Clone, Debug)]
pub struct Digit {
    pub pixels: [u8; PIXELS],
    pub label: u8,
}

/// The part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Split {
    Train,
    Test,
}

/// Digits in memory; clones share them.
#[derive(Clone)]
pub struct DigitSet(Arc<[Digit]>);

impl Dataset<Digit> for DigitSet {
    fn get(&self, index: usize) -> Result<Digit, DatasetError> {
        Ok(self.0[index].clone())
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Digits to train on and to test with, and a line that says what they are.
pub struct Digits {
    pub train: DigitSet,
    pub test: DigitSet,
    pub origin: String,
}

impl Digits {
    /// Reads IDX files from `directory`; without a directory it takes Burn's MNIST, and renders digits if that is not
    /// available.
    ///
    /// # Errors
    /// One line that says what is wrong with the files.
    pub fn load(directory: Option<&Path>, seed: u64) -> Result<Self, String> {
        if let Some(directory) = directory {
            let [train, test] = idx::load([directory; 2])?;
            return Ok(Self::new(train, test, format!("IDX files in {}", directory.display())));
        }
        Ok(match mnist::load() {
            Ok([train, test]) => Self::new(train, test, "MNIST from Burn's data set cache".into()),
            Err(reason) => {
                let (train, test) = (rendered::digits(8_000, seed), rendered::digits(2_000, seed ^ u64::MAX));
                Self::new(train, test, format!("digits rendered by this example (no --data, and no MNIST: {reason})"))
            }
        })
    }

    fn new(train: Vec<Digit>, test: Vec<Digit>, origin: String) -> Self {
        let origin = format!("{origin}: {} to train on, {} to test with", train.len(), test.len());
        Self { train: DigitSet(train.into()), test: DigitSet(test.into()), origin }
    }
}

/// A mini-batch on the device.
#[derive(Clone, Debug)]
pub struct DigitBatch {
    /// `[batch, 28, 28]`, mean 0 and deviation 1 over MNIST.
    pub images: Tensor<3>,
    /// `[batch]`
    pub labels: Tensor<1, Int>,
}

/// A grey value with MNIST's mean and deviation taken out.
fn normalised(grey: u8) -> f32 {
    (f32::from(grey) / 255.0 - 0.1307) / 0.3081
}

/// Makes batches; runs on the data loader's threads.
#[derive(Clone, Debug)]
pub struct DigitBatcher;

impl Batcher<Digit, DigitBatch> for DigitBatcher {
    fn batch(&self, digits: Vec<Digit>, device: &Device) -> DigitBatch {
        let pixels: Vec<f32> = digits.iter().flat_map(|digit| digit.pixels).map(normalised).collect();
        let labels: Vec<i64> = digits.iter().map(|digit| digit.label.into()).collect();
        let count = digits.len();
        DigitBatch {
            images: Tensor::from_data(TensorData::new(pixels, [count, SIDE, SIDE]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
        }
    }
}
