//! What Rust source says of traits and of their implementations. It is read line by line, as rustfmt leaves it: items
//! begin in the first column and end with a brace there, their methods begin behind four spaces. A line `name!();`
//! among them stands for the methods in the body of that macro, where they begin behind eight.

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// A trait, or an implementation of one.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    /// The trait's name, without its path and parameters.
    pub name: String,
    /// The type that has the trait; none for the trait itself.
    pub of: Option<String>,
    pub methods: Vec<Method>,
    /// The macros of items in it.
    pub macros: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub name: String,
    pub has_body: bool,
}

/// The items of all Rust files below a folder whose paths `is_read` takes, with the methods of their macros.
pub fn items_below(folder: &Path, is_read: impl Fn(&Path) -> bool) -> Vec<Item> {
    let files = files(folder).into_iter().filter(|file| is_read(file));
    let texts: Vec<String> = files.map(|file| read_to_string(file).expect("Rust source")).collect();
    let bodies: BTreeMap<String, Vec<Method>> = texts.iter().flat_map(|text| macros(text)).collect();
    let mut items: Vec<Item> = texts.iter().flat_map(|text| items(text)).collect();
    for item in &mut items {
        let methods = item.macros.iter().filter_map(|name| bodies.get(name)).flatten();
        item.methods.extend(methods.cloned());
    }
    items
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
            false => vec![],
        })
        .collect()
}

/// The traits and implementations of traits in a file.
pub fn items(text: &str) -> Vec<Item> {
    let mut lines = text.lines();
    let mut items = Vec::new();
    while let Some(line) = lines.next() {
        if !line.starts_with("pub trait ") && !line.starts_with("impl") {
            continue;
        }
        let (header, is_open) = through(line, &mut lines, &['{', '}']);
        let Some((name, of)) = names(&header) else { continue };
        let (mut methods, mut macros) = (Vec::new(), Vec::new());
        while is_open && let Some(line) = lines.next().filter(|line| *line != "}") {
            methods.extend(method(line, &mut lines));
            macros.extend(line.trim_start().strip_suffix("!();").map(Into::into));
        }
        items.push(Item { name, of, methods, macros });
    }
    items
}

/// The methods in the bodies of a file's macros.
pub fn macros(text: &str) -> Vec<(String, Vec<Method>)> {
    let mut lines = text.lines();
    let mut macros = Vec::new();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("macro_rules! ") else { continue };
        let mut methods = Vec::new();
        while let Some(line) = lines.next().filter(|line| *line != "}") {
            methods.extend(line.strip_prefix("    ").and_then(|line| method(line, &mut lines)));
        }
        macros.push((word(name).into(), methods));
    }
    macros
}

/// The text from `first` to the first line that ends with one of `ends`, and whether that is an open brace.
fn through<'a>(first: &'a str, rest: &mut impl Iterator<Item = &'a str>, ends: &[char]) -> (String, bool) {
    let mut text = String::new();
    let mut line = first;
    loop {
        let code = line.split_once(" // ").map_or(line, |(code, _)| code).trim_end();
        text += code;
        if code.ends_with(ends) {
            return (text, code.ends_with('{'));
        }
        text.push(' ');
        line = rest.next().unwrap_or_else(|| panic!("`{text}` does not end"));
    }
}

/// The trait of a header and the type that has it; `None` if it is not about a trait.
fn names(header: &str) -> Option<(String, Option<String>)> {
    if let Some(rest) = header.strip_prefix("pub trait ") {
        return Some((word(rest).into(), None));
    }
    let path_and_type = without_parameters(header.strip_prefix("impl")?).trim_start();
    let (path, of) = path_and_type.split_once(" for ")?;
    let path = path.split('<').next()?;
    let name = path.rsplit("::").next()?;
    let of = of.trim_end_matches(['{', '}', ' ']);
    Some((name.into(), Some(of.into())))
}

/// What follows the `<…>` at the beginning, if there is one.
fn without_parameters(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            // Not the one of an arrow.
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    panic!("the parameters of `impl{text}` do not end")
}

/// The method that begins on a line.
fn method<'a>(line: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Option<Method> {
    let code = line.strip_prefix("    ").filter(|code| !code.starts_with([' ', '/', '#']))?;
    let (before, after) =
        if let Some(after) = code.strip_prefix("fn ") { ("", after) } else { code.split_once(" fn ")? };
    if before.split(' ').any(|word| !["", "async", "const", "unsafe"].contains(&word)) {
        return None;
    }
    let name = word(after).to_string();
    let (signature, _) = through(line, rest, &[';', '{', '}']);
    Some(Method { name, has_body: !signature.ends_with(';') })
}

/// The identifier at the beginning.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
