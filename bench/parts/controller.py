"""What `bench/controller` measured, as rows."""


def told(counted):
    """Requests by what they were; those that were not made are left out."""
    words = [f"{number:,} {what}" for what, number in counted.items() if what != "reads" and number]
    return ", ".join(words) or "none"


def rows(figures):
    """What was measured, and how much."""
    count, made, steady, second = (figures[name] for name in ("databases", "requests", "steady", "secondStart"))
    early = figures["requestsToStatus"]
    bed = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in figures["cpuOfTestBed"].items() if seconds >= 0.5)
    return [
        (f"until {count:,} statuses are written, and {figures['objects']:,} objects", f"{figures['secondsToStatus']:,.1f} s"),
        ("CPU seconds until then", f"dbrender {figures['cpuToStatus']:,.1f}, {bed}"),
        ("until all are ready", f"{figures['secondsToReady']:,.1f} s"),
        ("applies for each object", f"{made['apply'] / figures['objects']:.3f}"),
        ("status writes for each Database, until all have one", f"{early['status'] / count:.2f}"),
        ("status writes for each Database, until all are ready", f"{made['status'] / count:.2f}"),
        ("finalizer, reads and events for each Database",
         f"{made['other write'] / count:.2f}, {made['read'] / count:.2f}, {made['event'] / count:.2f}"),
        ("memory with no Database", f"{figures['memoryAlone'] / 2**20:.0f} MiB"),
        ("memory in a steady state", f"{steady['memory'] / 2**20:.0f} MiB"),
        ("CPU of a steady minute", f"{steady['cpuPerMinute']:.2f} s"),
        ("requests of a steady minute", told(steady["requests"])),
        ("from a change to its apply, median and longest of 20", f"{figures['secondsToApply']:.2f} s, {figures['secondsToApplyMost']:.2f} s"),
        ("a second start", f"{second['cpu']:.1f} CPU s; {told(second['requests'])}"),
    ]
