//! Blocks as compilers write them on the stack.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use mpsgraph_soft::objc::Id;
use mpsgraph_soft::symbols;

pub type Closure = Box<dyn Fn(&[Id]) + Send + Sync>;

/// A literal that calls a closure with the objects that it is given.
#[repr(C)]
pub struct Block {
    pub isa: *const c_void,
    pub flags: i32,
    reserved: i32,
    invoke: Invoke,
    descriptor: *const Descriptor,
    /// A reference of an `Arc`.
    closure: *const Closure,
}

#[repr(C)]
union Invoke {
    one: unsafe extern "C-unwind" fn(*const Block, Id),
    two: unsafe extern "C-unwind" fn(*const Block, Id, Id),
}

#[repr(C)]
struct Descriptor {
    reserved: usize,
    size: usize,
    copy: unsafe extern "C-unwind" fn(*mut Block, *const Block),
    dispose: unsafe extern "C-unwind" fn(*mut Block),
    signature: *const c_char,
}

/// Copy and dispose functions, and a signature.
const FLAGS: i32 = 1 << 25 | 1 << 30;

unsafe extern "C-unwind" fn invoke_with_one(block: *const Block, object: Id) {
    // SAFETY: the block is live, and owns a reference of the closure.
    unsafe { (*(*block).closure)(&[object]) }
}

unsafe extern "C-unwind" fn invoke_with_two(block: *const Block, first: Id, second: Id) {
    // SAFETY: the block is live, and owns a reference of the closure.
    unsafe { (*(*block).closure)(&[first, second]) }
}

unsafe extern "C-unwind" fn copy(_: *mut Block, from: *const Block) {
    // SAFETY: the block is live, and owns a reference of the closure.
    unsafe { Arc::increment_strong_count((*from).closure) }
}

unsafe extern "C-unwind" fn dispose(block: *mut Block) {
    // SAFETY: the copy owned a reference of the closure.
    unsafe { Arc::decrement_strong_count((*block).closure) }
}

impl Block {
    /// A block that calls the closure with one object.
    pub fn of_one(closure: Arc<Closure>) -> Self {
        Self::with(c"v16@?0@8", Invoke { one: invoke_with_one }, closure)
    }

    /// A block that calls the closure with two objects.
    pub fn of_two(closure: Arc<Closure>) -> Self {
        Self::with(c"v24@?0@8@16", Invoke { two: invoke_with_two }, closure)
    }

    /// A block whose signature is this, which is never called.
    pub fn of_signature(signature: &'static CStr) -> Self {
        Self::with(signature, Invoke { one: invoke_with_one }, Arc::new(Box::new(|_| unreachable!("it is refused"))))
    }

    fn with(signature: &'static CStr, invoke: Invoke, closure: Arc<Closure>) -> Self {
        let descriptor =
            Descriptor { reserved: 0, size: size_of::<Self>(), copy, dispose, signature: signature.as_ptr() };
        let isa = (&raw const symbols::_NSConcreteStackBlock).cast();
        let descriptor = Box::leak(Box::new(descriptor));
        Self { isa, flags: FLAGS, reserved: 0, invoke, descriptor, closure: Arc::into_raw(closure) }
    }

    /// As an argument of a message.
    pub fn address(&self) -> *const c_void {
        std::ptr::from_ref(self).cast()
    }

    /// A copy of it.
    pub fn copied(&self) -> Copied {
        // SAFETY: the block is live.
        Copied(unsafe { symbols::_Block_copy(self.address()) })
    }
}

/// A reference to a copy of a block.
pub struct Copied(*const c_void);

impl Copied {
    /// As an argument of a message.
    pub fn address(&self) -> *const c_void {
        self.0
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // SAFETY: the reference is this one's.
        unsafe { symbols::_Block_release(self.0) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the literal owned a reference of the closure.
        unsafe { Arc::decrement_strong_count(self.closure) }
    }
}
