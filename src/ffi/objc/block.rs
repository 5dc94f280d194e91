//! Objective-C blocks: closures in the form in which the frameworks take them.
//!
//! A block is a C struct whose layout clang documents as "Block Implementation Specification". The ones made here are
//! literals on the stack, as compilers make them. Who keeps one copies it first (`_Block_copy`): the runtime moves the
//! bytes and calls the copy function of the descriptor, and the dispose function when the copy goes.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::{Argument, Message, Object, impl_encode};
use crate::ffi::symbols;
use crate::lock::LockAnyway;

/// The descriptor has functions for copying and disposing.
const HAS_COPY_DISPOSE: i32 = 1 << 25;
/// The descriptor has the type encoding.
const HAS_SIGNATURE: i32 = 1 << 30;

/// A closure that is called once at most, with an object that the caller keeps alive meanwhile.
#[repr(C)]
pub(crate) struct OnceBlock<T: Message + 'static> {
    isa: *const c_void,
    flags: i32,
    reserved: i32,
    invoke: unsafe extern "C" fn(*const Self, *const T),
    descriptor: &'static Descriptor<T>,
    /// A reference of an `Arc`, which this literal and each copy own one of.
    closure: *const Closure<T>,
}

/// The closure, which does nothing from the second call on.
type Closure<T> = Mutex<dyn FnMut(&T) + Send>;

#[repr(C)]
struct Descriptor<T: Message + 'static> {
    reserved: usize,
    size: usize,
    copy: unsafe extern "C" fn(*mut OnceBlock<T>, *const OnceBlock<T>),
    dispose: unsafe extern "C" fn(*mut OnceBlock<T>),
    signature: *const c_char,
}

impl<T: Message + 'static> OnceBlock<T> {
    const DESCRIPTOR: &'static Descriptor<T> = &Descriptor {
        reserved: 0,
        size: size_of::<Self>(),
        copy: Self::copy,
        dispose: Self::dispose,
        // Returns nothing; a frame of 16 bytes with the block at 0 and an object at 8.
        signature: c"v16@?0@8".as_ptr(),
    };

    /// What panics in `closure` is reported by the panic hook and goes no further: the callers are Apple's threads.
    pub(crate) fn new(closure: impl FnOnce(&T) + Send + 'static) -> Self {
        let mut closure = Some(closure);
        let once = move |object: &T| {
            if let Some(closure) = closure.take() {
                closure(object);
            }
        };
        let closure: Arc<Closure<T>> = Arc::new(Mutex::new(once));
        Self {
            isa: (&raw const symbols::_NSConcreteStackBlock).cast(),
            flags: HAS_COPY_DISPOSE | HAS_SIGNATURE,
            reserved: 0,
            invoke: Self::invoke,
            descriptor: Self::DESCRIPTOR,
            closure: Arc::into_raw(closure),
        }
    }

    /// # Safety
    /// `block` is a live literal or copy of this type, and `object` a live object of type `T`.
    unsafe extern "C" fn invoke(block: *const Self, object: *const T) {
        contained(|| {
            // SAFETY: the block owns a reference of the closure, and lives until this returns.
            let closure = unsafe { &*(*block).closure };
            // SAFETY: the caller passes a live object.
            closure.lock_anyway()(unsafe { &*object });
        });
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

/// Runs `work` for a caller that cannot be unwound.
fn contained(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        // Its destructor could panic too.
        std::mem::forget(panic);
    }
}

impl<T: Message + 'static> Drop for OnceBlock<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Arc::into_raw`, and this literal owned a reference.
        unsafe { Arc::decrement_strong_count(self.closure) }
    }
}

/// A block as a message carries it.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct RawBlock(*const Object);

impl_encode!(RawBlock = "@?");

impl<T: Message + 'static> Argument for &OnceBlock<T> {
    type Raw = RawBlock;
    type Held = Self;

    fn hold(self) -> Self {
        self
    }

    fn raw(held: &Self) -> RawBlock {
        RawBlock(std::ptr::from_ref(*held).cast())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::exercise::device;
    use crate::ffi::metal::mtl_device::MTLDevice;

    type Block = OnceBlock<MTLDevice>;

    /// A copy as frameworks make and call it.
    struct Copied(*mut c_void);

    impl Copied {
        fn of(block: &Block) -> Self {
            // SAFETY: the block is live.
            Self(unsafe { symbols::_Block_copy(std::ptr::from_ref(block).cast()) })
        }

        fn call(&self) {
            let block: *const Block = self.0.cast();
            // SAFETY: the copy is live, and the device is an object of the type that it takes.
            unsafe { ((*block).invoke)(block, &*device()) };
        }
    }

    impl Drop for Copied {
        fn drop(&mut self) {
            // SAFETY: it came from a copy, and is released once.
            unsafe { symbols::_Block_release(self.0) }
        }
    }

    #[test]
    fn a_closure_is_called_once_and_then_gone() {
        let calls = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&calls);
        let block = Block::new(move |_| *counter.lock_anyway() += 1);
        let copies = [Copied::of(&block), Copied::of(&block)];
        drop(block);
        assert_eq!(Arc::strong_count(&calls), 2);
        copies[0].call();
        assert_eq!((*calls.lock_anyway(), Arc::strong_count(&calls)), (1, 1));
        copies.iter().for_each(Copied::call);
        assert_eq!(*calls.lock_anyway(), 1);
    }

    #[test]
    fn a_closure_that_is_never_called_goes_with_the_last_copy() {
        let alive = Arc::new(());
        let captured = Arc::clone(&alive);
        let block = Block::new(move |_| drop(captured));
        let copy = Copied::of(&block);
        drop(block);
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(copy);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_does_not_leave_the_block() {
        let block = Block::new(|_| panic!("inside the block, on purpose"));
        Copied::of(&block).call();
    }
}
