//! The lengths that buffers have.

/// `bytes` rounded up to 256, or to one of four steps between powers of two, from a mebibyte on to one of eight: at
/// most a quarter, then an eighth, is wasted. Never more than `most`, the longest buffer.
pub(super) fn size_class(bytes: usize, most: usize) -> usize {
    let bytes = bytes.max(256);
    let steps = if bytes > 1 << 20 { 16 } else { 8 };
    let step = (bytes.next_power_of_two() / steps).max(64);
    bytes.next_multiple_of(step).min(most.max(bytes))
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn a_size_class_holds_its_bytes_and_wastes_at_most_a_quarter() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, 401_408 * 4]) {
            let class = size_class(bytes, usize::MAX);
            assert!(class >= bytes && (class <= 256 || class - bytes <= bytes / 4 + 64), "{bytes} -> {class}");
        }
        assert_eq!([1, 256, 257, 512, 1025].map(|bytes| size_class(bytes, usize::MAX)), [256, 256, 320, 512, 1280]);
        assert_eq!(size_class((1 << 20) + 1, usize::MAX), (1 << 20) + (1 << 17));
    }

    #[test]
    fn a_size_class_is_never_longer_than_a_buffer_may_be() {
        assert_eq!(size_class(900, 1000), 1000);
    }
}
