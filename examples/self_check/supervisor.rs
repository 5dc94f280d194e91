//! Two processes: one runs the checks and reports line by line; the other prints the table and survives if the system
//! ends the first. After a panic the first one ends too, because a fault or a hang of the device may spoil what follows
//! it. What failed is printed once more at the end, and what ended the process with the program that was compiled last.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use burn_mpsgraph::{MpsGraphDevice, contract};
use test_support::Outcome;

use crate::table::{Check, Verdict, print_head, print_row};

/// The first argument of the process that runs the checks; the numbers of the checks follow.
pub const WORKER: &str = "--worker";

/// How long one check may take. Kernels that hang never end.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the worker writes to its standard output, a line each with tabs between the fields.
enum Report {
    /// The macOS version, the one that the system reports to this program, and the chip.
    Device([String; 3]),
    Failed(String),
    Row(Row),
}

/// Runs the checks with the given numbers and reports each.
pub fn work(checks: &[Check], numbers: &[String]) {
    match MpsGraphDevice::new() {
        Ok(device) => {
            let text = |(major, minor): (u64, u64)| format!("{major}.{minor}");
            let (own, reported) = (contract::macos_version(), contract::reported_macos_version());
            say(&["device", &text(own), &text(reported), &device.name()]);
        }
        Err(error) => return say(&["failed", &error.to_string()]),
    }
    for check in numbers.iter().filter_map(|number| checks.get(number.parse::<usize>().ok()?)) {
        let result = catch_unwind(AssertUnwindSafe(|| check.run()));
        let (outcome, verdict) = match result {
            Ok(outcome) => {
                let verdict = match (check.judged, outcome.agrees) {
                    (false, _) => Verdict::Note,
                    (true, true) => Verdict::Ok,
                    (true, false) => Verdict::Wrong,
                };
                (outcome, verdict)
            }
            Err(payload) => {
                let message = payload
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
                    .unwrap_or_default();
                (Outcome::fact("no panic", message, false), Verdict::Panic)
            }
        };
        say(&["row", &outcome.expected, &outcome.got, &outcome.error.to_string(), verdict.word()]);
        if verdict.ends_the_worker() {
            return;
        }
    }
}

fn say(fields: &[&str]) {
    let fields: Vec<String> = fields.iter().map(|field| field.replace(['\t', '\n'], " ")).collect();
    println!("{}", fields.join("\t"));
    let _ = std::io::stdout().flush();
}

/// What became of one check.
struct Row {
    expected: String,
    got: String,
    error: f64,
    verdict: Verdict,
}

impl Row {
    /// Of a check that gave no result.
    fn without_result(got: String, verdict: Verdict) -> Self {
        Row { expected: "a result".into(), got, error: f64::NAN, verdict }
    }
}

/// The verdicts so far.
#[derive(Default)]
struct Tally {
    right: usize,
    /// The number of each check that failed.
    wrong: Vec<(usize, Row)>,
    noted: usize,
}

impl Tally {
    fn add(&mut self, number: usize, row: Row) {
        match row.verdict {
            Verdict::Ok => self.right += 1,
            Verdict::Note => self.noted += 1,
            Verdict::Wrong | Verdict::Panic | Verdict::Abort | Verdict::Hang => self.wrong.push((number, row)),
        }
    }
}

/// The table on standard output.
#[derive(Default)]
struct Printed {
    /// macOS version and chip, once the head of the table is printed.
    place: Option<[String; 2]>,
    family: &'static str,
}

impl Printed {
    fn device(&mut self, [macos, reported, chip]: [String; 3]) {
        if self.place.is_none() {
            println!("device: {chip}");
            println!("macOS: {reported} as reported to this program, which is {macos}\n");
            print_head();
            self.place = Some([macos, chip]);
        }
    }

    fn row(&mut self, check: &Check, row: &Row) {
        if check.family != self.family {
            println!("[{}]", check.family);
            self.family = check.family;
        }
        let error = if row.error.is_nan() { "-".into() } else { format!("{:.2e}", row.error) };
        let [macos, chip] = self.place.as_ref().map_or(["?"; 2], |place| place.each_ref().map(String::as_str));
        print_row([&check.name, &row.expected, &row.got, &error, row.verdict.word(), macos, chip]);
    }
}

