//! `MTLHeap`: one block of memory for many small buffers, each of which would cost a page or more by itself.

use super::Buffer;
use super::mtl_buffer::MTLBuffer;
use super::mtl_device::{MTLDevice, ResourceOptions};
use crate::ffi::objc::{CallSite, Retained, Return, autoreleasepool, impl_encode, objc_class, objc_enum};
use crate::ffi::objc::{objc_methods, objc_protocol};

objc_protocol!(
    /// A block of memory that buffers are made in.
    MTLHeap
);

objc_class!(
    /// What a heap shall be.
    MTLHeapDescriptor
);

// SAFETY: Metal documents heaps as usable from any thread.
unsafe impl Send for MTLHeap {}
// SAFETY: as above.
unsafe impl Sync for MTLHeap {}

/// A heap, retained. Its buffers keep it alive.
pub(crate) type Heap = Retained<MTLHeap>;

objc_enum! {
    /// Where the bytes of a heap are.
    enum StorageMode: u64 = "MTLStorageMode" {
        /// One allocation that both CPU and GPU use.
        Shared = "MTLStorageModeShared" 0,
    }
}

objc_enum! {
    /// Whether Metal makes work wait for earlier work that uses the same memory.
    enum HazardTracking: u64 = "MTLHazardTrackingMode" {
        /// It does. A heap's default is that it does not, and then nothing orders the programs of a queue.
        Tracked = "MTLHazardTrackingModeTracked" 2,
    }
}

objc_enum! {
    /// Who chooses where in a heap a buffer is.
    enum HeapType: i64 = "MTLHeapType" {
        /// Metal.
        Automatic = "MTLHeapTypeAutomatic" 0,
    }
}

/// How much of a heap a buffer takes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeAndAlign {
    /// Bytes, a multiple of `align`.
    pub size: usize,
    /// What its offset is a multiple of.
    pub align: usize,
}

impl_encode! { SizeAndAlign = "{?=QQ}" }

impl Return for SizeAndAlign {
    type Raw = Self;

    unsafe fn receive(raw: Self, _: &'static CallSite) -> Self {
        raw
    }
}

objc_methods! {
    "MTLHeap.h";
    impl MTLHeapDescriptor {
        class fn new_object() -> Retained<MTLHeapDescriptor> = "new", since (10, 13);
        instance fn set_size(bytes: usize) = "setSize:", since (10, 13);
        instance fn set_storage_mode(mode: StorageMode) = "setStorageMode:", since (10, 13);
        instance fn set_hazard_tracking_mode(mode: HazardTracking) = "setHazardTrackingMode:", since (10, 15);
        instance fn set_type(kind: HeapType) = "setType:", since (10, 15);
    }
    impl MTLHeap {
        /// Bytes that its buffers take.
        instance fn used_size() -> usize = "usedSize", since (10, 13);

        /// The largest buffer of this alignment that there is room for.
        instance fn max_available_size(alignment: usize) -> usize = "maxAvailableSizeWithAlignment:", since (10, 13);

        instance fn new_buffer_with_options(length: usize, options: ResourceOptions) -> Option<Retained<MTLBuffer>>
            = "newBufferWithLength:options:", since (10, 13);
    }
}

impl MTLDevice {
    /// How much of a heap a buffer of `length` > 0 bytes takes.
    pub(crate) fn heap_buffer_size(&self, length: usize) -> SizeAndAlign {
        self.heap_buffer_size_and_align(length, ResourceOptions::StorageModeShared)
    }

