//! The tables in `apple/`, parsed and searchable.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A method as Apple declares it.
pub struct Method {
    pub ret: &'static str,
    pub args: Vec<&'static str>,
    pub min_macos: (u16, u16),
    pub owned: bool,
    pub file: &'static str,
}

/// A class or protocol.
pub struct Class {
    pub is_protocol: bool,
    pub superclass: &'static str,
    pub protocols: Vec<&'static str>,
    pub min_macos: (u16, u16),
}

/// An enum constant.
pub struct Constant {
    pub group: &'static str,
    pub encoding: &'static str,
    pub value: i128,
}

/// Methods by owner, sign and selector.
pub static METHODS: LazyLock<HashMap<(&str, char, &str), Method>> = LazyLock::new(|| {
    let table = Table::new(include_str!("apple/methods.tsv"));
    table
        .rows()
        .map(|row| {
            let args = row.get("args");
            let method = Method {
                ret: row.get("ret"),
                args: if args == "-" { vec![] } else { args.split(' ').collect() },
                min_macos: version(row.get("min_macos")),
                owned: row.get("ret_own") == "+1",
                file: row.get("file"),
            };
            let sign = row.get("kind").chars().next().expect("a method has a kind");
            ((row.get("owner"), sign, row.get("selector")), method)
        })
        .collect()
});

/// Classes and protocols by name; where a protocol has a class's name, the class.
pub static CLASSES: LazyLock<HashMap<&str, Class>> = LazyLock::new(|| {
    let table = Table::new(include_str!("apple/classes.tsv"));
    let mut classes = HashMap::new();
    for row in table.rows() {
        let protocols = row.get("protocols");
        let class = Class {
            is_protocol: row.get("what") == "protocol",
            superclass: row.get("superclass"),
            protocols: if protocols == "-" { vec![] } else { protocols.split(',').collect() },
            min_macos: version(row.get("min_macos")),
        };
        let known = classes.get(row.get("name")).is_some_and(|known: &Class| !known.is_protocol);
        if !known {
            classes.insert(row.get("name"), class);
        }
    }
    classes
});

/// Enum constants by name.
pub static CONSTANTS: LazyLock<HashMap<&str, Constant>> = LazyLock::new(|| {
    let table = Table::new(include_str!("apple/enums.tsv"));
    table
        .rows()
        .map(|row| {
            let constant = Constant {
                group: row.get("enum"),
                encoding: row.get("encoding"),
                value: row.get("value").parse().expect("a value is an integer"),
            };
            (row.get("constant"), constant)
        })
        .collect()
});

/// Names of the C functions and exported constants.
pub static FUNCTIONS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let table = Table::new(include_str!("apple/functions.tsv"));
    table.rows().map(|row| row.get("name")).collect()
});

/// The row of a method that `owner` has, itself or from a superclass or protocol.
pub fn find_method(owner: &'static str, sign: char, selector: &'static str) -> Option<&'static Method> {
    if let Some(method) = METHODS.get(&(owner, sign, selector)) {
        return Some(method);
    }
    let class = CLASSES.get(owner)?;
    let ancestors = std::iter::once(class.superclass).chain(class.protocols.iter().copied());
    ancestors
        .filter(|ancestor| *ancestor != owner && *ancestor != "-")
        .find_map(|ancestor| find_method(ancestor, sign, selector))
}

/// `11.0` as numbers; older and unknown versions count as 0. Patch levels are left out.
fn version(text: &'static str) -> (u16, u16) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

struct Table {
    columns: Vec<&'static str>,
    body: std::str::Lines<'static>,
}

impl Table {
    fn new(text: &'static str) -> Self {
        let mut body = text.lines();
        let columns = body.next().expect("a table has a header line").split('\t').collect();
        Self { columns, body }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.body.clone().map(|line| Row { columns: &self.columns, cells: line.split('\t').collect() })
    }
}

struct Row<'a> {
    columns: &'a [&'static str],
    cells: Vec<&'static str>,
}

impl Row<'_> {
    fn get(&self, column: &str) -> &'static str {
        let index = self.columns.iter().position(|name| *name == column);
        self.cells[index.unwrap_or_else(|| panic!("no column {column}"))]
    }
}
