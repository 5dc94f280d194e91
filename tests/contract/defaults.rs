//! The default methods of Burn's traits. This backend has its own of each, or the list in `kept` tells why the default
//! is right. A version of Burn with one more default fails here by the method's name.

mod kept;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use self::kept::{KEPT, Kept};
use self::source::{Item, Method, items, items_below, macros};

/// The traits that make a backend.
const OF_A_BACKEND: [&str; 8] = [
    "ActivationOps",
    "Backend",
    "BoolTensorOps",
    "FloatTensorOps",
    "IntTensorOps",
    "ModuleOps",
    "QTensorOps",
    "TransactionOps",
];

/// The version of the burn-backend that this was built with, and where its sources are.
///
/// Cargo may fetch packages of dependencies that were not built, so it is not told to stay offline.
fn burn_backend() -> (String, PathBuf) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", "host-tuple"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let packages = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    // Only packages begin with name and version; dependencies, which have the name too, have no version.
    let package = packages.split_once(r#"{"name":"burn-backend","version":"#).map(|(_, package)| package);
    let package = package.expect("cargo metadata has burn-backend");
    let (_, path) = package.split_once(r#""manifest_path":""#).expect("a package has a manifest");
    let until_quote = |text: &str| text.split('"').next().unwrap_or_default().to_string();
    let version = until_quote(package.strip_prefix('"').expect("a version is a string"));
    (version, Path::new(&until_quote(path)).parent().expect("a manifest is in a folder").join("src"))
}

/// Whether a file below `src` is for this version of Burn: of those in `src/burn` only its line's.
fn is_of_line(file: &Path, version: &str) -> bool {
    let line = version.split('.').take(2).collect::<Vec<_>>().join("_");
    let mut folders = file.iter().map(|part| part.to_string_lossy());
    let is_of_a_line = folders.next().is_some_and(|folder| folder == "burn");
    !is_of_a_line || folders.next().is_some_and(|part| part.trim_end_matches(".rs") == format!("v{line}"))
}

/// What is wrong with the list, a line each.
fn problems(traits: &[Item], implementations: &[Item], kept: &[Kept]) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (list, method) in kept.iter().flat_map(|list| list.methods.iter().map(move |method| (list, method))) {
        reasons.entry((list.owner, method)).or_default().push(list.because);
    }
    let mut problems = Vec::new();
    for item in traits {
        let having: Vec<&Item> = implementations.iter().filter(|other| other.name == item.name).collect();
        if having.is_empty() {
            continue;
        }
        for Method { name, has_body } in &item.methods {
            let is_left = having.iter().any(|other| other.methods.iter().all(|method| method.name != *name));
            let reasons = reasons.remove(&(item.name.as_str(), name.as_str())).unwrap_or_default();
            let problem = match (has_body, is_left, &reasons[..]) {
                (true, true, [_]) | (true, false, []) | (false, _, []) => continue,
                (true, true, []) => "is a default: override it in src/backend, or give a reason in KEPT".into(),
                (true, true, several) => format!("is in KEPT {} times", several.len()),
                (true, false, [because, ..]) => format!("is overridden, but in KEPT: \"{because}\""),
                (false, _, [because, ..]) => format!("has no default, but is in KEPT: \"{because}\""),
            };
            problems.push(format!("{}::{name} {problem}", item.name));
        }
    }
    let unknown = reasons.iter().map(|((owner, name), because)| {
        format!("{owner}::{name} is no method of a trait that this backend has, but in KEPT: {because:?}")
    });
    problems.extend(unknown);
    problems
}

