"""What many Databases over many clusters cost: a simulation with a fixed seed, from what bench/run measured.

`ASSUMED` is what it did not measure; everything else comes from docs/performance/results.json.
"""

import heapq
import math
import random

from . import plot

BEGIN, END = "<!-- Written by bench/scale. -->\n", "<!-- End of what bench/scale wrote. -->\n"
SEED = 11
PAGE = 500

ASSUMED = {
    "databases": (100_000, "Databases in all"),
    "clusters": (200, "clusters, a repository each"),
    "skew": (0.6, "exponent of their sizes: the largest cluster has many times the Databases of the smallest"),
    "checkEverySeconds": (300, "between two drift checks of a cluster"),
    "runners": (4, "runners for the drift checks of all clusters"),
    "serverObjectsPerSecond": (7_000, "objects that an API server lists in a second: 0.58 to 0.95 s were seen for 7,000"),
    "controllerMemory": (1 << 30, "bytes that one controller may take"),
    "controllerAlone": (45 << 20, "bytes of a controller with no Database; 54 MiB were seen with 30, in a debug build"),
    "controllerEach": (75 << 10, "bytes of a controller for each Database: its target, 120 MB with 1,000"),
    "writesOfStatus": (2.7, "status writes for each Database until it is ready, as seen with 30; and each object is applied once"),
    "appliesPerSecond": (20, "requests in a second that one controller sends while it catches up"),
    "restartMedianSeconds": (120, "median of the time in which a Database of three members restarts in turns"),
    "restartSpread": (0.6, "spread (sigma of the logarithm) of that time"),
    "maxRollouts": (5, "Databases of a cluster that may restart at a time (`--max-rollouts`)"),
}


def assumed(name):
    return ASSUMED[name][0]


def sizes():
    """Databases by cluster, the largest first, and together as many as there are."""
    weights = [1 / rank ** assumed("skew") for rank in range(1, assumed("clusters") + 1)]
    exact = [weight / sum(weights) * assumed("databases") for weight in weights]
    whole = [int(share) for share in exact]
    rest = sorted(range(len(exact)), key=lambda at: exact[at] - whole[at], reverse=True)
    for at in rest[:assumed("databases") - sum(whole)]:
        whole[at] += 1
    return whole


def pages(shapes, count):
    """Requests of one check: a page of each kind at least, one for the version, one for storage classes."""
    kinds = {kind for shape in shapes.values() for kind in shape["objects"]}
    requests = 2
    for kind in kinds:
        objects = sum(shape["objects"].get(kind, 0) for shape in shapes.values()) / len(shapes) * count
        requests += max(1, math.ceil(objects / PAGE))
    return requests


