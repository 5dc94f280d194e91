//! How much memory this process may have, by files as Linux has them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

/// A folder with these files, removed in the end.
struct Files(PathBuf);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mpsgraph-soft-{}-{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        let folder = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Self(folder)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
const TOTAL: usize = 16 << 30;
const V2: (&str, &str) = ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
const V1: (&str, &str) = (
    "proc/self/mountinfo",
    "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
     35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n",
);

#[test]
fn without_a_limit_all_of_the_computer_s() {
    assert_eq!(bytes_below(&Files::new(&[]).0), UNKNOWN);
    assert_eq!(bytes_below(&Files::new(&[MEMINFO]).0), TOTAL);
    let group = ("proc/self/cgroup", "0::/user.slice\n");
    let max = ("sys/fs/cgroup/user.slice/memory.max", "max\n");
    assert_eq!(bytes_below(&Files::new(&[MEMINFO, V2, group, max]).0), TOTAL);
}

#[test]
fn the_least_limit_on_the_way_to_the_group_counts() {
    let group = ("proc/self/cgroup", "0::/a/b\n");
    let outer = ("sys/fs/cgroup/a/memory.max", "2147483648\n");
    let other = ("sys/fs/cgroup/c/memory.max", "1\n");
    for (inner, expected) in [("max\n", 2 << 30), ("4294967296\n", 2 << 30), ("1073741824\n", 1 << 30)] {
        let inner = ("sys/fs/cgroup/a/b/memory.max", inner);
        assert_eq!(bytes_below(&Files::new(&[MEMINFO, V2, group, outer, inner, other]).0), expected);
    }
}

#[test]
fn a_container_sees_its_own_group_as_the_root() {
    let limit = ("sys/fs/cgroup/memory.max", "3221225472\n");
    for path in ["0::/\n", "0::/../outside\n", "0::/kubepods/pod1/abc\n"] {
        assert_eq!(bytes_below(&Files::new(&[MEMINFO, V2, ("proc/self/cgroup", path), limit]).0), 3 << 30, "{path}");
    }
}

#[test]
fn limits_of_the_first_version_count_too() {
    for (path, folder) in [("/docker/abc", ""), ("/docker/abc/job", "job/"), ("/elsewhere", "")] {
        let group = ("proc/self/cgroup", format!("5:memory:{path}\n1:cpu:/x\n0::/\n"));
        let file = format!("sys/fs/cgroup/memory/{folder}memory.limit_in_bytes");
        let files = Files::new(&[MEMINFO, V1, (group.0, &group.1), (&file, "536870912\n")]);
        assert_eq!(bytes_below(&files.0), 512 << 20, "{path}");
        let none = Files::new(&[MEMINFO, V1, (group.0, &group.1), (&file, "9223372036854771712\n")]);
        assert_eq!(bytes_below(&none.0), TOTAL, "{path}");
    }
}
