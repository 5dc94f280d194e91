//! Where the digits come from, and how they become batches.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::Dataset;
use burn::data::dataset::vision::MnistDataset;
use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};

use crate::{idx, rendered};

/// Rows and columns of an image.
pub const SIDE: usize = 28;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// How long Burn's own data set may take to appear before the example goes on without it.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(20);

/// A grey image, 0 black to 255 white, and the digit it shows.
#[derive(Clone, Debug)]
pub struct Digit {
    pub pixels: [u8; PIXELS],
    pub label: u8,
}

/// The part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Train,
    Test,
}

/// Digits in memory; clones share them.
#[derive(Clone)]
pub struct DigitSet(Arc<[Digit]>);

impl Dataset<Digit> for DigitSet {
    fn get(&self, index: usize) -> Option<Digit> {
        self.0.get(index).cloned()
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
    pub fn load(directory: Option<PathBuf>, seed: u64) -> Result<Self, String> {
        if let Some(directory) = directory {
            let train = idx::load(&directory, Split::Train)?;
            let test = idx::load(&directory, Split::Test)?;
            return Ok(Self::new(train, test, format!("IDX files in {}", directory.display())));
        }
        if let Some((train, test)) = burn_mnist() {
            return Ok(Self::new(train, test, "MNIST from Burn's data set cache".into()));
        }
        let (train, test) = (rendered::digits(8_000, seed), rendered::digits(2_000, seed ^ u64::MAX));
        let origin = "digits rendered by this example (no --data, and MNIST could not be downloaded)";
        Ok(Self::new(train, test, origin.into()))
    }

    fn new(train: Vec<Digit>, test: Vec<Digit>, origin: String) -> Self {
        let origin = format!("{origin}: {} to train on, {} to test with", train.len(), test.len());
        Self { train: DigitSet(train.into()), test: DigitSet(test.into()), origin }
    }
}

/// Burn's own MNIST, from its cache or the network; `None` if it did not come within the time limit.
fn burn_mnist() -> Option<(Vec<Digit>, Vec<Digit>)> {
    let (sender, receiver) = mpsc::channel();
    // The download panics when there is no network. The panic ends this thread only, and the user need not see it.
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::spawn(move || {
        let digits = [MnistDataset::train(), MnistDataset::test()].map(|split| {
            split.iter().map(|item| Digit { pixels: flatten(&item.image), label: item.label }).collect::<Vec<_>>()
        });
        let _ = sender.send(digits);
    });
    let digits = receiver.recv_timeout(DOWNLOAD_LIMIT).ok();
    std::panic::set_hook(quiet);
    let [train, test] = digits?;
    Some((train, test))
}

fn flatten(image: &[[f32; SIDE]; SIDE]) -> [u8; PIXELS] {
    std::array::from_fn(|at| image[at / SIDE][at % SIDE] as u8)
}

/// A mini-batch on the device.
#[derive(Clone, Debug)]
pub struct DigitBatch<B: Backend> {
    /// `[batch, 784]`, mean 0 and deviation 1 over MNIST.
    pub images: Tensor<B, 2>,
    /// `[batch]`
    pub labels: Tensor<B, 1, Int>,
}

/// A grey value with MNIST's mean and deviation taken out.
fn normalised(grey: u8) -> f32 {
    (f32::from(grey) / 255.0 - 0.1307) / 0.3081
}

/// Makes batches; runs on the data loader's threads.
#[derive(Clone, Debug)]
pub struct DigitBatcher;

impl<B: Backend> Batcher<B, Digit, DigitBatch<B>> for DigitBatcher {
    fn batch(&self, digits: Vec<Digit>, device: &B::Device) -> DigitBatch<B> {
        let pixels: Vec<f32> = digits.iter().flat_map(|digit| digit.pixels).map(normalised).collect();
        let labels: Vec<i64> = digits.iter().map(|digit| digit.label.into()).collect();
        let count = digits.len();
        DigitBatch {
            images: Tensor::from_data(TensorData::new(pixels, [count, PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [count]), device),
        }
    }
}