    /// A heap of `bytes` > 0 for buffers that CPU and GPU share; `None` if memory is short. While one program writes a
    /// buffer of it, programs that use any of its buffers wait: Metal tracks a heap as a whole.
    ///
    /// Buffers of such heaps go into MPSGraph as others do: PyTorch's allocator makes all its buffers so.
    pub(crate) fn new_heap(&self, bytes: usize) -> Option<Heap> {
        debug_assert!(bytes > 0, "Metal has no empty heaps");
        autoreleasepool(|| {
            let descriptor = MTLHeapDescriptor::new_object();
            descriptor.set_size(bytes);
            descriptor.set_storage_mode(StorageMode::Shared);
            descriptor.set_hazard_tracking_mode(HazardTracking::Tracked);
            descriptor.set_type(HeapType::Automatic);
            self.new_heap_with_descriptor(&descriptor)
        })
    }
}

impl MTLHeap {
    /// A buffer of `length` > 0 bytes, contents unspecified; `None` if there is no room for it.
    pub(crate) fn new_buffer(&self, length: usize) -> Option<Buffer> {
        debug_assert!(length > 0, "Metal has no empty buffers");
        autoreleasepool(|| self.new_buffer_with_options(length, ResourceOptions::StorageModeShared)).map(Buffer::new)
    }
}

#[cfg(test)]
pub(super) fn exercise() {
    let device = crate::ffi::exercise::device();
    if !device.has_shared_heaps() {
        return;
    }
    let SizeAndAlign { size, align } = device.heap_buffer_size(4);
    assert!(size >= 4 && size.is_multiple_of(align) && align.is_power_of_two());
    let heap = device.new_heap(1 << 16).expect("there is memory");
    let room = heap.max_available_size(align);
    assert!(heap.used_size() == 0 && room >= 1 << 16);
    let buffers = [7, 8].map(|value| {
        let buffer = heap.new_buffer(4).expect("there is room");
        buffer.host_write().fill(value);
        buffer
    });
    assert!(heap.used_size() >= 2 * size && heap.max_available_size(align) < room);
    assert!(heap.new_buffer(1 << 20).is_none());
    drop(heap);
    assert_eq!(buffers.map(|buffer| buffer.host_read().to_vec()), [[7; 4], [8; 4]]);
}

#[cfg(test)]
mod tests {
    use crate::ffi::autoreleasepool;
    use crate::ffi::exercise::device;
    use crate::ffi::{Buffer, DataType, Graph, GraphDevice, MpsCommandBuffer, Optimization, ShapedType, TensorData};

    /// Hundreds of programs, each with the result of the one before it as its feed, in buffers of one heap.
    #[test]
    fn programs_use_the_buffers_of_a_heap() {
        let device = device();
        if !device.has_shared_heaps() {
            return;
        }
        let heap = device.new_heap(1 << 20).unwrap();
        let executable = autoreleasepool(|| {
            let (graph, ty) = (Graph::new(), ShapedType::new(&[3], DataType::F32));
            let x = graph.placeholder(&[3], DataType::F32);
            graph.compile(&GraphDevice::new(&device), &[(&x, &ty)], &[&graph.addition(&x, &x)], Optimization::Level0)
        });
        let queue = device.new_command_queue().unwrap();
        let buffers: Vec<Buffer> = (0..100).map(|_| heap.new_buffer(12).unwrap()).collect();
        buffers[0].host_write().copy_from_slice(bytemuck::cast_slice(&[1.0_f32, -2.0, 3.0]));
        let data: Vec<TensorData> = buffers.iter().map(|buffer| TensorData::new(buffer, &[3], DataType::F32)).collect();
        let run = |pair: &[TensorData]| {
            let mut commands = MpsCommandBuffer::from_queue(&queue);
            executable.encode(&mut commands, pair[..1].iter(), pair[1..].iter(), || (), drop);
            commands.commit()
        };
        drop(data.windows(2).map(run).collect::<Vec<_>>());
        for (at, buffer) in buffers.iter().enumerate() {
            let factor = 2.0_f32.powi(at as i32);
            assert_eq!(*buffer.host_read(), *bytemuck::cast_slice::<f32, u8>(&[factor, -2.0 * factor, 3.0 * factor]));
        }
    }
}