/// Has the checks run and prints the table.
pub fn supervise(checks: &[Check], numbers: &[usize]) -> ExitCode {
    let start = Instant::now();
    println!("system: {}", system());
    let (mut tally, mut printed) = (Tally::default(), Printed::default());
    let mut left = numbers;
    while !left.is_empty() {
        let (mut worker, reports) = match start_worker(left) {
            Ok(started) => started,
            Err(error) => {
                eprintln!("this program cannot start itself: {error}");
                return ExitCode::FAILURE;
            }
        };
        while let Some((&number, others)) = left.split_first() {
            let row = match next_row(&mut worker, &reports, &mut printed) {
                Ok(row) => row,
                Err(reason) => {
                    println!("device: none\n\n{reason}");
                    return ExitCode::FAILURE;
                }
            };
            left = others;
            printed.row(&checks[number], &row);
            let ends = row.verdict.ends_the_worker();
            tally.add(number, row);
            if ends {
                break;
            }
        }
        let _ = worker.wait();
    }
    let Tally { right, wrong, noted } = tally;
    if !wrong.is_empty() {
        println!("\nThose that failed, once more:");
        for (number, row) in &wrong {
            printed.row(&checks[*number], row);
            if row.verdict == Verdict::Abort {
                println!("{}", last_program(*number));
            }
        }
    }
    println!("\n{right} right, {} wrong, {noted} reported only; {:.1} s", wrong.len(), start.elapsed().as_secs_f64());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The end of what a check that ends the process logs when it runs again by itself: with the text of the program that
/// was compiled last.
fn last_program(number: usize) -> String {
    const LINES: usize = 60;
    let run = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([WORKER, &number.to_string()]).env("BURN_MPSGRAPH_LOG", "2");
        let mut worker = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut log = worker.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let reader = thread::spawn(move || {
            let mut text = Vec::new();
            log.read_to_end(&mut text).map(|_| text)
        });
        let start = Instant::now();
        while worker.try_wait()?.is_none() && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = worker.kill().and_then(|()| worker.wait());
        reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    };
    match run() {
        Ok(log) => {
            let text = String::from_utf8_lossy(&log);
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(LINES)..].join("\n")
        }
        Err(error) => format!("this program cannot start itself: {error}"),
    }
}

/// The worker's report of the next check, or the verdict if it reports nothing.
///
/// # Errors
/// Why no check can run.
fn next_row(worker: &mut Child, reports: &Receiver<Report>, printed: &mut Printed) -> Result<Row, String> {
    loop {
        match reports.recv_timeout(PATIENCE) {
            Ok(Report::Device(place)) => printed.device(place),
            Ok(Report::Failed(reason)) => return Err(reason),
            Ok(Report::Row(row)) => return Ok(row),
            Err(RecvTimeoutError::Timeout) => {
                let _ = worker.kill();
                return Ok(Row::without_result(format!("nothing in {} s", PATIENCE.as_secs()), Verdict::Hang));
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = worker.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                if printed.place.is_none() {
                    return Err(format!("the process ended before its first check: {status}"));
                }
                return Ok(Row::without_result(status, Verdict::Abort));
            }
        }
    }
}

fn start_worker(numbers: &[usize]) -> std::io::Result<(Child, Receiver<Report>)> {
    let mut worker = Command::new(std::env::current_exe()?)
        .arg(WORKER)
        .args(numbers.iter().map(ToString::to_string))
        .stdout(Stdio::piped())
        .spawn()?;
    let (sender, receiver) = channel();
    if let Some(output) = worker.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(report) = parse(&line)
                    && sender.send(report).is_err()
                {
                    break;
                }
            }
        });
    }
    Ok((worker, receiver))
}

/// The report in a line, if it has one.
fn parse(line: &str) -> Option<Report> {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["device", macos, reported, chip] => Some(Report::Device([macos, reported, chip].map(Into::into))),
        ["failed", reason] => Some(Report::Failed(reason.into())),
        ["row", expected, got, error, verdict] => Some(Report::Row(Row {
            expected: expected.into(),
            got: got.into(),
            error: error.parse().unwrap_or(f64::NAN),
            verdict: Verdict::from_word(verdict)?,
        })),
        _ => None,
    }
}

/// Version and chip, from the system's own tools.
fn system() -> String {
    if std::env::consts::OS != "macos" {
        return format!("not macOS ({} {}): the software runtime", std::env::consts::OS, std::env::consts::ARCH);
    }
    let ask = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string()).filter(|text| !text.is_empty())
    };
    let ask = |program, arguments: &[&str]| ask(program, arguments).unwrap_or_else(|| "?".into());
    format!(
        "macOS {} ({}), {}",
        ask("sw_vers", &["-productVersion"]),
        ask("sw_vers", &["-buildVersion"]),
        ask("sysctl", &["-n", "machdep.cpu.brand_string"]),
    )
}
