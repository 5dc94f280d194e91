//! `objc_msgSend` for AArch64 (AAPCS64).
//!
//! Receiver in `x0`, selector in `x1`; a result in memory has its address in `x8`, so one entry point serves all.
//! `x9` to `x17` are scratch. The table is immutable and reached through the object's own pointers, so plain loads
//! are ordered by their address dependencies.

#![expect(non_snake_case, reason = "Apple's names")]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::super::class::{Class, SLOT_SHIFT};
use super::super::object::Object;
use super::super::selector::ENTRY_SHIFT;
use super::unanswered;

/// Sends a message; call it through a pointer of the method's type. Nil answers zero in every result register, and
/// leaves a result in memory unwritten, as Apple's runtime does.
///
/// # Safety
/// The receiver is nil, an object or a class of this runtime, the selector is registered, and the call's type is the
/// method's ([`crate::symbols::method_getTypeEncoding`]). The receiver stays alive until the method returns.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn objc_msgSend() {
    naked_asm!(
        "cbz x0, 5f",
        "tst x0, #{misaligned}",
        "b.ne 4f",
        "ldr x9, [x0]",
        "ldr x10, [x9, #{table}]",
        "ldr x11, [x9, #{mask}]",
        "and x11, x11, x1, lsr #{entry_shift}",
        "add x10, x10, x11, lsl #{slot_shift}",
        "2: ldp x16, x17, [x10], #16",
        "cmp x16, x1",
        "b.ne 3f",
        "br x17",
        "3: cbnz x16, 2b",
        "4: b {unanswered}",
        "5: mov x1, #0",
        "movi v0.2d, #0",
        "movi v1.2d, #0",
        "movi v2.2d, #0",
        "movi v3.2d, #0",
        "ret",
        entry_shift = const ENTRY_SHIFT,
        slot_shift = const SLOT_SHIFT,
        mask = const offset_of!(Class, mask),
        table = const offset_of!(Class, table),
        misaligned = const align_of::<Object>() - 1,
        unanswered = sym unanswered,
    )
}
