//! Where the server listens, and whom it serves.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddrV4};

use burn_tensor::Device;
use burn_tensor::remote::{ConnectError, RemoteHost};

use crate::device;

/// The addresses on which this process accepts TCP connections.
fn listeners() -> Vec<SocketAddrV4> {
    let files = std::fs::read_dir("/proc/self/fd").expect("a Linux process has it").flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let sockets: HashSet<String> =
        links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    assert!(
        !std::fs::read_to_string("/proc/self/net/tcp6").is_ok_and(|table| listening(&table, &sockets).next().is_some())
    );
    let table = std::fs::read_to_string("/proc/self/net/tcp").expect("a Linux process has it");
    let parsed = listening(&table, &sockets).map(|address| {
        let (ip, port) = address.split_once(':').expect("an address and a port");
        let ip = u32::from_str_radix(ip, 16).expect("hexadecimal, in the order of the machine");
        SocketAddrV4::new(Ipv4Addr::from(ip.to_ne_bytes()), u16::from_str_radix(port, 16).expect("hexadecimal"))
    });
    parsed.collect()
}

/// Local addresses of the lines of /proc's table that say LISTEN and belong to one of the sockets.
fn listening<'a>(table: &'a str, sockets: &'a HashSet<String>) -> impl Iterator<Item = &'a str> {
    table.lines().skip(1).filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        (words[3] == "0A" && sockets.contains(words[9])).then_some(words[1])
    })
}

#[test]
fn only_who_shows_the_token_is_served_and_only_on_the_loopback_interface() {
    let (_device, _turn) = device();
    burn_mpsgraph::session().expect("another session of the same server");
    let listeners = listeners();
    let [address] = listeners[..] else { panic!("one server: {listeners:?}") };
    assert_eq!(*address.ip(), Ipv4Addr::LOCALHOST);
    let host = RemoteHost::websocket(&format!("ws://{address}"));
    let guests = [host.clone(), host.clone().with_credential(vec![0; 32]), host.with_credential(vec![0; 40])];
    for guest in guests {
        let refused = Device::remote_options(&guest).init().expect_err("a stranger");
        assert!(matches!(refused, ConnectError::Unauthorized), "{refused}");
    }
}
