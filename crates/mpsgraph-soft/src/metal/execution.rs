//! The completion handler of an execution, which MPSGraph calls when the last of its command buffers has ended.

use std::sync::Arc;

use super::fault::Telling;
use super::job::Job;
use super::mtl_command_buffer::CommandBuffer;
use crate::objc::{Block, Id, Strong, pool};

/// A completion handler with what it is given.
pub(crate) struct Execution {
    handler: Block<2>,
    results: Strong,
    /// Nothing, unless a test asks for it.
    special: Option<Box<Special>>,
}

struct Special {
    telling: Telling,
    /// Command buffers that were committed before the last one.
    earlier: Vec<Arc<Job>>,
}

impl Execution {
    /// `None` if nothing is ever to be told.
    pub fn new(handler: Block<2>, results: &Strong, telling: Telling) -> Option<Self> {
        let special = match telling {
            Telling::InOrder => None,
            Telling::After(_) => Some(Box::new(Special { telling, earlier: Vec::new() })),
            Telling::Never => return None,
        };
        Some(Self { handler, results: results.clone(), special })
    }

    /// The work began in other command buffers.
    pub fn after(&mut self, earlier: Vec<Arc<Job>>) {
        if !earlier.is_empty() {
            let special = || Box::new(Special { telling: Telling::InOrder, earlier: Vec::new() });
            self.special.get_or_insert_with(special).earlier = earlier;
        }
    }

    /// Calls the handler, with the error of the first command buffer that failed; `last` has ended.
    pub fn tell(&self, last: &Strong) {
        let Self { handler, results, special } = self;
        let error = special.iter().find_map(|special| special.earlier.iter().find_map(|job| job.error()));
        let error = error.or_else(|| last.state::<CommandBuffer>().error());
        match special.as_ref().map_or(Telling::InOrder, |special| special.telling) {
            Telling::InOrder => call(handler, results, error),
            Telling::After(time) => {
                let (handler, results, error) = (handler.clone(), results.clone(), error.cloned());
                std::thread::spawn(move || {
                    std::thread::sleep(time);
                    pool(|| call(&handler, &results, error.as_ref()));
                });
            }
            Telling::Never => unreachable!("nobody made such a one"),
        }
    }
}

/// Calls the handler: with the results, or with nil and an error. Apple says what the results are if there is no error;
/// nobody may look at them if there is one.
fn call(handler: &Block<2>, results: &Strong, error: Option<&Strong>) {
    match error {
        None => handler.call(results.id(), Id::NIL),
        Some(error) => handler.call(Id::NIL, error.id()),
    }
}
