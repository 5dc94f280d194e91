//! Selectors: interned method names.
//!
//! A [`Sel`] is the address of its entry. Entries stand side by side in blocks that are never freed, so neighbouring
//! selectors fall into neighbouring slots of a class's dispatch table (`Sel::slot`).

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{LazyLock, RwLock};

use crate::ignore_poison::IgnorePoison;

/// log2 of the size of an entry: the bits of a selector's address that tell nothing.
pub(crate) const ENTRY_SHIFT: usize = 5;
const BLOCK: usize = 128;

/// The interned name. Aligned to its size, so that a shift of the address counts entries.
#[repr(C, align(32))]
#[derive(Debug)]
pub struct SelectorEntry {
    name: &'static CStr,
}

const _: () = assert!(size_of::<SelectorEntry>() == 1 << ENTRY_SHIFT);

/// A selector. Never null when it comes from [`Sel::register`] or as a method's `_cmd`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sel(*const SelectorEntry);

// SAFETY: entries are written once, before their address is given out, and live as long as the process.
unsafe impl Send for Sel {}
// SAFETY: as above.
unsafe impl Sync for Sel {}

#[derive(Default)]
struct Interned {
    by_name: HashMap<&'static CStr, Sel>,
    spare: &'static mut [SelectorEntry],
}

static INTERNED: LazyLock<RwLock<Interned>> = LazyLock::new(RwLock::default);

impl Sel {
    /// The selector with this name.
    pub fn register(name: &CStr) -> Self {
        let known = INTERNED.read().ignore_poison().by_name.get(name).copied();
        known.unwrap_or_else(|| Self::intern(name))
    }

    /// The selector with this name, which must hold no NUL.
    pub fn named(name: &str) -> Self {
        Self::register(&CString::new(name).expect("a selector holds no NUL"))
    }

    fn intern(name: &CStr) -> Self {
        let mut interned = INTERNED.write().ignore_poison();
        if let Some(&known) = interned.by_name.get(name) {
            return known;
        }
        let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
        let mut spare = std::mem::take(&mut interned.spare);
        if spare.is_empty() {
            spare = Box::leak((0..BLOCK).map(|_| SelectorEntry { name: c"" }).collect::<Box<[_]>>());
        }
        let (entry, rest) = spare.split_first_mut().expect("a block was just added");
        entry.name = name;
        let sel = Self(entry);
        interned.spare = rest;
        interned.by_name.insert(name, sel);
        sel
    }

    /// The name, for messages and tests.
    pub fn name(self) -> &'static str {
        if self.0.is_null() { "(null selector)" } else { self.c_name().to_str().unwrap_or("(selector not UTF-8)") }
    }

    pub(crate) fn c_name(self) -> &'static CStr {
        // SAFETY: not null (checked by the caller or by `name`), and every selector is the address of an entry that
        // `intern` made; symbols.rs asks the same of its callers.
        unsafe { (*self.0).name }
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn as_ptr(self) -> *const c_void {
        self.0.cast()
    }

    /// The null selector: an empty place of a dispatch table.
    pub(crate) const NULL: Self = Self(std::ptr::null());

    /// The selector at an address that comes from C.
    ///
    /// # Safety
    /// The pointer is null or a registered selector.
    pub(crate) unsafe fn from_ptr(pointer: *const c_void) -> Self {
        Self(pointer.cast())
    }

    /// The selector's place in a dispatch table before masking; the assembly computes the same.
    pub(crate) fn slot(self) -> usize {
        self.0.addr() >> ENTRY_SHIFT
    }
}

/// The name as C sees it; null for the null selector.
pub(crate) fn c_name(sel: Sel) -> *const c_char {
    if sel.is_null() { std::ptr::null() } else { sel.c_name().as_ptr() }
}
