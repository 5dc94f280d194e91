//! The registered classes by name.
//!
//! The list in [`crate::classes`] is registered as a whole when the runtime is first used; [`register`] adds further
//! classes. A definition that contradicts itself (a superclass that does not exist, a selector listed twice) panics
//! here, at the first use, whatever that use is.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::AtomicUsize;
use std::sync::{LazyLock, OnceLock, PoisonError, RwLock};

use super::class::{Class, ClassInfo, dispatch_table};
use super::define::{ClassDef, Method};
use super::method::MethodEntry;
use super::object::Object;
use super::version::macos;
use super::{Id, Sel};
use crate::classes::CLASSES;

type ByName = BTreeMap<&'static str, &'static Class>;

static REGISTRY: LazyLock<RwLock<ByName>> = LazyLock::new(|| {
    let mut classes = ByName::new();
    for def in CLASSES {
        let class = add(&mut classes, def);
        assert!(std::ptr::eq(class.info.def, *def), "two classes are called {}", def.name);
    }
    RwLock::new(classes)
});

/// Registers a class that is not in the list, once; its superclass must be registered. Returns the class object.
#[track_caller]
pub fn register(def: &'static ClassDef) -> Id {
    let mut classes = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(class) = classes.get(def.name) {
        assert!(std::ptr::eq(class.info.def, def), "another class is called {}", def.name);
        return class.as_id();
    }
    add(&mut classes, def).as_id()
}

/// All registered classes, by name.
pub(crate) fn all() -> Vec<&'static Class> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
}

const RECENT: usize = 32;

/// Address and length of a name, and the class that has it.
type Recent = Option<(*const u8, usize, &'static Class)>;

thread_local! {
    /// Classes looked up lately by the address of their name: object creation asks with the same literals over and
    /// over. Without a destructor, so that it still works while the thread's other variables are being dropped.
    static LATELY: [Cell<Recent>; RECENT] =
        const { [const { Cell::new(None) }; RECENT] };
}

/// The class with this name.
pub(crate) fn class_named(name: &'static str) -> Option<&'static Class> {
    let at = (name.as_ptr().addr() ^ (name.as_ptr().addr() >> 5)) % RECENT;
    LATELY.with(|lately| {
        if let Some((pointer, length, class)) = lately[at].get()
            && pointer == name.as_ptr()
            && length == name.len()
        {
            return Some(class);
        }
        let class = find(name)?;
        lately[at].set(Some((name.as_ptr(), name.len(), class)));
        Some(class)
    })
}

/// The class with this name, for names that are not constants.
pub(crate) fn find(name: &str) -> Option<&'static Class> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(name).copied()
}

fn add(classes: &mut ByName, def: &'static ClassDef) -> &'static Class {
    if let Some(class) = classes.get(def.name) {
        return class;
    }
    let superclass = (!def.superclass.is_empty()).then(|| {
        classes.get(def.superclass).copied().unwrap_or_else(|| {
            let listed = CLASSES.iter().find(|other| other.name == def.superclass);
            add(classes, listed.unwrap_or_else(|| panic!("{}: no superclass {}", def.name, def.superclass)))
        })
    });
    // A superclass that came later than the configured system is skipped, as that system's own classes do.
    let superclass = superclass.and_then(|class| class.ancestry().find(|class| class.info.available));
    let class = build(def, false, superclass);
    let meta_superclass = superclass.map_or(class, |superclass| superclass.header.class());
    let meta = build(def, true, Some(meta_superclass));
    class.header.set_class(meta);
    // A metaclass is an instance of the root's metaclass.
    let root = class.ancestry().last().expect("ancestry starts with the class itself");
    meta.header.set_class(root.header.class());
    classes.insert(def.name, class);
    class
}

fn build(def: &'static ClassDef, is_meta: bool, superclass: Option<&'static Class>) -> &'static Class {
    let own = if is_meta { def.class } else { def.instance };
    let mut methods = superclass.map_or_else(HashMap::new, |class| class.info.methods.clone());
    let mut seen = HashMap::new();
    for method in own {
        let sel = Sel::named(method.selector);
        assert!(seen.insert(sel, ()).is_none(), "{}: {} is listed twice", def.name, method.selector);
        if since(def, method) <= macos() {
            methods.insert(sel, MethodEntry::leak(method));
        }
    }
    let (table, mask) = dispatch_table(&methods);
    let info: &'static ClassInfo = Box::leak(Box::new(ClassInfo {
        def,
        c_name: Box::leak(CString::new(def.name).expect("a class name holds no NUL").into_boxed_c_str()),
        is_meta,
        available: def.min_macos <= macos(),
        superclass,
        methods,
        zombie: OnceLock::new(),
        live: AtomicUsize::new(0),
    }));
    let class = Box::leak(Box::new(Class { header: Object::immortal(), table, mask, dead: false, info }));
    let (table, mask) = dispatch_table(&HashMap::new());
    let zombie = Class { header: Object::immortal(), table, mask, dead: true, info };
    info.zombie.get_or_init(|| Box::leak(Box::new(zombie)));
    class
}

/// The first macOS in which a class's own method can be called.
pub(crate) fn since(def: &ClassDef, method: &Method) -> (u16, u16) {
    method.min_macos.map_or(def.min_macos, |own| own.max(def.min_macos))
}
