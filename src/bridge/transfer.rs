//! Host data into buffers, and back.

use std::borrow::Borrow;
use std::future::Future;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use burn_backend::TensorData;
use burn_std::Bytes;

use super::flush::FlushReason;
use super::pool::{Allocation, Serial};
use super::recording::Cut;
use super::runtime::Runtime;
use super::thread;
use super::value::{Handle, Maker, State};
use crate::burn::{dtype_of, shape_of};
use crate::error::{Error, invalid};
use crate::ffi;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Bytes from which a read lends the buffer instead of copying it: below, a copy is cheaper than holding the buffer
/// back from reuse.
const LENT_FROM: usize = 64 * 1024;

/// Values up to which it is cheap to feed them to a program that joins them.
const FEW: usize = 4;

/// Bytes of a value up to which the host takes no longer to copy it than to feed it to a program.
const COPIED_TO: usize = 16 * 1024;

impl Runtime {
    /// A buffer that holds a copy of `bytes`, a value of type `ty`; bools become 0 or 1.
    pub(super) fn host_buffer(
        &self,
        bytes: &[u8],
        ty: &TensorType,
        completed: Serial,
    ) -> Result<Arc<Allocation>, Error> {
        let allocation = self.pool.for_host(ty, completed)?;
        let mut written = allocation.buffer().host_write();
        let to = &mut written[..bytes.len()];
        if ty.dtype.is_bool() {
            copy_truths(bytes, to)
        } else {
            to.copy_from_slice(bytes)
        }
        drop(written);
        self.counters.bytes_uploaded.add(bytes.len() as u64);
        Ok(allocation)
    }

    /// A buffer of so many rows, each of which has the same row of every part, one after the other. The host has
    /// written the parts; with each is the length of its rows in bytes.
    fn joined_buffer(
        &self,
        parts: &[(Arc<Allocation>, usize)],
        rows: usize,
        ty: &TensorType,
    ) -> Result<Arc<Allocation>, Error> {
        let allocation = self.pool.for_host(ty, self.submissions.completed())?;
        let mut written = allocation.buffer().host_write();
        let (width, mut start) = (ty.bytes() / rows, 0);
        for (part, length) in parts {
            let part = part.buffer().host_read();
            for row in 0..rows {
                written[row * width + start..][..*length].copy_from_slice(&part[row * length..][..*length]);
            }
            start += length;
        }
        drop(written);
        Ok(allocation)
    }
}

/// Values that the host has written, one after the other along an axis in front of which are `rows` elements: a copy
/// that the host makes as well. `None` if it is not worth it, or not all of them are of the host.
///
/// Datasets join batches of samples that they have just uploaded. Each would be fed to a program, which costs more than
/// to copy it.
pub(crate) fn join_uploaded(parts: &[&MpsGraphTensor], rows: usize, ty: &TensorType) -> Option<MpsGraphTensor> {
    let runtime = Runtime::get();
    if parts.len() <= FEW || parts.iter().any(|part| part.value.0.bytes() > COPIED_TO) {
        return None;
    }
    let uploaded = |part: &&MpsGraphTensor| match &*part.value.0.lock() {
        State::Ready(allocation) if allocation.is_of_host() => Some((allocation.clone(), part.value.0.bytes() / rows)),
        State::Empty | State::Recorded | State::Pending(_) | State::Ready(_) | State::Failed(_) => None,
    };
    let parts: Vec<_> = parts.iter().map(uploaded).collect::<Option<_>>()?;
    let copy = || runtime.joined_buffer(&parts, rows, ty);
    let allocation = ffi::autoreleasepool(|| runtime.with_memory(copy)).ok()?;
    Some(MpsGraphTensor::new(Handle::of(ty.clone(), State::Ready(allocation))))
}

/// Copies host data into a buffer.
///
/// # Panics
/// If `data`'s dtype or size cannot be stored, or the device is out of memory.
pub(crate) fn upload(op: &'static str, data: impl Borrow<TensorData>) -> MpsGraphTensor {
    let runtime = Runtime::get();
    let data = data.borrow();
    let ty = TensorType::new(dtype_of(data), shape_of(data).clone());
    let wanted = runtime.check_size(op, &ty).unwrap_or_else(|error| error.raise());
    let bytes = data.as_bytes();
    if bytes.len() != wanted {
        let reason =
            format!("{} bytes of data where shape {:?} of {:?} takes {wanted}", bytes.len(), &ty.shape[..], ty.dtype);
        invalid(op, reason);
    }
    if wanted == 0 {
        return MpsGraphTensor::new(Handle::of(ty, State::Empty));
    }
    let fill = || runtime.host_buffer(bytes, &ty, runtime.submissions.completed());
    let mut allocation = ffi::autoreleasepool(|| runtime.with_memory(fill));
    if let Err(Error::OutOfMemory { .. }) = allocation {
        // Recorded ops may hold what no tensor holds any more.
        runtime.flush_all();
        allocation = ffi::autoreleasepool(|| runtime.with_memory(fill));
    }
    let state = match allocation {
        Ok(allocation) => State::Ready(allocation),
        Err(error) => error.raise(),
    };
    MpsGraphTensor::new(Handle::of(ty, state))
}

