// A model of three MongoDB servers, their volumes and the network between them, for explore.js. It is a model: it knows of a server what the
// manual says of configurations, votes, elections and initial sync, and no more. What is real is the decision: decide.js of the engine.
'use strict';

const SET = 'db';
const DOMAIN = 'members';
const PORT = 27017;
const N = 3;
const host = (i) => `${SET}-${i}.${DOMAIN}:${PORT}`;
const ordinal = (name) => Number(name.slice(SET.length + 1, SET.length + 2));

class Violation extends Error {}

// A node: pod up|down|gone; port of its server wait|main; files of the volume m (set's number) j f; set: the set its data is of, 0 none;
// cfg { v, t, o, m: { ordinal: votes } } or null, o being how much its leader had written then; log: acknowledged and other writes by number; lt: term of the newest; ok: the initial sync
// is done; term; P: it leads; todo: what its agent has decided and not done yet; leaving: it is in preStop.
const fresh = () => ({ pod: 'gone', port: 'wait', m: 0, j: 0, f: 0, set: 0, cfg: null, log: [], lt: 0, ok: 0, term: 0, P: 0, todo: null, leaving: 0 });
const empty = (node) => Object.assign(node, { m: 0, j: 0, f: 0, set: 0, cfg: null, log: [], lt: 0, ok: 0, term: 0, P: 0 });

function start(kind) {
  const nodes = [fresh(), fresh(), fresh()];
  const world = { nodes, cut: [], desired: 3, sets: 0, done: '1.5', acked: [], writes: 0, used: { crash: 0, empty: 0, cut: 0, elect: 0, write: 0, scale: 0, wipe: 0 } };
  const of = (i, set, members, extra = {}) => Object.assign(nodes[i], { m: set, set, cfg: { v: 5, t: 1, o: 0, m: members }, ok: 1, term: 1, lt: 1, log: [], ...extra });
  switch (kind) {
    case 'nothing': break;
    case 'formed':
      for (const i of [0, 1, 2]) of(i, 1, { 0: 1, 1: 1, 2: 1 }, { pod: 'up', port: 'main' });
      nodes[0].P = 1;
      world.sets = 1;
      break;
    case 'lost-first': // all pods are made anew, and the volume of ordinal 0 is empty
      for (const i of [1, 2]) of(i, 1, { 0: 1, 1: 1, 2: 1 });
      world.sets = 1;
      break;
    case 'stranger': // ordinal 2 comes back with the data of another set
      of(0, 2, { 0: 1 }, { pod: 'up', port: 'main', P: 1 });
      of(2, 1, { 0: 1, 1: 1, 2: 1 });
      world.sets = 2;
      break;
    case 'pair':
      for (const i of [0, 1]) of(i, 1, { 0: 1, 1: 1 }, { pod: 'up', port: 'main' });
      nodes[0].P = 1;
      world.desired = 2;
      world.sets = 1;
      break;
    case 'scaled':
      for (const i of [0, 1, 2]) of(i, 1, { 0: 1, 1: 1, 2: 1 }, { pod: 'up', port: 'main' });
      nodes[2].P = 1;
      world.sets = 1;
      break;
    default: throw new Error(kind);
  }
  return world;
}

