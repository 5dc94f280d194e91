//! Which accesses to a buffer's bytes are under way, checked at run time. Every type through which the host or the GPU
//! reaches the bytes holds a [`Claim`], and a claim that another one excludes panics.
//!
//! The host may read while no GPU work writes, and write while there is no other access. GPU work is not checked
//! against GPU work: the queue orders it. The claims of GPU work last until this process has seen that it has ended.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::lock::LockAnyway;

/// What somebody does with a buffer's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ffi) enum Access {
    HostRead,
    HostWrite,
    GpuRead,
    GpuWrite,
}

/// The claims on one buffer; all handles of the buffer share them.
#[derive(Clone, Debug, Default)]
pub(in crate::ffi) struct Claims(Arc<Mutex<Held>>);

/// How many claims of each kind there are.
#[derive(Debug, Default)]
struct Held {
    host_reads: u32,
    host_writes: u32,
    gpu_reads: u32,
    gpu_writes: u32,
}

/// An access to a buffer's bytes that is allowed until this is dropped. Not `Clone`: each access is counted.
#[derive(Debug)]
pub(in crate::ffi) struct Claim {
    claims: Claims,
    access: Access,
}

impl Claims {
    /// Begins an access.
    ///
    /// # Panics
    /// If one that excludes it is under way.
    #[track_caller]
    pub fn claim(&self, access: Access) -> Claim {
        let mut held = self.held();
        let refused = held.refuses(access);
        if refused.is_none() {
            *held.count(access) += 1;
        }
        drop(held);
        match refused {
            None => Claim { claims: self.clone(), access },
            Some(reason) => panic!("{access:?} of a buffer while {reason}"),
        }
    }

    /// Whether GPU work that was not seen to finish accesses the bytes.
    pub fn are_of_gpu(&self) -> bool {
        let held = self.held();
        held.gpu_reads + held.gpu_writes > 0
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock_anyway()
    }
}

impl Held {
    /// What excludes the access now.
    fn refuses(&self, access: Access) -> Option<&'static str> {
        let excluding: &[(u32, &str)] = match access {
            Access::HostRead => &[(self.host_writes, HOST_WRITES), (self.gpu_writes, GPU_WRITES)],
            Access::HostWrite => &[
                (self.host_writes, HOST_WRITES),
                (self.host_reads, HOST_READS),
                (self.gpu_writes, GPU_WRITES),
                (self.gpu_reads, GPU_READS),
            ],
            Access::GpuRead => &[(self.host_writes, HOST_WRITES)],
            Access::GpuWrite => &[(self.host_writes, HOST_WRITES), (self.host_reads, HOST_READS)],
        };
        excluding.iter().find(|(count, _)| *count > 0).map(|(_, reason)| *reason)
    }

    fn count(&mut self, access: Access) -> &mut u32 {
        match access {
            Access::HostRead => &mut self.host_reads,
            Access::HostWrite => &mut self.host_writes,
            Access::GpuRead => &mut self.gpu_reads,
            Access::GpuWrite => &mut self.gpu_writes,
        }
    }
}

const HOST_READS: &str = "the host reads it";
const HOST_WRITES: &str = "the host writes it";
const GPU_READS: &str = "GPU work that reads it was not seen to finish: wait for the work and drop it first";
const GPU_WRITES: &str = "GPU work that writes it was not seen to finish: wait for the work and drop it first";

impl Drop for Claim {
    fn drop(&mut self) {
        *self.claims.held().count(self.access) -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Access::{GpuRead, GpuWrite, HostRead, HostWrite};
    use super::*;

    #[test]
    fn accesses_that_exclude_each_other_panic() {
        let excludes = [
            (HostRead, [false, true, false, true]),
            (HostWrite, [true, true, true, true]),
            (GpuRead, [false, true, false, false]),
            (GpuWrite, [true, true, false, false]),
        ];
        for (first, excluded) in excludes {
            for (second, excluded) in [HostRead, HostWrite, GpuRead, GpuWrite].into_iter().zip(excluded) {
                let claims = Claims::default();
                let held = claims.claim(first);
                let result = catch_unwind(AssertUnwindSafe(|| drop(claims.claim(second))));
                assert_eq!(result.is_err(), excluded, "{second:?} while {first:?}");
                drop(held);
                drop(claims.claim(HostWrite));
            }
        }
    }
}
