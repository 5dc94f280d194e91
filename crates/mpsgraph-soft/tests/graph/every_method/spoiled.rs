//! One wrong argument in a call that is accepted otherwise.

use mpsgraph_soft::objc::Method;

use super::call::{Base, Call};
use super::except;
use super::send::Argument;
use super::{none, operations};
use crate::support::outcome;

/// A rule for all operations.
pub struct Rule {
    /// As the exceptions name it.
    pub name: &'static str,
    /// What a refusal says: one of these.
    pub reasons: &'static [&'static str],
    /// The shape of the call's tensors.
    pub extents: &'static [i64],
    /// What is wrong in place of an argument; nothing if the rule is not about it.
    pub instead: fn(&Call, usize) -> Vec<Argument>,
}

/// What becomes of a call with a wrong argument.
enum Outcome {
    Refused,
    Accepted,
    /// Refused for another reason, which is this.
    Otherwise(String),
}

fn outcome_of(rule: &Rule, method: &'static Method, (at, which): (usize, usize)) -> Outcome {
    let mut call = Call::new(method, Base::of(method, rule.extents));
    call.arguments[at] = (rule.instead)(&call, at)[which];
    match outcome(|| call.send()) {
        Ok(_) => Outcome::Accepted,
        Err(text) if !text.contains(method.selector()) => Outcome::Otherwise(text),
        Err(text) if rule.reasons.iter().any(|reason| text.contains(reason)) => Outcome::Refused,
        Err(text) => Outcome::Otherwise(text),
    }
}

/// The wrong arguments to try: each as the argument's place, and which of those for that place.
fn cases(rule: &Rule, method: &'static Method) -> Vec<(usize, usize)> {
    let call = Call::new(method, Base::of(method, rule.extents));
    let count = |at: usize| (rule.instead)(&call, at).len();
    (0..call.arguments.len()).flat_map(|at| (0..count(at)).map(move |which| (at, which))).collect()
}

/// Checks that every operation refuses what the rule is about, but for its exceptions, which must be needed.
#[track_caller]
pub fn check(rule: &Rule) {
    let mut found = Vec::new();
    let mut tried = 0;
    for method in operations() {
        let selector = method.selector();
        let mut accepted = Vec::new();
        for case in cases(rule, method) {
            tried += 1;
            let keyword = selector.split(':').nth(case.0).unwrap_or_default();
            match outcome_of(rule, method, case) {
                Outcome::Refused => {}
                Outcome::Accepted => accepted.push(keyword),
                Outcome::Otherwise(text) => {
                    found.push(format!("{}: {selector} refuses `{keyword}:`, but says: {text}", rule.name));
                }
            }
        }
        match (accepted.first(), except::reason(rule.name, selector)) {
            (Some(keyword), None) => found.push(format!(
                "{}: {selector} accepts it as `{keyword}:`. Let it refuse that, or list it in except.rs",
                rule.name
            )),
            (None, Some(reason)) => {
                found.push(format!("{}: {selector} needs no exception any more ({reason})", rule.name));
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
    none(&found);
    assert!(tried > 0, "{}: no operation was tried", rule.name);
}