// A configuration, a list and a step are never changed in place, so that worlds may share them.
const copy = (world) => ({ ...world, nodes: world.nodes.map((node) => ({ ...node })), used: { ...world.used } });
const up = (node) => node.pod === 'up';
const isCut = (world, a, b) => world.cut.includes(`${Math.min(a, b)}${Math.max(a, b)}`);
const reach = (world, a, b) => up(world.nodes[a]) && up(world.nodes[b]) && (a === b || !isCut(world, a, b));
const talk = (world, a, b) => reach(world, a, b) && world.nodes[a].port === 'main' && world.nodes[b].port === 'main';
const voters = (cfg) => Object.keys(cfg.m).map(Number).filter((i) => cfg.m[i] > 0);
const majority = (some, all) => some.length * 2 > all.length;
const newer = (a, b) => a.t > b.t || (a.t === b.t && a.v > b.v);
const logNewer = (a, b) => a.lt > b.lt || (a.lt === b.lt && a.log.length > b.log.length);
const inSet = (node) => Boolean(node.cfg);
const counted = (node, i) => node.cfg && node.cfg.m[i] !== undefined;
const state = (world, i) => {
  const node = world.nodes[i];
  if (!inSet(node)) return 0;
  if (!counted(node, i)) return 10;
  return node.P ? 1 : node.ok ? 2 : 5;
};
// Of the voters of cfg, those that node `at` hears and that have data.
const heard = (world, at, cfg) => voters(cfg).filter((i) => talk(world, at, i) && [1, 2].includes(state(world, i)) && world.nodes[i].set === world.nodes[at].set);
// A primary goes on knowing that a majority had its configuration when it hears nobody any more, and when one of them has lost it.
const committed = (world, at) => world.done === nameOf(world.nodes[at].cfg) || majorityHas(world, at);
const nameOf = (cfg) => `${cfg.t}.${cfg.v}`;
const majorityHas = (world, at) => {
  const { cfg } = world.nodes[at];
  return majority(voters(cfg).filter((i) => inSet(world.nodes[i]) && world.nodes[i].cfg.v === cfg.v && world.nodes[i].cfg.t === cfg.t), voters(cfg));
};

// Whether what the leader had when it took its configuration is with a majority of that configuration: a primary changes its set no further
// before that.
const settled = (world, at) => {
  const { cfg, log } = world.nodes[at];
  return majority(voters(cfg).filter((i) => talk(world, at, i) && log.slice(0, cfg.o).every((write) => world.nodes[i].log.includes(write))), voters(cfg));
};

// What a server answers to `from`, in the shape of the commands' answers.
function answer(world, from, i) {
  if (!reach(world, from, i)) return null;
  const node = world.nodes[i];
  const waiting = node.port === 'wait';
  if (!inSet(node)) return { waiting, hello: { isWritablePrimary: false, secondary: false, isreplicaset: true }, config: { code: 94 }, status: { code: 94 } };
  const members = Object.keys(node.cfg.m).map(Number).map((o) => ({ _id: o, host: host(o), votes: node.cfg.m[o], priority: node.cfg.m[o] }));
  const config = { _id: SET, version: node.cfg.v, term: node.cfg.t, members, settings: { replicaSetId: String(node.set) } };
  const status = counted(node, i)
    ? { myState: state(world, i), term: node.term, members: members.map((m) => {
      const o = m._id;
      const hears = !waiting && talk(world, i, o) && world.nodes[o].set === node.set;
      return { name: m.host, health: hears ? 1 : 0, state: hears ? state(world, o) : 8 };
    }) }
    : { code: 93 };
  return { waiting, hello: { isWritablePrimary: Boolean(node.P) && !waiting, setName: SET }, config, committed: node.P ? committed(world, i) : undefined, status };
}

function view(world, i) {
  const node = world.nodes[i];
  const peers = [];
  for (let o = 0; o < N; o++) if (o !== i) peers.push({ ordinal: o, exists: world.nodes[o].pod !== 'gone', answer: answer(world, i, o) });
  return { me: i, desired: world.desired, set: SET, domain: DOMAIN, port: PORT, max: N, named: true,
    volume: { member: node.m ? String(node.m) : null, joining: Boolean(node.j), founding: Boolean(node.f) }, own: answer(world, i, i), peers };
}

const fromDocument = (config) => ({ v: config.version, t: config.term ?? 0, m: Object.fromEntries(config.members.map((m) => [ordinal(m.host), m.votes])) });

