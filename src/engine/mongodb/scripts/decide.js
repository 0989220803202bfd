// What a member of a replica set does next: pure functions, no clock, no network, no files. README.md has the rules, by number.
// Loaded with require, by mongosh in the pod, and by Node where it is tried.
//
// view: { me, desired, set, domain, port, named, volume: { member, joining, founding }, own, peers: [{ ordinal, exists, answer }] }
//   named    this pod's own name leads to this pod, so that an unknown name of another one means something
//   own      what this pod's server answers, and `answer` what that of a peer answers; null when it does not
// answer: { waiting, hello, config, committed, status }
//   waiting  it answered on the port of members that have not been let in
//   config   replSetGetConfig's document, or { code } of its error; status: of replSetGetStatus, or { code }
//   committed whether a majority has that configuration; only a primary says so
//
// Out: { do, why } and what the step needs. `wait` and `serve` change nothing.
'use strict';

const NOT_YET_INITIALIZED = 94;
const STATES = ['STARTUP', 'PRIMARY', 'SECONDARY', 'RECOVERING', 'STARTUP3', 'STARTUP2', 'UNKNOWN', 'ARBITER', 'DOWN', 'ROLLBACK', 'REMOVED'];
const PRIMARY = 1;
const SECONDARY = 2;

// Numbers of 64 bits and ids are objects in mongosh and plain in a recording.
const number = (value) => (value === undefined || value === null ? NaN : Number(String(value.$numberLong ?? value.$numberInt ?? value)));
const text = (id) => (id === undefined || id === null ? '' : String(id.$oid ?? (typeof id.toHexString === 'function' ? id.toHexString() : id)));

const hostOf = (view, ordinal) => `${view.set}-${ordinal}.${view.domain}:${view.port}`;
const nameOf = (view, ordinal) => `${view.set}-${ordinal}`;
const ordinalOf = (view, host) => {
  for (let ordinal = 0; ordinal < view.max; ordinal++) if (hostOf(view, ordinal) === host) return ordinal;
  return -1;
};

const hasSet = (answer) => Boolean(answer && answer.config && answer.config.members);
const isEmpty = (answer) => Boolean(answer && answer.config && answer.config.code === NOT_YET_INITIALIZED);
const idOf = (answer) => text(answer.config.settings && answer.config.settings.replicaSetId);
const memberIn = (config, host) => config.members.find((member) => member.host === host);
const votes = (member) => (member.votes === undefined ? 1 : number(member.votes));
const isPrimary = (answer) => Boolean(hasSet(answer) && !answer.waiting && answer.hello && answer.hello.isWritablePrimary === true);
const stateOf = (answer) => (answer && answer.status && answer.status.myState !== undefined ? number(answer.status.myState) : NaN);

const wait = (why) => ({ do: 'wait', why });
const list = (view, ordinals) => ordinals.map((ordinal) => nameOf(view, ordinal)).join(', ');

// The primary of the newest term among the answers; one that was cut off goes on saying that it leads for some seconds.
function leaderOf(view, accept) {
  const all = [{ ordinal: view.me, answer: view.own }, ...view.peers];
  const leaders = all.filter((member) => isPrimary(member.answer) && accept(member.answer) && memberIn(member.answer.config, hostOf(view, member.ordinal)));
  leaders.sort((a, b) => number(b.answer.status.term) - number(a.answer.status.term));
  return leaders[0];
}

// Of the members that vote in `config`: those that the leader hears and that have data.
function healthyVoters(leader, config) {
  const seen = (leader.answer.status && leader.answer.status.members) || [];
  return config.members.filter((member) => votes(member) > 0).filter((member) =>
    seen.some((other) => other.name === member.host && number(other.health) === 1 && [PRIMARY, SECONDARY].includes(number(other.state))));
}
const votersOf = (config) => config.members.filter((member) => votes(member) > 0);
const isMajority = (some, all) => some.length * 2 > all.length;

