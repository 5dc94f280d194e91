//! Two processes: one runs the checks and reports line by line, the other prints the table and outlives what the system
//! does to the first.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use burn_mpsgraph::MpsGraphDevice;

use crate::table::{Check, Outcome, Verdict, print_head, print_row};

/// The first argument of the process that runs the checks; the numbers of the checks follow.
pub const WORKER: &str = "--worker";

/// How long one check may take. Kernels that hang do so for good.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the worker writes to its standard output, a line each with tabs between the fields.
enum Report {
    /// The macOS version that the library sees, and the chip.
    Device(String, String),
    Failed(String),
    Row {
        expected: String,
        got: String,
        error: f64,
        verdict: Verdict,
    },
}

/// Runs the checks with the given numbers and reports each.
pub fn work(checks: &[(&str, &Check)], numbers: &[String]) {
    match MpsGraphDevice::new() {
        Ok(device) => {
            let (major, minor) = burn_mpsgraph::contract::macos_version();
            say(&["device", &format!("{major}.{minor}"), &device.name()]);
        }
        Err(error) => return say(&["failed", &error.to_string()]),
    }
    for (_, check) in numbers.iter().filter_map(|number| checks.get(number.parse::<usize>().ok()?)) {
        let result = catch_unwind(AssertUnwindSafe(check.run));
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
    }
}

fn say(fields: &[&str]) {
    let fields: Vec<String> = fields.iter().map(|field| field.replace(['\t', '\n'], " ")).collect();
    println!("{}", fields.join("\t"));
    let _ = std::io::stdout().flush();
}

/// Has the checks run and prints the table.
pub fn supervise(checks: &[(&str, &Check)], numbers: &[usize]) -> ExitCode {
    let start = Instant::now();
    println!("system: {}", system());
    let mut counts = [0usize; 3];
    let mut next = 0;
    // macOS version and chip, once the head of the table is printed.
    let mut place: Option<[String; 2]> = None;
    let mut family = "";
    while next < numbers.len() {
        let (mut worker, reports) = match start_worker(&numbers[next..]) {
            Ok(started) => started,
            Err(error) => {
                eprintln!("this program cannot start itself: {error}");
                return ExitCode::FAILURE;
            }
        };
        loop {
            let (expected, got, error, verdict) = match reports.recv_timeout(PATIENCE) {
                Ok(Report::Device(macos, chip)) => {
                    if place.is_none() {
                        println!("device: {chip}\n");
                        print_head();
                        place = Some([macos, chip]);
                    }
                    continue;
                }
                Ok(Report::Failed(reason)) => {
                    println!("device: none\n\n{reason}");
                    return ExitCode::FAILURE;
                }
                Ok(Report::Row { expected, got, error, verdict }) => (expected, got, error, verdict),
                Err(RecvTimeoutError::Timeout) => {
                    let _ = worker.kill();
                    let got = format!("nothing in {} s", PATIENCE.as_secs());
                    ("a result".into(), got, f64::NAN, Verdict::Hang)
                }
                Err(RecvTimeoutError::Disconnected) if next == numbers.len() => break,
                Err(RecvTimeoutError::Disconnected) => {
                    let status = worker.wait().map_or_else(|error| error.to_string(), |s| s.to_string());
                    if place.is_none() {
                        println!("device: none\n\nthe process ended before its first check: {status}");
                        return ExitCode::FAILURE;
                    }
                    ("a result".into(), status, f64::NAN, Verdict::Abort)
                }
            };
            let (own, check) = checks[numbers[next]];
            next += 1;
            if own != family {
                println!("[{own}]");
                family = own;
            }
            let error = if error.is_nan() { "-".into() } else { format!("{error:.2e}") };
            let [macos, chip] = place.as_ref().map_or(["?"; 2], |place| place.each_ref().map(String::as_str));
            let columns = [check.name, &expected, &got, &error, verdict.word(), macos, chip];
            print_row(columns);
            counts[if verdict.is_error() { 2 } else { usize::from(verdict == Verdict::Note) }] += 1;
            if matches!(verdict, Verdict::Hang | Verdict::Abort) {
                break;
            }
        }
        let _ = worker.wait();
    }
    let [right, notes, wrong] = counts;
    println!("\n{right} right, {wrong} wrong, {notes} reported only; {:.1} s", start.elapsed().as_secs_f64());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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

/// The report in a line; lines of others are none.
fn parse(line: &str) -> Option<Report> {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        ["device", macos, chip] => Some(Report::Device(macos.into(), chip.into())),
        ["failed", reason] => Some(Report::Failed(reason.into())),
        ["row", expected, got, error, verdict] => Some(Report::Row {
            expected: expected.into(),
            got: got.into(),
            error: error.parse().unwrap_or(f64::NAN),
            verdict: Verdict::from_word(verdict)?,
        }),
        _ => None,
    }
}

/// Version and chip as the system's own tools tell them.
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
