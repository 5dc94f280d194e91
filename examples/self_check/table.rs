//! What a check is and how its row looks.

/// One row: something that is known to go wrong somewhere, or a family's ordinary use.
pub struct Check {
    pub name: &'static str,
    /// Whether a difference is an error; otherwise the row only tells what the machine does.
    pub judged: bool,
    pub run: fn() -> Outcome,
}

/// A check whose difference from the reference is an error.
pub const fn check(name: &'static str, run: fn() -> Outcome) -> Check {
    Check { name, judged: true, run }
}

/// A check that reports without a verdict.
pub const fn note(name: &'static str, run: fn() -> Outcome) -> Check {
    Check { name, judged: false, run }
}

/// What came out: the worst element, or the first that differs.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub expected: String,
    pub got: String,
    pub error: f64,
    pub agrees: bool,
}

impl Outcome {
    /// The first that disagrees, else the one with the largest error.
    pub fn of(parts: impl IntoIterator<Item = Outcome>) -> Outcome {
        parts
            .into_iter()
            .reduce(|best, part| match (best.agrees, part.agrees) {
                (false, _) => best,
                (true, false) => part,
                (true, true) if part.error > best.error => part,
                (true, true) => best,
            })
            .unwrap_or_else(|| Outcome::fact("nothing", "nothing", true))
    }

    /// A statement that holds or does not.
    pub fn fact(expected: impl Into<String>, got: impl Into<String>, agrees: bool) -> Outcome {
        Outcome { expected: expected.into(), got: got.into(), error: if agrees { 0.0 } else { f64::NAN }, agrees }
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
    const WORDS: [(Verdict, &str); 6] = [
        (Verdict::Ok, "ok"),
        (Verdict::Note, "note"),
        (Verdict::Wrong, "WRONG"),
        (Verdict::Panic, "PANIC"),
        (Verdict::Abort, "ABORT"),
        (Verdict::Hang, "HANG"),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(verdict, _)| *verdict == self).map_or("", |(_, word)| word)
    }

    pub fn from_word(word: &str) -> Option<Verdict> {
        Self::WORDS.iter().find(|(_, own)| *own == word).map(|&(verdict, _)| verdict)
    }

    pub fn is_error(self) -> bool {
        !matches!(self, Verdict::Ok | Verdict::Note)
    }
}

/// Prints the head of the table.
pub fn print_head() {
    print_row(["pattern", "expected", "got", "max error", "verdict", "macOS", "chip"]);
    println!("{}", "-".repeat(154));
}

/// Prints one row. Nothing is cut: what is too long is a wrong row's, where it matters.
pub fn print_row([name, expected, got, error, verdict, macos, chip]: [&str; 7]) {
    println!("{name:<60}  {expected:>22}  {got:>22}  {error:>10}  {verdict:<7}  {macos:>5}  {chip}");
}
