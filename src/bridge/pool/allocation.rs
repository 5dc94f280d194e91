//! A buffer while a value is in it.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::free::FreeBuffer;
use super::{Pool, Serial};
use crate::bridge::heaps::SMALL;
use crate::dtype::data_type;
use crate::error::Error;
use crate::ffi;
use crate::tensor_type::TensorType;

/// Live buffers from which on small ones keep no tensor data object, which may be larger than they are.
const CROWD: u64 = 2048;

/// The tensor data object made for a buffer; programs that repeat use it again.
pub(super) struct Shown {
    ty: TensorType,
    data: ffi::TensorData,
}

impl Shown {
    pub fn is_of(&self, ty: &TensorType) -> bool {
        self.ty.is(ty)
    }
}

/// When the tensor data object that is kept for a buffer was made.
enum MadeIn {
    /// In the buffer's last use, which was with the same type. It is not put into the other state's lock, because that
    /// takes longer.
    LastUse(Box<Shown>),
    /// In this use, when it is bound first.
    ThisUse(OnceLock<Box<Shown>>),
}

impl MadeIn {
    /// What is kept for a value of type `ty`, of what the last use has left.
    fn of(ty: &TensorType, left: Option<Box<Shown>>) -> Self {
        let same = left.filter(|shown| shown.is_of(ty));
        same.map_or_else(|| Self::ThisUse(OnceLock::new()), Self::LastUse)
    }

    fn get(&self) -> Option<&Shown> {
        match self {
            Self::LastUse(shown) => Some(shown),
            Self::ThisUse(shown) => shown.get().map(|shown| &**shown),
        }
    }

    /// Keeps `shown`, unless there is one.
    fn keep(&self, shown: impl FnOnce() -> Box<Shown>) {
        if let Self::ThisUse(place) = self {
            place.get_or_init(shown);
        }
    }

    fn take(&mut self) -> Option<Box<Shown>> {
        match std::mem::replace(self, Self::ThisUse(OnceLock::new())) {
            Self::LastUse(shown) => Some(shown),
            Self::ThisUse(shown) => shown.into_inner(),
        }
    }
}

/// A buffer as tensor data.
pub(in crate::bridge) enum Bound<'a> {
    /// What is kept for the buffer.
    Kept(&'a ffi::TensorData),
    Own(ffi::TensorData),
}

impl Deref for Bound<'_> {
    type Target = ffi::TensorData;

    fn deref(&self) -> &ffi::TensorData {
        match self {
            Bound::Kept(data) => data,
            Bound::Own(data) => data,
        }
    }
}

/// A buffer in use; it goes back to the pool when dropped.
pub(in crate::bridge) struct Allocation {
    /// There until the allocation is dropped, which moves it into the pool.
    buffer: Option<ffi::Buffer>,
    /// The size class, which is the buffer's length.
    class: usize,
    shown: MadeIn,
    pool: &'static Pool,
    last_use: AtomicU64,
    /// The submission that writes the buffer; 0 if the host filled it.
    pub written_by: AtomicU64,
    /// Set when that submission, or one that it depends on, failed.
    pub fault: OnceLock<Box<Error>>,
}

impl Allocation {
    /// A buffer of a size class, which begins to hold a value of type `ty`.
    pub(super) fn new(pool: &'static Pool, ty: &TensorType, class: usize, free: FreeBuffer) -> Self {
        Self {
            buffer: Some(free.buffer),
            class,
            shown: MadeIn::of(ty, free.shown),
            pool,
            last_use: AtomicU64::new(free.last_use),
            written_by: AtomicU64::new(0),
            fault: OnceLock::new(),
        }
    }

    /// The buffer; its length is that of the size class.
    pub fn buffer(&self) -> &ffi::Buffer {
        self.buffer.as_ref().unwrap_or_else(|| unreachable!("only a drop takes it"))
    }

    /// The buffer as packed tensor data of type `ty`.
    pub fn tensor_data(&self, ty: &TensorType) -> Result<Bound<'_>, Error> {
        let kept = self.shown.get();
        if let Some(kept) = kept
            && kept.is_of(ty)
        {
            return Ok(Bound::Kept(&kept.data));
        }
        let data = ffi::TensorData::new(self.buffer(), &ty.shape, data_type("bind", ty.dtype)?);
        let is_crowded = || self.class <= SMALL && self.pool.lock().buffers_live > CROWD;
        if kept.is_none() && !is_crowded() {
            self.shown.keep(|| Box::new(Shown { ty: ty.clone(), data: data.clone() }));
        }
        Ok(Bound::Own(data))
    }

    /// Notes that submission `serial`, the newest, reads or writes the buffer.
    pub fn used_by(&self, serial: Serial) {
        // Noted by one thread at a time, that which encodes.
        self.last_use.store(serial, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let shown = self.shown.take();
        let last_use = *self.last_use.get_mut();
        if let Some(buffer) = self.buffer.take() {
            self.pool.give_back(self.class, FreeBuffer { buffer, shown, last_use, freed: 0 });
        }
    }
}
