//! Random numbers: the first ones against Philox's published vector, the others by what they must keep to.

use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{data_type, numbers, objects};
use super::session::{BF16, F16, F32, Graph, I32, I64, Value, floats, halves, ints, run};
use crate::support::{Assumed, Documented, Reported, class, msg, refused, rule};

/// Counter 0, key 0.
const ZERO: [i32; 7] = [1, 0, 0, 0, 0, 0, 0];
const RANDOM: &str = "randomTensorWithShape:descriptor:stateTensor:name:";
const BOX_MULLER: usize = 1;

fn descriptor(distribution: usize, code: u32) -> Id {
    msg!(
        class("MPSGraphRandomOpDescriptor"), "descriptorWithDistribution:dataType:",
        distribution => usize, code => u32; Id
    )
}

fn random(graph: &Graph, extents: &[i64], descriptor: Id, state: Id) -> Vec<Id> {
    let shape = numbers(extents);
    objects(msg!(graph.id(), RANDOM, shape => Id, descriptor => Id, state => Id, Id::NIL => Id; Id))
}

fn drawn(state: [i32; 7], extents: &[i64], descriptor: Id) -> Vec<Value> {
    run(&[ints(&[7], &state)], |graph, x| random(graph, extents, descriptor, x[0]))
}

/// The first three words that Philox4x32-10 makes of counter 0 and key 0, as numbers of 24 bits.
fn published() -> [f32; 3] {
    [0x0066_27e8_u32, 0x00e1_69c5, 0x00bc_57ac].map(|bits| bits as f32 / 16_777_216.0)
}

#[test]
fn uniform_floats() {
    let _test = rule(Assumed(
        "Apple's header names Philox, and Salmon and others, Parallel random numbers: as easy as 1, 2, 3, published \
         this vector",
    ));
    let results = drawn(ZERO, &[3, 1], descriptor(0, F32));
    assert_eq!(results[0], floats(&[3, 1], &published()));
    assert_eq!(results[1], ints(&[7], &[1, 1, 0, 0, 0, 0, 0]));
    let results = run(&[ints(&[7], &ZERO)], |graph, x| {
        let shape = numbers(&[3]);
        let selector = "randomUniformTensorWithShape:stateTensor:name:";
        objects(msg!(graph.id(), selector, shape => Id, x[0] => Id, Id::NIL => Id; Id))
    });
    assert_eq!(results[0], floats(&[3], &published()));
    let wanted = descriptor(0, F32);
    msg!(wanted, "setMin:", -1.0 => f32; ());
    msg!(wanted, "setMax:", 3.0 => f32; ());
    let results = drawn(ZERO, &[3], wanted);
    assert_eq!(results[0], floats(&[3], &published().map(|x| 4.0 * x - 1.0)));
}

#[test]
fn a_state_goes_on_where_the_last_ended() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h: the second result is the state to go on with"));
    let whole = drawn(ZERO, &[12], descriptor(0, F32));
    let first = drawn(ZERO, &[8], descriptor(0, F32));
    let state: [i32; 7] = first[1].elements().try_into().expect("seven words");
    let second = drawn(state, &[4], descriptor(0, F32));
    assert_eq!(whole[0].elements::<f32>(), [first[0].elements::<f32>(), second[0].elements()].concat());
    assert_eq!(whole[1], second[1]);
}

#[test]
fn halves_stay_below_the_end() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h: below the maximum"));
    let results = drawn(ZERO, &[4096, 8], descriptor(0, F16));
    let numbers = results[0].elements::<half::f16>();
    assert!(numbers.iter().all(|x| (0.0..1.0).contains(&x.to_f32())));
    assert_eq!(results[0].code, F16);
    let first = drawn(ZERO, &[3], descriptor(0, F16));
    assert_eq!(first[0], halves(&[3], &published()));
}

