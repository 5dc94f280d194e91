//! Committed GPU work, and the claims on the buffers that it uses.

use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::claim::Held;
use super::{CommandBuffer, CommandBufferStatus};

/// Committed work. Its claims on buffers end with it; dropping it waits, if it has claims, until the work has ended.
/// Who must not wait for ever drops only what has ended.
pub(crate) struct Work {
    /// The live command buffers before and after encoding: encoding may commit the first and go on in another.
    roots: SmallVec<[CommandBuffer; 2]>,
    claims: Held,
    /// Whether all of it was seen to have ended.
    seen: AtomicBool,
}

impl Work {
    /// The queue runs all command buffers of the work in order, `roots` are the first and the last of them, all are
    /// committed, and `claims` are on every buffer that they use.
    pub(in crate::ffi) fn new(roots: SmallVec<[CommandBuffer; 2]>, claims: Held) -> Self {
        Self { roots, claims, seen: AtomicBool::new(false) }
    }

    /// The first and the last command buffer of the work, which may be the same one.
    #[cfg(test)]
    pub(crate) fn roots(&self) -> &[CommandBuffer] {
        &self.roots
    }

    /// Whether encoding has committed some of it. Then there may be command buffers between the first and the last,
    /// which no method gives.
    pub(crate) fn committed_inside(&self) -> bool {
        self.roots.len() > 1
    }

    /// Whether all of it has ended, well or not.
    pub(crate) fn has_ended(&self) -> bool {
        self.end().is_some()
    }

    /// How it ended, if all of it has: the first of its command buffers that failed, or nothing.
    pub(crate) fn end(&self) -> Option<Option<&CommandBuffer>> {
        let mut failed = None;
        for root in &self.roots {
            let status = root.status();
            if !status.is_final() {
                return None;
            }
            if status == CommandBufferStatus::Error {
                failed = failed.or(Some(root));
            }
        }
        self.seen.store(true, Ordering::Relaxed);
        Some(failed)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // The queue's order makes the last one the last to end.
        if let Some(last) = self.roots.last()
            && !*self.seen.get_mut()
            && !self.claims.is_empty()
            && !last.status().is_final()
        {
            last.wait_until_completed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::ffi::exercise::device;
    use crate::ffi::{
        Buffer, DataType, Executable, Graph, GraphDevice, MpsCommandBuffer, Optimization, ShapedType, TensorData,
        autoreleasepool,
    };

    /// A program that negates two numbers.
    fn negation() -> Executable {
        autoreleasepool(|| {
            let (graph, ty) = (Graph::new(), ShapedType::new(&[2], DataType::F32));
            let x = graph.placeholder(&[2], DataType::F32);
            graph.compile(&GraphDevice::new(&device()), &[(&x, &ty)], &[&graph.negative(&x)], Optimization::Level0)
        })
    }

    fn encoded(input: &Buffer, output: &Buffer) -> MpsCommandBuffer {
        let queue = device().new_command_queue().unwrap();
        let mut commands = MpsCommandBuffer::from_queue(&queue);
        let [input, output] = [input, output].map(|buffer| TensorData::new(buffer, &[2], DataType::F32));
        negation().encode(&mut commands, [&input].into_iter(), [&output].into_iter(), || (), drop);
        commands
    }

    fn panics<R>(access: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(|| drop(access()))).is_err()
    }

    fn two_buffers() -> [Buffer; 2] {
        [1.0_f32, 2.0].map(|value| {
            let buffer = device().new_buffer(8).unwrap();
            buffer.host_write().copy_from_slice(bytemuck::cast_slice(&[value, -value]));
            buffer
        })
    }

    #[test]
    fn the_host_waits_for_work_that_uses_a_buffer() {
        let [input, output] = two_buffers();
        let commands = encoded(&input, &output);
        assert!(panics(|| output.host_read()), "encoded, so it may be committed at any time");
        let work = commands.commit();
        assert!(panics(|| output.host_read()));
        assert!(panics(|| input.host_write()));
        drop(input.host_read());
        drop(work);
        assert_eq!(*output.host_read(), *bytemuck::cast_slice::<f32, u8>(&[-1.0, 1.0]));
        input.host_write().fill(0);
    }

    #[test]
    fn a_program_does_not_write_what_the_host_reads() {
        let [input, output] = two_buffers();
        let read = output.host_read();
        assert!(panics(|| encoded(&input, &output)));
        drop(read);
        drop(encoded(&input, &output).commit());
    }

    #[test]
    fn what_is_never_committed_leaves_its_buffers() {
        let [input, output] = two_buffers();
        drop(encoded(&input, &output));
        // An encode may have committed a part of the work, which ends by itself.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) && panics(|| output.host_write()) {
            thread::sleep(Duration::from_millis(1));
        }
        input.host_write().fill(0);
        output.host_write().fill(0);
    }
}
