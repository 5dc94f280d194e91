//! An owned reference to an object.

use super::Id;

/// Owns one reference (+1) to an object, or holds nil. Cloning retains, dropping releases.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Strong(Id);

impl Strong {
    /// Retains the object.
    pub fn retain(id: Id) -> Self {
        Self(id.retain())
    }

    /// Takes over a reference that the caller owns, such as the result of [`new_object`](super::new_object).
    pub fn from_owned(id: Id) -> Self {
        Self(id)
    }

    /// The object, borrowed for as long as something keeps it alive.
    pub fn id(&self) -> Id {
        self.0
    }

    /// Gives the reference to the caller.
    pub fn into_owned(self) -> Id {
        std::mem::ManuallyDrop::new(self).0
    }

    /// Gives the reference to the innermost autorelease pool.
    pub fn autorelease(self) -> Id {
        self.into_owned().autorelease()
    }
}

impl Clone for Strong {
    fn clone(&self) -> Self {
        Self::retain(self.0)
    }
}

impl Drop for Strong {
    fn drop(&mut self) {
        self.0.release();
    }
}