// What must never be, judged from the whole world at the moment of the decision, by other words than those of decide.js.
function judgeDecision(world, i, step) {
  const node = world.nodes[i];
  if (step.do === 'found' && !(i === 0 && !node.m && !node.j && !inSet(node))) throw new Violation('only an unmarked empty ordinal 0 founds');
  if (step.do === 'initiate' && !(i === 0 && !node.m && !node.j && !inSet(node))) throw new Violation('only an unmarked empty ordinal 0 initiates');
  if (!['add', 'vote', 'remove'].includes(step.do)) return;
  const leader = world.nodes[step.at];
  const next = fromDocument(step.config);
  if (!leader.P || !committed(world, step.at) || !majority(heard(world, step.at, leader.cfg), voters(leader.cfg)) || !majority(heard(world, step.at, next), voters(next))) {
    throw new Violation('never a change of the set without a majority');
  }
  const before = Object.keys(leader.cfg.m), after = Object.keys(next.m);
  const changes = after.filter((o) => leader.cfg.m[o] !== next.m[o]).length + before.filter((o) => next.m[o] === undefined).length;
  if (changes !== 1) throw new Violation('one change at a time');
  for (const o of after) if (next.m[o] > 0 && !(leader.cfg.m[o] > 0) && !(world.nodes[o].ok && world.nodes[o].set === leader.set)) throw new Violation('no vote without the data');
  for (const o of after.map(Number)) if (!before.includes(String(o)) && world.nodes[o].set && world.nodes[o].set !== leader.set) throw new Violation('a volume of another set never joins');
  for (const o of before.map(Number)) {
    if (next.m[o] !== undefined || o === i) continue;
    if (world.nodes[o].pod !== 'gone' || o < world.desired) throw new Violation('nobody is taken out by another unless it is gone and not wanted');
  }
}

// Two sets at once, on whatever volume. Writes down what configuration a majority has.
function judgeWorld(world) {
  const leader = world.nodes.findIndex((node, i) => node.P && majorityHas(world, i));
  if (leader >= 0) world.done = nameOf(world.nodes[leader].cfg);
  const held = new Set(world.nodes.filter((node) => node.set).map((node) => node.set));
  if (held.size > 1 && world.sets !== 2) throw new Violation('never two sets');
  if (world.sets > 2) throw new Violation('never two sets');
}

// Where nothing happens any more and somebody leads, every wanted member has its vote and its mark, and nobody else is counted.
function judgeEnd(world) {
  const leader = world.nodes.find((node) => node.P);
  if (!leader) return;
  for (let i = 0; i < N; i++) {
    const node = world.nodes[i];
    const whole = i < world.desired ? up(node) && node.m === leader.set && leader.cfg.m[i] > 0 && node.ok : leader.cfg.m[i] === undefined;
    if (!whole) throw new Violation('with somebody who leads, the set gets whole');
  }
}

const bestLog = (node, log, lt) => Object.assign(node, { log, lt });

// The rules of start.sh: which port, or none (the guard refuses). alwaysIn is a planted fault.
function comesUp(node, faults) {
  if (node.m && !node.set) return false;
  node.pod = 'up';
  node.port = node.m || node.j || node.f || faults.alwaysIn ? 'main' : 'wait';
  node.P = 0;
  node.todo = null;
  node.leaving = 0;
  return true;
}

// What the server at `at` does with a new configuration, as the manual says: a primary, a newer version, the former one and
// the writes before it known to a majority, and a majority that answers.
function reconfigure(world, from, at, config) {
  const leader = world.nodes[at];
  if (!reach(world, from, at) || leader.port !== 'main' || !leader.P) return false;
  const next = fromDocument(config);
  if (next.v <= leader.cfg.v || !committed(world, at) || !settled(world, at)) return false;
  const answering = voters(next).filter((i) => talk(world, at, i));
  if (!majority(answering, voters(next)) || next.m[at] === undefined) return false;
  leader.cfg = { v: next.v, t: leader.term, o: leader.log.length, m: next.m };
  return true;
}

