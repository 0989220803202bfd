//! Days of the Gregorian calendar by arithmetic alone: no clock, no time zone.

/// A day of the Gregorian calendar.
pub(super) struct Date {
    /// Days since 1 January 1970.
    pub(super) number: i64,
    pub(super) year: i64,
    /// 1 to 12.
    pub(super) month: u32,
    /// 1 to 31.
    pub(super) day: u32,
}

impl Date {
    /// The civil date of a day number, by the arithmetic of eras of 400 years that begin in March.
    pub(super) fn of(number: i64) -> Date {
        let shifted = number + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        // Both are small positive numbers.
        Date { number, year, month: month as u32, day: day as u32 }
    }

    /// 0 is Sunday.
    pub(super) fn weekday(&self) -> i64 {
        // 1 January 1970 was a Thursday.
        (self.number + 4).rem_euclid(7)
    }

    /// Goes on to the next day.
    pub(super) fn advance(&mut self) {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let length = longest_month(self.month) - u32::from(self.month == 2 && !leap);
        self.number += 1;
        self.day += 1;
        if self.day > length {
            self.day = 1;
            self.month += 1;
        }
        if self.month > 12 {
            self.month = 1;
            self.year += 1;
        }
    }
}

/// Days of the month, 29 for February.
pub(super) fn longest_month(month: u32) -> u32 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_number_becomes_its_date() {
        for (number, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (21_184, (2028, 1, 1)),
            (19_782, (2024, 2, 29)),
            (47_541, (2100, 3, 1)),
        ] {
            let day = Date::of(number);
            assert_eq!((day.year, day.month, day.day), date);
        }
    }
}
