//! MNIST where Burn's own data set keeps it, in the user's cache directory. What is missing there is downloaded with
//! `curl`, which macOS, Windows and most Linux systems have: an HTTPS client built for four files takes longer to build
//! than everything else here.

use std::fs;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;

use super::{Digit, Split, idx};

/// Where Burn's data set downloads from, too.
const ADDRESS: &str = "https://storage.googleapis.com/cvdf-datasets/mnist";
/// How long one file may take.
const SECONDS: &str = "20";

/// The digits to train on and to test with.
///
/// # Errors
/// One line that says why MNIST is not available.
pub fn load() -> Result<[Vec<Digit>; 2], String> {
    let cache = dirs::cache_dir().ok_or("this user has no cache directory")?.join("burn-dataset").join("mnist");
    let directories = [(Split::Train, "train"), (Split::Test, "test")].map(|(split, name)| (split, cache.join(name)));
    for (split, directory) in &directories {
        for name in idx::names(*split) {
            let file = directory.join(&name);
            if !file.exists() {
                download(&name, &file)?;
            }
        }
    }
    idx::load(directories.each_ref().map(|(_, directory)| directory.as_path()))
}

/// Writes a file as Burn does, unpacked. It appears whole or not at all.
fn download(name: &str, file: &Path) -> Result<(), String> {
    let address = format!("{ADDRESS}/{name}.gz");
    let curl = Command::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error", "--max-time", SECONDS, &address])
        .output()
        .map_err(|error| format!("curl does not start: {error}"))?;
    if !curl.status.success() {
        let text = String::from_utf8_lossy(&curl.stderr);
        return Err(text.trim().lines().last().unwrap_or("curl failed").to_owned());
    }
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let write = || {
        fs::create_dir_all(part.parent().unwrap_or(file))?;
        std::io::copy(&mut GzDecoder::new(&curl.stdout[..]), &mut fs::File::create(&part)?)?;
        fs::rename(&part, file)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&part);
        format!("{address} as {}: {error}", file.display())
    })
}
