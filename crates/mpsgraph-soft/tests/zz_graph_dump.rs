#[test]
fn dump() {
    for class in mpsgraph_soft::classes::CLASSES.iter().filter(|c| c.name.starts_with("MPSGraph")) {
        for (sign, list) in [("-", class.instance), ("+", class.class)] {
            for m in list {
                println!("ROW\t{}\t{sign}\t{}\t{}\t{}\t{:?}", class.name, m.selector(), m.return_encoding(), m.argument_encodings().collect::<Vec<_>>().join(" "), m.min_macos().unwrap_or(class.min_macos));
            }
        }
    }
}
