//! What the MNIST examples share: training with burn-train on `Autodiff<MpsGraph>`.
//!
//! An example is a `Network` and a `main` that calls [`main`]. Burn's recorder saves the model and loads it again, and
//! the final accuracy is that of the loaded model.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{AdamConfig, Optimizer as BurnOptimizer, SgdConfig};
use burn::record::CompactRecorder;
use burn::tensor::ElementConversion;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

use crate::Network;
use crate::digits::{DigitBatch, DigitBatcher, DigitSet, Digits};
use crate::options::{Example, Optimizer, Options};
use crate::renderer::PlainRenderer;
use crate::report::Report;

type B = Autodiff<MpsGraph>;

/// The whole example, from the command line to the report.
pub fn main(example: &Example) -> ExitCode {
    let done = Options::parse(lexopt::Parser::from_env(), example).and_then(|options| match options {
        Some(options) => run(&options),
        None => {
            print!("{}", example.help());
            Ok(())
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("error: {line}");
            ExitCode::from(2)
        }
    }
}

/// # Errors
/// One line that says which input is wrong.
fn run(options: &Options) -> Result<(), String> {
    let output = &options.output;
    std::fs::create_dir_all(output).map_err(|error| format!("--output {}: {error}", output.display()))?;
    let digits = Digits::load(options.data.as_deref(), options.seed)?;
    let device = MpsGraphDevice::new().map_err(|error| error.to_string())?;
    println!("device: {}", device.name());
    println!("data: {}", digits.origin);
    B::seed(&device, options.seed);

    let (start, before) = (Instant::now(), device.stats());
    let trained = match options.optimizer {
        Optimizer::Adam => train(options, &digits, device, AdamConfig::new().init()),
        Optimizer::Sgd => train(options, &digits, device, SgdConfig::new().init()),
    };
    let (elapsed, used) = (start.elapsed(), device.stats().since(&before));

    let file = output.join("model");
    let failed = |what: &str, error| format!("the model could not be {what} {}: {error}", file.display());
    trained.save_file(&file, &CompactRecorder::new()).map_err(|error| failed("saved to", error))?;
    let reloaded = Network::<MpsGraph>::new(options.hidden, &device)
        .load_file(&file, &CompactRecorder::new(), &device)
        .map_err(|error| failed("loaded from", error))?;
    let accuracy = accuracy(&reloaded, loader(&digits.test, options, false));
    Report { epochs: options.epochs, digits: &digits, elapsed, accuracy, used }.print();
    println!("model: {}", file.with_extension("mpk").display());
    Ok(())
}

/// Trains with burn-train and returns the model for inference.
fn train<O>(options: &Options, digits: &Digits, device: MpsGraphDevice, optimizer: O) -> Network<MpsGraph>
where
    O: BurnOptimizer<Network<B>, B> + 'static,
{
    let learner = Learner::new(Network::<B>::new(options.hidden, &device), optimizer, options.learning_rate);
    let training = SupervisedTraining::new(
        &options.output,
        loader(&digits.train, options, true),
        loader(&digits.test, options, false),
    )
    .metrics((LossMetric::new(),));
    let training = if options.loss_only { training } else { training.metrics((AccuracyMetric::new(),)) };
    let training = training
        .with_file_checkpointer(CompactRecorder::new())
        .renderer(PlainRenderer::default())
        .num_epochs(options.epochs);
    training.launch(learner).model
}

fn loader<B: Backend>(digits: &DigitSet, options: &Options, shuffle: bool) -> Arc<dyn DataLoader<B, DigitBatch<B>>>
where
    B::Device: 'static,
{
    let builder = DataLoaderBuilder::new(DigitBatcher).batch_size(options.batch_size);
    let builder = if options.workers > 0 { builder.num_workers(options.workers) } else { builder };
    let builder = if shuffle { builder.shuffle(options.seed) } else { builder };
    builder.build(digits.clone())
}

fn classify<B: Backend>(network: &Network<B>, batch: DigitBatch<B>) -> ClassificationOutput<B> {
    let output = network.forward(batch.images);
    let loss = CrossEntropyLossConfig::new().init(&output.device()).forward(output.clone(), batch.labels.clone());
    ClassificationOutput::new(loss, output, batch.labels)
}

impl<B: AutodiffBackend> TrainStep for Network<B> {
    type Input = DigitBatch<B>;
    type Output = ClassificationOutput<B>;

    fn step(&self, batch: DigitBatch<B>) -> TrainOutput<ClassificationOutput<B>> {
        let item = classify(self, batch);
        TrainOutput::new(self, item.loss.backward(), item)
    }
}

impl<B: Backend> InferenceStep for Network<B> {
    type Input = DigitBatch<B>;
    type Output = ClassificationOutput<B>;

    fn step(&self, batch: DigitBatch<B>) -> ClassificationOutput<B> {
        classify(self, batch)
    }
}

/// Share of the digits that the network recognises.
fn accuracy<B: Backend>(network: &Network<B>, digits: Arc<dyn DataLoader<B, DigitBatch<B>>>) -> f64 {
    let mut right = 0i64;
    let mut total = 0;
    for batch in digits.iter() {
        let [count] = batch.labels.dims();
        let named = network.forward(batch.images).argmax(1).reshape([count]);
        right += named.equal(batch.labels).int().sum().into_scalar().elem::<i64>();
        total += count;
    }
    right as f64 / total as f64
}
