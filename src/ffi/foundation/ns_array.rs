//! `NSArray`: lists of objects; lists of numbers are MPSGraph's shapes, axes and permutations.

use smallvec::SmallVec;

use super::ns_number::NSNumber;
use super::ns_object::NSObject;
use crate::ffi::objc::{Argument, Message, Object, Retained, objc_class, objc_methods};

objc_class!(
    /// An immutable list of objects.
    NSArray
);

objc_methods! {
    "NSArray.h";
    impl NSArray {
        unsafe_init fn with_objects(objects: *const *mut Object, count: usize) = "initWithObjects:count:",
            since (10, 0);

        /// Number of objects.
        instance fn count() -> usize = "count", since (10, 0);

        /// The object at an index below `count`.
        instance fn object_at(index: usize) -> Retained<NSObject> = "objectAtIndex:", since (10, 0);
    }
}

impl NSArray {
    /// An array that holds the given objects.
    pub(crate) fn of<T: Message>(objects: &[&T]) -> Retained<Self> {
        Self::of_each(objects.iter().copied())
    }

    /// An array that holds each of the given objects.
    pub(crate) fn of_each<'a, T: Message + 'a>(objects: impl Iterator<Item = &'a T>) -> Retained<Self> {
        let pointers: SmallVec<[*mut Object; 16]> = objects.map(|object| object.as_object()).collect();
        // SAFETY: the vector has as many live, non-nil objects as its length says.
        unsafe { Self::with_objects(pointers.as_ptr(), pointers.len()) }
    }

    /// An array of `NSNumber`s.
    pub(crate) fn of_numbers(numbers: impl Iterator<Item = isize>) -> Retained<Self> {
        let numbers: Vec<Retained<NSNumber>> = numbers.map(NSNumber::number).collect();
        Self::of(&numbers.iter().map(|number| &**number).collect::<Vec<_>>())
    }

    /// The objects, retained.
    ///
    /// # Safety
    /// Every object in the array is a `T`.
    pub(in crate::ffi) unsafe fn to_vec<T: Message>(&self) -> Vec<Retained<T>> {
        // SAFETY: the caller knows the class of the elements.
        (0..self.count()).map(|index| unsafe { self.object_at(index).cast_object() }).collect()
    }
}

/// A shape or permutation: an array of `NSNumber`s.
impl Argument for &[usize] {
    type Raw = *mut Object;
    type Held = Retained<NSArray>;

    fn hold(self) -> Self::Held {
        // Extents are validated to be below 2^31 long before.
        NSArray::of_numbers(self.iter().map(|&number| number.cast_signed()))
    }

    fn raw(held: &Self::Held) -> *mut Object {
        held.as_object()
    }
}

/// Axes or positions, which may count from the end: an array of `NSNumber`s.
impl Argument for &[isize] {
    type Raw = *mut Object;
    type Held = Retained<NSArray>;

    fn hold(self) -> Self::Held {
        NSArray::of_numbers(self.iter().copied())
    }

    fn raw(held: &Self::Held) -> *mut Object {
        held.as_object()
    }
}

/// A list of objects: an array.
impl<T: Message> Argument for &[&T] {
    type Raw = *mut Object;
    type Held = Retained<NSArray>;

    fn hold(self) -> Self::Held {
        NSArray::of(self)
    }

    fn raw(held: &Self::Held) -> *mut Object {
        held.as_object()
    }
}

/// A list of owned objects: an array.
impl<T: Message> Argument for &[&Retained<T>] {
    type Raw = *mut Object;
    type Held = Retained<NSArray>;

    fn hold(self) -> Self::Held {
        NSArray::of(&self.iter().map(|object| &***object).collect::<Vec<&T>>())
    }

    fn raw(held: &Self::Held) -> *mut Object {
        held.as_object()
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    crate::ffi::objc::autoreleasepool(|| {
        let numbers = [3, -1, 1 << 40].map(NSNumber::number);
        let array = NSArray::of(&[&*numbers[0], &numbers[1], &numbers[2]]);
        assert_eq!(array.count(), 3);
        // SAFETY: the array was made of NSNumbers.
        let back: Vec<Retained<NSNumber>> = unsafe { array.to_vec() };
        assert_eq!(back, numbers);
    });
}
