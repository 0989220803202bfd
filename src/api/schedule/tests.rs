use super::*;

fn parse(text: &str) -> Result<Schedule, String> {
    Schedule::parse(text).map_err(|error| error.to_string())
}

/// The verdicts were taken from robfig/cron v3.0.1; `tests/kubernetes_reads` compares many more.
#[test]
fn accepts_what_kubernetes_accepts() {
    for text in [
        "0 2 * * *",
        "@daily",
        "@midnight",
        "@hourly",
        "@weekly",
        "@monthly",
        "@yearly",
        "@annually",
        "@every 6h",
        "@every 1h30m",
        "0 2 * * MON",
        "0 2 * * mon-fri",
        "0 2 ? * ?",
        "*/15 * * * *",
        "5/15 * * * *",
        "0/5 * * * *",
        "*/61 * * * *",
        "0 0 31 2 *",
        ", 2 * * *",
        "1,,2 * * * *",
        "*-5 * * * *",
        "\t0 2 * * *\n",
        "0  2\t* * *",
        "+5 2 * * *",
        "0 0 1,15 jan-MAR *",
        "@every 1s",
        "@every -1h",
        "@every 0",
        "00 02 * * 0",
        "0 2 1-31/2 * *",
    ] {
        assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
    }
}

/// Kubernetes reads it, and etcd does not take the object.
#[test]
fn a_schedule_of_megabytes_is_refused() {
    assert!(parse(&format!("{}1 * * * *", "1,".repeat(2_000))).is_ok());
    let refused = parse(&format!("{}1 * * * *", "1,".repeat(2_100))).unwrap_err();
    assert!(refused.contains("4209 characters"), "{refused}");
}

