//! Where a tensor is true or not zero: the one op family whose result's shape depends on values.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};

use crate::agreement::{Layout, Tolerance, bools};
use crate::table::compare;

#[test]
fn argwhere_and_nonzero() {
    fn case<B: Backend>(layout: Layout) -> Vec<TensorData> {
        let x = bools::<B>(layout, 0);
        let mut all = vec![x.clone().argwhere().into_data()];
        // burn-tensor splits the coordinates of no elements into no tensors.
        all.extend(x.clone().nonzero().into_iter().map(Tensor::into_data));
        all.push(x.clone().swap_dims(0, 2).argwhere().into_data());
        all.push(x.clone().bool_and(x.bool_not()).argwhere().into_data());
        all
    }
    for layout in Layout::ALL {
        let what = format!("argwhere, {layout:?}");
        compare(
            &what,
            Tolerance::Exact,
            || case::<burn_flex::Flex>(layout),
            || case::<burn_mpsgraph::MpsGraph>(layout),
        );
    }
}
