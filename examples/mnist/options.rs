//! The command line.

use std::path::PathBuf;

use lexopt::prelude::*;

/// What the examples differ in, apart from the network itself.
pub struct Example {
    pub name: &'static str,
    /// For the help, with its article.
    pub network: &'static str,
    /// Units of the hidden layer, if the command line does not say.
    pub hidden: usize,
}

impl Example {
    pub fn help(&self) -> String {
        let Self { name, network, hidden } = self;
        format!(
            "\
Trains an MNIST classifier ({network}) on MPSGraph.

Usage: {name} [OPTIONS]

Options:
  --data DIR          IDX files of MNIST (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
                      t10k-labels-idx1-ubyte), gzipped (.gz) or not. Without it: Burn's MNIST if it is cached or curl
                      can download it, else digits that the example renders itself.
  --output DIR        where logs, checkpoints and the model go [default: burn-mpsgraph-{name} in the temporary
                      directory]
  --epochs N          passes over the training digits [default: 10]
  --batch-size N      digits per step [default: 64]
  --hidden N          units of the hidden layer [default: {hidden}]
  --optimizer NAME    adam or sgd [default: adam]
  --learning-rate X   [default: 0.001 for adam, 0.1 for sgd]
  --workers N         data loader threads; 0 makes the batches on the training thread [default: 1]
  --loss-only         measures the loss and not the accuracy while it trains
  --seed N            seeds weights, shuffling and rendered digits [default: 42]
  -h, --help          this text
"
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizer {
    Adam,
    Sgd,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub data: Option<PathBuf>,
    pub output: PathBuf,
    pub epochs: usize,
    pub batch_size: usize,
    pub hidden: usize,
    pub optimizer: Optimizer,
    pub learning_rate: f64,
    pub workers: usize,
    pub loss_only: bool,
    pub seed: u64,
}

impl Options {
    /// Reads the arguments; `None` if the help was asked for.
    ///
    /// # Errors
    /// One line that names the option and what it takes.
    pub fn parse(mut arguments: lexopt::Parser, example: &Example) -> Result<Option<Self>, String> {
        let mut options = Self {
            data: None,
            output: std::env::temp_dir().join(format!("burn-mpsgraph-{}", example.name)),
            epochs: 10,
            batch_size: 64,
            hidden: example.hidden,
            optimizer: Optimizer::Adam,
            learning_rate: 0.0,
            workers: 1,
            loss_only: false,
            seed: 42,
        };
        let mut learning_rate = None;
        while let Some(argument) = arguments.next().map_err(|error| error.to_string())? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("data") => options.data = Some(value(&mut arguments, "--data")?.into()),
                Long("output") => options.output = value(&mut arguments, "--output")?.into(),
                Long("epochs") => options.epochs = positive(&mut arguments, "--epochs")?,
                Long("batch-size") => options.batch_size = positive(&mut arguments, "--batch-size")?,
                Long("hidden") => options.hidden = positive(&mut arguments, "--hidden")?,
                Long("workers") => options.workers = number(&mut arguments, "--workers", "a whole number")?,
                Long("loss-only") => options.loss_only = true,
                Long("seed") => options.seed = number(&mut arguments, "--seed", "a whole number")?,
                Long("learning-rate") => {
                    let rate: f64 = number(&mut arguments, "--learning-rate", "a number")?;
                    if !(rate.is_finite() && rate > 0.0) {
                        return Err(format!("--learning-rate takes a number above 0, not {rate}"));
                    }
                    learning_rate = Some(rate);
                }
                Long("optimizer") => {
                    options.optimizer = match value(&mut arguments, "--optimizer")?.to_str() {
                        Some("adam") => Optimizer::Adam,
                        Some("sgd") => Optimizer::Sgd,
                        other => {
                            return Err(format!("--optimizer takes adam or sgd, not {}", other.unwrap_or("that")));
                        }
                    }
                }
                Short(_) | Long(_) | Value(_) => {
                    return Err(format!("{}; --help lists the options", argument.unexpected()));
                }
            }
        }
        options.learning_rate = learning_rate.unwrap_or(match options.optimizer {
            Optimizer::Adam => 0.001,
            Optimizer::Sgd => 0.1,
        });
        Ok(Some(options))
    }
}

fn value(arguments: &mut lexopt::Parser, option: &str) -> Result<std::ffi::OsString, String> {
    arguments.value().map_err(|_| format!("{option} takes a value"))
}

fn number<T: std::str::FromStr>(arguments: &mut lexopt::Parser, option: &str, what: &str) -> Result<T, String> {
    let text = value(arguments, option)?;
    let text = text.to_string_lossy();
    text.parse().map_err(|_| format!("{option} takes {what}, not {text}"))
}

fn positive(arguments: &mut lexopt::Parser, option: &str) -> Result<usize, String> {
    match number(arguments, option, "a whole number above 0")? {
        0 => Err(format!("{option} takes a whole number above 0, not 0")),
        number => Ok(number),
    }
}
