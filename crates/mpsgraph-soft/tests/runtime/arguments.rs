//! Arguments and results of every class of register, on the stack, and in memory arrive as they were sent.

use mpsgraph_soft::foundation::ns_object;
use mpsgraph_soft::impl_encode;
use mpsgraph_soft::objc::{
    ClassDef, ClassKind, Id, Sel, This, method0, method1, method2, method4, method8, method9, method14,
};

use crate::runtime::messages::{Object, new, release, send, test_class};
use crate::support::{Assumed, plain, rule, violation};

/// As MTLSize: passed in memory, returned in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    width: usize,
    height: usize,
    depth: usize,
}
impl_encode!(unsafe Size, "{?=QQQ}");

/// As NSRange: in two integer registers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    location: usize,
    length: usize,
}
impl_encode!(unsafe Range, "{_NSRange=QQ}");

/// In two float registers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}
impl_encode!(unsafe Point, "{CGPoint=dd}");

/// In one integer and one float register.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mixed {
    count: i64,
    scale: f64,
}
impl_encode!(unsafe Mixed, "{Mixed=qd}");

/// Four doubles: in memory on x86-64, in four float registers on AArch64.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rect([f64; 4]);
impl_encode!(unsafe Rect, "{CGRect=[4d]}");

static ECHO: ClassDef = ClassDef {
    name: "TestEcho",
    superclass: Some(&ns_object::CLASS),
    kind: ClassKind::Class,
    min_macos: (11, 0),
    instance: &[
        method1("size:", size),
        method2("range:point:", range_point),
        method1("mixed:", mixed),
        method1("rect:", rect),
        method1("float:", float),
        method1("double:", double),
        method2("not:small:", not_small),
        method8("i1:i2:i3:i4:i5:i6:i7:i8:", eight_integers),
        method9("f1:f2:f3:f4:f5:f6:f7:f8:f9:", nine_floats),
        method14("a:b:c:d:e:f:g:h:i:j:k:l:m:n:", fourteen),
        method4("size:float:size:double:", sizes),
        method0("zeroes", zeroes),
    ],
    class: &[method4("class:float:size:double:", sizes)],
};

extern "C-unwind" fn size(_this: This<'_>, _cmd: Sel, size: Size) -> Size {
    Size { width: size.depth, height: size.width, depth: size.height }
}

extern "C-unwind" fn range_point(_this: This<'_>, _cmd: Sel, range: Range, point: Point) -> Point {
    Point { x: range.location as f64 + point.x, y: range.length as f64 + point.y }
}

extern "C-unwind" fn mixed(_this: This<'_>, _cmd: Sel, mixed: Mixed) -> Mixed {
    Mixed { count: -mixed.count, scale: -mixed.scale }
}

extern "C-unwind" fn rect(_this: This<'_>, _cmd: Sel, Rect([a, b, c, d]): Rect) -> Rect {
    Rect([d, c, b, a])
}

extern "C-unwind" fn float(_this: This<'_>, _cmd: Sel, value: f32) -> f32 {
    -value
}

extern "C-unwind" fn double(_this: This<'_>, _cmd: Sel, value: f64) -> f64 {
    -value
}

extern "C-unwind" fn not_small(_this: This<'_>, _cmd: Sel, flag: bool, small: i8) -> bool {
    assert_eq!(small, -5);
    !flag
}

extern "C-unwind" fn eight_integers(
    _this: This<'_>,
    _cmd: Sel,
    a: i64,
    b: u32,
    c: i16,
    d: u8,
    e: i64,
    f: u64,
    g: i32,
    h: isize,
) -> isize {
    assert_eq!((a, b, c, d, e, f, g), (-1, u32::MAX, -3, 4, i64::MIN, u64::MAX, -7));
    h
}

extern "C-unwind" fn nine_floats(
    _this: This<'_>,
    _cmd: Sel,
    a: f64,
    b: f32,
    c: f64,
    d: f32,
    e: f64,
    f: f32,
    g: f64,
    h: f32,
    i: f64,
) -> f64 {
    assert_eq!((a, b, c, d, e, f, g, h), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0));
    i
}

extern "C-unwind" fn fourteen(
    this: This<'_>,
    _cmd: Sel,
    a: Id,
    b: f32,
    c: bool,
    d: f64,
    e: Size,
    f: u64,
    g: i8,
    h: f64,
    i: *const Id,
    j: f32,
    k: Range,
    l: Id,
    m: f64,
    n: i32,
) -> Size {
    assert_eq!(a, this.id());
    assert_eq!((b, c, d), (2.5, true, 4.5));
    assert_eq!(e, Size { width: 5, height: 50, depth: 500 });
    assert_eq!((f, g, h), (6, -7, 8.5));
    // SAFETY: the test passes the address of one object.
    assert_eq!(unsafe { *i }, this.id());
    assert_eq!((j, k), (10.5, Range { location: 11, length: 111 }));
    assert!(l.is_nil());
    assert_eq!((m, n), (13.5, -14));
    e
}

extern "C-unwind" fn sizes(_this: This<'_>, cmd: Sel, a: Size, b: f32, c: Size, d: f64) -> f64 {
    assert!(cmd.name().ends_with(":float:size:double:"));
    assert_eq!((a.width, c.depth), (1, 6));
    f64::from(b) + d
}

