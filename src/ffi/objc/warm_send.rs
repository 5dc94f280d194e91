//! That a send costs one cached selector and the call, held by the machine code of two declared methods.
//!
//! The methods are inlined into probes, whose listing `objdump` gives. Every way through a probe that neither panics
//! nor comes by the first use of the call site is a warm send; its calls and instructions are counted. This needs an
//! optimised build, Linux (other systems' listings look different) and an `objdump` for the architecture: without one
//! of them the test says so and passes.

use std::process::Command;

use crate::ffi::metal::mtl_buffer::MTLBuffer;
use crate::ffi::mpsgraph::{MPSGraph, MPSGraphTensor, Tensor};

/// No argument, a number as result.
#[unsafe(no_mangle)]
#[inline(never)]
fn burn_mpsgraph_warm_number(buffer: &MTLBuffer) -> usize {
    buffer.length()
}

/// Two arguments and a nil name, an object as result.
#[unsafe(no_mangle)]
#[inline(never)]
fn burn_mpsgraph_warm_object(graph: &MPSGraph, a: &MPSGraphTensor, b: &MPSGraphTensor) -> Tensor {
    graph.addition(a, b)
}

/// What a warm send may cost.
struct Bound {
    symbol: &'static str,
    /// Calls on every way: the message, and for an object the call that retains it.
    calls: usize,
    /// Instructions on the longest way. Compilers differ in how they save registers, so this leaves some room: a warm
    /// send of Rust 1.92 takes 6 and 24 on x86-64.
    instructions: usize,
}

const BOUNDS: [Bound; 2] = [
    Bound { symbol: "burn_mpsgraph_warm_number", calls: 1, instructions: 12 },
    Bound { symbol: "burn_mpsgraph_warm_object", calls: 2, instructions: 34 },
];

#[test]
fn a_warm_send_costs_one_cached_selector_and_the_call() {
    std::hint::black_box((burn_mpsgraph_warm_number as *const (), burn_mpsgraph_warm_object as *const ()));
    if !cfg!(optimized) || !cfg!(target_os = "linux") {
        println!("skipped: this needs an optimised build on Linux");
        return;
    }
    for bound in BOUNDS {
        let Some(listing) = disassemble(bound.symbol) else {
            println!("skipped: there is no objdump for this architecture");
            return;
        };
        let ways = warm_ways(&listing);
        let text =
            || listing.iter().map(|line| format!("{:x} {}", line.address, line.text)).collect::<Vec<_>>().join("\n");
        assert!(!ways.is_empty(), "{}: no way through\n{}", bound.symbol, text());
        assert!(listing.iter().any(Line::is_first_use), "{}: its call site is not inlined\n{}", bound.symbol, text());
        for way in ways {
            assert!(way.calls <= bound.calls, "{}: {} calls on a warm way\n{}", bound.symbol, way.calls, text());
            assert!(!way.atomic, "{}: an atomic change on a warm way\n{}", bound.symbol, text());
            assert!(
                way.instructions <= bound.instructions,
                "{}: {} instructions on a warm way\n{}",
                bound.symbol,
                way.instructions,
                text()
            );
        }
    }
}

/// An instruction of a listing.
#[derive(Debug)]
struct Line {
    address: u64,
    text: String,
}

/// Where the program goes after an instruction.
enum Flow {
    Next,
    Call,
    /// To an address, which is another function's if it is not in the listing; `None` if it is computed.
    Jump(Option<u64>),
    /// To an address or to the next instruction.
    Branch(u64),
    Return,
    /// Nowhere: a trap.
    Trap,
}

impl Line {
    fn mnemonic(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }

    /// The address that a jump names, which objdump writes before `<symbol+offset>`.
    fn target(&self) -> Option<u64> {
        let (operands, _) = self.text.split_once(" <")?;
        u64::from_str_radix(operands.split([' ', '\t', ',']).next_back()?, 16).ok()
    }

    fn flow(&self) -> Flow {
        match (self.mnemonic(), self.target()) {
            ("call" | "callq" | "bl" | "blr", _) => Flow::Call,
            ("ret" | "retq", _) => Flow::Return,
            ("ud2" | "brk" | "udf", _) => Flow::Trap,
            ("jmp" | "jmpq" | "b" | "br", target) => Flow::Jump(target),
            (mnemonic, Some(target)) if is_branch(mnemonic) => Flow::Branch(target),
            _ => Flow::Next,
        }
    }

    fn is_first_use(&self) -> bool {
        self.text.contains("first_use")
    }

