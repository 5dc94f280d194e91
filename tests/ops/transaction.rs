//! Data in and out: every dtype, many tensors at once, other threads' handles.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Bool, DType, Float, Int, Tensor, TensorData, TensorMetadata, Transaction};
use burn_ir::{BackendIr, HandleContainer, TensorHandle, TensorId, TensorIr, TensorStatus};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use test_support::{DTYPES, INTEGERS, distinct};

const DEVICE: MpsGraphDevice = MpsGraphDevice;

/// Uploaded and read again, also through an op that copies.
fn round_trip<K: BasicOps<MpsGraph>, const D: usize>(data: TensorData) {
    let tensor = Tensor::<MpsGraph, D, K>::from_data(data.clone(), (&DEVICE, data.dtype));
    assert_eq!((tensor.dtype(), tensor.shape()), (data.dtype, data.shape.clone()));
    tensor.to_data().assert_eq(&data, true);
    tensor.clone().to_device(&DEVICE).into_data().assert_eq(&data, true);
    assert_eq!(tensor.clone().flip([0]).flip([0]).into_data().as_bytes(), data.as_bytes());
    tensor.into_data().assert_eq(&data, true);
}

#[test]
fn every_dtype_goes_up_and_down() {
    for dtype in DTYPES {
        for shape in [[2, 3, 4], [1, 1, 1], [2, 0, 3], [7, 11, 13]] {
            let data = distinct(shape, dtype);
            match dtype {
                DType::Bool(_) => round_trip::<Bool, 3>(data),
                _ if dtype.is_float() => round_trip::<Float, 3>(data),
                _ => round_trip::<Int, 3>(data),
            }
        }
    }
}

#[test]
fn the_ends_of_every_integer_range_survive() {
    round_trip::<Int, 1>(TensorData::from([i8::MIN, -1, 0, 1, i8::MAX]));
    round_trip::<Int, 1>(TensorData::from([i16::MIN, -1, 0, 1, i16::MAX]));
    round_trip::<Int, 1>(TensorData::from([i32::MIN, -1, 16_777_217, i32::MAX]));
    round_trip::<Int, 1>(TensorData::from([i64::MIN, -1, 9_007_199_254_740_993, i64::MAX]));
    round_trip::<Int, 1>(TensorData::from([0, 1, u8::MAX]));
    round_trip::<Int, 1>(TensorData::from([0, 1, u16::MAX]));
    round_trip::<Int, 1>(TensorData::from([0, 16_777_217, u32::MAX]));
    round_trip::<Int, 1>(TensorData::from([0, 9_007_199_254_740_993, u64::MAX]));
}

/// Bit for bit: payloads of NaN, subnormal numbers and signed zeros are data.
#[test]
fn bits_of_floats_survive() {
    let bits = [0x7fc0_1234u32, 0xff80_0001, 0x8000_0000, 0x0000_0001, 0x7f80_0000, 0x0040_0000, 0x3f80_0001];
    let data = TensorData::from(bits.map(f32::from_bits));
    let tensor = Tensor::<MpsGraph, 1>::from_data(data.clone(), &DEVICE);
    assert_eq!(tensor.into_data().as_bytes(), data.as_bytes());
}

#[test]
fn data_of_another_dtype_is_converted() {
    let ints = Tensor::<MpsGraph, 1, Int>::from_data([1i64, -2, 3], &DEVICE).into_data();
    ints.assert_eq(&TensorData::from([1i32, -2, 3]), true);
    let floats = Tensor::<MpsGraph, 1>::from_data([1.5f64, -2.0], &DEVICE).into_data();
    floats.assert_eq(&TensorData::from([1.5f32, -2.0]), true);
    let half = Tensor::<MpsGraph, 1>::from_data([1.5f32, -2.0], (&DEVICE, DType::BF16));
    assert_eq!(half.dtype(), DType::BF16);
}

#[test]
fn a_transaction_reads_many_tensors_in_their_order() {
    let mut transaction = Transaction::<MpsGraph>::default();
    let mut expected = Vec::new();
    for dtype in INTEGERS {
        let data = distinct([3, 4], dtype);
        transaction = transaction.register(Tensor::<MpsGraph, 2, Int>::from_data(data.clone(), (&DEVICE, dtype)));
        expected.push(data);
    }
    let floats = Tensor::<MpsGraph, 1>::from_data([1.0, 2.0], &DEVICE);
    let bools = Tensor::<MpsGraph, 1, Bool>::from_data([true, false], &DEVICE);
    transaction = transaction.register(floats.clone() * 2.0).register(bools.bool_not()).register(floats.sum());
    let found = transaction.execute();
    expected.push(TensorData::from([2.0f32, 4.0]));
    expected.push(TensorData::from([false, true]));
    expected.push(TensorData::from([3.0f32]));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        found.assert_eq(expected, true);
    }
}

#[test]
fn sync_and_scalars() {
    let tensor = Tensor::<MpsGraph, 1>::from_data([2.0, 3.0], &DEVICE) * 4.0;
    <MpsGraph>::sync(&DEVICE).expect("no fault");
    DEVICE.sync().expect("no fault");
    assert_eq!(tensor.clone().sum().into_scalar(), 20.0);
    assert_eq!(tensor.try_into_data().expect("no fault").iter::<f32>().collect::<Vec<_>>(), [8.0, 12.0]);
    let any = Tensor::<MpsGraph, 1, Bool>::from_data([false, true], &DEVICE).any();
    assert!(any.into_scalar());
}

#[test]
fn a_tensor_is_read_on_another_thread() {
    let tensor = Tensor::<MpsGraph, 1>::from_data([2.0, 3.0], &DEVICE) + 1.0;
    let read = std::thread::spawn({
        let tensor = tensor.clone();
        move || (tensor * 2.0).into_data()
    });
    read.join().expect("the other thread reads").assert_eq(&TensorData::from([6.0f32, 8.0]), true);
    tensor.into_data().assert_eq(&TensorData::from([3.0f32, 4.0]), true);
}

/// What burn-router does: tensors by id in a container of handles.
#[test]
fn handles_give_their_tensor_back() {
    let mut handles = HandleContainer::<<MpsGraph as BackendIr>::Handle>::new();
    let float = Tensor::<MpsGraph, 2>::from_data([[1.0, 2.0], [3.0, 4.0]], &DEVICE).into_primitive().tensor();
    let ir =
        TensorIr { id: TensorId::new(7), shape: float.shape(), status: TensorStatus::ReadWrite, dtype: float.dtype() };
    handles.register_float_tensor::<MpsGraph>(&ir.id, float);
    let found = handles.get_float_tensor::<MpsGraph>(&ir);
    assert!(!handles.has_handle(&ir.id), "a handle that may be written is taken");
    let doubled = Tensor::<MpsGraph, 2>::from_primitive(burn::tensor::TensorPrimitive::Float(found)) * 2.0;
    doubled.into_data().assert_eq(&TensorData::from([[2.0f32, 4.0], [6.0, 8.0]]), true);
}

#[test]
#[should_panic(expected = "a bool tensor was asked for where the handle holds a int tensor")]
fn a_handle_of_another_kind_is_named() {
    let int = Tensor::<MpsGraph, 1, Int>::from_data([1], &DEVICE).into_primitive();
    let shape = int.shape();
    <MpsGraph>::bool_tensor(TensorHandle { handle: <MpsGraph>::int_tensor_handle(int), shape });
}
