//! Objective-C blocks, as clang documents them ("Block Implementation Specification"): structs that begin with a
//! [`Literal`]. One on the stack is copied by who keeps it; copies are counted, and the last release disposes of them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering};

use super::Id;
use crate::impl_encode;

/// The beginning of every block.
#[repr(C)]
struct Literal {
    isa: *const c_void,
    flags: AtomicI32,
    reserved: i32,
    /// A function that takes the block and its arguments.
    invoke: unsafe extern "C-unwind" fn(),
    descriptor: *const Descriptor,
}

/// The beginning of every descriptor. As the flags say, two functions ([`Helpers`]) and the type encoding follow.
#[repr(C)]
struct Descriptor {
    reserved: usize,
    size: usize,
}

#[repr(C)]
struct Helpers {
    copy: unsafe extern "C-unwind" fn(*mut c_void, *const c_void),
    dispose: unsafe extern "C-unwind" fn(*mut c_void),
}

/// Bits of a literal's flags that count the references of a copy.
const REFERENCES: i32 = 0xfffe;
const ONE_REFERENCE: i32 = 2;
/// The literal is a copy.
const NEEDS_FREE: i32 = 1 << 24;
const HAS_COPY_DISPOSE: i32 = 1 << 25;
const IS_GLOBAL: i32 = 1 << 28;
const HAS_SIGNATURE: i32 = 1 << 30;

/// Alignment of copies: that of `malloc`.
const ALIGNMENT: usize = 16;

/// What a block begins with the address of: where it is.
pub struct Isa(#[allow(dead_code, reason = "only addresses are used")] [*const c_void; 32]);

// SAFETY: it is never written, and holds no pointer to anything.
unsafe impl Sync for Isa {}

impl Isa {
    /// A place with an address of its own.
    pub const fn new() -> Self {
        Self([std::ptr::null(); 32])
    }
}

/// That of copies.
static MALLOC: Isa = Isa::new();

/// A block as an argument of a method; may be nil.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct RawBlock(*const c_void);

impl_encode!(unsafe RawBlock, "@?");

impl RawBlock {
    /// Whether it is nil.
    pub fn is_nil(self) -> bool {
        self.0.is_null()
    }

    /// Whether it is a literal on the stack, which goes with its frame.
    ///
    /// # Safety
    /// It is nil or a live block.
    pub unsafe fn is_on_the_stack(self) -> bool {
        // SAFETY: nil or a live block, as the caller says.
        let literal = unsafe { self.0.cast::<Literal>().as_ref() };
        literal.is_some_and(|literal| literal.flags.load(Ordering::Relaxed) & (NEEDS_FREE | IS_GLOBAL) == 0)
    }
}

/// A reference to a copied block that takes so many objects and returns nothing.
pub struct Block<const OBJECTS: usize>(NonNull<Literal>);

// SAFETY: references are counted atomically, and who gives a block to a framework that calls it on a thread of its own
// promises that it may be called and released there.
unsafe impl<const OBJECTS: usize> Send for Block<OBJECTS> {}
// SAFETY: as above.
unsafe impl<const OBJECTS: usize> Sync for Block<OBJECTS> {}

impl<const OBJECTS: usize> Block<OBJECTS> {
    /// A copy of a block; an error says why it is none that takes so many objects and returns nothing.
    ///
    /// # Safety
    /// `block` is nil or a live block. One without a signature, of which nothing can be checked, takes so many objects
    /// and returns nothing.
    pub unsafe fn copy(block: RawBlock) -> Result<Self, String> {
        // SAFETY: nil or a live block, as the caller says.
        let Some(literal) = (unsafe { block.0.cast::<Literal>().as_ref() }) else {
            return Err("the block is nil".into());
        };
        if literal.flags.load(Ordering::Relaxed) & HAS_SIGNATURE != 0 {
            // SAFETY: the flags say that it has one.
            let signature = unsafe { literal.signature() };
            let letters = signature.to_bytes().iter().filter(|letter| !letter.is_ascii_digit());
            if !letters.eq(b"v@?".iter().chain([b'@'; OBJECTS].iter())) {
                let objects = if OBJECTS == 1 { "one object".into() } else { format!("{OBJECTS} objects") };
                let signature = signature.to_string_lossy();
                return Err(format!("the block's type is {signature}; it must take {objects} and return nothing"));
            }
        }
        // SAFETY: as the caller says.
        let copy = NonNull::new(unsafe { copy(block.0) }.cast());
        Ok(Self(copy.expect("the copy of a block is a block")))
    }

    fn literal(&self) -> &Literal {
        // SAFETY: the reference keeps the block alive.
        unsafe { self.0.as_ref() }
    }
}

impl Block<1> {
    /// Calls it.
    pub fn call(&self, argument: Id) {
        type Invoke = unsafe extern "C-unwind" fn(*mut c_void, Id);
        // SAFETY: it takes one object: `copy` looked, or its caller promised.
        let invoke = unsafe { std::mem::transmute::<unsafe extern "C-unwind" fn(), Invoke>(self.literal().invoke) };
        // SAFETY: as above, and the block is live.
        unsafe { invoke(self.0.as_ptr().cast(), argument) }
    }
}

impl Block<2> {
    /// Calls it.
    pub fn call(&self, first: Id, second: Id) {
        type Invoke = unsafe extern "C-unwind" fn(*mut c_void, Id, Id);
        // SAFETY: it takes two objects: `copy` looked, or its caller promised.
        let invoke = unsafe { std::mem::transmute::<unsafe extern "C-unwind" fn(), Invoke>(self.literal().invoke) };
        // SAFETY: as above, and the block is live.
        unsafe { invoke(self.0.as_ptr().cast(), first, second) }
    }
}

impl<const OBJECTS: usize> Clone for Block<OBJECTS> {
    fn clone(&self) -> Self {
        // SAFETY: the reference keeps the block alive.
        let again = NonNull::new(unsafe { copy(self.0.as_ptr().cast()) }.cast());
        Self(again.expect("the copy of a block is a block"))
    }
}

impl<const OBJECTS: usize> Drop for Block<OBJECTS> {
    fn drop(&mut self) {
        // SAFETY: the reference is this one's.
        unsafe { release(self.0.as_ptr().cast()) }
    }
}

impl Literal {
    /// # Safety
    /// The flags say that the descriptor has the functions.
    unsafe fn helpers(&self) -> &'static Helpers {
        // SAFETY: they follow the descriptor's beginning, and descriptors live for ever.
        unsafe { &*self.descriptor.add(1).cast() }
    }

    /// # Safety
    /// The flags say that the descriptor has it.
    unsafe fn signature(&self) -> &'static CStr {
        let has_helpers = self.flags.load(Ordering::Relaxed) & HAS_COPY_DISPOSE != 0;
        // SAFETY: what comes first in the descriptor is as the flags say.
        let place = unsafe { self.descriptor.add(1).cast::<Helpers>().add(usize::from(has_helpers)) };
        // SAFETY: the flags say that there is a C string, and descriptors live for ever.
        unsafe { CStr::from_ptr(*place.cast::<*const c_char>()) }
    }

    fn layout(&self) -> Layout {
        // SAFETY: every block has a descriptor.
        let size = unsafe { (*self.descriptor).size };
        assert!(size >= size_of::<Self>(), "a block of {size} bytes");
        Layout::from_size_align(size, ALIGNMENT).expect("a block fits the address space")
    }
}