    /// Whether it changes memory as one step, as locks and counters do.
    fn is_atomic_change(&self) -> bool {
        let families = ["lock", "ldx", "ldax", "stx", "stlx", "cas", "ldadd", "ldset", "ldclr", "ldeor", "swp"];
        // Exchanges with memory lock by themselves; those of a register with itself are padding.
        let exchange = self.mnemonic() == "xchg" && self.text.contains('(');
        exchange || families.iter().any(|family| self.mnemonic().starts_with(family))
    }
}

/// Conditional jumps of x86-64 and of AArch64, whose names do not overlap.
fn is_branch(mnemonic: &str) -> bool {
    mnemonic.starts_with('j') || mnemonic.starts_with("b.") || ["cbz", "cbnz", "tbz", "tbnz"].contains(&mnemonic)
}

/// The instructions of a function of this program; `None` if there is no `objdump` that knows them.
fn disassemble(symbol: &str) -> Option<Vec<Line>> {
    let output = Command::new("objdump")
        .arg(format!("--disassemble={symbol}"))
        .arg("--no-show-raw-insn")
        .arg(std::env::current_exe().expect("this test is a file"))
        .output()
        .ok()?;
    parse(&String::from_utf8_lossy(&output.stdout), symbol)
}

fn parse(text: &str, symbol: &str) -> Option<Vec<Line>> {
    let body = text.split(&format!("<{symbol}>:\n")).nth(1)?;
    let lines = body.lines().map_while(|line| {
        let (address, text) = line.split_once(":\t")?;
        Some(Line { address: u64::from_str_radix(address.trim(), 16).ok()?, text: text.to_string() })
    });
    Some(lines.collect())
}

/// One way through a function.
#[derive(Clone, Default)]
struct Way {
    seen: Vec<usize>,
    instructions: usize,
    calls: usize,
    atomic: bool,
}

/// All ways from the first instruction to a return that do not come by a first use. What runs out of the listing
/// after a call is a panic.
fn warm_ways(listing: &[Line]) -> Vec<Way> {
    let index_of = |address: u64| listing.iter().position(|line| line.address == address);
    let mut open = vec![(0, Way::default())];
    let mut ways = Vec::new();
    while let Some((at, mut way)) = open.pop() {
        let Some(line) = listing.get(at) else { continue };
        if line.is_first_use() || way.seen.contains(&at) {
            continue;
        }
        way.seen.push(at);
        way.instructions += 1;
        way.atomic |= line.is_atomic_change();
        match line.flow() {
            Flow::Next => open.push((at + 1, way)),
            Flow::Call => {
                way.calls += 1;
                open.push((at + 1, way));
            }
            Flow::Jump(target) => match target.and_then(index_of) {
                Some(inside) => open.push((inside, way)),
                None => {
                    way.calls += 1;
                    ways.push(way);
                }
            },
            Flow::Branch(target) => {
                if let Some(inside) = index_of(target) {
                    open.push((inside, way.clone()));
                }
                open.push((at + 1, way));
            }
            Flow::Return => ways.push(way),
            Flow::Trap => {}
        }
    }
    ways
}

#[test]
fn ways_are_found_in_listings_of_both_architectures() {
    let x86_64 = "0010 <f>:
  10:\tmov    0x10(%rip),%rsi        # 6ac7d0 <SITE+0x20>
  11:\ttest   %rsi,%rsi
  12:\tje     15 <f+0x5>
  13:\tcall   *0x20(%rip)        # 6a8d30 <_DYNAMIC+0x2c8>
  14:\tret
  15:\tcall   40 <CallSite::first_use>
  16:\tjmp    13 <f+0x3>
";
    let aarch64 = "0010 <f>:
  10:\tstp\tx29, x30, [sp, #-16]!
  14:\tadrp\tx8, 20000 <SITE>
  18:\tldar\tx1, [x8]
  1c:\tcbz\tx1, 2c <f+0x1c>
  20:\tbl\t500 <objc_msgSend>
  24:\tldp\tx29, x30, [sp], #16
  28:\tret
  2c:\tbl\t600 <CallSite::first_use>
  30:\tb\t20 <f+0x10>
  34:\tldaddal\tx0, x0, [x8]
";
    for (text, instructions) in [(x86_64, 5), (aarch64, 7)] {
        let listing = parse(text, "f").unwrap();
        let ways: Vec<_> = warm_ways(&listing).iter().map(|way| (way.instructions, way.calls, way.atomic)).collect();
        assert_eq!(ways, [(instructions, 1, false)], "{text}");
    }
    assert!(parse(aarch64, "f").unwrap().iter().any(Line::is_atomic_change));
}
