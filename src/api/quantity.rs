//! Kubernetes quantities, exact: `500m`, `2`, `1.5Gi`, `1e3`.
//!
//! Values are whole nano units in an i128, so that nothing is ever rounded on the way to a comparison. What
//! `resource.ParseQuantity` of apimachinery rounds up below a nano unit is rounded up here too.

use std::cmp::Ordering;
use std::fmt;

const NANO: i128 = 1_000_000_000;
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// An amount and the family of suffixes it was written in. Equal amounts are equal, however they were written.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nano: i128,
    family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Binary,
    Decimal,
    Exponent,
}

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// It is not a number with one of the suffixes.
    Syntax,
    /// It is above what the API server keeps and prints exactly.
    TooLarge,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Syntax => "not a number followed by a suffix such as m, k, M, G, Ki, Mi or Gi",
            QuantityError::TooLarge => "too large",
        })
    }
}

impl Quantity {
    /// Whole bytes in binary units.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Quantity {
        // An u64 times a thousand million fits into an i128.
        Quantity { nano: bytes as i128 * NANO, family: Family::Binary }
    }

    /// Reads what `ParseQuantity` reads.
    ///
    /// # Errors
    /// When the text is no quantity, or is too large to be kept exactly.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return Err(QuantityError::Syntax);
        }
        let (family, power_of_two, power_of_ten) = suffix_of(suffix)?;
        let magnitude = scale(whole, fraction, power_of_two, power_of_ten)?;
        // The server cuts binary amounts at this size, so that 8Ei is one byte less than it says.
        let magnitude = if family == Family::Binary { magnitude.min(i64::MAX as i128 * NANO) } else { magnitude };
        // From here on the server forgets the suffix when it prints: 1000E becomes 1.
        if family == Family::Decimal && magnitude >= 1_000_000_000_000_000_000_000 * NANO {
            return Err(QuantityError::TooLarge);
        }
        Ok(Quantity { nano: if negative { -magnitude } else { magnitude }, family })
    }

    /// The text that the API server would print: no fraction, the largest suffix that leaves a whole number.
    #[must_use]
    pub fn canonical(&self) -> String {
        let whole = self.nano % NANO == 0;
        if self.family == Family::Binary && whole && self.nano.abs() >= 1024 * NANO {
            let amount = self.nano / NANO;
            return BINARY
                .iter()
                .rev()
                .find(|(_, shift)| amount % (1i128 << shift) == 0)
                .map_or_else(|| amount.to_string(), |(suffix, shift)| format!("{}{suffix}", amount >> shift));
        }
        if self.nano == 0 {
            return "0".to_owned();
        }
        let mut amount = self.nano;
        let mut power = -9;
        while amount % 1000 == 0 && (power < 18 || self.family == Family::Exponent) {
            amount /= 1000;
            power += 3;
        }
        let suffix = DECIMAL.iter().find(|(_, known)| *known == power).map_or("", |(suffix, _)| *suffix);
        match self.family {
            Family::Exponent if power != 0 => format!("{amount}e{power}"),
            _ => format!("{amount}{suffix}"),
        }
    }

    /// The amount in thousand-millionths, exact.
    #[must_use]
    pub const fn nano(&self) -> i128 {
        self.nano
    }

    /// Whole bytes, rounded up. `None` below zero or above 2^64.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.units_of(NANO)
    }

    /// Thousandths of a core, rounded up. `None` below zero or above 2^64.
    #[must_use]
    pub fn millicores(&self) -> Option<u64> {
        self.units_of(NANO / 1000)
    }

    fn units_of(&self, unit: i128) -> Option<u64> {
        if self.nano < 0 { None } else { u64::try_from(ceil(self.nano, unit)).ok() }
    }

    /// Whether it is above zero.
    #[must_use]
    pub const fn is_positive(&self) -> bool {
        self.nano > 0
    }

    /// Whether it was written with `Ki` to `Ei`.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.family == Family::Binary
    }
}

