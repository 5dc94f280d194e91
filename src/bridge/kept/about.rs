//! The file beside a package: what the program is, how its executable is called, and check sums of the package.
//!
//! It is text: the check sum of the rest, a line for each field, a line for each file, and the program.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "about.txt";
/// What stands before the program.
const PROGRAM: &str = "program:\n";

pub(super) struct About {
    /// How long it took to compile.
    pub compile_time: Duration,
    /// See [`Compiled`](crate::bridge::compile::Compiled) for these three.
    pub feed_order: Vec<usize>,
    pub target_order: Vec<usize>,
    pub results: Vec<usize>,
    pub files: Vec<PackageFile>,
}

/// A file of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackageFile {
    /// Relative to the package.
    path: String,
    bytes: u64,
    sum: u64,
}

impl About {
    /// What is written about the package of this program; `None` if it is another program's, damaged, or not there.
    pub fn read(folder: &Path, program: &str) -> Option<Self> {
        let text = fs::read_to_string(folder.join(NAME)).ok()?;
        let (sum, rest) = text.split_once('\n')?;
        let (fields, own) = rest.split_once(PROGRAM)?;
        if own != program || u64::from_str_radix(sum, 16) != Ok(check_sum(rest.as_bytes())) {
            return None;
        }
        let mut lines = fields.lines();
        let mut field = |name: &str| lines.next()?.strip_prefix(name).map(str::trim_start);
        let compile_time = Duration::from_nanos(field("compiled")?.parse().ok()?);
        let [feed_order, target_order, results] =
            [numbers(field("feeds")?), numbers(field("targets")?), numbers(field("results")?)];
        let files = lines.map(PackageFile::parse).collect::<Option<_>>()?;
        Some(Self { compile_time, feed_order: feed_order?, target_order: target_order?, results: results?, files })
    }

    pub fn write(&self, folder: &Path, program: &str) -> io::Result<()> {
        let list = |numbers: &[usize]| numbers.iter().map(|number| format!(" {number}")).collect::<String>();
        let mut rest = format!(
            "compiled {}\nfeeds{}\ntargets{}\nresults{}\n",
            self.compile_time.as_nanos(),
            list(&self.feed_order),
            list(&self.target_order),
            list(&self.results),
        );
        for PackageFile { path, bytes, sum } in &self.files {
            let _ = writeln!(rest, "{sum:016x} {bytes} {path}");
        }
        rest += PROGRAM;
        rest += program;
        fs::write(folder.join(NAME), format!("{:016x}\n{rest}", check_sum(rest.as_bytes())))
    }

    /// Whether the package is as it was written.
    pub fn is_whole(&self, package: &Path) -> bool {
        files(package).is_ok_and(|files| files == self.files)
    }
}

impl PackageFile {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let sum = u64::from_str_radix(parts.next()?, 16).ok()?;
        Some(Self { sum, bytes: parts.next()?.parse().ok()?, path: parts.next()?.into() })
    }
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

/// The files of a package, by their names.
///
/// # Errors
/// If there are none, as when the disk is full, for MPSGraph does not tell; or a name is not text.
pub(super) fn files(package: &Path) -> io::Result<Vec<PackageFile>> {
    if !package.is_dir() {
        return Err(io::Error::other("MPSGraph wrote no package: is the disk full?"));
    }
    let mut files = Vec::new();
    let mut folders = vec![package.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let content = fs::read(&path)?;
            let inside = path.strip_prefix(package).ok().and_then(Path::to_str).map(str::to_owned);
            let path = inside.ok_or_else(|| io::Error::other("a file of the package has no name in UTF-8"))?;
            files.push(PackageFile { path, bytes: content.len() as u64, sum: check_sum(&content) });
        }
    }
    if files.is_empty() {
        return Err(io::Error::other("MPSGraph wrote an empty package: is the disk full?"));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// FNV-1a, 64 bits: the same on every system and in every version.
pub(super) fn check_sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_written_is_called_so() {
        let package = std::env::temp_dir().join(format!("burn-mpsgraph-unwritten-{}", std::process::id()));
        for is_empty in [false, true] {
            if is_empty {
                fs::create_dir(&package).expect("the temporary folder can be written");
            }
            let error = files(&package).expect_err("there is nothing").to_string();
            assert!(error.contains("is the disk full?"), "{error}");
        }
        fs::remove_dir(package).expect("the folder is ours");
    }

    #[test]
    fn what_is_written_is_read_again_also_of_a_program_without_feeds() {
        let folder = std::env::temp_dir().join(format!("burn-mpsgraph-about-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder can be written");
        for feed_order in [vec![], vec![0], vec![2, 0, 1]] {
            let file = PackageFile { path: "a file".into(), bytes: 7, sum: 9 };
            let about = About {
                compile_time: Duration::from_nanos(5),
                feed_order: feed_order.clone(),
                target_order: vec![1, 0],
                results: vec![0, 1],
                files: vec![file],
            };
            about.write(&folder, "a program\n").expect("the folder can be written");
            let read = About::read(&folder, "a program\n").expect("it is the same program");
            assert_eq!((read.feed_order, read.target_order, read.results), (feed_order, vec![1, 0], vec![0, 1]));
            assert_eq!((read.compile_time, read.files), (about.compile_time, about.files));
            assert!(About::read(&folder, "another program").is_none());
        }
        fs::remove_dir_all(folder).expect("the folder is ours");
    }
}
