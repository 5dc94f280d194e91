//! What the two programs share: training with burn-train on this backend's device.
//!
//! A program is a `Network` and a `main` that calls [`main`]. Burn saves the model and loads it again, and the final
//! accuracy is that of the loaded model.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::module::Module;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::lr_scheduler::constant::ConstantLr;
use burn::optim::{AdamConfig, SgdConfig};
use burn::tensor::Device;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep};
use burn_mpsgraph::MpsGraphDevice;

use crate::Network;
use crate::digits::{DigitBatch, DigitBatcher, DigitSet, Digits};
use crate::options::{Example, Optimizer, Options};
use crate::renderer::PlainRenderer;
use crate::report::Report;

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
    let graph = MpsGraphDevice::new().map_err(|error| error.to_string())?;
    println!("device: {}", graph.name());
    println!("data: {}", digits.origin);
    // Compiles only while burn-flex is patched.
    let device = Device::from(graph);
    device.seed(options.seed);

    let (start, before) = (Instant::now(), graph.stats());
    let trained = train(options, &digits, &device)?;
    let (elapsed, used) = (start.elapsed(), graph.stats().since(&before));

    let file = output.join("model");
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        format!("the model could not be {what} {}: {error}", file.display())
    };
    trained.save_file(&file).map_err(|error| failed("saved to", &error))?;
    let fresh = Network::new(options.hidden, &device);
    let reloaded = fresh.try_load_file(&file).map_err(|error| failed("loaded from", &error))?;
    let accuracy = accuracy(&reloaded, loader(&digits.test, options, &device, false));
    Report { epochs: options.epochs, digits: &digits, elapsed, accuracy, used }.print();
    println!("model: {}", file.with_extension("bpk").display());
    Ok(())
}

/// Trains with burn-train and returns the model for inference.
///
/// # Errors
/// What ended the training early.
fn train(options: &Options, digits: &Digits, device: &Device) -> Result<Network, String> {
    let optimizer = match options.optimizer {
        Optimizer::Adam => AdamConfig::new().init(),
        Optimizer::Sgd => SgdConfig::new().init(),
    };
    let model = Network::new(options.hidden, &device.clone().autodiff());
    let learner = Learner::new(model, optimizer, ConstantLr::new(options.learning_rate));
    let training = SupervisedTraining::new(
        &options.output,
        loader(&digits.train, options, device, true),
        loader(&digits.test, options, device, false),
    )
    .metrics((LossMetric::new(),));
    let training = if options.loss_only { training } else { training.metrics((AccuracyMetric::new(),)) };
    let training =
        training.with_default_checkpointers().renderer(Box::new(PlainRenderer::default())).num_epochs(options.epochs);
    let result = training.launch(learner);
    match result.error {
        Some(error) => Err(error.to_string()),
        None => Ok(result.model),
    }
}

fn loader(digits: &DigitSet, options: &Options, device: &Device, shuffle: bool) -> Arc<dyn DataLoader<DigitBatch>> {
    let builder = DataLoaderBuilder::new(DigitBatcher).batch_size(options.batch_size).set_device(device.clone());
    let builder = if options.workers > 0 { builder.num_workers(options.workers) } else { builder };
    let builder = if shuffle { builder.shuffle(options.seed) } else { builder };
    builder.build(digits.clone())
}

fn classify(network: &Network, batch: DigitBatch) -> ClassificationOutput {
    let output = network.forward(batch.images);
    let loss = CrossEntropyLossConfig::new().init(&output.device()).forward(output.clone(), batch.labels.clone());
    ClassificationOutput::new(loss, output, batch.labels)
}

impl TrainStep for Network {
    type Input = DigitBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: DigitBatch) -> TrainOutput<ClassificationOutput> {
        let item = classify(self, batch);
        TrainOutput::new(self, item.loss.backward(), item)
    }
}

impl InferenceStep for Network {
    type Input = DigitBatch;
    type Output = ClassificationOutput;

    fn step(&self, batch: DigitBatch) -> ClassificationOutput {
        classify(self, batch)
    }
}

/// Share of the digits that the network recognises.
fn accuracy(network: &Network, digits: Arc<dyn DataLoader<DigitBatch>>) -> f64 {
    let mut right = 0;
    let mut total = 0;
    for batch in digits.iter() {
        let batch = batch.unwrap_or_else(|error| unreachable!("the digits are in memory: {error}"));
        let [count] = batch.labels.dims();
        let named = network.forward(batch.images).argmax(1).reshape([count]);
        right += named.equal(batch.labels).int().sum().into_scalar::<i64>();
        total += count;
    }
    right as f64 / total as f64
}