#[test]
fn integers_include_both_ends() {
    let _test = rule(Reported("pytorch/pytorch Distributions.mm passes the last one"));
    let wanted = descriptor(0, I32);
    msg!(wanted, "setMinInteger:", -2 => isize; ());
    msg!(wanted, "setMaxInteger:", 2 => isize; ());
    let results = drawn([1, 9, 0, 0, 0, 4, 2], &[5000], wanted);
    let mut counts = [0; 5];
    for x in results[0].elements::<i32>() {
        counts[(x + 2) as usize] += 1;
    }
    assert!(counts.iter().all(|&count: &i32| (count - 1000).abs() < 150), "{counts:?}");
    assert_eq!(results[1], ints(&[7], &[1, 9 + 2500, 0, 0, 0, 4, 2]));
    msg!(wanted, "setMinInteger:", i32::MIN as isize => isize; ());
    msg!(wanted, "setMaxInteger:", i32::MAX as isize => isize; ());
    let wide = drawn(ZERO, &[4096], wanted)[0].elements::<i32>();
    let mean = wide.iter().map(|&x| f64::from(x)).sum::<f64>() / 4096.0;
    assert!(mean.abs() < 1e8 && wide.iter().any(|&x| x > 2_000_000_000) && wide.iter().any(|x| x % 2 == 1));
}

#[test]
fn normal_numbers() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h: by mean and standard deviation"));
    let wanted = descriptor(1, F32);
    msg!(wanted, "setSamplingMethod:", BOX_MULLER => usize; ());
    msg!(wanted, "setMean:", 3.0 => f32; ());
    msg!(wanted, "setStandardDeviation:", 2.0 => f32; ());
    let numbers = drawn([1, 0, 0, 0, 0, 7, 7], &[100, 200], wanted)[0].elements::<f32>();
    let count = numbers.len() as f64;
    let mean = numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = numbers.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
    let within = numbers.iter().filter(|&&x| (x - 3.0).abs() < 2.0).count() as f64 / count;
    assert!((mean - 3.0).abs() < 0.05, "{mean}");
    assert!((variance - 4.0).abs() < 0.15, "{variance}");
    assert!((within - 0.6827).abs() < 0.012, "{within}");
}

#[test]
fn properties() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h has these for unset properties"));
    let uniform = Strong::retain(descriptor(0, I32));
    assert_eq!(data_type(uniform.id()), I32);
    assert_eq!(msg!(uniform.id(), "maxInteger"; isize), i32::MAX as isize);
    assert_eq!(msg!(uniform.id(), "max"; f32), 1.0);
    let normal = descriptor(1, F32);
    assert_eq!(msg!(normal, "min"; f32), -2.0);
    assert_eq!(msg!(normal, "standardDeviation"; f32), 1.0);
    msg!(normal, "setSamplingMethod:", BOX_MULLER => usize; ());
    assert_eq!(msg!(normal, "samplingMethod"; usize), BOX_MULLER);
    refused(
        "setSamplingMethod:",
        "MPSGraphRandomNormalSamplingMethod",
        || msg!(normal, "setSamplingMethod:", 2 => usize; ()),
    );
}

/// Checks that random numbers of this shape are refused.
#[track_caller]
fn random_refused(extents: &[i64], descriptor: Id, state: (&[i64], u32), reason: &str) {
    let graph = Graph::new();
    let state = graph.placeholder(state.0, state.1);
    refused(RANDOM, reason, || random(&graph, extents, descriptor, state));
}

/// Seven words, as Apple's MPSGraphRandomOps.h has it.
const STATE: (&[i64], u32) = (&[7], I32);

#[test]
fn random_refuses_rank_5() {
    let _test = rule(Reported("pytorch/pytorch#147624"));
    let reason = "broken from rank 5 on";
    random_refused(&[1, 1, 1, 1, 2], descriptor(0, F32), STATE, reason);
    let selector = "randomUniformTensorWithShape:stateTensor:name:";
    let graph = Graph::new();
    let state = graph.placeholder(&[7], I32);
    let shape = numbers(&[1, 1, 1, 1, 2]);
    refused(selector, reason, || msg!(graph.id(), selector, shape => Id, state => Id, Id::NIL => Id; Id));
}

