//! Cron schedules as Kubernetes reads them: a port of `ParseStandard` of `github.com/robfig/cron/v3`, the parser
//! behind `CronJob.spec.schedule`, with errors that name the field, and with the question that the parser does not
//! answer: whether a schedule ever fires.

use std::fmt;
use std::ops::Range;

use super::calendar::{Date, longest_month};

/// A schedule that Kubernetes accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Bits of the values of each field.
    Fields { minutes: u64, hours: u64, days: Days },
    /// `@every`: whole seconds, at least one.
    Every { seconds: u64 },
}

/// Which days match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Days {
    of_month: u64,
    months: u64,
    of_week: u64,
    /// Both day fields must match. Otherwise one of them is enough: so it is when neither is `*`.
    both: bool,
}

/// A field of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronField {
    /// 0 to 59.
    Minute,
    /// 0 to 23.
    Hour,
    /// 1 to 31.
    DayOfMonth,
    /// 1 to 12, or `jan` to `dec`.
    Month,
    /// 0 (Sunday) to 6, or `sun` to `sat`.
    DayOfWeek,
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CronField::Minute => "minute",
            CronField::Hour => "hour",
            CronField::DayOfMonth => "day of the month",
            CronField::Month => "month",
            CronField::DayOfWeek => "day of the week",
        })
    }
}

const FIELDS: [CronField; 5] =
    [CronField::Minute, CronField::Hour, CronField::DayOfMonth, CronField::Month, CronField::DayOfWeek];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl CronField {
    fn bounds(self) -> (u64, u64) {
        match self {
            CronField::Minute => (0, 59),
            CronField::Hour => (0, 23),
            CronField::DayOfMonth => (1, 31),
            CronField::Month => (1, 12),
            CronField::DayOfWeek => (0, 6),
        }
    }

    /// Names of the values, from the least one on.
    fn names(self) -> &'static [&'static str] {
        match self {
            CronField::Month => &MONTHS,
            CronField::DayOfWeek => &WEEKDAYS,
            _ => &[],
        }
    }
}

/// Why Kubernetes refuses a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleError {
    /// The field at fault, if it is one.
    pub field: Option<CronField>,
    /// Bytes of the schedule that are at fault.
    pub span: Range<usize>,
    /// One sentence without a full stop.
    pub message: String,
    /// What to write instead, if that is known.
    pub hint: Option<String>,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Seconds between two runs that follow each other, in a time zone without summer time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// The least of them.
    pub shortest: u64,
    /// The greatest of them, looked for in the 28 years after which the calendar repeats itself.
    pub longest: u64,
}

const DAY: i64 = 86_400;

/// Longest schedule, in bytes. All values of all fields take less than 500; etcd stores no object of more than a megabyte
/// and a half.
const LONGEST: usize = 4_096;