// Rule 4: why the leader may not change `now` into `next` at this moment; null when it may.
function obstacle(view, leader, next) {
  const now = leader.answer.config;
  if (leader.answer.committed !== true) return `${nameOf(view, leader.ordinal)} leads, but the last change of the set has not reached a majority`;
  if (!isMajority(healthyVoters(leader, now), votersOf(now))) return `${nameOf(view, leader.ordinal)} leads, but it does not hear a majority`;
  if (!isMajority(healthyVoters(leader, next), votersOf(next))) return `after this change ${nameOf(view, leader.ordinal)} would not hear a majority`;
  return null;
}

const changed = (config, members) => ({ ...config, version: number(config.version) + 1, members });
const without = (config, host) => changed(config, config.members.filter((member) => member.host !== host));
const withNew = (view, config) => changed(config, [...config.members, { _id: view.me, host: hostOf(view, view.me), priority: 0, votes: 0 }]);
const withVote = (config, host) => changed(config, config.members.map((member) => (member.host === host ? { ...member, priority: 1, votes: 1 } : member)));

// A change on the leader, or the reason why it has to wait.
function change(view, leader, what, next, why) {
  const no = obstacle(view, leader, next);
  return no ? wait(`${why}: ${no}.`) : { do: what, at: leader.ordinal, config: next, why };
}

// Rule 1: why ordinal 0 may not found a set now; null when it may.
function notFounding(view) {
  if (view.me !== 0) return 'This member is empty: waiting for a set to join.';
  if (!view.named) return `Waiting: the name of this pod does not lead to it yet, so nothing is known about the others.`;
  const answering = view.peers.filter((peer) => peer.answer);
  const silent = view.peers.filter((peer) => peer.exists && !peer.answer).map((peer) => peer.ordinal);
  const unborn = view.peers.filter((peer) => !peer.exists && peer.ordinal < view.desired).map((peer) => peer.ordinal);
  const withData = answering.filter((peer) => hasSet(peer.answer)).map((peer) => peer.ordinal);
  const unclear = answering.filter((peer) => !hasSet(peer.answer) && !isEmpty(peer.answer)).map((peer) => peer.ordinal);
  const letIn = answering.filter((peer) => isEmpty(peer.answer) && !peer.answer.waiting).map((peer) => peer.ordinal);
  if (withData.length) return `Waiting: this member is empty, but a set is on ${list(view, withData)}.`;
  if (silent.length) return `Waiting: this member is empty, and these exist but do not answer: ${list(view, silent)}. They may hold the data.`;
  if (unclear.length) return `Waiting: this member is empty, and these do not say what they hold: ${list(view, unclear)}. They may hold the data.`;
  if (unborn.length) return `Waiting: this member is empty, and these do not exist yet: ${list(view, unborn)}. They may hold the data; when they cannot come, set replicas to the members that can.`;
  if (letIn.length) return `Waiting: this member is empty, but these have seen a set: ${list(view, letIn)}.`;
  return null;
}

function decide(view) {
  const { own, volume } = view;
  if (!own) return wait('The server of this pod does not answer yet.');
  if (!hasSet(own) && !isEmpty(own)) return wait(`The server of this pod does not say what it holds: ${problemOf(own)}.`);
  if (own.waiting) return hasSet(own) ? unmarkedData(view) : newcomer(view);
  if (isEmpty(own)) {
    if (volume.member) return wait(`This volume has held the data of set ${volume.member}, but its server has none. If another member has the data, delete the claim data-${nameOf(view, view.me)} and this pod.`);
    if (volume.joining) return joiner(view);
    if (volume.founding) return founder(view);
    return wait('The server of this pod is on the port of members, but its volume was not let in: waiting for its restart.');
  }
  return memberOfSet(view);
}

const problemOf = (answer) => (answer.config && answer.config.message) || `error ${answer.config && answer.config.code}`;

function unmarkedData(view) {
  return wait(`The volume holds data of set ${idOf(view.own)}, but dbrender did not put it there (no file member): it is kept and not used. To accept it, write the file /data/db/member with the line set=${idOf(view.own)} and delete this pod.`);
}