const fn ceil(value: i128, unit: i128) -> i128 {
    value.div_euclid(unit) + (value.rem_euclid(unit) != 0) as i128
}

/// Family, power of two, power of ten.
fn suffix_of(suffix: &str) -> Result<(Family, u32, i32), QuantityError> {
    if let Some((_, shift)) = BINARY.iter().find(|(known, _)| *known == suffix) {
        return Ok((Family::Binary, *shift, 0));
    }
    if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Ok((Family::Decimal, 0, *power));
    }
    let exponent = suffix.strip_prefix(['e', 'E']).ok_or(QuantityError::Syntax)?;
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(QuantityError::Syntax);
    }
    exponent.parse().map(|power| (Family::Exponent, 0, power)).map_err(|_| QuantityError::TooLarge)
}

/// Nano units of `whole.fraction` times the powers, rounded up.
fn scale(whole: &str, fraction: &str, power_of_two: u32, power_of_ten: i32) -> Result<i128, QuantityError> {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let too_large = QuantityError::TooLarge;
    let number: i128 = digits.parse().map_err(|_| too_large)?;
    let number = number.checked_mul(1i128 << power_of_two).ok_or(too_large)?;
    let fraction_digits = i32::try_from(fraction.len()).map_err(|_| too_large)?;
    let power = power_of_ten.checked_add(9).and_then(|p| p.checked_sub(fraction_digits)).ok_or(too_large)?;
    match u32::try_from(power) {
        Ok(power) => 10i128.checked_pow(power).and_then(|unit| number.checked_mul(unit)).ok_or(too_large),
        // Below a nano unit: any rest counts as one more.
        Err(_) => Ok(10i128.checked_pow(power.unsigned_abs()).map_or(1, |unit| ceil(number, unit))),
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.canonical())
    }
}

#[cfg(test)]
mod tests {
    use super::{Quantity, QuantityError};

    #[test]
    fn canonical_forms_are_the_servers() {
        let cases = [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("0.1Gi", "107374182400m"),
            ("512", "512"),
            ("100Gi", "100Gi"),
            ("1e3", "1e3"),
            ("1000", "1k"),
            ("-1Ki", "-1Ki"),
            ("+5", "5"),
            ("0Gi", "0"),
            (".5", "500m"),
            ("5.", "5"),
            ("1E", "1E"),
            ("1Ei", "1Ei"),
            ("0.0000000001", "1n"),
            ("8Ei", "9223372036854775807"),
            ("1000e18", "1e21"),
            ("1e-10", "1e-9"),
            ("100e1", "1e3"),
        ];
        for (text, canonical) in cases {
            assert_eq!(Quantity::parse(text).map(|q| q.canonical()), Ok(canonical.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "-", "--1", "1e3Ki", "1 Gi", "1gi", "Gi", ".", "1..2", "1e", "1e+", "0x10", "１"] {
            assert_eq!(Quantity::parse(text), Err(QuantityError::Syntax), "{text}");
        }
        for text in ["1000E", "1e40", "1e99999999999", &"9".repeat(60)] {
            assert_eq!(Quantity::parse(text), Err(QuantityError::TooLarge), "{text}");
        }
    }

    #[test]
    fn amounts_are_compared_and_not_texts() {
        let q = |text| Quantity::parse(text).unwrap();
        assert_eq!(q("1"), q("1000m"));
        assert_eq!(q("1Ti"), q("1024Gi"));
        assert!(q("1000Gi") < q("1Ti"));
        assert_eq!(q("1.5Gi").bytes(), Some(1536 << 20));
        assert_eq!(q("1m").bytes(), Some(1));
        assert_eq!(q("-1").bytes(), None);
        assert_eq!(q("-1n").bytes(), None);
        assert_eq!(q("1500u").millicores(), Some(2));
    }
}
