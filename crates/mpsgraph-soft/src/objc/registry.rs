//! The registered classes by name.
//!
//! A class is registered, after its superclass, when its first object is made or when somebody passes its definition to
//! [`register`]; the runtime itself knows no class. A definition that contradicts itself, or whose name another class
//! has, panics here.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::{OnceLock, RwLock};

use super::class::{Class, ClassInfo, dispatch_table};
use super::define::{ClassDef, Method};
use super::method::MethodEntry;
use super::object::Object;
use super::version::macos;
use super::{Id, Sel};
use crate::ignore_poison::IgnorePoison;

type ByName = BTreeMap<&'static str, &'static Class>;

static REGISTRY: RwLock<ByName> = RwLock::new(ByName::new());

/// Registers a class, once. Returns the class object.
#[track_caller]
pub fn register(def: &'static ClassDef) -> Id {
    class_of(def).as_id()
}

/// Registers each class of a list.
#[track_caller]
pub(crate) fn register_all(list: &[&'static ClassDef]) {
    let mut classes = REGISTRY.write().ignore_poison();
    for def in list {
        add(&mut classes, def);
    }
}

/// All registered classes, by name.
pub(crate) fn all() -> Vec<&'static Class> {
    REGISTRY.read().ignore_poison().values().copied().collect()
}

/// Places for classes that a thread has used: more than there are classes, so that most are found where they are looked
/// for first.
const PLACES: usize = 128;
/// Places that are looked at.
const LOOKS: usize = 8;

/// A definition and the class registered for it.
type Known = Option<(&'static ClassDef, &'static Class)>;

thread_local! {
    /// Classes in the place of their definition's address, or in one behind it: objects of a few classes are made over
    /// and over. Without a destructor, so that it still works while the thread's other variables are being dropped.
    static KNOWN: [Cell<Known>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
}

/// The class of a definition, registered if it was not.
#[track_caller]
pub(crate) fn class_of(def: &'static ClassDef) -> &'static Class {
    let first = ptr::from_ref(def).addr() / size_of::<ClassDef>();
    KNOWN.with(|places| {
        let places = (first..first + LOOKS).map(|at| &places[at % PLACES]);
        let mut free = None;
        for place in places {
            match place.get() {
                Some((known, class)) if ptr::eq(known, def) => return class,
                Some(_) => (),
                None => {
                    free = Some(place);
                    break;
                }
            }
        }
        let class = match find(def.name) {
            Some(class) if ptr::eq(class.info.def, def) => class,
            _ => add(&mut REGISTRY.write().ignore_poison(), def),
        };
        if let Some(place) = free {
            place.set(Some((def, class)));
        }
        class
    })
}

/// The class with this name, if it is registered.
pub(crate) fn find(name: &str) -> Option<&'static Class> {
    REGISTRY.read().ignore_poison().get(name).copied()
}

#[track_caller]
fn add(classes: &mut ByName, def: &'static ClassDef) -> &'static Class {
    if let Some(class) = classes.get(def.name) {
        assert!(ptr::eq(class.info.def, def), "two classes are called {}", def.name);
        return class;
    }
    let superclass = def.superclass.map(|superclass| add(classes, superclass));
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
        if let Some(inherited) = methods.get(&sel) {
            let (own, inherited) = (method.type_encoding(), inherited.def.type_encoding());
            // Whoever sends the inherited message to any subclass relies on its type.
            assert!(own == inherited, "{}: {} is {own}, but overrides {inherited}", def.name, method.selector);
        }
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
    let zombie = info.zombie.get_or_init(|| Box::leak(Box::new(zombie)));
    // Nobody sends it a message, but every header has a class.
    zombie.header.set_class(zombie);
    class
}

/// The first macOS in which a class's own method can be called.
pub(crate) fn since(def: &ClassDef, method: &Method) -> (u16, u16) {
    method.min_macos.map_or(def.min_macos, |own| own.max(def.min_macos))
}