#[test]
fn refuses_what_kubernetes_refuses_and_says_where() {
    for (text, message, place) in [
        ("0 2 * * 7", "day of the week: `7` is outside of 0 to 6", "7"),
        ("0 2 * * 5-7", "day of the week: `5-7` is outside of 0 to 6", "5-7"),
        ("60 2 * * *", "minute: `60` is outside of 0 to 59", "60"),
        ("0 24 * * *", "hour: `24` is outside of 0 to 23", "24"),
        ("0 2 0 * *", "day of the month: `0` is outside of 1 to 31", "0"),
        ("0 2 * 13 *", "month: `13` is outside of 1 to 12", "13"),
        ("0 2 * * sat-sun", "day of the week: `sat-sun` ends before it begins", "sat-sun"),
        ("5-1 * * * *", "minute: `5-1` ends before it begins", "5-1"),
        ("1,*/0 * * * *", "minute: the step of `*/0` is 0", "*/0"),
        ("0 2 L * *", "day of the month: `L` is not a number", "L"),
        ("0 2 15W * *", "day of the month: `15W` is not a number", "15W"),
        ("0 2 * * 5#2", "day of the week: `5#2` is not a number", "5#2"),
        ("0 2 * January *", "month: `January` is not a number", "January"),
        ("0 2 * * MONDAY", "day of the week: `MONDAY` is not a number", "MONDAY"),
        ("1-2-3 * * * *", "minute: `1-2-3` has more than one -", "1-2-3"),
        ("1/2/3 * * * *", "minute: `1/2/3` has more than one /", "1/2/3"),
        ("/5 * * * *", "minute: a number is missing", "/5"),
        ("-5 * * * *", "minute: a number is missing", "-5"),
        ("0 0 2 * * *", "five fields are expected, not 6", "0 0 2 * * *"),
        ("0 2 * *", "five fields are expected, not 4", "0 2 * *"),
        (" @daily", "five fields are expected, not 1", " @daily"),
        ("@Daily", "`@Daily` is unknown", "@Daily"),
        ("@reboot", "`@reboot` is unknown", "@reboot"),
        ("@every 6", "`6` is no duration", "6"),
        ("@every 1d", "`1d` is no duration", "1d"),
        ("@every", "`@every` is unknown", "@every"),
        ("", "the schedule is empty", ""),
        (
            "CRON_TZ=Asia/Seoul 0 2 * * *",
            "Kubernetes refuses a time zone in the schedule",
            "CRON_TZ=Asia/Seoul 0 2 * * *",
        ),
        ("TZ=UTC 0 2 * * *", "Kubernetes refuses a time zone in the schedule", "TZ=UTC 0 2 * * *"),
    ] {
        let error = Schedule::parse(text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(&text[error.span], place);
    }
}

#[test]
fn hints_name_what_to_write() {
    for (text, hint) in [
        ("0 2 * * 7", "Sunday is 0"),
        ("0 2 * * sat-sun", "write two parts: `sat-6,0-sun`"),
        ("0 2 * January *", "write jan"),
        ("0 2 L * *", "L, W and # are known to Quartz, not to Kubernetes"),
        ("@Daily", "write @daily"),
        ("TZ=UTC 0 2 * * *", "set timeZone instead"),
        (" @daily", "nothing may stand before the @"),
    ] {
        assert_eq!(Schedule::parse(text).unwrap_err().hint.as_deref(), Some(hint), "{text}");
    }
    assert!(Schedule::parse("0 2 * * sat-6,0-sun").is_ok(), "the hint is right");
}

#[test]
fn finds_schedules_that_never_fire() {
    for text in [
        "0 0 31 2 *",
        "0 0 30 feb *",
        ", 2 * * *",
        "0 , * * *",
        "0 0 31 4,6,9,11 *",
        "0 0 * , *",
        "0 0 , * *",
        "0 0 , * ,",
    ] {
        assert!(Schedule::parse(text).unwrap().never_fires(), "{text}");
        assert_eq!(Schedule::parse(text).unwrap().next(0), None, "{text}");
        assert_eq!(Schedule::parse(text).unwrap().intervals(), None, "{text}");
    }
    for text in ["0 0 29 2 *", "0 0 31 2 mon", "0 0 31 1,2 *", "* * * * *", "@every 1h", "0 0 , * 1"] {
        assert!(!Schedule::parse(text).unwrap().never_fires(), "{text}");
        assert!(Schedule::parse(text).unwrap().next(0).is_some(), "{text}");
    }
}

/// Every schedule of one month, day and weekday against a walk through 28 years, day by day.
#[test]
fn never_fires_agrees_with_a_walk_through_the_calendar() {
    for month in ["2", "4", "2,4", "*", "12"] {
        for day in ["*", "29", "30", "31", "1", ",", "30-31"] {
            for weekday in ["*", "1", ",", "0-6"] {
                let text = format!("0 0 {day} {month} {weekday}");
                let schedule = Schedule::parse(&text).unwrap();
                let Schedule(Kind::Fields { days, .. }) = schedule else { unreachable!() };
                let mut date = Date::of(0);
                let mut fires = false;
                while date.year < 1998 {
                    fires |= days.matches(&date);
                    date.advance();
                }
                assert_eq!(schedule.never_fires(), !fires, "{text}");
            }
        }
    }
}

#[test]
fn intervals_are_the_distances_between_runs() {
    const HOUR: u64 = 3600;
    for (text, shortest, longest) in [
        ("0 2 * * *", 24 * HOUR, 24 * HOUR),
        ("*/15 * * * *", 900, 900),
        ("*/25 * * * *", 600, 1500),
        ("0 2,3 * * *", HOUR, 23 * HOUR),
        ("0 0 * * 0", 7 * 24 * HOUR, 7 * 24 * HOUR),
        ("0 0 1 * *", 28 * 24 * HOUR, 31 * 24 * HOUR),
        ("0 0 1 1 *", 365 * 24 * HOUR, 366 * 24 * HOUR),
        ("0 0 29 2 *", 1461 * 24 * HOUR, 1461 * 24 * HOUR),
        ("* * * * 1", 60, 6 * 24 * HOUR + 60),
        ("@every 90m", 5400, 5400),
        ("@every 1ms", 1, 1),
    ] {
        let intervals = Schedule::parse(text).unwrap().intervals();
        assert_eq!(intervals, Some(Intervals { shortest, longest }), "{text}");
    }
}
