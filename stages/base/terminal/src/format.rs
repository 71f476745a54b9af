//! Numbers for people: counts, durations, sizes, rates.

use std::time::Duration;

/// A count with thousands separators: `12,400`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration in its two largest units: `0.8s`, `42s`, `4m 18s`, `1h 05m`, `2d 03h`.
pub fn duration(duration: Duration) -> String {
    let tenths = (duration.as_millis() + 50) / 100;
    if tenths < 100 {
        return format!("{}.{}s", tenths / 10, tenths % 10);
    }
    let seconds = (duration.as_millis() + 500) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// A duration in its largest unit, for estimates: `40s`, `3m`, `2h`, `5d`.
pub fn rough_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let units = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "m")];
    for (length, unit) in units {
        // Two of a unit or more: `90m` says more than `2h`.
        if seconds >= 2.0 * length {
            return format!("{:.0}{unit}", seconds / length);
        }
    }
    format!("{seconds:.0}s")
}

/// A size in bytes, in binary units: `512 B`, `1.5 GiB`.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut scaled = size as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be printed as 1024.0.
    while scaled >= 1023.95 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.1} {}", UNITS[unit])
}

/// A rate, in the unit of time that gives a number worth reading: `1,310/s`, `2.4/s`, `14/min`,
/// `8.0/h`.
pub fn rate(per_second: f64) -> String {
    if !per_second.is_finite() || per_second <= 0.0 {
        return "0/s".to_owned();
    }
    let units = [(1.0, "s"), (60.0, "min"), (3_600.0, "h")];
    let (number, unit) = units
        .map(|(seconds, unit)| (per_second * seconds, unit))
        .into_iter()
        .find(|(number, _)| *number >= 1.0)
        .unwrap_or((per_second * 3_600.0, "h"));
    if number >= 9.95 {
        format!("{}/{unit}", count(number.round() as u64))
    } else {
        format!("{number:.1}/{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (12_400, "12,400")];
        for (number, text) in cases {
            assert_eq!(count(number), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn durations_show_their_largest_units() {
        let cases = [
            (0, "0.0s"),
            (840, "0.8s"),
            (9_960, "10s"),
            (42_400, "42s"),
            (59_700, "1m 00s"),
            (258_000, "4m 18s"),
            (3_900_000, "1h 05m"),
            (183_600_000, "2d 03h"),
        ];
        for (milliseconds, text) in cases {
            assert_eq!(duration(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn estimates_show_one_unit() {
        let cases = [(40, "40s"), (100, "100s"), (180, "3m"), (5_400, "90m"), (7_200, "2h")];
        for (seconds, text) in cases {
            assert_eq!(rough_duration(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn sizes_are_in_binary_units() {
        let cases = [(512, "512 B"), (1_024, "1.0 KiB"), (1_048_575, "1.0 MiB")];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
        assert_eq!(bytes(98_362_432), "93.8 MiB");
        assert_eq!(bytes(1_610_612_736), "1.5 GiB");
    }

    #[test]
    fn rates_choose_their_unit_of_time() {
        let cases = [(1_310.2, "1,310/s"), (9.96, "10/s"), (2.44, "2.4/s"), (0.23, "14/min")];
        for (per_second, text) in cases {
            assert_eq!(rate(per_second), text);
        }
        assert_eq!(rate(8.0 / 3_600.0), "8.0/h");
        assert_eq!(rate(0.0), "0/s");
    }
}
