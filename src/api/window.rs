//! A maintenance window: `Sat,Sun 02:00-05:00`, or without days for every day. Times are UTC.

/// Minutes in a day.
const DAY: u16 = 24 * 60;
/// Names of days, from Monday.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// When a Database may be disturbed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Days on which it opens, from Monday.
    days: [bool; 7],
    /// Minute of the day at which it opens.
    from: u16,
    /// Minutes that it stays open. It may go over midnight.
    length: u16,
}

impl Window {
    /// From its text.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence that begins with "must".
    pub fn parse(text: &str) -> Result<Window, String> {
        let form = || format!("be like \"Sat,Sun 02:00-05:00\", in UTC, with days of {}", DAYS.join(", "));
        let (days, times) = match text.trim().split_once(' ') {
            Some((days, times)) => (days, times.trim()),
            None => ("", text.trim()),
        };
        let mut on = [days.is_empty(); 7];
        for name in days.split(',').filter(|_| !days.is_empty()) {
            let day = DAYS.iter().position(|day| *day == name).ok_or_else(form)?;
            on[day] = true;
        }
        let (from, to) = times.split_once('-').ok_or_else(form)?;
        let (from, to) = (minute(from).ok_or_else(form)?, minute(to).ok_or_else(form)?);
        if from == to || from == DAY {
            return Err("be open for some time".to_owned());
        }
        Ok(Window { days: on, from, length: if to > from { to - from } else { DAY - from + to } })
    }

    /// Minutes until it opens; 0: it is open. `day` counts from Monday.
    #[must_use]
    pub fn opens_in(&self, day: u8, minute: u16) -> u16 {
        let day = usize::from(day % 7);
        let yesterday = (day + 6) % 7;
        let opened = |ago: u16| ago < self.length;
        if (self.days[day] && minute >= self.from && opened(minute - self.from))
            || (self.days[yesterday] && opened(minute + DAY - self.from))
        {
            return 0;
        }
        (0..8u16)
            .filter(|ahead| self.days[(day + usize::from(*ahead)) % 7])
            .filter_map(|ahead| (ahead * DAY + self.from).checked_sub(minute).filter(|left| *left > 0))
            .min()
            .unwrap_or(DAY)
    }
}

/// `02:00`; `24:00` is the end of the day.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let (hours, minutes): (u16, u16) =
        if two(hours) && two(minutes) { (hours.parse().ok()?, minutes.parse().ok()?) } else { return None };
    (minutes < 60 && hours * 60 + minutes <= DAY).then_some(hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn a_window_is_open_from_its_beginning_to_its_end() {
        /// Day from Monday, hour, minute; minutes until it opens.
        type Moment = (u8, u16, u16, u16);
        let rows: &[(&str, &[Moment])] = &[
            ("02:00-05:00", &[(0, 2, 0, 0), (3, 4, 59, 0), (3, 5, 0, 21 * 60), (6, 1, 59, 1)]),
            ("Sat,Sun 02:00-05:00", &[(5, 3, 0, 0), (4, 3, 0, 23 * 60), (6, 5, 0, (5 * 24 + 21) * 60)]),
            ("Fri 22:00-04:00", &[(4, 22, 0, 0), (5, 3, 59, 0), (5, 4, 0, (6 * 24 + 18) * 60), (4, 3, 0, 19 * 60)]),
            ("Mon 00:00-24:00", &[(0, 0, 0, 0), (0, 23, 59, 0), (1, 0, 0, 6 * 24 * 60)]),
            ("Sun 23:00-01:00", &[(0, 0, 30, 0), (0, 1, 0, (6 * 24 + 22) * 60)]),
        ];
        for (text, moments) in rows {
            let window = Window::parse(text).unwrap();
            for (day, hour, minute, wanted) in *moments {
                assert_eq!(window.opens_in(*day, hour * 60 + minute), *wanted, "{text} at {day} {hour}:{minute}");
            }
        }
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for text in [
            "",
            "always",
            "2:00-5:00",
            "02:00",
            "02:00-25:00",
            "02:60-03:00",
            "sat 02:00-05:00",
            "Sat, 02:00-05:00",
            "Sat 02:00-05:00 Europe/Berlin",
            "02:00-02:00",
            "24:00-01:00",
            "02:00–05:00",
            "+2:00-05:00",
        ] {
            assert!(Window::parse(text).is_err(), "{text}");
        }
    }
}
