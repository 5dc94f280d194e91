//! What happens when work never ends.
//!
//! When the device ends nothing for longer than the limit, everything in flight is given up: its values are failed, and
//! later work goes to a fresh queue. If nothing ends there either, later work is refused until something of what was
//! given up has ended. Work that was given up keeps its claims on buffers until then, so they are neither written again
//! nor released.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Encoder, Flight, Submissions, Trust};
use crate::bridge::pool::Serial;
use crate::error::Error;
use crate::ffi::Device;

impl Submissions {
    /// Whether a submission that holds so many bytes may join those in flight; then the encoder's queue is not one
    /// whose work was given up or is refused.
    ///
    /// # Errors
    /// If the device does not go on with any.
    pub fn open(&self, encoder: &mut Encoder, held_bytes: usize, device: &Device) -> Result<bool, Error> {
        let flight = &mut *self.lock();
        self.reap(flight);
        if self.in_the_way(flight, held_bytes).is_some() {
            return Ok(false);
        }
        if let Some(hang) = flight.hang.as_ref().filter(|_| flight.trust == Trust::Refused) {
            return Err(hang.clone());
        }
        if encoder.given_up != flight.given_up || flight.is_refused {
            let reason = "after a hang or a fault the Metal device gave no other command queue; restart the program";
            encoder.queue = device.new_command_queue().ok_or_else(|| Error::Device { reason: reason.into() })?;
            encoder.given_up = flight.given_up;
            flight.is_refused = false;
        }
        Ok(true)
    }

    /// Gives up everything in flight, because the device has ended nothing for `limit` while submission `serial` was
    /// waited for. Others that wait for it are woken.
    pub(super) fn give_up(&self, serial: Serial, limit: Duration) {
        let mut flight = self.lock();
        self.reap(&mut flight);
        if self.progress.completed.load(Ordering::Acquire) >= serial {
            return;
        }
        let reason = format!(
            "a read or sync waited for submission {serial}, and the device has ended no work for {limit:?}; the values \
             of what is in flight are lost (submissions: {}). If the device only needs longer, set \
             BURN_MPSGRAPH_WAIT_SECONDS or MpsGraphDevice::set_wait_limit; if it hangs, restart the program from \
             what was saved",
            flight.submitted.len()
        );
        let hang = Error::Hang { reason };
        flight.trust = match flight.trust {
            Trust::Works => Trust::OnTrial,
            Trust::OnTrial | Trust::Refused => Trust::Refused,
        };
        flight.given_up += 1;
        flight.hang = Some(hang.clone());
        self.lose(&mut flight, &hang);
        let newest = self.progress.completed.load(Ordering::Acquire);
        drop(flight);
        self.waiting.given_up(newest);
    }

    /// Fails the values of everything in flight, and keeps the work, with its claims, until it ends.
    pub(super) fn lose(&self, flight: &mut Flight, hang: &Error) {
        self.progress.hangs.store(true, Ordering::Release);
        flight.unreported.get_or_insert_with(|| hang.clone());
        flight.faults.clear();
        flight.late.forget_oldest();
        flight.held_bytes = 0;
        for lost in flight.submitted.drain(..) {
            for written in lost.writes.iter().filter_map(Weak::upgrade) {
                let _ = written.fault.set(Box::new(hang.clone()));
            }
            flight.lost.push(lost.work);
            self.progress.completed.store(lost.serial, Ordering::Release);
        }
    }

    /// Lets go of work that was given up and has ended after all.
    pub(super) fn reap_lost(&self, flight: &mut Flight) {
        let before = flight.lost.len();
        flight.lost.retain(|work| !work.has_ended());
        if flight.lost.len() < before {
            flight.trust = Trust::Works;
        }
        if flight.lost.is_empty() {
            self.progress.hangs.store(false, Ordering::Release);
        }
    }
}
