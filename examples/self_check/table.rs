//! What a check is, and how its row is printed.

use burn::tensor::DType;
use op_tests::Case;
use test_support::Outcome;

/// What is known to go wrong on some system, or a use of several ops together.
pub struct Trap {
    pub name: &'static str,
    /// Whether a difference is an error; otherwise the row only tells what the machine does.
    pub judged: bool,
    pub run: fn() -> Outcome,
}

/// A trap whose difference from the reference is an error.
pub const fn check(name: &'static str, run: fn() -> Outcome) -> Trap {
    Trap { name, judged: true, run }
}

/// A trap that is reported without a verdict.
pub const fn note(name: &'static str, run: fn() -> Outcome) -> Trap {
    Trap { name, judged: false, run }
}

/// One row.
pub struct Check {
    pub family: &'static str,
    pub name: String,
    pub judged: bool,
    run: Run,
}

enum Run {
    Trap(fn() -> Outcome),
    Line(Case, DType),
}

impl Check {
    pub fn of_trap(family: &'static str, trap: &Trap) -> Check {
        Check { family, name: trap.name.into(), judged: trap.judged, run: Run::Trap(trap.run) }
    }

    /// A line of the op tests, for one dtype.
    pub fn of_line(family: &'static str, case: &Case, dtype: DType) -> Check {
        let line = case.name().split_once("::").map_or(case.name(), |(_, line)| line);
        Check { family, name: format!("{line} {}", dtype.name()), judged: true, run: Run::Line(case.clone(), dtype) }
    }

    pub fn run(&self) -> Outcome {
        match &self.run {
            Run::Trap(run) => run(),
            Run::Line(case, dtype) => case.outcome(*dtype),
        }
    }
}

/// The word in the last column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Note,
    Wrong,
    Panic,
    /// The process ended within the check.
    Abort,
    Hang,
}

impl Verdict {
    const ALL: [Verdict; 6] =
        [Verdict::Ok, Verdict::Note, Verdict::Wrong, Verdict::Panic, Verdict::Abort, Verdict::Hang];

    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Note => "note",
            Verdict::Wrong => "WRONG",
            Verdict::Panic => "PANIC",
            Verdict::Abort => "ABORT",
            Verdict::Hang => "HANG",
        }
    }

    pub fn from_word(word: &str) -> Option<Verdict> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// Whether the checks that follow need a new process: this one is gone, or its device may be of no more use.
    pub fn ends_the_worker(self) -> bool {
        match self {
            Verdict::Panic | Verdict::Abort | Verdict::Hang => true,
            Verdict::Ok | Verdict::Note | Verdict::Wrong => false,
        }
    }
}

/// Prints the head of the table.
pub fn print_head() {
    print_row(["check", "expected", "got", "max error", "verdict", "macOS", "chip"]);
    println!("{}", "-".repeat(154));
}

/// Prints one row. Long texts are not cut, because only rows of failures have them, and there they matter.
pub fn print_row([name, expected, got, error, verdict, macos, chip]: [&str; 7]) {
    println!("{name:<60}  {expected:>22}  {got:>22}  {error:>10}  {verdict:<7}  {macos:>5}  {chip}");
}
