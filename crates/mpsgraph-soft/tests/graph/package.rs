//! Executables as packages on disk.

use std::fs;
use std::path::PathBuf;

use mpsgraph_soft::mpsgraph::counters::graphs_compiled;
use mpsgraph_soft::mpsgraph::hold;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{array, buffer, contents};
use super::session::{F32, Graph, command_buffer, descriptor, encode, queue, shaped_type, tensor_data};
use crate::support::{
    Assumed, Documented, Reported, class, device, msg, new, outcome, owned, pooled, refused, rule, text,
};

const WRITE: &str = "serializeToMPSGraphPackageAtURL:descriptor:";
const READ: &str = "initWithMPSGraphPackageAtURL:compilationDescriptor:";
const ENCODE: &str = "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:";
const SPECIALIZE: &str = "specializeWithDevice:inputTypes:compilationDescriptor:";

/// A place for a package, which goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("mpsgraph-soft-{name}-{}", std::process::id())))
    }

    fn url(&self) -> Id {
        url(self.0.to_str().expect("a path in UTF-8"))
    }

    /// The file of a package.
    fn file(&self) -> PathBuf {
        fs::read_dir(&self.0).expect("a package").next().expect("a file").expect("an entry").path()
    }

    fn read(&self, descriptor: Id) -> Strong {
        let object = msg!(class("MPSGraphExecutable"), "alloc"; Id);
        owned(msg!(object, READ, self.url() => Id, descriptor => Id; Id))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0).or_else(|_| fs::remove_file(&self.0));
    }
}

fn url(path: &str) -> Id {
    let path = std::ffi::CString::new(path).expect("no NUL");
    let path = msg!(class("NSString"), "stringWithUTF8String:", path.as_ptr() => *const std::ffi::c_char; Id);
    msg!(class("NSURL"), "fileURLWithPath:", path => Id; Id)
}

/// `[x - y, x * 3]`, in the executable's order, and its feeds in that order.
fn executable() -> Id {
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    graph.op("exponentWithTensor:name:", &[x]); // no target needs it
    let difference = graph.op("subtractionWithPrimaryTensor:secondaryTensor:name:", &[x, y]);
    let three = graph.scalar(3.0, F32);
    let product = graph.op("multiplicationWithPrimaryTensor:secondaryTensor:name:", &[x, three]);
    graph.compile(&[x, y], &[difference, product])
}

fn write(executable: Id, place: &Place) {
    msg!(executable, WRITE, place.url() => Id, Id::NIL => Id; ());
}

/// Both results of an executable of two feeds.
fn results(executable: Id) -> [Vec<u8>; 2] {
    let bytes = |values: &[f32; 2]| buffer(bytemuck::cast_slice::<f32, u8>(values));
    let (inputs, outputs) = ([bytes(&[1.0, 2.0]), bytes(&[10.0, 30.0])], [bytes(&[0.0; 2]), bytes(&[0.0; 2])]);
    let data = |buffer: &Strong| tensor_data(buffer.id(), &[2], F32);
    let commands = command_buffer(&queue());
    encode(executable, commands, &[data(&inputs[0]), data(&inputs[1])], &[data(&outputs[0]), data(&outputs[1])]);
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    outputs.map(|output| contents(output.id(), 8))
}

#[test]
fn an_executable_of_a_package_takes_and_gives_the_same_in_the_same_order() {
    let _test = rule(Reported(
        "pytorch/executorch MPSExecutor.mm: after loading, the order is that of the main function's arguments",
    ));
    let place = Place::new("same");
    let own = executable();
    write(own, &place);
    let before = graphs_compiled();
    let read = place.read(descriptor(0, true).id());
    assert_eq!(results(read.id()), results(own));
    assert_eq!(graphs_compiled(), before, "a package is not a graph");
    // It can be written again.
    let again = Place::new("again");
    write(read.id(), &again);
    assert_eq!(results(again.read(descriptor(0, true).id()).id()), results(own));
}

#[test]
fn an_executable_of_a_package_does_not_know_its_tensors() {
    let _test = rule(Reported("pytorch/executorch MPSExecutor.mm asks a private getter for the types of the inputs"));
    let place = Place::new("tensors");
    write(executable(), &place);
    let read = place.read(descriptor(0, true).id());
    assert!(msg!(read.id(), "feedTensors"; Id).is_nil() && msg!(read.id(), "targetTensors"; Id).is_nil());
}

#[test]
fn a_package_that_is_not_whole_is_refused() {
    let _test = rule(Assumed(
        "Apple documents no failure of initWithMPSGraphPackageAtURL, and programs guard it against nil and exceptions",
    ));
    let fine = descriptor(0, true);
    let place = Place::new("damaged");
    refused(READ, "is no package", || place.read(fine.id()));
    write(executable(), &place);
    let whole = fs::read(place.file()).expect("a file");
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(place.file(), damaged).expect("it is ours");
        refused(READ, "is no package", || place.read(fine.id()));
        fs::write(place.file(), &whole[..at]).expect("it is ours");
        refused(READ, "is no package", || place.read(fine.id()));
    }
    fs::write(place.file(), whole).expect("it is ours");
    place.read(fine.id());
}