// Rules 1 to 3, on the waiting port: nothing is on the volume.
function newcomer(view) {
  const { volume } = view;
  if (volume.member || volume.joining || volume.founding) return wait('The server goes to the port of members.');
  const holders = view.peers.filter((peer) => hasSet(peer.answer));
  if (!holders.length) return notFounding(view) ? wait(notFounding(view)) : { do: 'found', why: 'Nobody holds data: this member founds the set.' };
  const leader = leaderOf(view, () => true);
  if (!leader && onlyHeir(view, holders)) return { do: 'join', why: `${nameOf(view, holders[0].ordinal)} alone has the data of a set of two, and needs this member's vote to lead.` };
  if (!leader) return wait(`This member is empty, and there is a set, but none of its members leads: ${list(view, holders.map((peer) => peer.ordinal))} answer.`);
  const host = hostOf(view, view.me);
  const config = leader.answer.config;
  if (memberIn(config, host)) return change(view, leader, 'remove', without(config, host), 'This member has lost its data and is still counted: it is taken out of the set before it comes back');
  // Until then a member with the former configuration could count a vote of this one.
  if (leader.answer.committed !== true) return wait(`${nameOf(view, leader.ordinal)} leads a set without this member, which a majority does not know yet.`);
  return { do: 'join', why: `${nameOf(view, leader.ordinal)} leads: this member joins.` };
}

// Rule 3, of two: the other one has all that was ever acknowledged, and cannot lead without the vote of this member. Nobody else may exist.
function onlyHeir(view, holders) {
  if (holders.length !== 1 || view.desired > 2 || !view.named) return false;
  if (view.peers.some((peer) => peer.ordinal !== holders[0].ordinal && (peer.exists || peer.answer))) return false;
  const voters = votersOf(holders[0].answer.config).map((member) => member.host).sort();
  return voters.join() === [hostOf(view, view.me), hostOf(view, holders[0].ordinal)].sort().join();
}

// Rule 1, second half: `founding` is on the volume and the server is on the port of members.
function founder(view) {
  if (view.peers.some((peer) => hasSet(peer.answer))) return joiner(view);
  const no = notFounding(view);
  if (no) return wait(no);
  const config = { _id: view.set, version: 1, members: [{ _id: view.me, host: hostOf(view, view.me), priority: 1, votes: 1 }] };
  return { do: 'initiate', config, why: 'Founding the set with this member alone.' };
}

// Rule 2: let in, without a configuration yet.
function joiner(view) {
  const leader = leaderOf(view, () => true);
  if (!leader) return wait('Waiting for a member that leads the set, to join it.');
  if (memberIn(leader.answer.config, hostOf(view, view.me))) return wait(`${nameOf(view, leader.ordinal)} counts this member; its configuration is on the way.`);
  return change(view, leader, 'add', withNew(view, leader.answer.config), 'Joining the set without a vote');
}

