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

/// A tensor data object made for a buffer; programs that repeat use it again.
struct Shown {
    ty: TensorType,
    data: ffi::TensorData,
}

/// The tensor data objects that earlier uses of a buffer have left, the newest first: a value is made in one shape, and
/// may be read in another.
#[derive(Default)]
pub(super) struct Left([Option<Box<Shown>>; 2]);

impl Left {
    fn find(&self, ty: &TensorType) -> Option<&Shown> {
        self.0.iter().flatten().map(|shown| &**shown).find(|shown| shown.ty.is(ty))
    }

    /// Whether there is one of this type.
    pub fn has(&self, ty: &TensorType) -> bool {
        self.find(ty).is_some()
    }

    /// Adds one; the oldest makes room for it.
    fn add(&mut self, newest: Box<Shown>) -> Option<Box<Shown>> {
        self.0.rotate_right(1);
        self.0[0].replace(newest)
    }
}

/// A buffer as tensor data.
pub(in crate::bridge) enum BufferData<'a> {
    /// What is kept for the buffer.
    Kept(&'a ffi::TensorData),
    Own(ffi::TensorData),
}

impl Deref for BufferData<'_> {
    type Target = ffi::TensorData;

    fn deref(&self) -> &ffi::TensorData {
        match self {
            BufferData::Kept(data) => data,
            BufferData::Own(data) => data,
        }
    }
}

/// A buffer in use; it goes back to the pool when dropped.
pub(in crate::bridge) struct Allocation {
    /// There until the allocation is dropped, which moves it into the pool.
    buffer: Option<ffi::Buffer>,
    /// The size class, which is the buffer's length.
    class: usize,
    left: Left,
    /// The first tensor data object that this use has made.
    shown: OnceLock<Box<Shown>>,
    pool: &'static Pool,
    last_use: AtomicU64,
    /// The submission that writes the buffer; 0 if the host filled it.
    pub written_by: AtomicU64,
    /// Set when that submission, or one that it depends on, failed.
    pub fault: OnceLock<Box<Error>>,
}

impl Allocation {
    /// A buffer of a size class, which begins to hold a value.
    pub(super) fn new(pool: &'static Pool, class: usize, free: FreeBuffer) -> Self {
        Self {
            buffer: Some(free.buffer),
            class,
            left: free.left,
            shown: OnceLock::new(),
            pool,
            last_use: AtomicU64::new(free.last_use),
            written_by: AtomicU64::new(0),
            fault: OnceLock::new(),
        }
    }

    /// Whether the host filled it, so that no work has to be waited for before the host reads it.
    pub fn is_of_host(&self) -> bool {
        self.written_by.load(Ordering::Acquire) == 0
    }

    /// The buffer; its length is that of the size class.
    pub fn buffer(&self) -> &ffi::Buffer {
        self.buffer.as_ref().unwrap_or_else(|| unreachable!("only a drop takes it"))
    }

    /// The buffer as packed tensor data of type `ty`.
    pub fn tensor_data(&self, ty: &TensorType) -> Result<BufferData<'_>, Error> {
        let made = self.shown.get();
        let kept = self.left.find(ty).or_else(|| made.map(|shown| &**shown).filter(|shown| shown.ty.is(ty)));
        if let Some(kept) = kept {
            return Ok(BufferData::Kept(&kept.data));
        }
        let data = ffi::TensorData::new(self.buffer(), &ty.shape, data_type("bind", ty.dtype)?);
        let is_crowded = || self.class <= SMALL && self.pool.lock().buffers_live > CROWD;
        if made.is_none() && !is_crowded() {
            self.shown.get_or_init(|| Box::new(Shown { ty: ty.clone(), data: data.clone() }));
        }
        Ok(BufferData::Own(data))
    }

    /// Notes that submission `serial`, the newest, reads or writes the buffer.
    pub fn used_by(&self, serial: Serial) {
        // Noted by one thread at a time, that which encodes.
        self.last_use.store(serial, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.left);
        if let Some(oldest) = self.shown.take().and_then(|newest| left.add(newest)) {
            // What is released may autorelease parts of itself.
            ffi::autoreleasepool(|| drop(oldest));
        }
        let last_use = *self.last_use.get_mut();
        if let Some(buffer) = self.buffer.take() {
            self.pool.give_back(self.class, FreeBuffer { buffer, left, last_use, freed: 0 });
        }
    }
}