function perform(world, i) {
  const node = world.nodes[i];
  const step = node.todo;
  node.todo = null;
  switch (step.do) {
    case 'found': node.f = 1; node.port = 'main'; return true;
    case 'join': node.j = 1; node.port = 'main'; return true;
    case 'mark': if (node.set) Object.assign(node, { m: node.set, f: 0, j: 0 }); return true;
    case 'initiate':
      if (inSet(node) || node.port !== 'main') return false;
      // founding beside anybody's data is what must not be; what is on no volume any more cannot be lost
      if (world.nodes.some((other) => other.set)) throw new Violation('never two sets');
      world.sets = 1;
      Object.assign(node, { set: 1, cfg: { v: 1, t: 1, o: 0, m: { 0: 1 } }, ok: 1, term: 1, P: 1, lt: 1, log: [] });
      world.acked = [];
      return true;
    case 'add': case 'vote': case 'remove': return reconfigure(world, i, step.at, step.config);
    case 'stepDown': node.P = 0; return true;
    case 'done': return true;
    default: throw new Error(step.do);
  }
}

// Every world that one event makes of this one: [name, world].
function* successors(world, bounds, { decide, decideLeaving }, faults = {}) {
  const spend = (next, what) => { next.used[what] += 1; return next; };
  const has = (what) => world.used[what] < (bounds[what] ?? 0);
  for (let i = 0; i < N; i++) {
    const node = world.nodes[i];
    if (node.pod !== 'up') {
      // a pod of a wanted ordinal comes back
      if (i < world.desired) {
        const next = copy(world);
        if (comesUp(next.nodes[i], faults)) yield [`start ${i}`, next];
      }
      if (has('empty') && (node.set || node.j || node.f || node.m)) {
        const next = spend(copy(world), 'empty');
        empty(next.nodes[i]);
        yield [`lose volume ${i}`, next];
      }
      if (has('wipe') && node.set) {
        const next = spend(copy(world), 'wipe');
        const { m, j, f } = node;
        Object.assign(empty(next.nodes[i]), { m, j, f });
        yield [`lose data ${i}`, next];
      }
      continue;
    }
    if (node.todo) {
      const next = copy(world);
      if (node.todo.do === 'done') {
        // the server stops in order, and its pod goes when it is not wanted
        Object.assign(next.nodes[i], { pod: i < world.desired ? 'down' : 'gone', P: 0, todo: null, leaving: 0 });
        yield [`stop ${i}`, next];
      } else {
        perform(next, i);
        yield [`do ${i} ${node.todo.do}`, next];
      }
    } else {
      const step = node.leaving ? decideLeaving(view(world, i)) : decide(view(world, i));
      if (!['wait', 'serve'].includes(step.do)) {
        if (!node.leaving || step.do === 'remove') judgeDecision(world, i, step);
        const next = copy(world);
        const { do: what, at, config } = step;
        next.nodes[i].todo = at === undefined ? { do: what } : { do: what, at, config };
        yield [`decide ${i} ${what}`, next];
      }
    }
    if (node.leaving && bounds.impatient) {
      const next = copy(world);
      Object.assign(next.nodes[i], { pod: i < world.desired ? 'down' : 'gone', P: 0, todo: null, leaving: 0 });
      yield [`stop ${i} without leaving`, next];
    }
    if (has('crash')) {
      const next = spend(copy(world), 'crash');
      Object.assign(next.nodes[i], { pod: 'down', P: 0, todo: null, leaving: 0 });
      yield [`crash ${i}`, next];
    }
    yield* inside(world, i, has, spend);
  }
  for (const pair of ['01', '02', '12']) {
    const next = copy(world);
    if (world.cut.includes(pair)) {
      next.cut = world.cut.filter((other) => other !== pair);
      yield [`heal ${pair}`, next];
    } else if (has('cut')) {
      next.cut = [...world.cut, pair].sort();
      yield [`cut ${pair}`, spend(next, 'cut')];
    }
  }
  if (has('scale')) {
    const next = spend(copy(world), 'scale');
    if (world.desired === 3) {
      next.desired = 1;
      for (const i of [1, 2]) {
        if (next.nodes[i].pod === 'up') next.nodes[i].leaving = 1;
        else next.nodes[i].pod = 'gone';
        next.nodes[i].todo = null;
      }
      yield ['scale to 1', next];
    } else {
      next.desired = 3;
      yield ['scale to 3', next];
    }
  }
}

