//! The reads that depend on a device fault return it, and `sync` returns it once; other values are not affected.

use burn::tensor::backend::Backend;
use mpsgraph_soft::metal::fault;

use super::{B, Turn, read, vector};
use burn_mpsgraph::MpsGraphDevice;

/// `MTLCommandBufferErrorOutOfMemory`
const OUT_OF_MEMORY: usize = 8;

#[test]
fn a_fault_is_an_error_of_the_read_and_of_what_depends_on_it() {
    let _turn = Turn::take();
    fault::fail_next(1, OUT_OF_MEMORY);
    let x = vector(&[1.0, 2.0]) + 1.0;
    let error = x.clone().try_into_data().expect_err("the work failed").to_string();
    assert!(error.contains("command buffer"), "{error}");
    let dependent = (x * 2.0).try_into_data();
    assert!(dependent.is_err(), "a value made from garbage is garbage");
    assert_eq!(read(vector(&[3.0]) + 1.0), [4.0]);
    assert!(B::sync(&MpsGraphDevice).is_err());
    assert!(B::sync(&MpsGraphDevice).is_ok());
}

#[test]
fn a_fault_nobody_read_comes_out_of_sync() {
    let _turn = Turn::take();
    fault::fail_next(1, OUT_OF_MEMORY);
    let x = vector(&[1.0, 2.0]) + 1.0;
    assert!(B::sync(&MpsGraphDevice).is_err());
    drop(x);
    assert!(B::sync(&MpsGraphDevice).is_ok());
}
