// What decide.js does in every state that the manual gives a member, and at each failure that README.md of the engine names. The answers are
// written in the shape that the manual gives for hello, replSetGetConfig and replSetGetStatus; no server made them.
'use strict';

const DOMAIN = 'order-db-headless.production.svc.cluster.local';
const host = (i) => `order-db-${i}.${DOMAIN}:27017`;
const ID = { $oid: '65a1b2c3d4e5f60718293a4b' };
const OTHER = { $oid: '75a1b2c3d4e5f60718293a4c' };
const HEX = ID.$oid;

// votes: { ordinal: votes }
const config = (votes, { version = 5, id = ID } = {}) => ({ _id: 'order-db', version, term: { $numberLong: '3' }, protocolVersion: { $numberLong: '1' }, writeConcernMajorityJournalDefault: true,
  members: Object.entries(votes).map(([i, v]) => ({ _id: Number(i), host: host(i), arbiterOnly: false, buildIndexes: true, hidden: false, priority: v, tags: {}, secondaryDelaySecs: { $numberLong: '0' }, votes: v })),
  settings: { chainingAllowed: true, heartbeatIntervalMillis: 2000, heartbeatTimeoutSecs: 10, electionTimeoutMillis: 10000, replicaSetId: id } });
// states: { ordinal: state }; 8 is DOWN
const status = (me, states) => ({ set: 'order-db', myState: states[me], term: { $numberLong: '3' }, heartbeatIntervalMillis: { $numberLong: '2000' }, ok: 1,
  members: Object.entries(states).map(([i, state]) => ({ _id: Number(i), name: host(i), health: state === 8 ? 0 : 1, state, ...(Number(i) === me ? { self: true } : {}) })) });

const emptyAnswer = (waiting = true) => ({ waiting, hello: { isWritablePrimary: false, secondary: false, info: 'Does not have a valid replica set config', isreplicaset: true, ok: 1 },
  config: { code: 94, message: 'no replset config has been received' }, status: { code: 94, message: 'no replset config has been received' } });
const answer = (me, votes, states, more = {}) => ({ waiting: false,
  hello: { setName: 'order-db', setVersion: 5, secondary: states[me] === 2, isWritablePrimary: states[me] === 1, hosts: Object.keys(votes).map(host), me: host(me), ok: 1 },
  config: config(votes, more), committed: states[me] === 1 ? more.committed ?? true : undefined, status: status(me, states) });
const removed = (votes, more) => ({ waiting: false, hello: { isWritablePrimary: false, secondary: false, isreplicaset: true, info: 'Does not have a valid replica set config', ok: 1 }, config: config(votes, more),
  status: { code: 93, message: 'Our replica set config is invalid or we are not a member of it' } });
const refused = { waiting: false, hello: {}, config: { code: 18, message: 'it refuses the key file' }, status: {} };

const all = { 0: 1, 1: 1, 2: 1 };
const well = { 0: 1, 1: 2, 2: 2 };
const view = (me, own, peers, { volume = {}, desired = 3, named = true } = {}) => ({ me, desired, set: 'order-db', domain: DOMAIN, port: 27017, max: 7, named,
  volume: { member: null, joining: false, founding: false, ...volume }, own,
  peers: [0, 1, 2, 3, 4, 5, 6].filter((i) => i !== me).map((i) => (peers[i] === undefined ? { ordinal: i, exists: false, answer: null } : { ordinal: i, exists: true, answer: peers[i] })) });
const member = { volume: { member: HEX } };

