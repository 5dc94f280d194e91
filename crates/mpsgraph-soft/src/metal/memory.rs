//! How much memory this process may use: what the computer has, or what a container leaves of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Where the kernel does not say.
const UNKNOWN: usize = 8 << 30;

/// Bytes that this process may use.
pub fn bytes() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| bytes_below(Path::new("/")));
    *BYTES
}

/// What the kernel's files below `root` say.
fn bytes_below(root: &Path) -> usize {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (groups, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let limits = groups.lines().filter_map(|line| group_limit(root, line, &mounts));
    limits.chain(total(&read("proc/meminfo"))).min().unwrap_or(UNKNOWN)
}

/// All memory of the computer.
fn total(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The least limit of a control group that the process is in, and of the groups around that one.
///
/// A line of `/proc/self/cgroup` is `number:controllers:path`; there are no controllers in that of version 2.
fn group_limit(root: &Path, line: &str, mounts: &str) -> Option<usize> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, group) = (fields.next()?, fields.next()?);
    let file = match controllers {
        "" => "memory.max",
        _ if controllers.split(',').any(|controller| controller == "memory") => "memory.limit_in_bytes",
        _ => return None,
    };
    let (mount, shown) = mounts.lines().find_map(|line| mount_point(line, controllers))?;
    // Seen from inside a container the group may lie outside of what is mounted; the mount is the container's then.
    let below = Path::new(group).strip_prefix(shown).unwrap_or(Path::new(""));
    let limit = |group: &Path| {
        let path = mount.join(group).join(file);
        // `max`, and a number too large for any computer, mean that there is no limit.
        fs::read_to_string(root.join(path.strip_prefix("/").ok()?)).ok()?.trim().parse::<usize>().ok()
    };
    below.ancestors().filter_map(limit).min()
}

/// Where a line of `/proc/self/mountinfo` mounts the hierarchy of these controllers, and which group is shown there.
fn mount_point(line: &str, controllers: &str) -> Option<(PathBuf, PathBuf)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let found = match (controllers, kind.next()?) {
        ("", system) => system == "cgroup2",
        (_, system) => system == "cgroup" && kind.nth(1)?.split(',').any(|option| option == "memory"),
    };
    let mut fields = place.split(' ').skip(3);
    let (shown, mount) = (fields.next()?, fields.next()?);
    found.then(|| (mount.into(), shown.into()))
}

#[cfg(test)]
mod tests;
