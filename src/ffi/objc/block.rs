//! Objective-C blocks: closures in the form in which the frameworks take them.
//!
//! A block is a C struct whose layout clang documents as "Block Implementation Specification". The ones made here are
//! literals on the stack, as compilers make them. Who keeps one copies it first (`_Block_copy`): the runtime moves the
//! bytes and calls the copy function of the descriptor, and the dispose function when the copy goes.

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use super::{Argument, Message, Object, impl_encode};
use crate::ffi::symbols;
use crate::lock::LockAnyway;

/// The descriptor has functions for copying and disposing.
const HAS_COPY_DISPOSE: i32 = 1 << 25;
/// The descriptor has the type encoding.
const HAS_SIGNATURE: i32 = 1 << 30;

/// What a block takes, as the type of a function: one object, or two that may be nil. It returns nothing.
pub(crate) trait Signature: Sized + 'static {
    /// The closure of such a block.
    type Closure: ?Sized + Send;
    /// The C function of such a block.
    type Invoke: Copy + 'static;
    const INVOKE: Self::Invoke;
    /// The block's type encoding: what it returns, and where in a frame of so many bytes its arguments are.
    const ENCODING: &'static CStr;
}

/// A closure that is called once at most, with objects that the caller keeps alive meanwhile.
#[repr(C)]
pub(crate) struct OnceBlock<S: Signature> {
    isa: *const c_void,
    flags: i32,
    reserved: i32,
    invoke: S::Invoke,
    descriptor: &'static Descriptor<S>,
    /// A reference of an `Arc`, which this literal and each copy own one of.
    closure: *const Closure<S>,
}

/// The closure, until it is called.
type Closure<S> = Mutex<Option<Box<<S as Signature>::Closure>>>;

#[repr(C)]
struct Descriptor<S: Signature> {
    reserved: usize,
    size: usize,
    copy: unsafe extern "C" fn(*mut OnceBlock<S>, *const OnceBlock<S>),
    dispose: unsafe extern "C" fn(*mut OnceBlock<S>),
    signature: *const c_char,
}

impl<S: Signature> OnceBlock<S> {
    const DESCRIPTOR: &'static Descriptor<S> = &Descriptor {
        reserved: 0,
        size: size_of::<Self>(),
        copy: Self::copy,
        dispose: Self::dispose,
        signature: S::ENCODING.as_ptr(),
    };

    /// What panics in `closure` is reported by the panic hook and goes no further: the callers are Apple's threads.
    pub(crate) fn new(closure: Box<S::Closure>) -> Self {
        let closure: Arc<Closure<S>> = Arc::new(Mutex::new(Some(closure)));
        Self {
            isa: (&raw const symbols::_NSConcreteStackBlock).cast(),
            flags: HAS_COPY_DISPOSE | HAS_SIGNATURE,
            reserved: 0,
            invoke: S::INVOKE,
            descriptor: Self::DESCRIPTOR,
            closure: Arc::into_raw(closure),
        }
    }

    /// A copy that is not on the stack, for who keeps it without copying it.
    pub(crate) fn copied(self) -> CopiedBlock<S> {
        // SAFETY: the block is live.
        let copy = unsafe { symbols::_Block_copy((&raw const self).cast()) };
        CopiedBlock(NonNull::new(copy.cast()).expect("the copy of a block is a block"))
    }

    /// The closure, for the first call.
    ///
    /// # Safety
    /// `block` is a live literal or copy of this type.
    unsafe fn take(block: *const Self) -> Option<Box<S::Closure>> {
        // SAFETY: the block owns a reference of the closure, and lives until this returns.
        let closure = unsafe { &*(*block).closure };
        closure.lock_anyway().take()
    }

    /// # Safety
    /// `from` is a live literal or copy, of which the runtime has moved the bytes to `to`.
    unsafe extern "C" fn copy(_to: *mut Self, from: *const Self) {
        // SAFETY: the pointer comes from `Arc::into_raw`, and `from` owns a reference. The new one is the copy's, which
        // has the same pointer.
        unsafe { Arc::increment_strong_count((*from).closure) }
    }

    /// # Safety
    /// `block` is a copy whose last owner gives it up.
    unsafe extern "C" fn dispose(block: *mut Self) {
        // SAFETY: the pointer comes from `Arc::into_raw`, and the copy owned a reference, which is given up here.
        contained(|| unsafe { Arc::decrement_strong_count((*block).closure) });
    }
}

impl<T: Message + 'static> Signature for fn(&T) {
    type Closure = dyn FnOnce(&T) + Send;
    type Invoke = unsafe extern "C" fn(*const OnceBlock<Self>, *const T);
    const INVOKE: Self::Invoke = invoke_with_object::<T>;
    const ENCODING: &'static CStr = c"v16@?0@8";
}

/// Two objects that may be nil.
type TwoOrNil<T, U> = fn(Option<&T>, Option<&U>);

impl<T: Message + 'static, U: Message + 'static> Signature for TwoOrNil<T, U> {
    type Closure = dyn FnOnce(Option<&T>, Option<&U>) + Send;
    type Invoke = unsafe extern "C" fn(*const OnceBlock<Self>, *const T, *const U);
    const INVOKE: Self::Invoke = invoke_with_two::<T, U>;
    const ENCODING: &'static CStr = c"v24@?0@8@16";
}

