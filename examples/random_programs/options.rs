//! The command line.

pub const HELP: &str = "\
Runs random programs on MPSGraph and compares every value with burn-flex, in f64 where it is a float.

Usage: random_programs [OPTIONS]

Options:
  --seed N        the first program's seed; the next ones count on [default: 1]
  --programs N    how many programs [default: 1000]
  --ops N         ops of a program, about [default: 24]
  --largest N     elements that a value has at most, about [default: 8192]; from 100 thousand on, threads share them
  --gradients     programs of floats, and their gradients through Autodiff
  --show          prints each program before it runs, for one that ends the process
  -h, --help      this text
";

/// Elements of values that are small enough for a thousand programs in some twenty seconds.
pub const SMALL: usize = 1 << 13;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub seed: u64,
    pub programs: u64,
    pub ops: usize,
    pub largest: usize,
    pub gradients: bool,
    pub show: bool,
}

impl Options {
    /// Reads the arguments; `None` if the help was asked for.
    ///
    /// # Errors
    /// One line that names the argument and what it takes.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self { seed: 1, programs: 1000, ops: 24, largest: SMALL, gradients: false, show: false };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut number = || -> Result<u64, String> {
                let Some(text) = arguments.next() else { return Err(format!("{argument} takes a whole number")) };
                text.parse().map_err(|_| format!("{argument} takes a whole number, not {text:?}"))
            };
            match argument.as_str() {
                "-h" | "--help" => return Ok(None),
                "--seed" => options.seed = number()?,
                "--programs" => options.programs = number()?,
                "--ops" => options.ops = number()? as usize,
                "--largest" => options.largest = number()? as usize,
                "--gradients" => options.gradients = true,
                "--show" => options.show = true,
                _ => return Err(format!("unexpected {argument:?}; --help lists the options")),
            }
        }
        Ok(Some(options))
    }
}
