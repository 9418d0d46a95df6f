//! How much memory this process had at most.

/// The high-water mark of resident memory in kB, as Linux keeps it; none elsewhere.
pub(super) fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_memory_and_never_forgets_the_most() {
        let before = peak_kb().unwrap();
        let large = vec![1_u8; 64 << 20];
        assert!(before > 0 && large.iter().all(|byte| *byte == 1));
        drop(large);
        assert!(peak_kb().unwrap() >= 64 << 10);
    }
}