impl Schedule {
    /// Reads a schedule of five fields, or one of `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`,
    /// `@annually`, `@every DURATION`.
    ///
    /// # Errors
    /// What Kubernetes refuses when a CronJob is created, so also `TZ=` and `CRON_TZ=`, which the parser would take.
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let whole = |message: &str, hint: Option<&str>| ScheduleError {
            field: None,
            span: 0..text.len(),
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
        };
        if text.contains("TZ") {
            return Err(whole("Kubernetes refuses a time zone in the schedule", Some("set timeZone instead")));
        }
        if text.is_empty() {
            return Err(whole("the schedule is empty", None));
        }
        if text.len() > LONGEST {
            let message = format!("the schedule has {} characters, and the CronJob could not be stored", text.len());
            return Err(whole(&message, Some("name each value once")));
        }
        if text.starts_with('@') {
            return descriptor(text);
        }
        let fields: Vec<Range<usize>> = split(text, char::is_whitespace).collect();
        if fields.len() != FIELDS.len() {
            let hint = match fields.len() {
                6 => Some("there are no seconds: the fields are minute, hour, day, month and day of the week"),
                1 if text.trim_start().starts_with('@') => Some("nothing may stand before the @"),
                _ => Some("the fields are minute, hour, day of the month, month and day of the week"),
            };
            return Err(whole(&format!("five fields are expected, not {}", fields.len()), hint));
        }
        let mut bits = [0; 5];
        let mut stars = [false; 5];
        for (index, (field, span)) in FIELDS.into_iter().zip(fields).enumerate() {
            (bits[index], stars[index]) = parse_field(field, text, span)?;
        }
        let [minutes, hours, of_month, months, of_week] = bits;
        let days = Days { of_month, months, of_week, both: stars[2] || stars[4] };
        Ok(Schedule(Kind::Fields { minutes, hours, days }))
    }

    /// Kubernetes accepts it and will never run it, for example `0 0 31 2 *`.
    #[must_use]
    pub fn never_fires(&self) -> bool {
        match self.0 {
            Kind::Every { .. } => false,
            Kind::Fields { minutes, hours, days } => minutes == 0 || hours == 0 || !days.exist(),
        }
    }

    /// The first run after a moment, both in seconds since 1970 and in UTC. Nothing if there is none within the five
    /// years in which Kubernetes looks for it.
    #[must_use]
    pub fn next(&self, after: i64) -> Option<i64> {
        let (minutes, hours, days) = match self.0 {
            Kind::Every { seconds } => return after.checked_add(i64::try_from(seconds).ok()?),
            Kind::Fields { minutes, hours, days } => (minutes, hours, days),
        };
        if self.never_fires() {
            return None;
        }
        let from = after.checked_add(1)?;
        let mut day = Date::of(from.div_euclid(DAY));
        let mut second = from.rem_euclid(DAY);
        let last_year = day.year + 5;
        while day.year <= last_year {
            if days.matches(&day) {
                let minute = (second + 59) / 60;
                if let Some(minute) = times(minutes, hours).find(|time| *time >= minute) {
                    return Some(day.number * DAY + minute * 60);
                }
            }
            day.advance();
            second = 0;
        }
        None
    }

    /// The least and the greatest time between two runs. Nothing if it never fires.
    #[must_use]
    pub fn intervals(&self) -> Option<Intervals> {
        let (minutes, hours, days) = match self.0 {
            Kind::Every { seconds } => return Some(Intervals { shortest: seconds, longest: seconds }),
            Kind::Fields { minutes, hours, days } => (minutes, hours, days),
        };
        if self.never_fires() {
            return None;
        }
        let first = times(minutes, hours).next()?;
        let last = times(minutes, hours).last()?;
        let inside = times(minutes, hours).zip(times(minutes, hours).skip(1)).map(|(one, next)| next - one);
        let (least_days, most_days) = if days.every() { (1, 1) } else { days.gaps()? };
        let over_night = first - last + 24 * 60 * least_days;
        let over_nights = first - last + 24 * 60 * most_days;
        let shortest = inside.clone().min().map_or(over_night, |inside| inside.min(over_night));
        let longest = inside.max().map_or(over_nights, |inside| inside.max(over_nights));
        Some(Intervals { shortest: seconds(shortest), longest: seconds(longest) })
    }
}

fn seconds(minutes: i64) -> u64 {
    // Differences of moments in their order are never negative.
    minutes.unsigned_abs() * 60
}

/// The matching minutes of a day, counted from midnight.
fn times(minutes: u64, hours: u64) -> impl Iterator<Item = i64> + Clone {
    let is_set = |bits: u64, value: i64| bits >> value & 1 == 1;
    (0..24).filter(move |hour| is_set(hours, *hour)).flat_map(move |hour| {
        (0..60).filter(move |minute| is_set(minutes, *minute)).map(move |minute| hour * 60 + minute)
    })
}