extern "C-unwind" fn zeroes(_this: This<'_>, _cmd: Sel) {}

#[test]
fn structs_by_value_and_in_memory() {
    let _test = plain();
    let echo = new(test_class(&ECHO));
    let size = Size { width: 1, height: 2, depth: 3 };
    assert_eq!(send!(Size; echo, "size:", size => Size), Size { width: 3, height: 1, depth: 2 });
    assert_eq!(send!(Rect; echo, "rect:", Rect([1.0, 2.0, 3.0, 4.0]) => Rect), Rect([4.0, 3.0, 2.0, 1.0]));
    release(echo);
}

#[test]
fn small_structs_in_registers() {
    let _test = plain();
    let echo = new(test_class(&ECHO));
    let (range, point) = (Range { location: 10, length: 20 }, Point { x: 0.5, y: 0.25 });
    let sum = send!(Point; echo, "range:point:", range => Range, point => Point);
    assert_eq!(sum, Point { x: 10.5, y: 20.25 });
    let mixed = send!(Mixed; echo, "mixed:", Mixed { count: 3, scale: 1.5 } => Mixed);
    assert_eq!(mixed, Mixed { count: -3, scale: -1.5 });
    release(echo);
}

#[test]
fn floats_and_truth_values() {
    let _test = plain();
    let echo = new(test_class(&ECHO));
    assert_eq!(send!(f32; echo, "float:", 1.5 => f32), -1.5);
    assert_eq!(send!(f64; echo, "double:", f64::MAX => f64), -f64::MAX);
    assert!(send!(f32; echo, "float:", f32::NAN => f32).is_nan());
    assert!(send!(bool; echo, "not:small:", false => bool, -5 => i8));
    assert!(!send!(bool; echo, "not:small:", true => bool, -5 => i8));
    release(echo);
}

#[test]
fn arguments_beyond_the_registers() {
    let _test = plain();
    let echo = new(test_class(&ECHO));
    let last = send!(isize; echo, "i1:i2:i3:i4:i5:i6:i7:i8:", -1 => i64, u32::MAX => u32, -3 => i16, 4 => u8,
        i64::MIN => i64, u64::MAX => u64, -7 => i32, isize::MIN => isize);
    assert_eq!(last, isize::MIN);
    let last = send!(f64; echo, "f1:f2:f3:f4:f5:f6:f7:f8:f9:", 1.0 => f64, 2.0 => f32, 3.0 => f64, 4.0 => f32,
        5.0 => f64, 6.0 => f32, 7.0 => f64, 8.0 => f32, 9.5 => f64);
    assert_eq!(last, 9.5);
    release(echo);
}

#[test]
fn all_kinds_at_once() {
    let _test = plain();
    let echo = new(test_class(&ECHO));
    let size = Size { width: 5, height: 50, depth: 500 };
    let list = [echo];
    let back = send!(Size; echo, "a:b:c:d:e:f:g:h:i:j:k:l:m:n:", echo => Object, 2.5 => f32, true => bool, 4.5 => f64,
        size => Size, 6 => u64, -7 => i8, 8.5 => f64, list.as_ptr() => *const Object, 10.5 => f32,
        Range { location: 11, length: 111 } => Range, std::ptr::null_mut() => Object, 13.5 => f64, -14 => i32);
    assert_eq!(back, size);
    let (a, b) = (Size { width: 1, height: 2, depth: 3 }, Size { width: 4, height: 5, depth: 6 });
    let class = test_class(&ECHO);
    let sum = send!(f64; echo, "size:float:size:double:", a => Size, 0.5 => f32, b => Size, 0.25 => f64);
    assert_eq!(sum, 0.75);
    let sum = send!(f64; class, "class:float:size:double:", a => Size, 0.5 => f32, b => Size, 0.25 => f64);
    assert_eq!(sum, 0.75);
    release(echo);
}

#[test]
fn nil_answers_zero() {
    let _test = plain();
    let nil: Object = std::ptr::null_mut();
    assert!(send!(Object; nil, "anything").is_null());
    assert_eq!(send!(i64; nil, "anything:", 7 => i64), 0);
    assert_eq!(send!(f32; nil, "float:", 1.5 => f32), 0.0);
    assert_eq!(send!(f64; nil, "double:", 1.5 => f64), 0.0);
    assert!(!send!(bool; nil, "not:small:", true => bool, 1 => i8));
    send!((); nil, "zeroes");
}

/// Microsoft's calling convention on x86-64 returns structs of this size in memory.
#[cfg(not(all(windows, target_arch = "x86_64")))]
#[test]
fn nil_answers_zero_in_structs_of_two_registers() {
    let _test = plain();
    let nil: Object = std::ptr::null_mut();
    assert_eq!(send!(Range; nil, "range"), Range { location: 0, length: 0 });
    let point =
        send!(Point; nil, "range:point:", Range { location: 1, length: 2 } => Range, Point { x: 1.0, y: 2.0 } => Point);
    assert_eq!(point, Point { x: 0.0, y: 0.0 });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_struct_in_memory_from_nil_is_reported() {
    let _test = rule(Assumed("only the caller knows the size of the struct that would have to be zero"));
    let nil: Object = std::ptr::null_mut();
    let size = Size { width: 1, height: 2, depth: 3 };
    let message = violation(|| send!(Size; nil, "size:", size => Size));
    assert!(message.starts_with("-[nil size:]: "), "{message}");
}

#[test]
fn violations_pass_sends_with_struct_results() {
    let _test = rule(Assumed("as without a struct result: Apple's objc4 runtime raises for an unknown selector"));
    let echo = new(test_class(&ECHO));
    let message = violation(|| send!(Size; echo, "noSuchSize"));
    assert_eq!(message, "-[TestEcho noSuchSize]: unrecognized selector");
    release(echo);
}