// [what, view, do, words of the reason, more to hold, leaving]
module.exports.cases = [
  ['the server does not answer', view(0, null, {}), 'wait', 'does not answer yet', { ready: 'WAITING' }],
  ['the server refuses the key file', view(0, refused, {}), 'wait', 'refuses the key file'],
  ['ordinal 0, everybody is empty', view(0, emptyAnswer(), { 1: emptyAnswer(), 2: emptyAnswer() }), 'found', 'founds'],
  ['one member that is alone', view(0, emptyAnswer(), {}, { desired: 1 }), 'found', 'founds'],
  ['ordinal 1, everybody is empty', view(1, emptyAnswer(), { 0: emptyAnswer(), 2: emptyAnswer() }), 'wait', 'waiting for a set to join'],
  ['a pod of a wanted ordinal does not exist yet', view(0, emptyAnswer(), { 1: emptyAnswer() }), 'wait', 'do not exist yet: order-db-2'],
  ['a pod exists and does not answer', view(0, emptyAnswer(), { 1: emptyAnswer(), 2: null }), 'wait', 'do not answer: order-db-2'],
  ['a pod that is not wanted any more exists and does not answer', view(0, emptyAnswer(), { 1: null }, { desired: 1 }), 'wait', 'do not answer: order-db-1'],
  ['a pod refuses the key file', view(0, emptyAnswer(), { 1: emptyAnswer(), 2: refused }), 'wait', 'do not say what they hold: order-db-2'],
  ['a peer has seen a set', view(0, emptyAnswer(), { 1: emptyAnswer(false), 2: emptyAnswer() }), 'wait', 'have seen a set: order-db-1'],
  ['the own name is not known', view(0, emptyAnswer(), { 1: emptyAnswer(), 2: emptyAnswer() }, { named: false }), 'wait', 'does not lead to it yet'],
  ['founding, and it is still so', view(0, emptyAnswer(false), { 1: emptyAnswer(), 2: emptyAnswer() }, { volume: { founding: true } }), 'initiate', 'Founding',
    { members: [{ host: host(0), votes: 1 }], version: 1 }],
  ['founding, and a peer stopped answering', view(0, emptyAnswer(false), { 1: null, 2: emptyAnswer() }, { volume: { founding: true } }), 'wait', 'do not answer: order-db-1'],
  ['founding, and a peer has a set', view(0, emptyAnswer(false), { 1: answer(1, { 1: 1 }, { 1: 1 }), 2: emptyAnswer() }, { volume: { founding: true } }), 'add', 'Joining'],
  ['the volume is not let in', view(0, emptyAnswer(false), {}), 'wait', 'was not let in'],
  ['on the waiting port with files: it restarts', view(1, emptyAnswer(), {}, { volume: { joining: true } }), 'wait', 'goes to the port of members'],
  ['on the waiting port with data that nobody marked', view(1, { ...answer(1, all, { 0: 8, 1: 2, 2: 8 }), waiting: true }, {}), 'wait', `set=${HEX}`],
  ['an empty member, a set that does not count it', view(2, emptyAnswer(), { 0: answer(0, { 0: 1 }, { 0: 1 }), 1: emptyAnswer() }), 'join', 'order-db-0 leads'],
  ['… and a majority does not know that yet', view(2, emptyAnswer(), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }, { committed: false }), 1: answer(1, all, { 0: 1, 1: 2, 2: 8 }) }), 'wait', 'a majority does not know'],
  ['ordinal 0 lost its volume, and the others lead', view(0, emptyAnswer(), { 1: answer(1, all, { 0: 8, 1: 1, 2: 2 }), 2: answer(2, all, { 0: 8, 1: 1, 2: 2 }) }), 'remove', 'lost its data',
    { at: 1, members: [{ host: host(1) }, { host: host(2) }], version: 6 }],
  ['ordinal 0 lost its volume, and nobody leads', view(0, emptyAnswer(), { 1: answer(1, all, { 0: 8, 1: 2, 2: 8 }), 2: null }), 'wait', 'none of its members leads'],
  ['one of two lost its volume', view(1, emptyAnswer(), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 2, 1: 8 }) }, { desired: 2 }), 'join', 'alone has the data of a set of two'],
  ['one of two lost its volume, and a third one exists', view(1, emptyAnswer(), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 2, 1: 8 }), 2: null }, { desired: 2 }), 'wait', 'none of its members leads'],
  ['let in, not counted', view(2, emptyAnswer(false), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }), 1: answer(1, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }) }, { volume: { joining: true } }), 'add', 'without a vote',
    { at: 0, members: [{ host: host(0), votes: 1 }, { host: host(1), votes: 1 }, { host: host(2), votes: 0, priority: 0 }], version: 6 }],
  ['let in, and the last change has not settled', view(2, emptyAnswer(false), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }, { committed: false }) }, { volume: { joining: true } }), 'wait', 'has not reached a majority'],
  ['let in, counted, without its configuration', view(2, emptyAnswer(false), { 0: answer(0, { ...all, 2: 0 }, { 0: 1, 1: 2, 2: 0 }) }, { volume: { joining: true } }), 'wait', 'on the way'],
  ['let in, and nobody leads', view(2, emptyAnswer(false), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 2, 1: 8 }) }, { volume: { joining: true } }), 'wait', 'Waiting for a member that leads'],
  ['a member whose server is empty', view(2, emptyAnswer(false), { 0: answer(0, all, well) }, member), 'wait', 'delete the claim data-order-db-2'],
  ['STARTUP', view(1, answer(1, all, { 0: 1, 1: 0, 2: 2 }), { 0: answer(0, all, { 0: 1, 1: 0, 2: 2 }) }, member), 'wait', 'STARTUP'],
  ['STARTUP2 without a vote', view(2, answer(2, { ...all, 2: 0 }, { 0: 1, 1: 2, 2: 5 }), { 0: answer(0, { ...all, 2: 0 }, { 0: 1, 1: 2, 2: 5 }) }, { volume: { joining: true } }), 'wait', 'STARTUP2: this member copies'],
  ['RECOVERING without a vote: it lacks what the others have no longer', view(2, { ...answer(2, { ...all, 2: 0 }, { ...well, 2: 3 }), status: { ...status(2, { ...well, 2: 3 }), infoMessage: 'could not find member to sync from' } },
    { 0: answer(0, { ...all, 2: 0 }, { ...well, 2: 3 }) }, member), 'wait', 'could not find member to sync from). If that stays so, the others no longer have the changes that it lacks: delete the claim data-order-db-2', { ready: 'RECOVERING' }],
  ['RECOVERING', view(1, answer(1, all, { 0: 1, 1: 3, 2: 2 }), { 0: answer(0, all, { 0: 1, 1: 3, 2: 2 }) }, member), 'wait', 'RECOVERING'],
  ['ROLLBACK', view(1, answer(1, all, { 0: 1, 1: 9, 2: 2 }), { 0: answer(0, all, { 0: 1, 1: 9, 2: 2 }) }, member), 'wait', 'ROLLBACK'],
  ['SECONDARY, the volume is not marked', view(2, answer(2, { ...all, 2: 0 }, well), { 0: answer(0, { ...all, 2: 0 }, well) }, { volume: { joining: true } }), 'mark', HEX],
  ['SECONDARY without a vote', view(2, answer(2, { ...all, 2: 0 }, well), { 0: answer(0, { ...all, 2: 0 }, well) }, member), 'vote', 'gets its vote',
    { at: 0, members: [{ host: host(0), votes: 1 }, { host: host(1), votes: 1 }, { host: host(2), votes: 1, priority: 1 }], version: 6 }],
  ['SECONDARY without a vote is not ready', view(2, answer(2, { ...all, 2: 0 }, well), { 0: answer(0, { ...all, 2: 0 }, well) }, member), 'vote', 'gets its vote', { ready: 'WITHOUT A VOTE' }],
  ['SECONDARY without a vote, and the primary sees it otherwise', view(2, answer(2, { ...all, 2: 0 }, well), { 0: answer(0, { ...all, 2: 0 }, { ...well, 2: 5 }) }, member), 'wait', 'no vote'],
  ['SECONDARY without a vote, and no majority', view(2, answer(2, { ...all, 2: 0 }, { 0: 1, 1: 8, 2: 2 }), { 0: answer(0, { ...all, 2: 0 }, { 0: 1, 1: 8, 2: 2 }) }, member), 'wait', 'does not hear a majority'],
  ['SECONDARY', view(1, answer(1, all, well), { 0: answer(0, all, well), 2: answer(2, all, well) }, member), 'serve', 'order-db-0 leads', { ready: 'SECONDARY' }],
  ['SECONDARY, nobody leads', view(1, answer(1, all, { 0: 8, 1: 2, 2: 8 }), { 0: null, 2: null }, member), 'wait', 'these are missing: order-db-0, order-db-2. Nothing is forced'],
  ['SECONDARY, an election is on', view(1, answer(1, all, { 0: 2, 1: 2, 2: 2 }), { 0: answer(0, all, { 0: 2, 1: 2, 2: 2 }), 2: answer(2, all, { 0: 2, 1: 2, 2: 2 }) }, member), 'wait', 'nobody leads at the moment'],
  ['PRIMARY', view(0, answer(0, all, well), { 1: answer(1, all, well), 2: answer(2, all, well) }, member), 'serve', 'This member leads', { ready: 'PRIMARY' }],
  ['PRIMARY, and its volume is not marked', view(0, answer(0, { 0: 1 }, { 0: 1 }), { 1: emptyAnswer(), 2: emptyAnswer() }, { volume: { founding: true } }), 'mark', HEX],
  ['PRIMARY, a member that is not wanted is gone', view(0, answer(0, all, { 0: 1, 1: 2, 2: 8 }), { 1: answer(1, all, { 0: 1, 1: 2, 2: 8 }) }, { ...member, desired: 2 }), 'remove', 'order-db-2 is gone',
    { at: 0, members: [{ host: host(0) }, { host: host(1) }] }],
  ['PRIMARY, two that are not wanted are gone', view(0, answer(0, { ...all, 3: 1, 4: 1 }, { ...well, 3: 8, 4: 8 }), { 1: answer(1, all, well), 2: answer(2, all, well) }, member), 'remove', 'order-db-4 is gone'],
  ['PRIMARY, a member that is wanted is gone', view(0, answer(0, all, { 0: 1, 1: 2, 2: 8 }), { 1: answer(1, all, { 0: 1, 1: 2, 2: 8 }) }, member), 'serve', 'leads'],
  ['PRIMARY, a member that is not wanted exists', view(0, answer(0, all, { 0: 1, 1: 2, 2: 8 }), { 1: answer(1, all, well), 2: null }, { ...member, desired: 2 }), 'serve', 'leads'],
  ['PRIMARY, unwanted gone, and the own name is not known', view(0, answer(0, all, { 0: 1, 1: 2, 2: 8 }), { 1: answer(1, all, well) }, { ...member, desired: 2, named: false }), 'serve', 'leads'],
  ['two call themselves PRIMARY: the newer term leads', view(2, answer(2, { ...all, 2: 0 }, well), {
    0: { ...answer(0, { ...all, 2: 0 }, { 0: 1, 1: 8, 2: 8 }), status: { ...status(0, { 0: 1, 1: 8, 2: 8 }), term: { $numberLong: '2' } } }, 1: answer(1, { ...all, 2: 0 }, { 0: 2, 1: 1, 2: 2 }) }, member), 'vote', 'vote', { at: 1 }],
  ['REMOVED, the set leads', view(2, removed({ 0: 1, 1: 1 }), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }), 1: answer(1, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }) }, member), 'add', 'Joining the set again', { at: 0 }],
  ['REMOVED, nobody leads', view(2, removed({ 0: 1, 1: 1 }), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 2, 1: 8 }) }, member), 'wait', 'taken out of the set'],
  ['another set on the volume than its file says', view(2, answer(2, all, well, { id: OTHER }), { 0: answer(0, all, well) }, member), 'wait', 'was a member of set'],
  ['another set leads', view(2, removed({ 0: 1, 1: 1 }), { 0: answer(0, { 0: 1 }, { 0: 1 }, { id: OTHER }) }, member), 'wait', `leads set ${OTHER.$oid}`],
  ['leaving: a secondary', view(2, answer(2, all, well), { 0: answer(0, all, well), 1: answer(1, all, well) }, member), 'remove', 'Leaving', { at: 0, members: [{ host: host(0) }, { host: host(1) }] }, true],
  ['leaving: a primary hands over', view(2, answer(2, all, { 0: 2, 1: 2, 2: 1 }), { 0: answer(0, all, { 0: 2, 1: 2, 2: 1 }) }, member), 'stepDown', 'Handing over', {}, true],
  ['leaving: ordinal 0 hands over', view(0, answer(0, all, well), { 1: answer(1, all, well) }, member), 'stepDown', 'Handing over', {}, true],
  ['leaving: ordinal 0 stays a member', view(0, answer(0, all, { 0: 2, 1: 1, 2: 2 }), { 1: answer(1, all, { 0: 2, 1: 1, 2: 2 }) }, member), 'done', 'stays', {}, true],
  ['leaving: the only member', view(0, answer(0, { 0: 1 }, { 0: 1 }), {}, { ...member, desired: 1 }), 'done', 'Nobody else', {}, true],
  ['leaving: nobody leads', view(2, answer(2, all, { 0: 8, 1: 2, 2: 2 }), { 0: null, 1: answer(1, all, { 0: 8, 1: 2, 2: 2 }) }, member), 'wait', 'Nobody leads', {}, true],
  ['leaving: the rest would have no majority', view(2, answer(2, all, { 0: 1, 1: 8, 2: 2 }), { 0: answer(0, all, { 0: 1, 1: 8, 2: 2 }), 1: null }, member), 'wait', 'after this change', {}, true],
  ['leaving: taken out already', view(2, removed({ 0: 1, 1: 1 }), { 0: answer(0, { 0: 1, 1: 1 }, { 0: 1, 1: 2 }) }, member), 'done', 'out of the set', {}, true],
  ['leaving: it never had a set', view(2, emptyAnswer(), { 0: emptyAnswer() }), 'done', 'in no set', {}, true],
  ['leaving: the server is gone', view(2, null, {}), 'done', 'in no set', {}, true],
];

