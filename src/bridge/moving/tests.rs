//! Which starts are fed, and which programs are remembered.

use burn_backend::{DType, Shape, Slice};

use super::*;
use crate::bridge::draft::Flow;
use crate::bridge::recording::Cut;
use crate::bridge::thread::current;
use crate::ops::random;
use crate::ops::tensor_shape::slice;
use crate::tensor::MpsGraphTensor;

/// What `look` finds about the program that takes `columns` columns of `rows` rows from these starts on.
fn looked_at<R>(rows: usize, columns: usize, starts: &[usize], look: impl FnOnce(&Draft<'_>) -> R) -> R {
    let shape = Shape::from([rows, 100]);
    let data = random::random("random", shape, burn_backend::Distribution::Default, DType::F32);
    let part = |&start: &usize| {
        let columns = Slice::new(start as isize, Some((start + columns) as isize), 1);
        slice(data.clone(), &[Slice::full(), columns])
    };
    let _wanted: Vec<MpsGraphTensor> = starts.iter().map(part).collect();
    let recording = current().expect("the thread is not ending");
    let segment = recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded");
    let draft = Draft::new(&Flow::new(&segment), &segment.wanted, &vec![false; segment.nodes.len()]);
    look(&draft.expect("something is wanted"))
}

fn note(known: &mut MovingPrograms, rows: usize, columns: usize, starts: &[usize]) {
    looked_at(rows, columns, starts, |draft| known.note(draft, &Arc::new(draft.program())));
}

/// The form of a program that was never asked for.
fn found(known: &mut MovingPrograms, draft: &Draft<'_>) -> Option<Arc<Moving>> {
    match known.find(draft, draft.hash(), true) {
        Form::Moving(moving) => Some(moving),
        Form::Plain { .. } => None,
    }
}

/// The starts that are fed to a program's nodes, if it is known.
fn fed(known: &mut MovingPrograms, rows: usize, columns: usize, starts: &[usize]) -> Option<Vec<usize>> {
    looked_at(rows, columns, starts, |draft| {
        let moving = found(known, draft)?;
        let scalars: usize = moving.program.nodes.iter().map(|node| node.scalars.len()).sum();
        assert!(moving.is_form_of(draft) && scalars == moving.scalars(draft).len());
        Some(moving.fed.iter().map(|fed| count(fed)).collect())
    })
}

#[test]
fn only_starts_that_have_moved_are_fed() {
    let mut known = MovingPrograms::default();
    assert_eq!(fed(&mut known, 3, 5, &[7, 20]), None);
    note(&mut known, 3, 5, &[7, 20]);
    assert_eq!(fed(&mut known, 3, 5, &[7, 21]), Some(vec![0, 0, 1]));
    assert_eq!(fed(&mut known, 3, 5, &[7, 30]), Some(vec![0, 0, 1]));
    assert_eq!(fed(&mut known, 3, 5, &[8, 30]), Some(vec![0, 1, 1]));
    assert_eq!(fed(&mut known, 3, 5, &[7, 20]), Some(vec![0, 1, 1]), "what has moved stays fed");
    assert_eq!(fed(&mut known, 3, 6, &[7, 20]), None, "another extent is another program");
}

#[test]
fn the_same_form_is_found_again_without_being_made() {
    let mut known = MovingPrograms::default();
    note(&mut known, 3, 5, &[7]);
    let forms = [8, 9].map(|start| looked_at(3, 5, &[start], |draft| found(&mut known, draft).expect("it is known")));
    assert!(Arc::ptr_eq(&forms[0], &forms[1]));
}

#[test]
fn many_different_places_are_not_fed() {
    let mut known = MovingPrograms::default();
    let places = |from: usize| (from..from + PLACES + 1).collect::<Vec<_>>();
    note(&mut known, 3, 5, &places(0));
    assert_eq!(fed(&mut known, 3, 5, &places(40)), None);
    let same_place = vec![50; PLACES + 1];
    assert!(fed(&mut known, 3, 5, &same_place).is_none_or(|fed| fed.iter().sum::<usize>() > 0));
    assert_eq!(fed(&mut known, 3, 5, &places(60)), None);
}

#[test]
fn many_places_are_fed_when_they_were_others_often() {
    let mut known = MovingPrograms::default();
    // Each program has one start, and only one, where the first one has it.
    let place = |at: usize, from: usize| if at == from % PLACES { at } else { from + at };
    let places = |from: usize| (0..PLACES + 2).map(|at| place(at, from)).collect::<Vec<_>>();
    note(&mut known, 3, 5, &places(0));
    let fed_starts = (1..70).map(|from| fed(&mut known, 3, 5, &places(from)).map(|fed| fed.iter().sum::<usize>()));
    let fed_starts: Vec<Option<usize>> = fed_starts.collect();
    let until = CROWDED as usize - 1;
    assert!(fed_starts[..until].iter().all(Option::is_none), "{fed_starts:?}");
    assert!(fed_starts[until..].iter().all(|fed| *fed == Some(PLACES + 2)), "{fed_starts:?}");
}

#[test]
fn what_was_not_asked_for_lately_is_forgotten() {
    let mut known = MovingPrograms::default();
    (1..=KNOWN).for_each(|rows| note(&mut known, rows, 5, &[7]));
    assert_eq!(known.len, KNOWN);
    assert!(fed(&mut known, 1, 5, &[8]).is_some(), "this one is used again");
    note(&mut known, KNOWN + 1, 5, &[7]);
    assert!(known.len <= KNOWN / 2 + 1 && known.ops == 2 * known.len, "{} programs", known.len);
    for (rows, is_known) in [(1, true), (2, false), (KNOWN / 2 - 1, false), (KNOWN + 1, true)] {
        assert_eq!(fed(&mut known, rows, 5, &[9]).is_some(), is_known, "{rows}");
    }
}
