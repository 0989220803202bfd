//! How long ago something was, in words. The clock is the caller's: this room has none.

use k8s_openapi::jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// `3 hours ago` for a time in RFC 3339 and a now in seconds since 1970. Anything else is given back as it is: a time
/// that cannot be read, or one that lies ahead because clocks differ.
pub(super) fn age(time: &str, now: Option<i64>) -> String {
    let seconds = now.zip(time.parse::<Timestamp>().ok()).map(|(now, then)| now - then.as_second());
    let (count, unit) = match seconds {
        Some(s @ 0..MINUTE) => (s, "second"),
        Some(s @ MINUTE..HOUR) => (s / MINUTE, "minute"),
        Some(s @ HOUR..DAY) => (s / HOUR, "hour"),
        Some(s) if s >= DAY => (s / DAY, "day"),
        _ => return time.to_owned(),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn says_it_in_words() {
        let then = "2026-03-01T10:00:00Z";
        let base = 1_772_359_200;
        for (seconds, words) in [
            (0, "0 seconds ago"),
            (1, "1 second ago"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (3 * 3600 + 59, "3 hours ago"),
            (86_400, "1 day ago"),
            (400 * 86_400, "400 days ago"),
            (-1, then),
        ] {
            assert_eq!(age(then, Some(base + seconds)), words);
        }
        assert_eq!(age(then, None), then);
        assert_eq!(age("yesterday", Some(base)), "yesterday");
    }
}
