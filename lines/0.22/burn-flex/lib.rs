//! burn-mpsgraph under the names that Burn 0.22 has for its reference backend.
//!
//! Burn 0.22 reaches a backend through a closed list, in which Flex is one. A program that patches this package in has
//! Apple's GPU, or its software counterpart, in Flex's place.

pub use burn_mpsgraph::{MpsGraph as Flex, MpsGraphDevice as FlexDevice};

pub mod ops {
    //! What burn-signal calls by path, because no trait of Burn has it.

    pub mod fft {
        //! Fourier transforms: one for all dtypes, under the names of Flex's. f64 is refused there.

        pub use burn_mpsgraph::{
            irfft as irfft_bf16, irfft as irfft_f16, irfft as irfft_f32, irfft as irfft_f64, rfft as rfft_bf16,
            rfft as rfft_f16, rfft as rfft_f32, rfft as rfft_f64,
        };
    }
}