impl Days {
    fn matches(&self, day: &Date) -> bool {
        let of_month = self.of_month >> day.day & 1 == 1;
        let of_week = self.of_week >> day.weekday() & 1 == 1;
        let matches = if self.both { of_month && of_week } else { of_month || of_week };
        matches && self.months >> day.month & 1 == 1
    }

    fn every(&self) -> bool {
        self.months == ALL_MONTHS && self.of_month == ALL_DAYS && self.of_week == ALL_WEEKDAYS
    }

    /// At least one day matches in some year.
    fn exist(&self) -> bool {
        let of_month = (1..=12_u32)
            .filter(|month| self.months >> month & 1 == 1)
            .any(|month| self.of_month & ((1 << (longest_month(month) + 1)) - 2) != 0);
        let of_week = self.of_week != 0 && self.months != 0;
        // With `both`, one of the two fields is full, so that any day of the other will do.
        if self.both { of_month && of_week } else { of_month || of_week }
    }

    /// The least and the greatest number of days from a matching day to the next.
    fn gaps(&self) -> Option<(i64, i64)> {
        // 1 January 2028. The next year without a leap day that should have one is 2100.
        let mut day = Date { number: 21_184, year: 2028, month: 1, day: 1 };
        let (mut least, mut most) = (i64::MAX, 0);
        let mut previous = None;
        while day.year < 2028 + 28 + 8 {
            if self.matches(&day) {
                if let Some(previous) = previous {
                    least = least.min(day.number - previous);
                    most = most.max(day.number - previous);
                }
                previous = Some(day.number);
            }
            day.advance();
        }
        (most > 0).then_some((least, most))
    }
}

const ALL_MONTHS: u64 = (1 << 13) - 2;
const ALL_DAYS: u64 = (1 << 32) - 2;
const ALL_WEEKDAYS: u64 = (1 << 7) - 1;

/// The parts of a text between separators, without the empty ones, as places in the text.
fn split(text: &str, separator: fn(char) -> bool) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    text.split_inclusive(separator)
        .map(move |part| {
            let start = at;
            at += part.len();
            start..start + part.trim_end_matches(separator).len()
        })
        .filter(|part| !part.is_empty())
}

/// The bits of a field at `span` of `text`, and whether it counts as `*`.
fn parse_field(field: CronField, text: &str, span: Range<usize>) -> Result<(u64, bool), ScheduleError> {
    let mut bits = 0;
    let mut star = false;
    // Empty parts of a list are ignored, so `,` alone matches nothing.
    for part in split(&text[span.clone()], |separator| separator == ',') {
        let part = span.start + part.start..span.start + part.end;
        let (more, star_here) = parse_range(field, &text[part.clone()]).map_err(|(message, hint)| ScheduleError {
            field: Some(field),
            span: part,
            message,
            hint,
        })?;
        bits |= more;
        star |= star_here;
    }
    Ok((bits, star))
}

type Reason = (String, Option<String>);

fn parse_range(field: CronField, text: &str) -> Result<(u64, bool), Reason> {
    let (least, greatest) = field.bounds();
    let mut halves = text.split('/');
    let range = halves.next().unwrap_or(text);
    let step = halves.next();
    if halves.next().is_some() {
        return Err((format!("`{text}` has more than one /"), None));
    }
    let mut ends = range.split('-');
    let from = ends.next().unwrap_or(range);
    let to = ends.next();
    let (start, mut end, mut star);
    if from == "*" || from == "?" {
        // What follows a `-` here is not even looked at.
        (start, end, star) = (least, greatest, true);
    } else {
        start = value(field, from)?;
        end = match to {
            Some(to) => value(field, to)?,
            None => start,
        };
        star = false;
        if ends.next().is_some() {
            return Err((format!("`{text}` has more than one -"), None));
        }
    }
    let step = match step {
        None => 1,
        Some(step) => {
            let step = number(step)?;
            // `N/step` means from N to the end.
            if to.is_none() {
                end = greatest;
            }
            star = star && step <= 1;
            step
        }
    };
    if start < least || end > greatest {
        let hint = if field == CronField::DayOfWeek && end == 7 { Some("Sunday is 0".to_owned()) } else { None };
        return Err((format!("`{text}` is outside of {least} to {greatest}"), hint));
    }
    if start > end {
        let (start, end) = (if from.is_empty() { "" } else { from }, to.unwrap_or(from));
        return Err((
            format!("`{text}` ends before it begins"),
            Some(format!("write two parts: `{start}-{greatest},{least}-{end}`")),
        ));
    }
    let Ok(step) = usize::try_from(step) else { return Err((format!("the step of `{text}` is too large"), None)) };
    if step == 0 {
        return Err((format!("the step of `{text}` is 0"), None));
    }
    Ok(((start..=end).step_by(step).fold(0, |bits, value| bits | 1 << value), star))
}

