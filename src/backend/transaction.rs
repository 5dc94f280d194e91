//! Many reads with one flush and one wait.

use burn_backend::ExecutionError;
use burn_backend::ops::{TransactionOps, TransactionPrimitive, TransactionPrimitiveData};

use super::{FloatElement, IntElement, MpsGraph, not_yet};

impl<F: FloatElement, I: IntElement> TransactionOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    async fn tr_execute(transaction: TransactionPrimitive<Self>) -> Result<TransactionPrimitiveData, ExecutionError> {
        if !transaction.read_qfloats.is_empty() {
            not_yet("q_into_data");
        }
        let counts = [transaction.read_floats.len(), transaction.read_ints.len()];
        let mut tensors = transaction.read_floats;
        tensors.extend(transaction.read_ints);
        tensors.extend(transaction.read_bools);
        let mut data = crate::bridge::read(&tensors)?.into_iter();
        Ok(TransactionPrimitiveData {
            read_floats: data.by_ref().take(counts[0]).collect(),
            read_qfloats: Vec::new(),
            read_ints: data.by_ref().take(counts[1]).collect(),
            read_bools: data.collect(),
        })
    }
}
