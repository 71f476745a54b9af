//! How much memory the machine, the Slurm job and the cgroups of this process allow.

use std::path::{Path, PathBuf};

const CGROUP_ROOT: &str = "/sys/fs/cgroup";

/// Above this a cgroup version 1 limit means "none": the kernel writes the largest multiple of
/// a page that fits in an `i64`.
const NO_LIMIT: u64 = 1 << 62;

/// Memory of the machine, in bytes.
pub(super) fn of_machine() -> Option<u64> {
    total_of_meminfo(&fs_err::read_to_string("/proc/meminfo").ok()?)
}

fn total_of_meminfo(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Memory of the Slurm job on this node, in bytes, from the values of its variables (MiB).
/// Slurm writes 0 for "all of the node's".
pub(super) fn of_slurm_job(per_node: Option<&str>, per_cpu: Option<&str>, cpus: Option<&str>) -> Option<u64> {
    let positive = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
    let mebibytes = match (per_node.and_then(positive), per_cpu.and_then(positive)) {
        (Some(per_node), _) => per_node,
        (None, Some(per_cpu)) => per_cpu.checked_mul(cpus.and_then(positive).unwrap_or(1))?,
        (None, None) => return None,
    };
    mebibytes.checked_mul(1 << 20)
}

/// Least memory limit of the cgroups this process is in, in bytes.
pub(super) fn of_cgroups() -> Option<u64> {
    let membership = fs_err::read_to_string("/proc/self/cgroup").ok()?;
    limit_files(&membership, Path::new(CGROUP_ROOT))
        .iter()
        .filter_map(|file| parse_limit(&fs_err::read_to_string(file).ok()?))
        .min()
}

/// The files that may hold a limit: one a level from the process's own group up to the root,
/// since every level binds.
fn limit_files(membership: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (mount, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        // A path that leaves the mount (`/../..`) belongs to another cgroup namespace.
        let group = Path::new(group.trim_start_matches('/'));
        let inside = !group.components().any(|part| part == std::path::Component::ParentDir);
        let group = if inside { group } else { Path::new("") };
        files.extend(group.ancestors().map(|level| mount.join(level).join(file)));
    }
    files
}

fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_memory_is_read_in_kibibytes() {
        let meminfo = "MemTotal:       16384256 kB\nMemFree:         1234 kB\n";
        assert_eq!(total_of_meminfo(meminfo), Some(16_777_478_144));
        assert_eq!(total_of_meminfo(""), None);
    }

    #[test]
    fn slurm_memory_is_read_in_mebibytes() {
        assert_eq!(of_slurm_job(Some("4096"), None, None), Some(4 << 30));
        assert_eq!(of_slurm_job(None, Some("2048"), Some("4")), Some(8 << 30));
        assert_eq!(of_slurm_job(None, Some("2048"), None), Some(2 << 30));
        assert_eq!(of_slurm_job(Some("0"), None, Some("4")), None);
        assert_eq!(of_slurm_job(None, None, Some("4")), None);
    }

    #[test]
    fn every_level_of_a_version_2_group_is_looked_at() {
        let files = limit_files("0::/system.slice/job_7/step_0\n", Path::new("/c"));
        let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        assert_eq!(
            files,
            [
                "/c/system.slice/job_7/step_0/memory.max",
                "/c/system.slice/job_7/memory.max",
                "/c/system.slice/memory.max",
                "/c/memory.max",
            ]
        );
    }

    #[test]
    fn version_1_groups_are_found_by_their_controller() {
        let membership = "9:cpu,cpuacct:/a\n4:memory:/slurm/job_7\n1:name=systemd:/b\n";
        let files = limit_files(membership, Path::new("/c"));
        let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        assert_eq!(
            files,
            [
                "/c/memory/slurm/job_7/memory.limit_in_bytes",
                "/c/memory/slurm/memory.limit_in_bytes",
                "/c/memory/memory.limit_in_bytes",
            ]
        );
    }

    #[test]
    fn a_group_outside_the_mount_leaves_its_root() {
        let files = limit_files("0::/../../job\n", Path::new("/c"));
        assert_eq!(files, [Path::new("/c/memory.max")]);
    }

    #[test]
    fn unlimited_groups_have_no_limit() {
        assert_eq!(parse_limit("max\n"), None);
        assert_eq!(parse_limit("9223372036854771712\n"), None);
        assert_eq!(parse_limit("1073741824\n"), Some(1 << 30));
    }
}