#[test]
fn every_default_has_a_reason() {
    let (version, of_burn) = burn_backend();
    let traits = items_below(&of_burn, |_| true);
    let traits: Vec<Item> = traits.into_iter().filter(|item| item.of.is_none()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let source = items_below(&folder, |file| is_of_line(file.strip_prefix(&folder).expect("below it"), &version));
    let implementations: Vec<Item> = source.into_iter().filter(|item| item.of.is_some()).collect();
    let implemented: BTreeSet<&str> = implementations.iter().map(|item| item.name.as_str()).collect();
    for name in OF_A_BACKEND {
        let found = traits.iter().filter(|item| item.name == name).count();
        assert!(found == 1 && implemented.contains(name), "{name}: {found} traits in burn-backend, or none in src");
    }
    let of_a_backend = traits.iter().filter(|item| OF_A_BACKEND.contains(&item.name.as_str()));
    let defaults = of_a_backend.flat_map(|item| &item.methods).filter(|method| method.has_body).count();
    assert!(defaults > 200, "only {defaults} defaults were found in burn-backend");
    let problems = problems(&traits, &implementations, KEPT);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

const SOURCE: &str = "
/// fn in_a_comment() {}
pub trait Ops<B: Backend>:
    Sized
{
    fn required(shape: [usize; 2]) -> Tensor<B>;

    /// Says `fn quoted();`.
    #[cfg(feature = \"x\")]
    fn a_default<F: Fn(usize) -> usize>(
        tensor: Tensor<B>, // a tensor
        f: F,
    ) -> usize
    where
        B: 'static,
    {
        fn inside() {}
        f(1)
    }

    async fn another() {}

    fn future() -> impl Future<Output = ()> + Send;
}

pub trait Other {
    unsafe fn other(&self) {}
}

impl<F: Fn(usize) -> usize, I: Into<Vec<I>>> some::Ops<Backend<F>> for Backend<F> {
    fn required(shape: [usize; 2]) -> Tensor<Self> {
        own(shape)
    }
}

impl Tensor {
    fn other(&self) {}
}

impl Other for Tensor {}

macro_rules! other_items {
    () => {
        /// A method.
        unsafe fn other(
            &self,
        ) {
            fn inside() {}
        }
        fn second() {}
    };
}

impl Other for Macro {
    other_items!();
}
";

#[test]
fn source_is_read() {
    let method = |name: &str, has_body| Method { name: name.into(), has_body };
    let methods =
        vec![method("required", false), method("a_default", true), method("another", true), method("future", false)];
    let item = |name: &str, of: Option<&str>, methods| {
        let macros = Vec::from_iter((of == Some("Macro")).then(|| "other_items".into()));
        Item { name: name.into(), of: of.map(Into::into), methods, macros }
    };
    let expected = [
        item("Ops", None, methods),
        item("Other", None, vec![method("other", true)]),
        item("Ops", Some("Backend<F>"), vec![method("required", true)]),
        item("Other", Some("Tensor"), vec![]),
        item("Other", Some("Macro"), vec![]),
    ];
    assert_eq!(items(SOURCE), expected);
    let methods = vec![method("other", true), method("second", true)];
    assert_eq!(macros(SOURCE), [("other_items".to_string(), methods)]);
}

#[test]
fn only_one_line_is_read() {
    let is_read = |file| is_of_line(Path::new(file), "0.22.1");
    assert!(["lib.rs", "burn/v0_22.rs", "burn/v0_22/composed.rs", "ops/v0_21.rs"].into_iter().all(is_read));
    assert!(!["burn/v0_21.rs", "burn/v0_21/part.rs", "burn/v0_2.rs"].into_iter().any(is_read));
}

#[test]
fn mistakes_are_found() {
    let (traits, implementations): (Vec<Item>, Vec<Item>) =
        items(SOURCE).into_iter().partition(|item| item.of.is_none());
    let found = |owner, methods| problems(&traits, &implementations, &[Kept { owner, because: "a test", methods }]);
    let mut missing = ["Ops::a_default", "Ops::another", "Other::other"]
        .map(|name| format!("{name} is a default: override it in src/backend, or give a reason in KEPT"))
        .to_vec();
    assert_eq!(found("Ops", &[]), missing);
    assert_eq!(found("Ops", &["a_default", "another"]), missing.split_off(2));
    assert_eq!(found("Other", &["other"]), missing);
    let of = |methods: &'static [&str], name: &str| {
        let lines = found("Ops", methods);
        lines.into_iter().find(|line| line.contains(name)).expect("a mistake")
    };
    assert_eq!(of(&["a_default", "a_default"], "a_default"), "Ops::a_default is in KEPT 2 times");
    assert_eq!(of(&["required"], "required"), "Ops::required has no default, but is in KEPT: \"a test\"");
    assert!(of(&["unknown"], "unknown").starts_with("Ops::unknown is no method of a trait that this backend has"));

    let overriding = items("impl Ops<B> for B {\n    fn a_default() {}\n    fn another() {}\n}\n");
    let kept = [Kept { owner: "Ops", because: "a test", methods: &["another"] }];
    assert_eq!(problems(&traits, &overriding, &kept), ["Ops::another is overridden, but in KEPT: \"a test\""]);
}
