//! The Foundation classes.

use std::ffi::{c_char, c_void};

use crate::runtime::messages::{Object, class, release, retain, send, text};
use crate::support::{Assumed, Documented, plain, pooled, rule, violation};

fn string(text: &std::ffi::CStr) -> Object {
    send!(Object; class("NSString"), "stringWithUTF8String:", text.as_ptr() => *const c_char)
}

fn integer(value: i64) -> Object {
    send!(Object; class("NSNumber"), "numberWithLongLong:", value => i64)
}

fn array(items: &[Object]) -> Object {
    send!(Object; class("NSArray"), "arrayWithObjects:count:", items.as_ptr() => *const Object, items.len() => usize)
}

fn dictionary(keys: &[Object], values: &[Object]) -> Object {
    send!(Object; class("NSDictionary"), "dictionaryWithObjects:forKeys:count:", values.as_ptr() => *const Object,
        keys.as_ptr() => *const Object, keys.len() => usize)
}

#[test]
fn strings() {
    let _test = plain();
    pooled(|| {
        let hello = string(c"h\xc3\xa9llo \xf0\x9f\xa6\x80");
        assert_eq!(text(hello), "héllo 🦀");
        assert_eq!(send!(usize; hello, "length"), 8);
        let same = string(c"h\xc3\xa9llo \xf0\x9f\xa6\x80");
        assert_ne!(hello, same);
        assert!(send!(bool; hello, "isEqual:", same => Object));
        assert!(!send!(bool; hello, "isEqualToString:", string(c"hello") => Object));
        assert_eq!(send!(usize; hello, "hash"), send!(usize; same, "hash"));
    });
}

#[test]
fn a_string_refuses_what_is_not_utf_8() {
    let _test = rule(Documented("Apple's NSString.h: what is not UTF-8 gives nil"));
    pooled(|| {
        let message = violation(|| string(c"\xff"));
        assert!(message.starts_with("+[NSString stringWithUTF8String:]: the text is not UTF-8"), "{message}");
    });
}

#[test]
fn numbers() {
    let _test = plain();
    let numbers = class("NSNumber");
    pooled(|| {
        let minimum = integer(i64::MIN);
        assert_eq!(send!(i64; minimum, "longLongValue"), i64::MIN);
        assert_eq!(send!(isize; minimum, "integerValue"), isize::MIN);
        let maximum = send!(Object; numbers, "numberWithUnsignedInteger:", usize::MAX => usize);
        assert_eq!(send!(usize; maximum, "unsignedIntegerValue"), usize::MAX);
        assert_eq!(text(send!(Object; maximum, "description")), "18446744073709551615");
        let int = send!(Object; numbers, "numberWithInt:", -3 => i32);
        assert_eq!(send!(i32; int, "intValue"), -3);
        assert_eq!(send!(f64; int, "doubleValue"), -3.0);
        let half = send!(Object; numbers, "numberWithDouble:", 2.5 => f64);
        assert_eq!(send!(f64; half, "doubleValue"), 2.5);
        assert_eq!(send!(i64; half, "longLongValue"), 2);
        let yes = send!(Object; numbers, "numberWithBool:", true => bool);
        assert!(send!(bool; yes, "boolValue"));
        assert!(send!(bool; half, "boolValue"));
        assert!(!send!(bool; integer(0), "boolValue"));

        let four = send!(Object; numbers, "numberWithDouble:", 4.0 => f64);
        assert!(send!(bool; integer(4), "isEqual:", four => Object));
        assert_eq!(send!(usize; integer(4), "hash"), send!(usize; four, "hash"));
        assert!(!send!(bool; minimum, "isEqual:", maximum => Object));
        assert!(!send!(bool; integer(4), "isEqual:", string(c"4") => Object));
    });
}

#[test]
fn arrays() {
    let _test = plain();
    pooled(|| {
        let (one, two) = (integer(1), integer(2));
        let list = array(&[one, two, one]);
        assert_eq!(send!(usize; list, "count"), 3);
        assert_eq!(send!(Object; list, "objectAtIndex:", 1 => usize), two);
        assert_eq!(send!(usize; one, "retainCount"), 3);
        assert!(send!(bool; list, "isEqual:", array(&[integer(1), integer(2), integer(1)]) => Object));
        assert_eq!(send!(usize; send!(Object; class("NSArray"), "array"), "count"), 0);
        assert_eq!(send!(usize; array(&[]), "count"), 0);
        assert_eq!(text(send!(Object; list, "description")), "(1, 2, 1)");
    });
}

#[test]
fn an_array_refuses_an_index_beyond_its_end() {
    let _test = rule(Documented("Apple's NSArray.h: NSRangeException"));
    pooled(|| {
        let list = array(&[integer(1), integer(2), integer(1)]);
        let message = violation(|| send!(Object; list, "objectAtIndex:", 3 => usize));
        assert_eq!(message, "-[NSArray objectAtIndex:]: index 3 is beyond the end of 3 objects");
    });
}

#[test]
fn an_array_refuses_nil() {
    let _test = rule(Documented("Apple's NSArray.h: NSInvalidArgumentException"));
    pooled(|| {
        let message = violation(|| array(&[integer(1), std::ptr::null_mut()]));
        assert_eq!(message, "+[NSArray arrayWithObjects:count:]: object 1 of 2 is nil");
    });
}

