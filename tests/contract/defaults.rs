//! The default methods of Burn's traits. This backend has its own of each, or the list in `kept` tells why the default
//! is right. A version of Burn with one more default fails here by the method's name.

mod kept;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use self::kept::{KEPT, Kept};
use self::source::{Item, Method, items, items_below};

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

/// Where the sources of the burn-backend are that this was built with.
///
/// Cargo may fetch packages of dependencies that were not built, so it is not told to stay offline.
fn burn_backend() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", "host-tuple"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let packages = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    // Only packages begin with name and version; dependencies, which have the name too, have no version.
    let package = packages.split_once(r#"{"name":"burn-backend","version":"#).map(|(_, package)| package);
    let manifest = package.and_then(|package| package.split_once(r#""manifest_path":""#)).map(|(_, path)| path);
    let path = manifest.and_then(|path| path.split_once('"')).map(|(path, _)| path);
    let path = path.expect("cargo metadata has the path of burn-backend");
    Path::new(path).parent().expect("a manifest is in a folder").join("src")
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
    let traits = items_below(&burn_backend());
    let traits: Vec<Item> = traits.into_iter().filter(|item| item.of.is_none()).collect();
    let source = items_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
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
";

#[test]
fn source_is_read() {
    let method = |name: &str, has_body| Method { name: name.into(), has_body };
    let methods =
        vec![method("required", false), method("a_default", true), method("another", true), method("future", false)];
    let item = |name: &str, of: Option<&str>, methods| Item { name: name.into(), of: of.map(Into::into), methods };
    let expected = [
        item("Ops", None, methods),
        item("Other", None, vec![method("other", true)]),
        item("Ops", Some("Backend<F>"), vec![method("required", true)]),
        item("Other", Some("Tensor"), vec![]),
    ];
    assert_eq!(items(SOURCE), expected);
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
