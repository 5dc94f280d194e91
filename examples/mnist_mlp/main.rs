//! Trains an MNIST classifier on `Autodiff<MpsGraph>` with burn-train: `--help` lists the options.
//!
//! Burn's recorder saves the model and loads it again, and the final accuracy is that of the loaded model. The last
//! lines show the cost of the run: time, and the backend's own counters.

mod dataset;
mod idx;
mod model;
mod options;
mod rendered;
mod renderer;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::backend::Autodiff;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::Dataset;
use burn::module::Module;
use burn::optim::{AdamConfig, Optimizer as BurnOptimizer, SgdConfig};
use burn::record::CompactRecorder;
use burn::tensor::ElementConversion;
use burn::tensor::backend::Backend;
use burn::train::metric::{AccuracyMetric, LossMetric};
use burn::train::{Learner, SupervisedTraining};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};

use crate::dataset::{DigitBatch, DigitBatcher, DigitSet, Digits};
use crate::model::Mlp;
use crate::options::{HELP, Optimizer, Options};
use crate::renderer::PlainRenderer;

type B = Autodiff<MpsGraph>;

fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(line) => return refuse(&line),
    };
    if let Err(error) = std::fs::create_dir_all(&options.output) {
        return refuse(&format!("--output {}: {error}", options.output.display()));
    }
    let digits = match Digits::load(options.data.clone(), options.seed) {
        Ok(digits) => digits,
        Err(line) => return refuse(&line),
    };
    let device = match MpsGraphDevice::new() {
        Ok(device) => device,
        Err(error) => return refuse(&error.to_string()),
    };
    println!("device: {}", device.name());
    println!("data: {}", digits.origin);
    B::seed(&device, options.seed);
    match options.optimizer {
        Optimizer::Adam => run(&options, digits, device, AdamConfig::new().init()),
        Optimizer::Sgd => run(&options, digits, device, SgdConfig::new().init()),
    }
}

/// One line on stderr and the exit code of bad input.
fn refuse(line: &str) -> ExitCode {
    eprintln!("error: {line}");
    ExitCode::from(2)
}

fn run<O>(options: &Options, digits: Digits, device: MpsGraphDevice, optimizer: O) -> ExitCode
where
    O: BurnOptimizer<Mlp<B>, B> + 'static,
{
    let start = Instant::now();
    let before = device.stats();
    let trained = train(options, &digits, device, optimizer);
    let elapsed = start.elapsed();
    let used = device.stats().since(&before);

    let file = options.output.join("model");
    if let Err(error) = trained.clone().save_file(&file, &CompactRecorder::new()) {
        return refuse(&format!("the model could not be saved to {}: {error}", file.display()));
    }
    let fresh = Mlp::<MpsGraph>::new(options.hidden, &device);
    let reloaded = match fresh.load_file(&file, &CompactRecorder::new(), &device) {
        Ok(model) => model,
        Err(error) => {
            return refuse(&format!("the model could not be loaded from {}: {error}", file.display()));
        }
    };
    let accuracy = accuracy(&reloaded, loader(&digits.test, options, false));
    report(options, &digits, elapsed, accuracy, &used);
    println!("model: {}", file.with_extension("mpk").display());
    ExitCode::SUCCESS
}

/// Trains with burn-train and returns the model for inference.
fn train<O>(options: &Options, digits: &Digits, device: MpsGraphDevice, optimizer: O) -> Mlp<MpsGraph>
where
    O: BurnOptimizer<Mlp<B>, B> + 'static,
{
    let learner = Learner::new(Mlp::<B>::new(options.hidden, &device), optimizer, options.learning_rate);
    let training = SupervisedTraining::new(
        &options.output,
        loader(&digits.train, options, true),
        loader(&digits.test, options, false),
    )
    .metrics((LossMetric::new(), AccuracyMetric::new()))
    .with_file_checkpointer(CompactRecorder::new())
    .num_epochs(options.epochs);
    let training = if std::io::stdout().is_terminal() { training } else { training.renderer(PlainRenderer::default()) };
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

/// Share of the digits that the model recognises.
fn accuracy<B: Backend>(model: &Mlp<B>, digits: Arc<dyn DataLoader<B, DigitBatch<B>>>) -> f64 {
    let mut right = 0i64;
    let mut total = 0;
    for batch in digits.iter() {
        let [count] = batch.labels.dims();
        let named = model.forward(batch.images).argmax(1).reshape([count]);
        right += named.equal(batch.labels).int().sum().into_scalar().elem::<i64>();
        total += count;
    }
    right as f64 / total as f64
}

fn report(options: &Options, digits: &Digits, elapsed: Duration, accuracy: f64, used: &burn_mpsgraph::Stats) {
    let epochs = options.epochs as f64;
    let samples = epochs * (digits.train.len() + digits.test.len()) as f64;
    let seconds = elapsed.as_secs_f64();
    println!("test accuracy of the saved model: {:.2} %", 100.0 * accuracy);
    println!("seconds per epoch: {:.3}", seconds / epochs);
    println!("samples per second: {:.0} (trained and tested)", samples / seconds);
    println!(
        "counters: {} ops recorded, {} programs compiled in {:.2} s, {} found compiled, {} executions, {} commits, \
         {} host reads, {} waits",
        used.ops_recorded,
        used.programs_compiled,
        used.compile_time.as_secs_f64(),
        used.cache_hits,
        used.executions,
        used.commits,
        used.host_reads,
        used.waits
    );
    println!(
        "memory: {} buffers with {} bytes live, {} bytes cached, peak {} bytes; {} bytes uploaded, {} read",
        used.buffers_live, used.bytes_live, used.bytes_cached, used.bytes_peak, used.bytes_uploaded, used.bytes_read
    );
}
