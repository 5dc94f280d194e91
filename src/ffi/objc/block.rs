//! Objective-C blocks: closures in the form in which the frameworks take them.
//!
//! A block is a C struct whose layout clang documents as "Block Implementation Specification". The ones made here begin
//! as literals on the stack, as compilers make them, and are copied at once (`_Block_copy`): the runtime moves the
//! bytes, the closure among them, and calls the dispose function of the descriptor when the copy goes. So a block with
//! its closure is one piece of memory, whose references the runtime counts.

use std::ffi::{CStr, c_char, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Argument, Message, Object, impl_encode};
use crate::ffi::symbols;

/// The descriptor has functions for copying and disposing.
const HAS_COPY_DISPOSE: i32 = 1 << 25;
/// The descriptor has the type encoding.
const HAS_SIGNATURE: i32 = 1 << 30;
/// Alignment of copies: that of `malloc`.
const ALIGNMENT: usize = 16;

/// What a block takes, as the type of a function: one object, or two that may be nil. It returns nothing.
pub(crate) trait Signature: Sized + 'static {
    /// The C function of such a block.
    type Invoke: Copy + 'static;
    /// The block's type encoding: what it returns, and where in a frame of so many bytes its arguments are.
    const ENCODING: &'static CStr;
}

/// The closure of such a block.
pub(crate) trait Closure<S: Signature>: Sized + Send + 'static {
    const INVOKE: S::Invoke;
}

/// A reference to a block: a closure that is called once at most, with objects that the caller keeps alive meanwhile. It
/// goes with the block, and so not on the thread that calls it unless that has the last reference.
pub(crate) struct OnceBlock<S: Signature>(NonNull<Literal<S>>);

/// The beginning of every block.
#[repr(C)]
pub(crate) struct Literal<S: Signature> {
    isa: *const c_void,
    flags: i32,
    reserved: i32,
    invoke: S::Invoke,
    descriptor: &'static Descriptor,
}

/// A block with its closure.
#[repr(C)]
struct Whole<S: Signature, F> {
    literal: Literal<S>,
    called: AtomicBool,
    /// Dropped with the block.
    closure: ManuallyDrop<F>,
}

#[repr(C)]
struct Descriptor {
    reserved: usize,
    size: usize,
    copy: unsafe extern "C" fn(*mut c_void, *const c_void),
    dispose: unsafe extern "C" fn(*mut c_void),
    signature: *const c_char,
}

impl<S: Signature> OnceBlock<S> {
    /// What panics in `closure` is reported by the panic hook and goes no further: the callers are Apple's threads.
    pub(crate) fn new<F: Closure<S>>(closure: F) -> Self {
        const { assert!(align_of::<Whole<S, F>>() <= ALIGNMENT, "a copy is not aligned to more") };
        let whole = Whole::<S, F> {
            literal: Literal {
                isa: (&raw const symbols::_NSConcreteStackBlock).cast(),
                flags: HAS_COPY_DISPOSE | HAS_SIGNATURE,
                reserved: 0,
                invoke: F::INVOKE,
                descriptor: Whole::<S, F>::DESCRIPTOR,
            },
            called: AtomicBool::new(false),
            closure: ManuallyDrop::new(closure),
        };
        // SAFETY: the block is live. The closure is moved to the copy with the other bytes, and not dropped here.
        let copy = unsafe { symbols::_Block_copy((&raw const whole).cast()) };
        Self(NonNull::new(copy.cast()).expect("the copy of a block is a block"))
    }
}

impl<S: Signature, F> Whole<S, F> {
    const DESCRIPTOR: &'static Descriptor = &Descriptor {
        reserved: 0,
        size: size_of::<Self>(),
        copy: moved,
        dispose: Self::dispose,
        signature: S::ENCODING.as_ptr(),
    };

    /// Calls a function with the closure if nobody has done so before.
    ///
    /// # Safety
    /// `block` is a live copy of this type.
    unsafe fn call_once(block: *const Literal<S>, call: impl FnOnce(&F)) {
        // SAFETY: as the caller says.
        let (called, closure) = unsafe { (&(*block.cast::<Self>()).called, &(*block.cast::<Self>()).closure) };
        if !called.swap(true, Ordering::AcqRel) {
            contained(|| call(closure));
        }
    }

    /// # Safety
    /// `block` is a copy of this type whose last owner gives it up.
    unsafe extern "C" fn dispose(block: *mut c_void) {
        // SAFETY: the copy is live up to the end of this function, and nobody else has a reference.
        let closure = unsafe { &mut (*block.cast::<Self>()).closure };
        // SAFETY: it is not used again.
        contained(|| unsafe { ManuallyDrop::drop(closure) });
    }
}

