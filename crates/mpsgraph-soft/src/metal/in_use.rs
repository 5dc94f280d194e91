//! Which committed, unfinished work uses a buffer, and whether the CPU keeps away meanwhile.
//!
//! The CPU must not read bytes that the GPU is writing: `-contents` refuses. The CPU may read bytes that the GPU only
//! reads, but not write them, and `-contents` cannot know what its caller will do. So a call in that state takes a
//! sample of the bytes, and so does the first reader that is committed after a call; the next reader to finish
//! compares. This finds a program that overwrites an input of running work, with a pointer that it got then or before.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::mtl_buffer::Memory;
use crate::brief_lock::{BriefLock, Held};

/// What work does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads only.
    Read,
    /// Writes, and perhaps reads.
    Write,
}

/// Users of one buffer, from commit to completion.
#[derive(Default)]
pub struct InUse(BriefLock<Users>);

#[derive(Default)]
struct Users {
    readers: u32,
    writers: u32,
    /// The queue of all users, if they share one; without users it means nothing.
    queue: Option<NonZeroUsize>,
    /// Sample of the bytes, taken when the CPU asked for them, or could have kept the pointer, while they were read.
    seen: Option<NonZeroU64>,
    /// Whether the CPU asked for the bytes since the last use began, so that it may write them through its pointer.
    lent: bool,
}

impl InUse {
    fn lock(&self) -> Held<'_, Users> {
        self.0.lock()
    }

    /// Notes that work committed to `queue` (any number that identifies it) will use the buffer; an error if that would
    /// race with the work of another queue.
    pub(super) fn begin(&self, access: Access, queue: usize, memory: &Memory) -> Result<(), &'static str> {
        let mut users = self.lock();
        if users.readers + users.writers == 0 {
            users.seen = None;
            users.queue = NonZeroUsize::new(queue);
        } else if users.queue != NonZeroUsize::new(queue) {
            if access == Access::Write || users.writers > 0 {
                return Err("a buffer that it uses is in use by work of another queue, and nothing orders the two");
            }
            users.queue = None;
        }
        let lent = std::mem::take(&mut users.lent);
        match access {
            Access::Read => {
                if lent && users.writers == 0 {
                    users.seen.get_or_insert_with(|| sample(memory));
                }
                users.readers += 1;
            }
            Access::Write => {
                users.seen = None;
                users.writers += 1;
            }
        }
        Ok(())
    }

    /// Notes that the work is done; an error if the CPU changed bytes that the work was reading.
    pub(super) fn end(&self, access: Access, memory: &Memory) -> Result<(), &'static str> {
        let mut users = self.lock();
        match access {
            Access::Write => users.writers -= 1,
            Access::Read => {
                users.readers -= 1;
                if users.seen.take().is_some_and(|seen| seen != sample(memory)) {
                    return Err("the CPU wrote to a buffer that committed work was reading");
                }
            }
        }
        Ok(())
    }

    /// Called before the CPU gets the bytes; an error if committed work will write them.
    pub(super) fn look(&self, memory: &Memory) -> Result<(), &'static str> {
        let mut users = self.lock();
        if users.writers > 0 {
            return Err("work that writes this buffer is committed and not finished: wait for it first");
        }
        if users.readers > 0 {
            users.seen.get_or_insert_with(|| sample(memory));
        }
        users.lent = true;
        Ok(())
    }

    /// Committed, unfinished uses: (readers, writers).
    pub fn count(&self) -> (usize, usize) {
        let users = self.lock();
        (users.readers as usize, users.writers as usize)
    }
}

/// Hash of words at equal distances: all words of 512 bytes, one of each cache line of 16 KiB, and of 256 lines at
/// most. It sees every write of at least 64 bytes and a 256th of the buffer in one piece. Cheap, because a batch of
/// samples is as many buffers.
fn sample(memory: &Memory) -> NonZeroU64 {
    /// Hashes that do not wait for each other.
    const LANES: usize = 8;
    let words = memory.bytes() / size_of::<u64>();
    let step = if words <= 64 { 1 } else { words.div_ceil(256).max(8) };
    let mut hashes = [0xcbf2_9ce4_8422_2325_u64; LANES];
    for (at, index) in (0..words).step_by(step).enumerate() {
        // SAFETY: `index` is below the number of whole words, the start is aligned to more than a word, and
        // the memory is borrowed. A host program that writes meanwhile, which is what this looks for, breaks Metal's
        // rules, and its plain stores race with any load; of an atomic one the compiler at least assumes nothing, so
        // that it gives some old or new bytes.
        let word = unsafe { AtomicU64::from_ptr(memory.start().as_ptr().cast::<u64>().add(index)) };
        hashes[at % LANES] = mix(hashes[at % LANES], word.load(Relaxed));
    }
    NonZeroU64::MIN.saturating_add(hashes.into_iter().fold(0, mix))
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}