#[test]
fn dictionaries_find_by_identity_and_by_value() {
    let _test = plain();
    pooled(|| {
        let plain = send!(Object; class("NSObject"), "new");
        for count in [3, 100] {
            let numbers: Vec<Object> = (0..count).map(integer).collect();
            let mut keys: Vec<Object> = numbers.clone();
            keys[0] = plain;
            keys[1] = string(c"key");
            let map = dictionary(&keys, &numbers);
            let find = |key: Object| send!(Object; map, "objectForKey:", key => Object);
            assert_eq!(send!(usize; map, "count"), count as usize);
            assert_eq!(find(plain), numbers[0]);
            assert_eq!(find(string(c"key")), numbers[1]);
            assert_eq!(find(integer(count - 1)), numbers[count as usize - 1]);
            assert!(find(integer(count)).is_null());
            assert!(find(string(c"nothing")).is_null());
            let all = send!(Object; map, "allKeys");
            assert_eq!(send!(usize; all, "count"), count as usize);
        }
        let twice = dictionary(&[integer(1), integer(1)], &[string(c"a"), string(c"b")]);
        assert_eq!(send!(usize; twice, "count"), 1);
        assert_eq!(text(send!(Object; twice, "objectForKey:", integer(1) => Object)), "b");
        assert_eq!(send!(usize; send!(Object; class("NSDictionary"), "dictionary"), "count"), 0);
        release(plain);
    });
}

#[test]
fn a_dictionary_does_not_keep_the_order_of_its_entries() {
    let _test = rule(Documented("Apple's NSDictionary documentation: the order of the keys is not defined"));
    pooled(|| {
        let numbers: Vec<Object> = (0..3).map(integer).collect();
        let map = dictionary(&numbers, &numbers);
        for list in [send!(Object; map, "allKeys"), send!(Object; map, "allValues")] {
            let own: Vec<Object> = (0..3).map(|at| send!(Object; list, "objectAtIndex:", at => usize)).collect();
            assert_ne!(own, numbers);
            assert!(numbers.iter().all(|number| own.contains(number)));
        }
    });
}

#[test]
fn data_is_a_copy() {
    let _test = rule(Assumed("bytes of a length without an address are no data"));
    pooled(|| {
        let mut bytes = [1_u8, 2, 3, 4, 5];
        let data = send!(Object; class("NSData"), "dataWithBytes:length:", bytes.as_ptr().cast() => *const c_void,
            bytes.len() => usize);
        bytes[0] = 9;
        std::hint::black_box(&bytes);
        assert_eq!(send!(usize; data, "length"), 5);
        let pointer = send!(*const u8; data, "bytes");
        assert!(pointer.addr().is_multiple_of(16));
        // SAFETY: the data is alive and has five bytes.
        let copy = unsafe { std::slice::from_raw_parts(pointer, 5) };
        assert_eq!(copy, [1, 2, 3, 4, 5]);
        let nothing =
            send!(Object; class("NSData"), "dataWithBytes:length:", std::ptr::null() => *const c_void, 0 => usize);
        assert_eq!(send!(usize; nothing, "length"), 0);
        let message = violation(
            || send!(Object; class("NSData"), "dataWithBytes:length:", std::ptr::null() => *const c_void, 1 => usize),
        );
        assert!(message.starts_with("+[NSData dataWithBytes:length:]: "), "{message}");
    });
}

#[test]
fn errors() {
    let _test = plain();
    pooled(|| {
        let error = |info: Object| {
            send!(Object; class("NSError"), "errorWithDomain:code:userInfo:", string(c"SomeDomain") => Object,
                -7 => isize, info => Object)
        };
        let plain = error(std::ptr::null_mut());
        assert_eq!(send!(isize; plain, "code"), -7);
        assert_eq!(text(send!(Object; plain, "domain")), "SomeDomain");
        let description = text(send!(Object; plain, "localizedDescription"));
        assert_eq!(description, "The operation couldn’t be completed. (SomeDomain error -7.)");
        let told = error(dictionary(&[string(c"NSLocalizedDescription")], &[string(c"it broke")]));
        assert_eq!(text(send!(Object; told, "localizedDescription")), "it broke");
        let kept = retain(told);
        assert_eq!(send!(usize; kept, "retainCount"), 2);
        release(kept);
    });
}

#[test]
fn the_process_knows_its_system() {
    let _test = plain();
    let info = send!(Object; class("NSProcessInfo"), "processInfo");
    let Version([major, minor, patch]) = send!(Version; info, "operatingSystemVersion");
    let at_least =
        |version: [isize; 3]| send!(bool; info, "isOperatingSystemAtLeastVersion:", Version(version) => Version);
    assert!(at_least([major, minor, patch]));
    assert!(at_least([major - 1, 99, 99]));
    assert!(!at_least([major, minor + 1, 0]));
    pooled(|| {
        let description = text(send!(Object; info, "operatingSystemVersionString"));
        assert!(description.starts_with(&format!("Version {major}.{minor}")), "{description}");
    });
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Version(pub [isize; 3]);
