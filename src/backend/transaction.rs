//! Many reads with one flush and one wait.

use burn_backend::ExecutionError;
use burn_backend::ops::{TransactionOps, TransactionPrimitive, TransactionPrimitiveData};

use super::quantized::joined;
use super::{FloatElement, IntElement, MpsGraph};

impl<F: FloatElement, I: IntElement> TransactionOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    async fn tr_execute(transaction: TransactionPrimitive<Self>) -> Result<TransactionPrimitiveData, ExecutionError> {
        let quantized = transaction.read_qfloats;
        let counts = [transaction.read_floats.len(), 2 * quantized.len(), transaction.read_ints.len()];
        let mut tensors = transaction.read_floats;
        tensors.extend(quantized.iter().flat_map(|tensor| [*tensor.values.clone(), *tensor.scales.clone()]));
        tensors.extend(transaction.read_ints);
        tensors.extend(transaction.read_bools);
        let mut data = crate::bridge::read(tensors).await?.into_iter();
        Ok(TransactionPrimitiveData {
            read_floats: data.by_ref().take(counts[0]).collect(),
            read_qfloats: joined(&quantized, data.by_ref().take(counts[1])),
            read_ints: data.by_ref().take(counts[2]).collect(),
            read_bools: data.collect(),
        })
    }
}