#[test]
fn a_package_is_read_with_the_settings_that_graphs_are_compiled_with() {
    let _test =
        rule(Documented("Apple's MPSGraphExecutable.h: the descriptor is that of a compilation, with its defaults"));
    let place = Place::new("settings");
    let own = executable();
    write(own, &place);
    refused(READ, "waitForCompilationCompletion is NO", || place.read(new("MPSGraphCompilationDescriptor").id()));
    refused(READ, "no descriptor", || place.read(Id::NIL));
    let types = array(&[shaped_type(&[2], F32), shaped_type(&[2], F32)]);
    refused(SPECIALIZE, "no descriptor", || msg!(own, SPECIALIZE, Id::NIL => Id, types => Id, Id::NIL => Id; ()));
}

#[test]
fn a_package_that_is_there_is_not_written_again() {
    let _test = rule(Assumed("Apple documents `append`, which is NO, but not what becomes of a package that is there"));
    let place = Place::new("twice");
    write(executable(), &place);
    refused(WRITE, "already", || write(executable(), &place));
}

#[test]
fn a_package_that_cannot_be_written_tells_nobody() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h: writing returns nothing"));
    let file = Place::new("no-folder");
    fs::write(&file.0, "a file").expect("a place for temporary files");
    let inside = Place(file.0.join("package"));
    write(executable(), &inside);
    refused(READ, "is no package", || inside.read(descriptor(0, true).id()));
}

#[test]
fn packages_have_urls() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h and NSURL.h"));
    let own = executable();
    refused(WRITE, "not an NSURL", || msg!(own, WRITE, Id::NIL => Id, Id::NIL => Id; ()));
    refused(WRITE, "a descriptor is not supported", || msg!(own, WRITE, url("/tmp/x") => Id, own => Id; ()));
    assert_eq!(text(msg!(url("/a/b"), "path"; Id)), "/a/b");
    assert!(text(msg!(url("b"), "path"; Id)).ends_with("/b"), "relative to where the process is");
}

/// Does something while another thread compiles.
fn while_another_compiles(work: impl FnOnce()) {
    std::thread::scope(|scope| {
        let held = hold::compilations();
        scope.spawn(|| pooled(executable));
        assert!(held.wait_for_one(std::time::Duration::from_secs(60)), "the other thread compiles");
        work();
    });
}

#[test]
fn a_package_is_not_written_while_another_thread_compiles() {
    let _test = rule(Assumed(
        "concurrent compiles crash, and what MPSGraph writes goes through its compiler (that of iOS 18, decompiled in \
         EthanArbuckle/iPhone17-1_18.2_22C152_Restore)",
    ));
    let (place, own) = (Place::new("compiling"), executable());
    while_another_compiles(|| refused(WRITE, "another thread is compiling", || write(own, &place)));
    write(own, &place);
}

#[test]
fn a_specialised_executable_is_not_run_first_while_another_thread_compiles() {
    let _test = rule(Assumed(
        "concurrent compiles crash, and MPSGraph makes what runs an executable of a package when that is encoded first \
         (that of iOS 18, decompiled in EthanArbuckle/iPhone17-1_18.2_22C152_Restore)",
    ));
    let place = Place::new("first-run");
    write(executable(), &place);
    let read = place.read(descriptor(0, true).id());
    specialize(read.id(), &[shaped_type(&[2], F32), shaped_type(&[2], F32)]);
    while_another_compiles(|| refused(ENCODE, "another thread is compiling", || results(read.id())));
    results(read.id());
    while_another_compiles(|| drop(results(read.id())));
}

fn specialize(executable: Id, types: &[Id]) {
    let device = msg!(class("MPSGraphDevice"), "deviceWithMTLDevice:", device().id() => Id; Id);
    let (types, descriptor) = (array(types), descriptor(0, true));
    msg!(executable, SPECIALIZE, device => Id, types => Id, descriptor.id() => Id; ());
}

#[test]
fn an_executable_is_specialised_for_the_types_of_its_feeds() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs src/execution.rs: other types than those of the feeds abort"));
    let own = executable();
    let specialize = |types: &[Id]| specialize(own, types);
    let (pair, three) = (|| shaped_type(&[2], F32), || shaped_type(&[3], F32));
    assert!(outcome(|| specialize(&[pair(), pair()])).is_ok());
    refused(SPECIALIZE, "not those of the feeds", || specialize(&[pair()]));
    refused(SPECIALIZE, "not those of the feeds", || specialize(&[pair(), three()]));
    refused(SPECIALIZE, "not those of the feeds", || specialize(&[pair(), own]));
}