// Whether `found` has all that `wanted` says.
const holds = (found, wanted) => Object.entries(wanted).every(([key, value]) => {
  if (Array.isArray(value)) return Array.isArray(found[key]) && found[key].length === value.length && value.every((each, at) => holds(found[key][at], each));
  return found[key] === value;
});

// typed: makes of a plain document what the shell gets from a server (64-bit numbers and ids are objects there). Out: sentences of what is wrong.
module.exports.judge = ({ decide, decideLeaving, readiness }, [what, plain, want, words, more = {}, leaving], typed = (x) => x) => {
  const step = (leaving ? decideLeaving : decide)(typed(plain));
  const { at, ready, ...document } = more;
  const wrong = [];
  if (step.do !== want) wrong.push(`${what}: ${step.do} instead of ${want}: ${step.why}`);
  else if (!step.why.includes(words)) wrong.push(`${what}: it says: ${step.why}`);
  else if (ready !== undefined && readiness(typed(plain)) !== ready) wrong.push(`${what}: readiness hears ${readiness(typed(plain))}`);
  else if (at !== undefined && step.at !== at) wrong.push(`${what}: on ordinal ${step.at}`);
  else if (Object.keys(document).length && !holds(step.config, document)) wrong.push(`${what}: ${JSON.stringify(step.config)}`);
  return wrong;
};