/// Copies bytes of bools, which data that is made of bytes may hold as other numbers than 0 and 1: any but 0 is true.
/// To look whether it does takes longer.
fn copy_truths(from: &[u8], to: &mut [u8]) {
    from.iter().zip(to).for_each(|(byte, to)| *to = u8::from(*byte != 0));
}

/// Submits what the tensors need and waits once for all of them. Small tensors are copied; of large ones the buffer is
/// lent until the data is dropped or changed.
///
/// The call submits, because a server polls the future on another thread, while its own records on. It takes as long as
/// that takes, which is long if a program has to be compiled, or if no memory is free before earlier work has ended. No
/// poll blocks: the task is woken when the work has ended.
///
/// The call could hand a flush that takes long to another thread. It does not: whatever the task records next on top of
/// the result would wait for that flush at its own read, so the task would block later instead of now. And each
/// blocking read, which Burn makes of this future too, would start a thread for each program that it compiles.
///
/// # Errors
/// The device fault that hit the work which makes one of them.
pub(crate) fn read(tensors: Vec<MpsGraphTensor>) -> impl Future<Output = Result<Vec<TensorData>, Error>> + Send {
    let runtime = Runtime::get();
    flush_for_read(runtime, &tensors);
    copied(runtime, tensors)
}

/// The host's copies of tensors that are submitted.
async fn copied(runtime: &'static Runtime, tensors: Vec<MpsGraphTensor>) -> Result<Vec<TensorData>, Error> {
    let mut allocations = Vec::with_capacity(tensors.len());
    for tensor in &tensors {
        // Another thread's flush may be making it.
        allocations.push(tensor.value.0.settled().await?);
    }
    let newest = allocations.iter().flatten().map(|a| a.written_by.load(Ordering::Acquire)).max();
    if let Some(serial) = newest {
        runtime.submissions.ended(serial, &runtime.counters).await;
        runtime.counters.host_reads.add(1);
    }
    if let Some(fault) = allocations.iter().flatten().find_map(|allocation| allocation.fault.get()) {
        return Err((**fault).clone());
    }
    let read_one = |(tensor, allocation): (&MpsGraphTensor, &Option<Arc<Allocation>>)| {
        let ty = tensor.ty();
        let length = ty.bytes();
        let bytes = match allocation {
            None => Bytes::from_bytes_vec(Vec::new()),
            Some(allocation) if length < LENT_FROM => {
                Bytes::from_bytes_vec(allocation.buffer().host_read()[..length].to_vec())
            }
            Some(allocation) => ffi::host_bytes(allocation.buffer().host_read(), length, allocation.clone()),
        };
        runtime.counters.bytes_read.add(length as u64);
        TensorData::from_bytes(bytes, ty.shape, ty.dtype)
    };
    Ok(tensors.iter().zip(&allocations).map(read_one).collect())
}

/// Flushes all of this thread's recording if it makes one of the tensors, and of others' what makes the others.
///
/// All of it, too, if none is recorded because a bound was reached: a step of more ops than the bound that reads its
/// loss has then submitted that with its first part. Were the rest left, the next step would be cut elsewhere, and so
/// on, and each cut would be a new program.
fn flush_for_read(runtime: &Runtime, tensors: &[MpsGraphTensor]) {
    let own = thread::current();
    let is_own = |(recording, _): &Maker| own.is_some_and(|own| ptr::eq(own, *recording));
    let recorded = tensors.iter().filter_map(|tensor| tensor.value.0.recorded_in());
    let (mine, others): (Vec<_>, Vec<_>) = recorded.partition(is_own);
    if !others.is_empty() {
        runtime.flush_others(others);
    }
    let recording = match mine.first() {
        Some((recording, _)) => Some(*recording),
        None => own.filter(|own| own.is_cut_at_bound()),
    };
    if let Some(recording) = recording {
        runtime.flush(recording, Cut::Everything, FlushReason::Read);
    }
}
