// Every interleaving of three agents with the events of model.js, breadth first, up to the bounds of a run. Ends with the first violation
// and the shortest way to it.
'use strict';
const { start, successors, judgeWorld, judgeEnd, Violation } = require('./model.js');

// Two worlds that differ in nothing that can still matter are one.
const key = (world) => JSON.stringify([world.nodes, world.cut, world.desired, world.sets, world.done, world.acked, world.used]);

function explore({ from, bounds, limit = Infinity, whole = false }, rules, faults = {}) {
  const first = start(from);
  const known = new Map([[key(first), null]]);
  let edge = [[first, key(first)]];
  let events = 0;
  let depth = 0;
  const path = (at) => {
    const steps = [];
    for (let now = at; known.get(now); now = known.get(now)[0]) steps.push(known.get(now)[1]);
    return steps.reverse();
  };
  while (edge.length) {
    const further = [];
    for (const [world, at] of edge) {
      let name = '';
      let moves = 0;
      try {
        for (const [event, next] of successors(world, bounds, rules, faults)) {
          name = event;
          events += 1;
          moves += 1;
          judgeWorld(next);
          const found = key(next);
          if (known.has(found)) continue;
          known.set(found, [at, event]);
          further.push([next, found]);
        }
        if (moves === 0 && whole) judgeEnd(world);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        return { states: known.size, events, depth, violation: error.message, path: [...path(at), `and one event more, after: ${name || 'none'}`] };
      }
      if (known.size >= limit) return { states: known.size, events, depth, cut: true };
    }
    edge = further;
    depth += 1;
  }
  return { states: known.size, events, depth };
}

module.exports = { explore };
