//! MNIST's IDX files: a big-endian header (magic, count, and for images rows and columns) and one byte per pixel or
//! label, gzipped or not.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::{Digit, PIXELS, SIDE, Split};

const IMAGES_MAGIC: u32 = 0x0000_0803;
const LABELS_MAGIC: u32 = 0x0000_0801;

/// Reads the digits to train on from the first of two directories, those to test with from the second.
///
/// # Errors
/// One line that names the file and what is wrong with it.
pub fn load([train, test]: [&Path; 2]) -> Result<[Vec<Digit>; 2], String> {
    Ok([read(train, Split::Train)?, read(test, Split::Test)?])
}

/// Names of the files with the images and the labels of a split.
pub fn names(split: Split) -> [String; 2] {
    let prefix = match split {
        Split::Train => "train",
        Split::Test => "t10k",
    };
    [format!("{prefix}-images-idx3-ubyte"), format!("{prefix}-labels-idx1-ubyte")]
}

fn read(directory: &Path, split: Split) -> Result<Vec<Digit>, String> {
    let [images, labels] = names(split);
    let (images, labels) = (find(directory, &images)?, find(directory, &labels)?);
    let pixels = read_images(&images)?;
    let classes = read_labels(&labels)?;
    if pixels.len() != classes.len() {
        return Err(format!(
            "{} holds {} images but {} holds {} labels",
            images.display(),
            pixels.len(),
            labels.display(),
            classes.len()
        ));
    }
    Ok(pixels.into_iter().zip(classes).map(|(pixels, label)| Digit { pixels, label }).collect())
}

/// The file as it is or gzipped.
fn find(directory: &Path, name: &str) -> Result<PathBuf, String> {
    if !directory.is_dir() {
        return Err(format!("{} is not a directory", directory.display()));
    }
    let candidates = [directory.join(name), directory.join(format!("{name}.gz"))];
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{} has neither {name} nor {name}.gz", directory.display()))
}

fn read_images(path: &Path) -> Result<Vec<[u8; PIXELS]>, String> {
    let bytes = contents(path)?;
    let [magic, count, rows, columns] = header(path, &bytes)?;
    check_magic(path, magic, IMAGES_MAGIC)?;
    if (rows as usize, columns as usize) != (SIDE, SIDE) {
        return Err(format!("{}: images of {rows}x{columns} pixels where {SIDE}x{SIDE} are expected", path.display()));
    }
    let data = check_length(path, &bytes[16..], count, PIXELS)?;
    let (images, _) = data.as_chunks::<PIXELS>();
    Ok(images.to_vec())
}

fn read_labels(path: &Path) -> Result<Vec<u8>, String> {
    let bytes = contents(path)?;
    let [magic, count] = header(path, &bytes)?;
    check_magic(path, magic, LABELS_MAGIC)?;
    let labels = check_length(path, &bytes[8..], count, 1)?.to_vec();
    match labels.iter().position(|&label| label > 9) {
        Some(at) => Err(format!("{}: label {} at position {at} is not a digit", path.display(), labels[at])),
        None => Ok(labels),
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, String> {
    let fail = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = BufReader::new(File::open(path).map_err(fail)?);
    let mut bytes = Vec::new();
    let read = if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut bytes)
    } else {
        { file }.read_to_end(&mut bytes)
    };
    read.map_err(fail)?;
    Ok(bytes)
}

fn header<const N: usize>(path: &Path, bytes: &[u8]) -> Result<[u32; N], String> {
    let (words, _) = bytes.as_chunks::<4>();
    if words.len() < N {
        return Err(format!("{}: {} bytes are too few for the header", path.display(), bytes.len()));
    }
    Ok(std::array::from_fn(|at| u32::from_be_bytes(words[at])))
}

fn check_magic(path: &Path, found: u32, expected: u32) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{}: magic number {found:#010x} where {expected:#010x} is expected", path.display()))
    }
}

fn check_length<'a>(path: &Path, data: &'a [u8], count: u32, item: usize) -> Result<&'a [u8], String> {
    let expected = count as usize * item;
    if count == 0 {
        Err(format!("{}: the header announces no items", path.display()))
    } else if data.len() == expected {
        Ok(data)
    } else {
        let what = if data.len() < expected { "is cut short" } else { "is too long" };
        Err(format!(
            "{} {what}: {count} items take {expected} bytes after the header, it has {}",
            path.display(),
            data.len()
        ))
    }
}
