//! Which accesses to a buffer's bytes are under way, checked at run time. Every type through which the host or the GPU
//! reaches the bytes holds a [`Claim`], and a claim that another one excludes panics.
//!
//! The host may read while no GPU work writes, and write while there is no other access. GPU work is not checked
//! against GPU work: the queue orders it. The claims of GPU work last until this process has seen that it has ended.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use smallvec::SmallVec;

/// What somebody does with a buffer's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ffi) enum Access {
    HostRead,
    HostWrite,
    GpuRead,
    GpuWrite,
}

/// The claims on one buffer, counted by kind; all handles of the buffer share them.
#[derive(Clone, Debug, Default)]
pub(in crate::ffi) struct Claims(Arc<AtomicU64>);

/// The claims of one program; those of a small one need no memory of their own.
pub(in crate::ffi) type Held = SmallVec<[Claim; 4]>;

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
        let count = |held: u64| access.refused(held).is_none().then_some(held + access.one());
        match self.0.fetch_update(AcqRel, Acquire, count) {
            Ok(_) => Claim { claims: self.clone(), access },
            Err(held) => {
                let reason = access.refused(held).unwrap_or_default();
                panic!("{access:?} of a buffer while {reason}")
            }
        }
    }

    /// Whether GPU work that was not seen to finish accesses the bytes.
    pub fn are_of_gpu(&self) -> bool {
        let held = self.0.load(Acquire);
        Access::GpuRead.is_among(held) || Access::GpuWrite.is_among(held)
    }
}

impl Access {
    /// The bits in which claims of this kind are counted. Writes of the host exclude each other, and a queue holds few
    /// of the GPU's.
    const fn bits(self) -> Range<u32> {
        match self {
            Access::HostWrite => 0..8,
            Access::GpuWrite => 8..16,
            Access::HostRead => 16..40,
            Access::GpuRead => 40..64,
        }
    }

    const fn one(self) -> u64 {
        1 << self.bits().start
    }

    /// Whether there are claims of this kind among these.
    const fn is_among(self, held: u64) -> bool {
        self.count_in(held) > 0
    }

    const fn count_in(self, held: u64) -> u64 {
        let Range { start, end } = self.bits();
        held << (64 - end) >> (64 - end + start)
    }

    /// What of `held` excludes this access.
    fn refused(self, held: u64) -> Option<&'static str> {
        let excluding: &[(Access, &str)] = match self {
            Access::HostRead => &[(Access::HostWrite, HOST_WRITES), (Access::GpuWrite, GPU_WRITES)],
            Access::HostWrite => &[
                (Access::HostWrite, HOST_WRITES),
                (Access::HostRead, HOST_READS),
                (Access::GpuWrite, GPU_WRITES),
                (Access::GpuRead, GPU_READS),
            ],
            Access::GpuRead => &[(Access::HostWrite, HOST_WRITES)],
            Access::GpuWrite => &[(Access::HostWrite, HOST_WRITES), (Access::HostRead, HOST_READS)],
        };
        let is_full = self.count_in(held) == self.count_in(u64::MAX);
        let excluded = excluding.iter().find(|(access, _)| access.is_among(held));
        excluded.map(|(_, reason)| *reason).or(is_full.then_some(TOO_MANY))
    }
}

const TOO_MANY: &str = "too many others do the same";
const HOST_READS: &str = "the host reads it";
const HOST_WRITES: &str = "the host writes it";
const GPU_READS: &str = "GPU work that reads it was not seen to finish: wait for the work and drop it first";
const GPU_WRITES: &str = "GPU work that writes it was not seen to finish: wait for the work and drop it first";

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.0.fetch_sub(self.access.one(), AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Access::{GpuRead, GpuWrite, HostRead, HostWrite};
    use super::*;

    #[test]
    fn too_many_claims_of_a_kind_panic() {
        let claims = Claims::default();
        let _held: Vec<Claim> = (0..255).map(|_| claims.claim(GpuWrite)).collect();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(claims.claim(GpuWrite)))).is_err());
        assert!(claims.are_of_gpu());
        drop(claims.claim(GpuRead));
    }

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