#[test]
fn random_refuses_2_to_the_31_numbers() {
    let _test = rule(Documented("Apple's MPSNDArray.h"));
    let reason = "2^31 elements or more";
    random_refused(&[1 << 16, 1 << 15], descriptor(0, F32), STATE, reason);
    random_refused(&[1 << 40, 1 << 40], descriptor(0, I32), STATE, reason);
}

#[test]
fn random_refuses_a_state_that_is_not_seven_words() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h; pytorch/pytorch Distributions.mm"));
    for state in [(&[6][..], I32), (&[7], F32), (&[7, 1], I32)] {
        random_refused(&[2], descriptor(0, F32), state, "it must be Int32 [7]");
    }
}

#[test]
fn random_refuses_other_types_than_documented() {
    let _test =
        rule(Documented("Apple's MPSGraphRandomOps.h: Float32 and Float16, and Int32 for the uniform distribution"));
    for (distribution, code) in [(0, BF16), (0, I64), (1, I32), (1, BF16)] {
        random_refused(&[2], descriptor(distribution, code), STATE, "documented");
    }
}

#[test]
fn random_refuses_normal_numbers_by_the_inverse_of_the_distribution() {
    let _test = rule(Reported(
        "liuliu/ccv ccv_nnc_mps.m (seed 2069102477); JuliaGPU/Metal.jl#474: the inverse of the distribution at 0",
    ));
    for code in [F32, F16] {
        random_refused(&[2], descriptor(1, code), STATE, "NaN about once in 2^23");
    }
}

#[test]
fn random_refuses_what_is_missing_here() {
    let _test =
        rule(Assumed("this runtime has no truncated normal distribution, which Apple's MPSGraphRandomOps.h has"));
    random_refused(&[2], descriptor(2, F32), STATE, "truncated normal");
    random_refused(&[2], Id::NIL, STATE, "the descriptor is nil");
    refused("descriptorWithDistribution:dataType:", "3 is not an MPSGraphRandomDistribution", || descriptor(3, F32));
}

#[test]
fn random_refuses_an_empty_or_infinite_range() {
    let _test = rule(Documented("Apple's MPSGraphRandomOps.h: from the minimum on, below the maximum"));
    for (min, max) in [(1.0, 1.0), (f32::NEG_INFINITY, 0.0), (0.0, f32::NAN), (-3e38, 3e38)] {
        let wanted = descriptor(0, F32);
        msg!(wanted, "setMin:", min => f32; ());
        msg!(wanted, "setMax:", max => f32; ());
        random_refused(&[2], wanted, STATE, "must be finite, and not empty");
    }
}

#[test]
fn random_refuses_integers_beyond_32_bits() {
    let _test = rule(Reported("pytorch/pytorch Distributions.mm: integers are drawn in 32 bits"));
    let wanted = descriptor(0, I32);
    msg!(wanted, "setMaxInteger:", 1 << 31 => isize; ());
    random_refused(&[2], wanted, STATE, "the range must be Int32's");
}

#[test]
fn the_same_state_draws_the_same_numbers() {
    let _test = rule(Reported(
        "pytorch/pytorch Distributions.mm feeds the state, so that each run draws other numbers without compiling",
    ));
    let state = [1, 5, 0, 0, 0, 3, 0];
    let drawn = |state: [i32; 7]| drawn(state, &[64], descriptor(0, F32))[0].clone();
    assert_eq!(drawn(state), drawn(state));
    assert_ne!(drawn(state), drawn([1, 6, 0, 0, 0, 3, 0]));
    assert_ne!(drawn(state), drawn([1, 5, 0, 0, 0, 4, 0]));
}
