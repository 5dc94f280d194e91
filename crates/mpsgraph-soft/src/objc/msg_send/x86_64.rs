//! `objc_msgSend` for x86-64, in the calling convention of System V and in Microsoft's.
//!
//! Receiver and selector are the first two arguments; with a result in memory (`_stret`) its address comes before them.
//! `r10` and `r11` are the only registers that in both conventions are neither arguments nor saved by the callee (`rax`
//! counts the vector registers of System V's variadic calls). What Microsoft's keeps on the stack for the callee, and
//! what unwinding needs, stays as the caller made it, because the method is reached by a jump.

#![expect(non_snake_case, reason = "Apple's names")]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::super::class::{Class, SLOT_SHIFT};
use super::super::object::Object;
use super::super::selector::ENTRY_SHIFT;
use super::{unanswered, unanswered_struct};

/// Probes the dispatch table of the class in `r10` for the selector in the given register, and jumps to the method.
macro_rules! probe {
    ($selector:literal) => {
        concat!(
            "mov r11, ",
            $selector,
            "\n",
            "shr r11, {entry_shift}\n",
            "and r11, qword ptr [r10 + {mask}]\n",
            "shl r11, {slot_shift}\n",
            "add r11, qword ptr [r10 + {table}]\n",
            "2: cmp qword ptr [r11], ",
            $selector,
            "\n",
            "jne 3f\n",
            "jmp qword ptr [r11 + 8]\n",
            "3: cmp qword ptr [r11], 0\n",
            "je 4f\n",
            "add r11, 16\n",
            "jmp 2b\n",
            "4: jmp {unanswered}\n",
        )
    };
}

/// Both entry points: for each the registers of the receiver, of its lowest byte and of the selector.
macro_rules! entry_points {
    (
        [$this:literal, $this_byte:literal, $selector:literal],
        stret [$this2:literal, $this2_byte:literal, $selector2:literal]
    ) => {
        /// Sends a message; call it through a pointer of the method's type. Nil answers zero in every result register.
        ///
        /// # Safety
        /// The receiver is nil, an object or a class of this runtime, the selector is registered, and the call's type
        /// is the method's ([`crate::symbols::method_getTypeEncoding`]). The receiver stays alive until the method
        /// returns.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn objc_msgSend() {
            naked_asm!(
                concat!("test ", $this, ", ", $this),
                "jz 5f",
                concat!("test ", $this_byte, ", {misaligned}"),
                "jnz 4f",
                concat!("mov r10, qword ptr [", $this, "]"),
                probe!($selector),
                "5: xor eax, eax",
                "xor edx, edx",
                "xorps xmm0, xmm0",
                "xorps xmm1, xmm1",
                "ret",
                entry_shift = const ENTRY_SHIFT,
                slot_shift = const SLOT_SHIFT,
                mask = const offset_of!(Class, mask),
                table = const offset_of!(Class, table),
                misaligned = const align_of::<Object>() - 1,
                unanswered = sym unanswered,
            )
        }

        /// [`objc_msgSend`] for methods whose result is a struct in memory. Nil is a violation here.
        ///
        /// # Safety
        /// As for [`objc_msgSend`]; the result's address is valid for the struct.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn objc_msgSend_stret() {
            naked_asm!(
                concat!("test ", $this2, ", ", $this2),
                "jz 4f",
                concat!("test ", $this2_byte, ", {misaligned}"),
                "jnz 4f",
                concat!("mov r10, qword ptr [", $this2, "]"),
                probe!($selector2),
                entry_shift = const ENTRY_SHIFT,
                slot_shift = const SLOT_SHIFT,
                mask = const offset_of!(Class, mask),
                table = const offset_of!(Class, table),
                misaligned = const align_of::<Object>() - 1,
                unanswered = sym unanswered_struct,
            )
        }
    };
}

#[cfg(not(windows))]
entry_points!(["rdi", "dil", "rsi"], stret ["rsi", "sil", "rdx"]);
#[cfg(windows)]
entry_points!(["rcx", "cl", "rdx"], stret ["rdx", "dl", "r8"]);