/// The runtime has moved the bytes of a literal to its one copy; a block that is copied already is only counted.
unsafe extern "C" fn moved(_to: *mut c_void, _from: *const c_void) {}

impl<T: Message + 'static> Signature for fn(&T) {
    type Invoke = unsafe extern "C" fn(*const Literal<Self>, *const T);
    const ENCODING: &'static CStr = c"v16@?0@8";
}

impl<T: Message + 'static, F: Fn(&T) + Send + 'static> Closure<fn(&T)> for F {
    const INVOKE: <fn(&T) as Signature>::Invoke = invoke_with_object::<T, F>;
}

/// Two objects that may be nil.
type TwoOrNil<T, U> = fn(Option<&T>, Option<&U>);

impl<T: Message + 'static, U: Message + 'static> Signature for TwoOrNil<T, U> {
    type Invoke = unsafe extern "C" fn(*const Literal<Self>, *const T, *const U);
    const ENCODING: &'static CStr = c"v24@?0@8@16";
}

impl<T: Message + 'static, U: Message + 'static, F> Closure<TwoOrNil<T, U>> for F
where
    F: Fn(Option<&T>, Option<&U>) + Send + 'static,
{
    const INVOKE: <TwoOrNil<T, U> as Signature>::Invoke = invoke_with_two::<T, U, F>;
}

/// # Safety
/// `block` is a live copy with this closure, and `object` a live object of type `T`.
unsafe extern "C" fn invoke_with_object<T: Message + 'static, F: Fn(&T)>(
    block: *const Literal<fn(&T)>,
    object: *const T,
) {
    // SAFETY: as the caller says, also of the object.
    unsafe { Whole::<_, F>::call_once(block, |closure| closure(&*object)) }
}

/// # Safety
/// `block` is a live copy with this closure, and the others are nil or live objects of their types.
unsafe extern "C" fn invoke_with_two<T, U, F>(block: *const Literal<TwoOrNil<T, U>>, first: *const T, second: *const U)
where
    T: Message + 'static,
    U: Message + 'static,
    F: Fn(Option<&T>, Option<&U>),
{
    // SAFETY: as the caller says, also of the objects.
    unsafe { Whole::<_, F>::call_once(block, |closure| closure(first.as_ref(), second.as_ref())) }
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
        RawBlock(held.0.as_ptr().cast())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::ffi::exercise::device;
    use crate::ffi::metal::mtl_device::MTLDevice;
    use crate::lock::LockAnyway;

    type Block = OnceBlock<fn(&MTLDevice)>;

    /// Another reference to a copy, as frameworks make and call it.
    fn again<S: Signature>(block: &OnceBlock<S>) -> OnceBlock<S> {
        // SAFETY: the block is live.
        let block = unsafe { symbols::_Block_copy(block.0.as_ptr().cast()) };
        OnceBlock(NonNull::new(block.cast()).unwrap())
    }

    fn call(block: &Block) {
        // SAFETY: the block is live, and the device is an object of the type that it takes.
        unsafe { (block.0.as_ref().invoke)(block.0.as_ptr(), &*device()) };
    }

    #[test]
    fn a_closure_is_called_once_and_goes_with_the_last_reference() {
        let calls = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&calls);
        let block = Block::new(move |_: &MTLDevice| *counter.lock_anyway() += 1);
        let blocks = [again(&block), block];
        assert_eq!(Arc::strong_count(&calls), 2);
        call(&blocks[0]);
        blocks.iter().for_each(call);
        assert_eq!((*calls.lock_anyway(), Arc::strong_count(&calls)), (1, 2));
        drop(blocks);
        assert_eq!(Arc::strong_count(&calls), 1);
    }

    #[test]
    fn a_closure_that_is_never_called_goes_with_the_last_reference() {
        let alive = Arc::new(());
        let captured = Arc::clone(&alive);
        let block = Block::new(move |_: &MTLDevice| assert_eq!(*captured, ()));
        let other = again(&block);
        drop(block);
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_does_not_leave_the_block() {
        call(&Block::new(|_: &MTLDevice| panic!("inside the block, on purpose")));
    }

    #[test]
    fn a_block_of_two_objects_is_given_nil_as_none() {
        type Pair = OnceBlock<TwoOrNil<MTLDevice, MTLDevice>>;
        let given = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&given);
        let block = Pair::new(move |first: Option<&MTLDevice>, second: Option<&MTLDevice>| {
            *seen.lock_anyway() = Some([first.is_some(), second.is_some()]);
        });
        // SAFETY: the block is live; it takes nil, and a device.
        unsafe { (block.0.as_ref().invoke)(block.0.as_ptr(), std::ptr::null(), &*device()) };
        assert_eq!(*given.lock_anyway(), Some([false, true]));
    }
}