// What servers do by themselves: a newer configuration arrives, data is copied, somebody is elected or steps down, a client writes.
function* inside(world, i, has, spend) {
  const node = world.nodes[i];
  if (node.port !== 'main') return;
  for (let o = 0; o < N; o++) {
    if (o === i || !talk(world, i, o)) continue;
    const other = world.nodes[o];
    if (!inSet(other)) continue;
    const beats = counted(other, i) || (inSet(node) && counted(node, o));
    if (beats && (!inSet(node) ? counted(other, i) : node.set === other.set && newer(other.cfg, node.cfg))) {
      const next = copy(world);
      const here = next.nodes[i];
      here.set = other.set;
      here.cfg = other.cfg;
      if (!counted(here, i)) here.P = 0;
      yield [`configuration ${o} to ${i}`, next];
    }
    if (inSet(node) && node.set === other.set && counted(node, i) && !node.P) {
      if (!node.ok && other.ok) {
        const next = copy(world);
        bestLog(next.nodes[i], other.log, other.lt);
        next.nodes[i].ok = 1;
        yield [`data ${o} to ${i}`, next];
      } else if (node.ok && other.P && other.term >= node.term && (logNewer(other, node) || (other.lt === node.lt && other.log.join() !== node.log.join()))) {
        const next = copy(world);
        bestLog(next.nodes[i], other.log, other.lt);
        next.nodes[i].term = other.term;
        yield [`rows ${o} to ${i}`, next];
      }
    }
    // a primary steps down when it hears of a newer term, from whomever
    if (node.P && node.set === other.set && other.term > node.term) {
      const next = copy(world);
      next.nodes[i].P = 0;
      yield [`step down ${i}`, next];
    }
  }
  if (!inSet(node) || !counted(node, i)) return;
  const all = voters(node.cfg);
  if (node.P && !majority(all.filter((o) => talk(world, i, o)), all)) {
    const next = copy(world);
    next.nodes[i].P = 0;
    yield [`cut off ${i}`, next];
  }
  if (!node.P && node.ok && node.cfg.m[i] > 0 && has('elect')) {
    const for_ = all.filter((o) => {
      const other = world.nodes[o];
      return talk(world, i, o) && other.set === node.set && inSet(other) && other.term <= node.term && !logNewer(other, node) && !newer(other.cfg, node.cfg);
    });
    if (majority(for_, all)) {
      const next = spend(copy(world), 'elect');
      const term = node.term + 1;
      for (const o of for_) { next.nodes[o].term = term; next.nodes[o].P = 0; }
      const here = next.nodes[i];
      Object.assign(here, { P: 1, lt: term });
      here.cfg = { ...here.cfg, t: term, o: here.log.length };
      const lost = world.acked.filter((write) => !here.log.includes(write));
      if (lost.length) throw new Violation('a primary has all that was acknowledged');
      yield [`elect ${i}`, next];
    }
  }
  if (node.P && has('write')) {
    const others = all.filter((o) => o !== i && talk(world, i, o) && world.nodes[o].ok && world.nodes[o].set === node.set && world.nodes[o].term <= node.term);
    const need = Math.floor(all.length / 2);
    // the least that makes a majority, each choice of it
    const choices = need === 0 ? [[]] : others.flatMap((o, at) => (need === 1 ? [[o]] : others.slice(at + 1).map((p) => [o, p])));
    for (const chosen of choices) {
      const next = spend(copy(world), 'write');
      next.writes += 1;
      next.nodes[i].log = [...node.log, next.writes];
      for (const o of chosen) { bestLog(next.nodes[o], next.nodes[i].log, node.lt); next.nodes[o].term = node.term; }
      next.acked = [...world.acked, next.writes];
      yield [`write ${i}${chosen.join('')}`, next];
    }
  }
}

module.exports = { start, successors, judgeWorld, judgeEnd, Violation };
