//! Strides of reshapes, slices and reversals.

use super::*;

#[test]
fn reshapes_that_strides_can_express() {
    let x = View::packed(ValueId(0), &[4, 6]);
    assert_eq!(x.reshape(&[2, 2, 6]).unwrap().strides, [12, 6, 1]);
    let turned = x.transpose(&[1, 0]);
    assert_eq!(turned.reshape(&[2, 3, 1, 4]).unwrap().strides, [3, 1, 0, 6]);
    assert_eq!(turned.reshape(&[24]), None);
    assert_eq!(x.broadcast(&[3, 4, 6]).reshape(&[3, 24]).unwrap().strides, [0, 1]);
}

#[test]
fn slices_of_reversals() {
    let x = View::packed(ValueId(0), &[4, 6]).reverse(&[1]).slice(&[1, 2], &[2, 3], &[2, 2]);
    assert_eq!((x.offset, &x.strides[..]), (9, &[12, -3][..]));
    assert!(!x.is_consecutive());
}
