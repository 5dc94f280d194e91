//! `MTLDevice`: the GPU, and where buffers and queues come from.

use super::mtl_buffer::MTLBuffer;
use super::mtl_heap::{Heap, MTLHeapDescriptor, SizeAndAlign};
use super::{Buffer, CommandQueue};
use crate::ffi::foundation::ns_array::NSArray;
use crate::ffi::foundation::ns_exception::report_exceptions;
use crate::ffi::foundation::ns_string::NSString;
use crate::ffi::objc::{Retained, autoreleasepool, objc_enum, objc_methods, objc_protocol};
use crate::ffi::symbols;

objc_protocol!(
    /// A GPU.
    MTLDevice
);

// SAFETY: Metal documents devices as usable from any thread; nothing here changes one.
unsafe impl Send for MTLDevice {}
// SAFETY: as above.
unsafe impl Sync for MTLDevice {}

/// A GPU, retained.
pub(crate) type Device = Retained<MTLDevice>;

objc_enum! {
    /// Where a buffer's bytes are.
    enum ResourceOptions: u64 = "MTLResourceOptions" {
        /// One allocation that both CPU and GPU use.
        StorageModeShared = "MTLResourceStorageModeShared" 0x0,
    }
}

objc_enum! {
    /// What a GPU can do, by the first one that could.
    enum GpuFamily: i64 = "MTLGPUFamily" {
        /// M1, the first of Apple's own in a Mac.
        Apple7 = "MTLGPUFamilyApple7" 1007,
        /// M5.
        Apple10 = "MTLGPUFamilyApple10" 1010,
    }
}

/// The command buffers of a queue that may be in flight. Asking for one more waits until one ends, however long that
/// takes, in the middle of an encode too. So these are more than the submissions in flight take, each of which MPSGraph
/// may divide: DrewsChessMachine has counted eleven for 8,000 operations on macOS 27.2. Metal's own number is 64.
const COMMAND_BUFFERS: usize = 1024;

objc_methods! {
    "MTLDevice.h";
    impl MTLDevice {
        instance fn name_object() -> Retained<NSString> = "name", since (10, 11);

        /// The longest buffer, in bytes.
        instance fn max_buffer_length() -> u64 = "maxBufferLength", since (10, 14);

        /// How many bytes may be in use before the system starts to move memory about.
        instance fn recommended_max_working_set_size() -> u64 = "recommendedMaxWorkingSetSize", since (10, 12);

        /// Bytes that the device has allocated for this process.
        instance fn current_allocated_size() -> u64 = "currentAllocatedSize", since (10, 13);

        /// Whether CPU and GPU use the same memory.
        instance fn has_unified_memory() -> bool = "hasUnifiedMemory", since (10, 15);

        instance fn supports_family(family: GpuFamily) -> bool = "supportsFamily:", since (10, 15);

        instance fn new_command_queue_of(max_command_buffers: usize) -> Option<CommandQueue>
            = "newCommandQueueWithMaxCommandBufferCount:", since (10, 11);

        instance fn new_buffer_with_options(length: usize, options: ResourceOptions) -> Option<Retained<MTLBuffer>>
            = "newBufferWithLength:options:", since (10, 11);

        instance fn heap_buffer_size_and_align(length: usize, options: ResourceOptions) -> SizeAndAlign
            = "heapBufferSizeAndAlignWithLength:options:", since (10, 13);

        instance fn new_heap_with_descriptor(descriptor: &MTLHeapDescriptor) -> Option<Heap>
            = "newHeapWithDescriptor:", since (10, 13);
    }
}

impl Device {
    /// The system's GPU; `None` if it has none.
    ///
    /// Processes without a window (in tmux, over SSH, of launchd) have been told of no default device, also with
    /// CoreGraphics linked (huggingface/candle#3449). Of those that are listed the first that shares the CPU's memory
    /// is taken then, or else the first.
    pub(crate) fn system_default() -> Option<Self> {
        report_exceptions();
        autoreleasepool(|| {
            // SAFETY: no preconditions; the function's name makes the result ours.
            let device = unsafe { symbols::MTLCreateSystemDefaultDevice() };
            // SAFETY: nil, or a device with a reference that is ours.
            unsafe { Self::from_owned(device.cast()) }.or_else(|| {
                let mut devices = Self::all();
                let shares = devices.iter().position(|device| device.has_unified_memory()).unwrap_or(0);
                (!devices.is_empty()).then(|| devices.swap_remove(shares))
            })
        })
    }

    /// All GPUs that the system lists.
    fn all() -> Vec<Self> {
        // SAFETY: no preconditions; the function's name makes the result ours.
        let devices = unsafe { symbols::MTLCopyAllDevices() };
        // SAFETY: nil, or an array of devices with a reference that is ours.
        let devices = unsafe { Retained::<NSArray>::from_owned(devices.cast()) };
        // SAFETY: its elements are devices.
        devices.map(|devices| unsafe { devices.to_vec() }).unwrap_or_default()
    }
}

impl MTLDevice {
    /// Whether heaps can hold buffers that CPU and GPU share: Metal has them on Apple's own GPUs only.
    pub(crate) fn has_shared_heaps(&self) -> bool {
        self.supports_family(GpuFamily::Apple7)
    }

    /// Whether the GPU is that of M1 to M4. One that a virtual machine shows is of an older family.
    pub(crate) fn is_m1_to_m4(&self) -> bool {
        self.supports_family(GpuFamily::Apple7) && !self.supports_family(GpuFamily::Apple10)
    }

    /// Apple's name of the GPU, as in "Apple M3 Pro".
    pub(crate) fn name(&self) -> String {
        autoreleasepool(|| self.name_object().to_text())
    }

    /// A queue whose command buffers run in the order of their commits; `None` without resources.
    pub(crate) fn new_command_queue(&self) -> Option<CommandQueue> {
        autoreleasepool(|| self.new_command_queue_of(COMMAND_BUFFERS))
    }

    /// A buffer of `length` > 0 bytes that CPU and GPU share, contents unspecified; `None` if memory is short or the
    /// length exceeds [`max_buffer_length`](Self::max_buffer_length).
    pub(crate) fn new_buffer(&self, length: usize) -> Option<Buffer> {
        debug_assert!(length > 0, "Metal has no empty buffers");
        if length as u64 > self.max_buffer_length() {
            return None;
        }
        autoreleasepool(|| self.new_buffer_with_options(length, ResourceOptions::StorageModeShared)).map(Buffer::new)
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let device = crate::ffi::exercise::device();
    assert_eq!(Device::all().len(), 1);
    assert!(!device.name().is_empty());
    assert!(device.max_buffer_length() >= 1 << 28);
    assert!(device.recommended_max_working_set_size() > 0);
    assert!(device.new_command_queue().is_some());
    assert!(device.new_buffer(usize::MAX).is_none());
    let buffer = device.new_buffer(1 << 20);
    assert!(buffer.is_some() && device.current_allocated_size() >= 1 << 20);
    assert!(device.has_unified_memory());
    assert_eq!(device.is_m1_to_m4(), crate::ffi::gpu::is_m1_to_m4());
    if device.has_shared_heaps() {
        assert!(device.heap_buffer_size(1).size > 0);
        assert!(device.new_heap(1 << 16).is_some());
    }
}
