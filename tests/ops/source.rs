//! The library's own source, from which these tests take the names of methods and families.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// A method of one of Burn's traits.
pub struct Method {
    pub name: String,
    pub returns: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The methods in `src/backend`.
pub fn methods() -> Vec<Method> {
    let files = read_dir(root().join("src/backend")).expect("the backend's source");
    let paths = files.map(|file| file.expect("a file").path());
    paths.flat_map(|path| of_file(&path)).collect()
}

fn of_file(path: &Path) -> Vec<Method> {
    let text = read_to_string(path).expect("Rust source");
    let method = |text: &str| Method {
        name: text.split(['(', '<']).next().unwrap_or_default().to_string(),
        returns: signature(text).split_once("-> ").map_or("", |(_, returns)| returns).to_string(),
    };
    text.replace("\n    async fn ", "\n    fn ").split("\n    fn ").skip(1).map(method).collect()
}

/// What stands in front of a method's body.
fn signature(text: &str) -> &str {
    text.split_once('{').map_or(text, |(signature, _)| signature)
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").display().to_string()
}

/// The families, each a file or folder of `src/ops`.
pub fn families() -> Vec<String> {
    let files = read_dir(root().join("src/ops")).expect("the ops' source");
    let names = files.map(|file| stem(&file.expect("a file").path()));
    names.collect()
}