// Rules 2, 6, 7 and 8: the server has a configuration.
function memberOfSet(view) {
  const { own, volume } = view;
  const host = hostOf(view, view.me);
  const id = idOf(own);
  if (volume.member && volume.member !== id) return wait(`The volume was a member of set ${volume.member}, and the server says ${id}: it is kept and not used.`);
  const leader = leaderOf(view, (answer) => idOf(answer) === id);
  const stranger = leader ? undefined : leaderOf(view, (answer) => idOf(answer) !== id);
  if (stranger) return wait(`This volume holds data of set ${id}, and ${nameOf(view, stranger.ordinal)} leads set ${idOf(stranger.answer)}: it is kept and does not join. If it is not wanted, delete the claim data-${nameOf(view, view.me)} and this pod.`);
  const state = STATES[stateOf(own)] ?? 'UNKNOWN';
  if (leader && !memberIn(leader.answer.config, host)) return change(view, leader, 'add', withNew(view, leader.answer.config), 'Joining the set again without a vote');
  if (!memberIn(own.config, host)) return wait(leader ? 'This member is counted again; its configuration is on the way.' : 'This member was taken out of the set, and nobody leads: waiting.');
  if (!volume.member && [PRIMARY, SECONDARY].includes(stateOf(own))) return { do: 'mark', set: id, why: `This volume is a member of set ${id}.` };
  if (!leader) return wait(withoutLeader(view, state));
  const counted = memberIn(leader.answer.config, host);
  if (votes(counted) === 0) {
    const seen = (leader.answer.status.members || []).find((member) => member.name === host);
    if (stateOf(own) === SECONDARY && seen && number(seen.state) === SECONDARY) {
      return change(view, leader, 'vote', withVote(leader.answer.config, host), 'This member has the data: it gets its vote');
    }
    if (state === 'RECOVERING') {
      const said = own.status && own.status.infoMessage ? ` (${own.status.infoMessage})` : '';
      return wait(`RECOVERING: this member does not follow and has no vote${said}. If that stays so, the others no longer have the changes that it lacks: delete the claim data-${nameOf(view, view.me)} and this pod, and it copies everything anew.`);
    }
    return wait(`${state}: this member copies the data, and has no vote until it has it.`);
  }
  if (leader.ordinal === view.me) {
    const gone = view.named && view.peers.filter((peer) => peer.ordinal >= view.desired && !peer.exists && memberIn(own.config, hostOf(view, peer.ordinal)));
    if (gone && gone.length) {
      const last = gone[gone.length - 1].ordinal;
      return change(view, leader, 'remove', without(own.config, hostOf(view, last)), `${nameOf(view, last)} is gone and not wanted: it is taken out of the set`);
    }
  }
  if (![PRIMARY, SECONDARY].includes(stateOf(own))) return wait(`${state}: ${(own.status && own.status.infoMessage) || 'the server is not done'}.`);
  return { do: 'serve', why: leader.ordinal === view.me ? 'This member leads.' : `${nameOf(view, leader.ordinal)} leads.` };
}

// Rule 7: who is missing.
function withoutLeader(view, state) {
  const missing = view.own.config.members.filter((member) => votes(member) > 0 && member.host !== hostOf(view, view.me))
    .map((member) => ordinalOf(view, member.host))
    .filter((ordinal) => !view.peers.some((peer) => peer.ordinal === ordinal && hasSet(peer.answer) && !peer.answer.waiting));
  if (!missing.length) return `${state}: nobody leads at the moment.`;
  return `${state}: nobody leads, and these are missing: ${missing.map((ordinal) => (ordinal < 0 ? 'an unknown member' : nameOf(view, ordinal))).join(', ')}. Nothing is forced.`;
}

// What readiness is told: the state that the server says. A member without a vote is not ready: a majority does not count what it has, so a
// rolling restart that went on to the next pod would leave acknowledged writes on the others alone.
function readiness(view) {
  const { own } = view;
  const state = STATES[stateOf(own)] ?? 'WAITING';
  const counted = hasSet(own) ? memberIn(own.config, hostOf(view, view.me)) : undefined;
  return state === 'SECONDARY' && counted && votes(counted) === 0 ? 'WITHOUT A VOTE' : state;
}

// Rule 5: preStop. `done` ends the leaving.
function decideLeaving(view) {
  const { own } = view;
  const done = (why) => ({ do: 'done', why });
  if (!hasSet(own) || own.waiting) return done('This member is in no set.');
  const host = hostOf(view, view.me);
  const id = idOf(own);
  const mine = memberIn(own.config, host);
  if (!mine) return done('This member is out of the set.');
  const heirs = own.config.members.filter((member) => member.host !== host && votes(member) > 0 && number(member.priority ?? 1) > 0);
  if (isPrimary(own)) return heirs.length ? { do: 'stepDown', why: 'Handing over before the stop.' } : done('Nobody else can lead.');
  if (view.me === 0) return done('Ordinal 0 stays a member.');
  const leader = leaderOf(view, (answer) => idOf(answer) === id);
  if (!leader) return wait('Nobody leads, so this member cannot be taken out.');
  if (!memberIn(leader.answer.config, host)) return done('This member is out of the set.');
  return change(view, leader, 'remove', without(leader.answer.config, host), 'Leaving the set');
}

module.exports = { decide, decideLeaving, hostOf, readiness };