def checks(random_, costs):
    """A day of drift checks on a queue of runners: how long each waits for a runner, in seconds, and how busy they are."""
    every, day = assumed("checkEverySeconds"), 86_400
    starts = sorted((random_.uniform(0, every) + number * every, cluster)
                    for cluster in range(len(costs)) for number in range(day // every))
    free = [0.0] * assumed("runners")
    heapq.heapify(free)
    waits = []
    for start, cluster in starts:
        begin = max(start, heapq.heappop(free))
        waits.append(begin - start)
        heapq.heappush(free, begin + costs[cluster])
    waits.sort()
    busy = sum(costs) * (day // every) / day / assumed("runners")
    return waits[len(waits) // 2], waits[int(len(waits) * 0.99)], busy


def rollout(random_, count):
    """Seconds until a change of every pod template has gone through a cluster, some Databases at a time."""
    running = [0.0] * min(assumed("maxRollouts"), count)
    for _ in range(count):
        took = random_.lognormvariate(math.log(assumed("restartMedianSeconds")), assumed("restartSpread"))
        heapq.heappush(running, heapq.heappop(running) + took)
    return max(running)


def simulate(results):
    random_ = random.Random(SEED)
    largest = results["results"][-1]
    ours = largest["rows"]["dbrender"]
    tree = next(row for row in reversed(results["results"]) if "dbrender, a fresh tree" in row["rows"])
    render = ours["cpu"] / largest["databases"]
    write = tree["rows"]["dbrender, a fresh tree"]["cpu"] / tree["databases"]
    again = tree["rows"]["dbrender, nothing changed"]["cpu"] / tree["databases"]
    compare = results["diff"]["diffCpu"] / results["diff"]["databases"]
    shapes = results["shapes"]
    objects = sum(sum(shape["objects"].values()) for shape in shapes.values()) / len(shapes)
    clusters = sizes()
    costs = [count * compare + count * objects / assumed("serverObjectsPerSecond") for count in clusters]
    requests = [pages(shapes, count) for count in clusters]
    middle, late, busy = checks(random_, costs)
    durations = sorted(rollout(random_, count) for count in clusters)
    memory = [assumed("controllerAlone") + count * assumed("controllerEach") for count in clusters]
    shards = [math.ceil(each / assumed("controllerMemory")) for each in memory]
    writes = objects + assumed("writesOfStatus")
    total = sum(clusters)
    rows = [
        ("Databases of the largest, the middle and the smallest cluster",
         f"{clusters[0]:,}, {clusters[len(clusters) // 2]:,}, {clusters[-1]:,}"),
        ("objects in all", f"{total * objects / 1e6:.2f} million"),
        ("a render of everything to stdout", f"{total * render:,.0f} s of CPU, {total * largest['bytes'] / largest['databases'] / 1e9:,.1f} GB"),
        ("a render of the largest cluster to a fresh tree; with nothing changed",
         f"{clusters[0] * write:,.1f} s; {clusters[0] * again:,.1f} s of CPU"),
        ("files in all, with their locks", f"{total * (objects + 1) / 1e6:.2f} million; of the largest cluster {clusters[0] * (objects + 1):,.0f}"),
        ("size of the tree of the largest cluster, before Git packs it", f"{clusters[0] * largest['bytes'] / largest['databases'] / 1e9:,.2f} GB"),
        ("requests of one drift check: largest, middle, smallest cluster; all of them",
         f"{requests[0]}, {requests[len(requests) // 2]}, {requests[-1]}; {sum(requests):,}"),
        ("requests in a second that an API server sees of it", f"at most {max(requests) / assumed('checkEverySeconds'):.2f}"),
        ("one drift check of the largest cluster", f"{costs[0]:,.1f} s"),
        ("wait for a runner, median and 99th of 100; how busy the runners are", f"{middle:,.1f} s, {late:,.1f} s; {busy * 100:,.0f} %"),
        ("memory of the controllers of the largest cluster", f"{memory[0] / 2**20:,.0f} MiB"),
        ("shards: largest cluster, all clusters", f"{shards[0]}, {sum(shards)}"),
        ("first start of the largest cluster's controllers", f"{clusters[0] * writes:,.0f} writes, {clusters[0] * writes / assumed('appliesPerSecond') / shards[0] / 60:,.0f} min"),
        ("a new edition of the catalog, until the middle and the last cluster have it",
         f"{durations[len(durations) // 2] / 3600:,.1f} h, {durations[-1] / 3600:,.1f} h"),
    ]
    return rows


def body(results):
    lines = ["| assumed | |", "|---|---|"]
    lines += [f"| {words} | {value:,} |" for value, words in ASSUMED.values()]
    lines += ["", "| measured | |", "|---|---|",
              f"| CPU of `diff` against a dump, for each Database | {results['diff']['diffCpu'] / results['diff']['databases'] * 1000:.2f} ms |",
              f"| CPU of `render`, for each Database | {plot.figure(results['results'][-1]['rows']['dbrender']['cpu'] / results['results'][-1]['databases'] * 1000)} ms |",
              "", "| costs | |", "|---|---|"]
    lines += [f"| {what} | {value} |" for what, value in simulate(results)]
    return "\n".join(lines) + "\n"
