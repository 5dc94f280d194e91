//! Conversions of 16-bit floats that the loop of an operation makes itself, instead of an instruction of their own.
//!
//! Such floats are widened when they are read, rounded after each operation, and narrowed when they are written. A
//! basic operation or a pair of them ([`half_loops`](super::half_loops)) does all that while it has the numbers in
//! registers. A selection of what is read needs none, if what it yields is only written.

use super::fused_loop::{Instruction, Run};
use super::pairs::Role;
use super::round::HalfFloat;
use super::select;
use super::stepped::{Form, Source};
use super::tile::{IntType, TileType};
use super::uses::{Uses, remove};

/// Lets operations round what they make; returns how many do. `outside` are the values in memory.
pub fn join_roundings(instructions: &mut Vec<Instruction>, outside: &[bool]) -> usize {
    if !instructions.iter().any(is_conversion) {
        return 0;
    }
    let mut gone = vec![false; instructions.len()];
    let uses = Uses::of(instructions, outside.len());
    for at in 0..instructions.len() {
        let Instruction { role: Some(Role::Round(float)), src: [value, ..], dst, .. } = instructions[at] else {
            continue;
        };
        let maker = uses.makers[value].filter(|_| uses.readers[value] == [at] && !outside[value]);
        if let Some(maker) = maker.map(|maker| &mut instructions[maker])
            && let Some(form) = form_for(maker, float)
        {
            let [_, last] = form.rounds;
            maker.run = Form { rounds: [true, last], float: Some(float), ..form }.run();
            maker.dst = dst;
            gone[at] = true;
        }
    }
    remove(instructions, &gone)
}

/// Lets selections move such floats as they are; returns how many conversions are gone.
pub fn join_selections(instructions: &mut Vec<Instruction>, outside: &[bool]) -> usize {
    if !instructions.iter().any(|instruction| instruction.role == Some(Role::Select)) {
        return 0;
    }
    let mut gone = vec![false; instructions.len()];
    let uses = Uses::of(instructions, outside.len());
    for at in 0..instructions.len() {
        let Instruction { role: Some(Role::Narrow(float)), src: [wide, ..], dst, .. } = instructions[at] else {
            continue;
        };
        let read = |value: usize| match instructions[uses.makers[value]?] {
            Instruction { role: Some(Role::Widen(own)), src: [narrow, ..], .. } if own == float => Some(narrow),
            _ => None,
        };
        if let Some(maker) = uses.makers[wide].filter(|_| uses.readers[wide] == [at] && !outside[wide])
            && let Instruction { role: Some(Role::Select), src: [predicate, a, b], .. } = instructions[maker]
            && let (Some(a), Some(b)) = (read(a), read(b))
        {
            let run = Run::Tile(select::select(TileType::Int(IntType::U16)));
            instructions[at] = Instruction { run, dst, src: [predicate, a, b], role: None };
            gone[maker] = true;
        }
    }
    let selections = remove(instructions, &gone);
    let uses = Uses::of(instructions, outside.len());
    let is_unread = |instruction: &Instruction| {
        matches!(instruction.role, Some(Role::Widen(_)))
            && uses.readers[instruction.dst].is_empty()
            && !outside[instruction.dst]
    };
    let gone: Vec<bool> = instructions.iter().map(is_unread).collect();
    selections + remove(instructions, &gone)
}

/// Lets operations widen what they read and narrow what they write; returns how many conversions are gone.
pub fn join_conversions(instructions: &mut Vec<Instruction>, outside: &[bool]) -> usize {
    if !instructions.iter().any(is_conversion) {
        return 0;
    }
    let mut gone = vec![false; instructions.len()];
    let uses = Uses::of(instructions, outside.len());
    for at in 0..instructions.len() {
        let Instruction { role: Some(Role::Widen(float)), src: [narrow, ..], dst: wide, .. } = instructions[at] else {
            continue;
        };
        // Who asks for the f32 needs them in memory.
        if !outside[wide] && uses.readers[wide].iter().all(|&reader| form_for(&instructions[reader], float).is_some()) {
            uses.readers[wide].iter().for_each(|&reader| read_narrow(&mut instructions[reader], [wide, narrow], float));
            gone[at] = true;
        }
    }
    for at in 0..instructions.len() {
        let Instruction { role: Some(Role::Narrow(float)), src: [wide, ..], dst: narrow, .. } = instructions[at] else {
            continue;
        };
        let Some(maker) = uses.makers[wide].filter(|_| !outside[wide]) else { continue };
        let others = || uses.readers[wide].iter().copied().filter(|&reader| reader != at);
        let form = instructions[maker].form().filter(|form| form.float == Some(float) && form.rounds_last());
        if let Some(form) = form
            && others().all(|reader| form_for(&instructions[reader], float).is_some())
        {
            others().for_each(|reader| read_narrow(&mut instructions[reader], [wide, narrow], float));
            let maker = &mut instructions[maker];
            maker.dst = narrow;
            maker.run = Form { narrow: true, ..form }.run();
            gone[at] = true;
        }
    }
    remove(instructions, &gone)
}

fn is_conversion(instruction: &Instruction) -> bool {
    matches!(instruction.role, Some(Role::Widen(_) | Role::Round(_) | Role::Narrow(_)))
}

/// What an instruction does, if it can convert these floats.
fn form_for(instruction: &Instruction, float: HalfFloat) -> Option<Form> {
    instruction.form().filter(|form| form.float.is_none_or(|own| own == float))
}

/// Makes the reader of a value read the same as 16-bit floats.
fn read_narrow(reader: &mut Instruction, [wide, narrow]: [usize; 2], float: HalfFloat) {
    let mut form = form_for(reader, float).expect("it was asked before");
    form.float = Some(float);
    for (source, src) in form.sources.iter_mut().zip(&mut reader.src).filter(|(_, src)| **src == wide) {
        (*source, *src) = (Source::Narrow, narrow);
    }
    reader.run = form.run();
}
