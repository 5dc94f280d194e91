//! `NSDictionary`: an immutable map whose keys are compared by `isEqual:`.
//!
//! Entries keep the order in which they were given. A short dictionary is searched entry by entry, a long one through
//! a hash index.

use std::collections::HashMap;

use super::equality::{self, Key};
use super::ns_array::{self, retained};
use crate::objc::{ClassDef, ClassKind, Id, Sel, Strong, This, method0, method1, method2, method3, new_object};
use crate::violation;

/// The class.
pub static CLASS: ClassDef = ClassDef {
    name: "NSDictionary",
    superclass: Some(&super::ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (10, 0),
    instance: &[
        method3("initWithObjects:forKeys:count:", init_with_objects),
        method0("count", count),
        method1("objectForKey:", object_for_key),
        method0("allKeys", all_keys),
        method0("allValues", all_values),
    ],
    class: &[
        method0("dictionary", empty),
        method2("dictionaryWithObject:forKey:", dictionary_with_object),
        method3("dictionaryWithObjects:forKeys:count:", dictionary_with_objects),
    ],
};

/// Up to this many entries are compared one by one: first by address, which usually finds the key.
const LINEAR: usize = 8;

struct Entries {
    keys: Vec<Strong>,
    values: Vec<Strong>,
    /// Places by key, when there are more than [`LINEAR`].
    index: Option<HashMap<Key, usize>>,
}

impl Entries {
    /// Later values replace earlier ones of an equal key.
    fn new(keys: impl IntoIterator<Item = Strong>, values: impl IntoIterator<Item = Strong>) -> Self {
        let mut entries = Self { keys: Vec::new(), values: Vec::new(), index: None };
        for (key, value) in keys.into_iter().zip(values) {
            if let Some(at) = entries.position(&key) {
                entries.values[at] = value;
                continue;
            }
            let at = entries.keys.len();
            if at == LINEAR {
                let places = entries.keys.iter().enumerate();
                entries.index = Some(places.map(|(at, key)| (Key(key.clone()), at)).collect());
            }
            if let Some(index) = &mut entries.index {
                index.insert(Key(key.clone()), at);
            }
            entries.keys.push(key);
            entries.values.push(value);
        }
        entries
    }

    fn position(&self, key: &Strong) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&Key(key.clone())).copied(),
            None => {
                let same = self.keys.iter().position(|own| own == key);
                same.or_else(|| self.keys.iter().position(|own| equality::equal(own, key)))
            }
        }
    }
}

/// Keys and values of a dictionary, in the order they were given; panics when `dictionary` is nil or not a dictionary.
pub fn entries(dictionary: &Strong) -> impl ExactSizeIterator<Item = (&Strong, &Strong)> {
    let entries = dictionary.state::<Entries>();
    entries.keys.iter().zip(&entries.values)
}

/// The value for a key; panics when `dictionary` is nil or not a dictionary.
pub fn value<'a>(dictionary: &'a Strong, key: &Strong) -> Option<&'a Strong> {
    let entries = dictionary.state::<Entries>();
    entries.position(key).map(|at| &entries.values[at])
}

/// A new dictionary that retains its keys and values, autoreleased.
pub fn dictionary(entries: impl IntoIterator<Item = (Id, Id)>) -> Id {
    let (keys, values): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|(key, value)| (Strong::retain(key), Strong::retain(value))).unzip();
    new_object(&CLASS, Entries::new(keys, values)).autorelease()
}

/// # Safety
/// Both lists are valid for `count` reads, or `count` is 0.
unsafe fn read(this: This<'_>, cmd: Sel, objects: *const Id, keys: *const Id, count: usize) -> Entries {
    // SAFETY: the caller vouches for both lists.
    let (keys, values) = unsafe { (retained(this, cmd, keys, count), retained(this, cmd, objects, count)) };
    Entries::new(keys, values)
}

extern "C-unwind" fn empty(_this: This<'_>, _cmd: Sel) -> Id {
    dictionary([])
}

extern "C-unwind" fn dictionary_with_object(this: This<'_>, cmd: Sel, object: Id, key: Id) -> Id {
    if object.is_nil() || key.is_nil() {
        violation!(this, cmd, "the object or the key is nil");
    }
    dictionary([(key, object)])
}

extern "C-unwind" fn dictionary_with_objects(
    this: This<'_>,
    cmd: Sel,
    objects: *const Id,
    keys: *const Id,
    count: usize,
) -> Id {
    // SAFETY: the sender passes two lists of `count` objects, as the method's contract says.
    let entries = unsafe { read(this, cmd, objects, keys, count) };
    new_object(&CLASS, entries).autorelease()
}

extern "C-unwind" fn init_with_objects(
    this: This<'_>,
    cmd: Sel,
    objects: *const Id,
    keys: *const Id,
    count: usize,
) -> Id {
    // SAFETY: the sender passes two lists of `count` objects, as the method's contract says.
    this.set_state(unsafe { read(this, cmd, objects, keys, count) });
    this.id()
}

extern "C-unwind" fn count(this: This<'_>, _cmd: Sel) -> usize {
    this.state::<Entries>().keys.len()
}

extern "C-unwind" fn object_for_key(this: This<'_>, cmd: Sel, key: Id) -> Id {
    if key.is_nil() {
        violation!(this, cmd, "the key is nil");
    }
    value(&this, &Strong::retain(key)).map_or(Id::NIL, Strong::id)
}

// Apple leaves the order open. The reverse of the sender's order makes a program fail that relies on its own.
extern "C-unwind" fn all_keys(this: This<'_>, _cmd: Sel) -> Id {
    ns_array::array(this.state::<Entries>().keys.iter().rev().map(Strong::id))
}

extern "C-unwind" fn all_values(this: This<'_>, _cmd: Sel) -> Id {
    ns_array::array(this.state::<Entries>().values.iter().rev().map(Strong::id))
}
