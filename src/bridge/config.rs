//! What the environment asks for.

/// Ops that a recording holds at most; also an upper limit of a program's compile time.
const MAX_OPS: usize = 2048;

/// What the environment asks for; read once.
pub(super) struct Config {
    /// `BURN_MPSGRAPH_EAGER=1`: a program per op.
    pub eager: bool,
    /// `BURN_MPSGRAPH_LOG=1`: a line on stderr per flush; `=2`: the text of each program that is compiled, too.
    pub log: u8,
    /// `BURN_MPSGRAPH_MAX_OPS`: ops that a recording holds at most.
    pub max_ops: usize,
}

impl Config {
    pub fn from_env() -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
        Self {
            eager: number("BURN_MPSGRAPH_EAGER") == Some(1),
            log: number("BURN_MPSGRAPH_LOG").map_or(0, |level| level.min(2) as u8),
            max_ops: number("BURN_MPSGRAPH_MAX_OPS").unwrap_or(MAX_OPS).max(1),
        }
    }
}
