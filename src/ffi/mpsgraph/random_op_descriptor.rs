//! `MPSGraphRandomOpDescriptor`: what numbers a random operation draws.

use super::DataType;
use crate::ffi::objc::{Retained, autoreleasepool, objc_class, objc_enum, objc_methods};

objc_class!(
    /// What numbers a random operation draws.
    MPSGraphRandomOpDescriptor
);

/// What numbers a random operation draws, retained.
pub(crate) type RandomOpDescriptor = Retained<MPSGraphRandomOpDescriptor>;

objc_enum! {
    /// A distribution.
    enum RandomDistribution: u64 = "MPSGraphRandomDistribution" {
        /// Floats in [min, max), integers in [min, max].
        Uniform = "MPSGraphRandomDistributionUniform" 0,
        /// By mean and standard deviation.
        Normal = "MPSGraphRandomDistributionNormal" 1,
    }
}

objc_enum! {
    /// How normal numbers are made of uniform ones.
    enum NormalSamplingMethod: u64 = "MPSGraphRandomNormalSamplingMethod" {
        /// By the inverse of the cumulative distribution; NaN has been seen for a uniform number of 0.
        InverseCdf = "MPSGraphRandomNormalSamplingInvCDF" 0,
        /// By Box and Muller's transform.
        BoxMuller = "MPSGraphRandomNormalSamplingBoxMuller" 1,
    }
}

objc_methods! {
    "MPSGraphRandomOps.h";
    impl MPSGraphRandomOpDescriptor {
        class fn with_distribution(distribution: RandomDistribution, data_type: DataType)
            -> Option<RandomOpDescriptor> = "descriptorWithDistribution:dataType:", since (12, 1);

        /// Lower bound of floats.
        instance fn set_min(value: f32) = "setMin:", since (12, 1);
        /// Upper bound of floats.
        instance fn set_max(value: f32) = "setMax:", since (12, 1);
        /// Lower bound of integers.
        instance fn set_min_integer(value: isize) = "setMinInteger:", since (12, 1);
        /// Upper bound of integers, itself drawn too.
        instance fn set_max_integer(value: isize) = "setMaxInteger:", since (12, 1);
        /// Mean of normal numbers.
        instance fn set_mean(value: f32) = "setMean:", since (12, 1);
        /// Standard deviation of normal numbers.
        instance fn set_standard_deviation(value: f32) = "setStandardDeviation:", since (12, 1);
        /// How normal numbers are made.
        instance fn set_sampling_method(value: NormalSamplingMethod) = "setSamplingMethod:", since (12, 1);
    }
}

impl RandomOpDescriptor {
    /// Numbers of a distribution, as `data_type`: f32, f16 or i32.
    pub(crate) fn new(distribution: RandomDistribution, data_type: DataType) -> Self {
        autoreleasepool(|| {
            MPSGraphRandomOpDescriptor::with_distribution(distribution, data_type)
                .unwrap_or_else(|| unreachable!("MPSGraph draws no {distribution:?} numbers of {data_type:?}"))
        })
    }
}
