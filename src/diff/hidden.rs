//! Values of Secrets. Nothing can print them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a Secret. It serialises as the base64 that the API takes, and its `Debug` says only that it is there.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(Vec<u8>);

impl Hidden {
    /// From bytes.
    #[must_use]
    pub const fn new(bytes: Vec<u8>) -> Hidden {
        Hidden(bytes)
    }

    /// The bytes, for the one place that has to use them.
    #[must_use]
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The decoder's own error would quote a part of the value.
        STANDARD.decode(text).map(Hidden).map_err(|_| serde::de::Error::custom("a Secret's value is not base64"))
    }
}

impl Serialize for Hidden {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Hidden;

    #[test]
    fn neither_debug_nor_an_error_shows_the_value() {
        let hidden = Hidden::new(b"correct horse".to_vec());
        assert_eq!(format!("{hidden:?}"), "Hidden");
        let error = serde_json::from_str::<Hidden>("\"correct horse\"").unwrap_err().to_string();
        assert!(!error.contains("correct") && !error.contains("horse"), "{error}");
    }
}
