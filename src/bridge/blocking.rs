//! Blocking on a future, also while the calling thread ends: Burn's keeps what it sleeps with in a variable of the
//! thread, which is gone then.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use crate::lock::{IgnorePoison, LockAnyway};

/// What a thread sleeps with.
#[derive(Default)]
struct Sleep {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Sleep {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock_anyway() = true;
        self.woken.notify_one();
    }
}

/// The output of `future`; the thread sleeps until then.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let sleep = Arc::<Sleep>::default();
    let waker = Waker::from(sleep.clone());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let woken = sleep.woken.wait_while(sleep.is_woken.lock_anyway(), |is_woken| !*is_woken);
        *woken.ignore_poison() = false;
    }
}
