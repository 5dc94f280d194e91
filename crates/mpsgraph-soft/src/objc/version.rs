//! The macOS version that the runtime pretends to be.
//!
//! `MPSGRAPH_SOFT_MACOS` (`major.minor`, read once) sets it. Classes and methods that came later do not answer, so a
//! program that uses a newer interface without asking for the version fails here as it does on an old system. `16.0`
//! is macOS 26 as it shows itself to programs that were linked with an older SDK: it says that it is 16
//! (dotnet/runtime#116503, openjdk/jdk#25865).

use std::sync::LazyLock;

use super::define::MacOs;

static CONFIGURED: LazyLock<MacOs> = LazyLock::new(|| match std::env::var("MPSGRAPH_SOFT_MACOS") {
    // As if it were not set: a matrix of jobs sets empty ones.
    Ok(text) if text.is_empty() => DEFAULT,
    Ok(text) => parse(&text)
        .unwrap_or_else(|| panic!("MPSGRAPH_SOFT_MACOS is `{text}`; expected a macOS version such as `14.0`")),
    Err(_) => DEFAULT,
});

/// What is played unless the environment says otherwise: the oldest system on which the extents of products are not
/// limited. The parts into which they are cut for an older one are copied, which takes as long as small products.
const DEFAULT: MacOs = (14, 4);

/// The configured system.
pub fn macos() -> MacOs {
    of_reported(reported())
}

/// The version that the configured system says it is.
pub(crate) fn reported() -> MacOs {
    *CONFIGURED
}

/// The system that says it is this version.
fn of_reported((major, minor): MacOs) -> MacOs {
    match major {
        16..=19 => (major + 10, minor),
        _ => (major, minor),
    }
}

fn parse(text: &str) -> Option<MacOs> {
    let mut parts = text.trim().split('.').map(|part| part.parse::<u16>().ok());
    // 10 was the first macOS.
    let major = parts.next()?.filter(|&major| major >= 10)?;
    let minor = parts.next().unwrap_or(Some(0))?;
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{of_reported, parse};

    #[test]
    fn versions_parse() {
        assert_eq!(parse("14.4"), Some((14, 4)));
        assert_eq!(parse("26"), Some((26, 0)));
        assert_eq!(parse("15.1.1"), Some((15, 1)));
        assert_eq!(parse("new"), None);
        assert_eq!(parse("14.x"), None);
        assert_eq!([(15, 7), (16, 0), (26, 1)].map(of_reported), [(15, 7), (26, 0), (26, 1)]);
    }
}