/// # Safety
/// `block` is a live literal or copy of this type, and `object` a live object of type `T`.
unsafe extern "C" fn invoke_with_object<T: Message + 'static>(block: *const OnceBlock<fn(&T)>, object: *const T) {
    contained(|| {
        // SAFETY: as the caller says.
        if let Some(closure) = unsafe { OnceBlock::take(block) } {
            // SAFETY: the caller passes a live object.
            closure(unsafe { &*object });
        }
    });
}

/// # Safety
/// `block` is a live literal or copy of this type, and the others are nil or live objects of their types.
unsafe extern "C" fn invoke_with_two<T: Message + 'static, U: Message + 'static>(
    block: *const OnceBlock<TwoOrNil<T, U>>,
    first: *const T,
    second: *const U,
) {
    contained(|| {
        // SAFETY: as the caller says.
        if let Some(closure) = unsafe { OnceBlock::take(block) } {
            // SAFETY: the caller passes nil or live objects.
            closure(unsafe { first.as_ref() }, unsafe { second.as_ref() });
        }
    });
}

/// Runs `work` for a caller that cannot be unwound.
fn contained(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        // Its destructor could panic too.
        std::mem::forget(panic);
    }
}

impl<S: Signature> Drop for OnceBlock<S> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Arc::into_raw`, and this literal owned a reference.
        unsafe { Arc::decrement_strong_count(self.closure) }
    }
}

/// A reference to a copy of a block.
pub(crate) struct CopiedBlock<S: Signature>(NonNull<OnceBlock<S>>);

impl<S: Signature> Drop for CopiedBlock<S> {
    fn drop(&mut self) {
        // SAFETY: it came from a copy, and is released once.
        unsafe { symbols::_Block_release(self.0.as_ptr().cast()) }
    }
}

/// A block as a message carries it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct RawBlock(*const Object);

impl_encode!(RawBlock = "@?");

impl<S: Signature> Argument for &OnceBlock<S> {
    type Raw = RawBlock;
    type Held = Self;

    fn hold(self) -> Self {
        self
    }

    fn raw(held: &Self) -> RawBlock {
        RawBlock(std::ptr::from_ref(*held).cast())
    }
}

impl<S: Signature> Argument for &CopiedBlock<S> {
    type Raw = RawBlock;
    type Held = Self;

    fn hold(self) -> Self {
        self
    }

    fn raw(held: &Self) -> RawBlock {
        RawBlock(held.0.as_ptr().cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::exercise::device;
    use crate::ffi::metal::mtl_device::MTLDevice;

    type Block = OnceBlock<fn(&MTLDevice)>;

    /// Another reference to a copy, as frameworks make and call it.
    fn again<S: Signature>(copy: &CopiedBlock<S>) -> CopiedBlock<S> {
        // SAFETY: the copy is live.
        let block = unsafe { symbols::_Block_copy(copy.0.as_ptr().cast()) };
        CopiedBlock(NonNull::new(block.cast()).unwrap())
    }

    fn call(block: &CopiedBlock<fn(&MTLDevice)>) {
        // SAFETY: the copy is live, and the device is an object of the type that it takes.
        unsafe { (block.0.as_ref().invoke)(block.0.as_ptr(), &*device()) };
    }

    #[test]
    fn a_closure_is_called_once_and_then_gone() {
        let calls = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&calls);
        let copy = Block::new(Box::new(move |_| *counter.lock_anyway() += 1)).copied();
        let copies = [again(&copy), copy];
        assert_eq!(Arc::strong_count(&calls), 2);
        call(&copies[0]);
        assert_eq!((*calls.lock_anyway(), Arc::strong_count(&calls)), (1, 1));
        copies.iter().for_each(call);
        assert_eq!(*calls.lock_anyway(), 1);
    }

    #[test]
    fn a_closure_that_is_never_called_goes_with_the_last_copy() {
        let alive = Arc::new(());
        let captured = Arc::clone(&alive);
        let copy = Block::new(Box::new(move |_| drop(captured))).copied();
        let other = again(&copy);
        drop(copy);
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_does_not_leave_the_block() {
        call(&Block::new(Box::new(|_| panic!("inside the block, on purpose"))).copied());
    }

    #[test]
    fn a_block_of_two_objects_is_given_nil_as_none() {
        type Pair = OnceBlock<TwoOrNil<MTLDevice, MTLDevice>>;
        let given = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&given);
        let pair = Box::new(move |first: Option<&MTLDevice>, second: Option<&MTLDevice>| {
            *seen.lock_anyway() = Some([first.is_some(), second.is_some()]);
        });
        let copy = Pair::new(pair).copied();
        // SAFETY: the copy is live; it takes nil, and a device.
        unsafe { (copy.0.as_ref().invoke)(copy.0.as_ptr(), std::ptr::null(), &*device()) };
        assert_eq!(*given.lock_anyway(), Some([false, true]));
    }
}