/// A number or a name.
fn value(field: CronField, text: &str) -> Result<u64, Reason> {
    let lower = text.to_ascii_lowercase();
    let (least, _) = field.bounds();
    if let Some(index) = field.names().iter().position(|name| *name == lower) {
        return Ok(least + index as u64);
    }
    number(text).map_err(|(message, _)| {
        let short = field.names().iter().find(|name| lower.len() > 3 && lower.starts_with(**name));
        let hint = match short {
            Some(name) => Some(format!("write {name}")),
            None if lower.contains(['l', 'w', '#']) && lower.len() <= 4 => {
                Some("L, W and # are known to Quartz, not to Kubernetes".to_owned())
            }
            None => None,
        };
        (message, hint)
    })
}

/// `strconv.Atoi`, not negative.
fn number(text: &str) -> Result<u64, Reason> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse::<i64>().ok() } else { None };
    match number {
        Some(number) => Ok(number.unsigned_abs()),
        None if text.is_empty() => Err(("a number is missing".to_owned(), None)),
        None => Err((format!("`{text}` is not a number"), None)),
    }
}

fn descriptor(text: &str) -> Result<Schedule, ScheduleError> {
    let error =
        |span, message: String, hint: &str| ScheduleError { field: None, span, message, hint: Some(hint.to_owned()) };
    let fields = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => {
            let Some(duration) = text.strip_prefix("@every ") else {
                let known = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
                let hint = match known.iter().find(|known| text.trim().eq_ignore_ascii_case(known)) {
                    Some(known) => format!("write {known}"),
                    None => "known are @hourly, @daily, @weekly, @monthly, @yearly and @every DURATION".to_owned(),
                };
                return Err(error(0..text.len(), format!("`{text}` is unknown"), &hint));
            };
            let Some(nanoseconds) = nanoseconds(duration) else {
                let span = "@every ".len()..text.len();
                return Err(error(span, format!("`{duration}` is no duration"), "write it like 6h or 1h30m"));
            };
            let seconds = u64::try_from(nanoseconds / 1_000_000_000).unwrap_or(0).max(1);
            return Ok(Schedule(Kind::Every { seconds }));
        }
    };
    Schedule::parse(fields)
}

/// `time.ParseDuration` of Go, in nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole_end = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, behind) = rest.split_at(whole_end);
        let (fraction, behind) = match behind.strip_prefix('.') {
            Some(behind) => behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", behind),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_end =
            behind.find(|character: char| character == '.' || character.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        let unit: u64 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60 * 1_000_000_000,
            "h" => 3_600 * 1_000_000_000,
            _ => return None,
        };
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let mut part = whole.checked_mul(unit)?;
        if !fraction.is_empty() {
            // Go computes this part in floating point too.
            let scale = 10_f64.powi(i32::try_from(fraction.len().min(18)).ok()?);
            let digits: f64 = fraction[..fraction.len().min(18)].parse().ok()?;
            part = part.checked_add((digits * (unit as f64 / scale)) as u64)?;
        }
        total = total.checked_add(part)?;
        rest = behind;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

#[cfg(test)]
mod tests;