/// `void *_Block_copy(const void *block)`: one reference more, of a copy that is made of a block on the stack.
///
/// # Safety
/// `block` is null or a live block.
pub unsafe fn copy(block: *const c_void) -> *mut c_void {
    let from = block.cast::<Literal>();
    // SAFETY: null or live, as the caller says.
    let Some(literal) = (unsafe { from.as_ref() }) else {
        return std::ptr::null_mut();
    };
    let flags = literal.flags.load(Ordering::Relaxed);
    if flags & NEEDS_FREE != 0 {
        literal.flags.fetch_add(ONE_REFERENCE, Ordering::Relaxed);
        return block.cast_mut();
    }
    if flags & IS_GLOBAL != 0 {
        return block.cast_mut();
    }
    let layout = literal.layout();
    // SAFETY: a block has at least the bytes of a literal.
    let to = unsafe { alloc(layout) };
    if to.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the copy has room for all bytes of the block.
    unsafe { to.copy_from_nonoverlapping(from.cast(), layout.size()) };
    let new = to.cast::<Literal>();
    // SAFETY: the bytes are those of a literal, and nobody else knows the copy.
    unsafe {
        (*new).isa = (&raw const MALLOC).cast();
        (*new).flags = AtomicI32::new(flags & !REFERENCES | NEEDS_FREE | ONE_REFERENCE);
    }
    if flags & HAS_COPY_DISPOSE != 0 {
        // SAFETY: the flags say that there is the function; it takes the copy and the original.
        unsafe { (literal.helpers().copy)(to.cast(), block) };
    }
    to.cast()
}

/// `void _Block_release(const void *block)`: gives up a reference; the last one disposes of the copy.
///
/// # Safety
/// `block` is null or comes from [`copy`], and the caller gives up the reference that it got there.
pub unsafe fn release(block: *const c_void) {
    // SAFETY: null or live, as the caller says.
    let Some(literal) = (unsafe { block.cast::<Literal>().as_ref() }) else {
        return;
    };
    let flags = literal.flags.load(Ordering::Relaxed);
    if flags & NEEDS_FREE == 0 {
        assert!(flags & IS_GLOBAL != 0, "_Block_release: the block at {block:p} is not a copy");
        return;
    }
    let before = literal.flags.fetch_sub(ONE_REFERENCE, Ordering::AcqRel);
    if before & REFERENCES != ONE_REFERENCE {
        return;
    }
    if flags & HAS_COPY_DISPOSE != 0 {
        // SAFETY: the flags say that there is the function; nobody else has a reference.
        unsafe { (literal.helpers().dispose)(block.cast_mut()) };
    }
    let layout = literal.layout();
    // SAFETY: `copy` allocated it with this layout, and the last reference is gone.
    unsafe { dealloc(block.cast_mut().cast(), layout) };
}
