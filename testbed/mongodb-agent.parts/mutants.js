// A planted break for each rule: a piece of decide.js, what stands in its place, and the run of the explorer that has to end with that
// violation. A break that the explorer does not see is a failure of the trial, and so is a piece that is no longer in decide.js.
'use strict';
const fs = require('fs');

const small = { crash: 1, empty: 1, elect: 1, write: 1, cut: 1 };
module.exports.mutants = [
  { rule: 'rule 1: only ordinal 0 founds', find: "if (view.me !== 0) return 'This member is empty: waiting for a set to join.';", put: '',
    from: 'nothing', bounds: {}, violation: 'only an unmarked empty ordinal 0 founds' },
  { rule: 'rule 1: nobody founds beside a set', find: ['if (!holders.length) return notFounding', 'if (withData.length) return', 'if (view.peers.some((peer) => hasSet(peer.answer))) return joiner(view);\n  const no'],
    put: ['if (true) return notFounding', 'if (false) return', 'const no'],
    from: 'formed', bounds: { crash: 1, empty: 1 }, violation: 'never two sets' },
  { rule: 'rule 1: nobody founds beside those who do not answer', find: 'if (silent.length) return', put: 'if (false) return',
    from: 'lost-first', bounds: { cut: 2 }, violation: 'never two sets' },
  { rule: 'rule 1: nobody founds before all that are wanted exist', find: 'if (unborn.length) return', put: 'if (false) return',
    from: 'lost-first', bounds: {}, violation: 'never two sets' },
  { rule: 'rule 1: it is asked again before the set is founded', find: ['if (view.peers.some((peer) => hasSet(peer.answer))) return joiner(view);\n  const no', 'if (no) return wait(no);'], put: ['const no', ''],
    from: 'nothing', bounds: { crash: 1, wipe: 1 }, violation: 'never two sets' },
  { rule: 'rule 2: a new member has no vote', find: 'priority: 0, votes: 0 }', put: 'priority: 1, votes: 1 }',
    from: 'formed', bounds: { crash: 1, empty: 1 }, violation: 'no vote without the data' },
  { rule: 'rule 2: a vote only with the data', find: 'if (stateOf(own) === SECONDARY && seen && number(seen.state) === SECONDARY) {', put: '{',
    from: 'nothing', bounds: {}, violation: 'no vote without the data' },
  { rule: 'rule 2: who has the data gets its vote', find: 'if (stateOf(own) === SECONDARY && seen &&', put: 'if (false && seen &&',
    from: 'nothing', bounds: {}, whole: true, violation: 'with somebody who leads, the set gets whole' },
  { rule: 'rule 3: who lost its data waits on another port', faults: { alwaysIn: true },
    from: 'formed', bounds: { crash: 1, empty: 1, elect: 1, write: 1 }, violation: 'a primary has all that was acknowledged' },
  { rule: 'rule 3: who lost its data is taken out first', find: 'if (memberIn(config, host)) return change(', put: 'if (false) return change(',
    from: 'formed', bounds: { crash: 1, empty: 1, elect: 1, write: 1 }, violation: 'a primary has all that was acknowledged' },
  { rule: 'rule 3: and comes back when a majority knows', find: 'if (leader.answer.committed !== true) return wait(', put: 'if (false) return wait(',
    from: 'formed', bounds: { crash: 1, empty: 1, elect: 1, write: 1 }, violation: 'a primary has all that was acknowledged' },
  { rule: 'rule 4: one change after the other', find: 'if (leader.answer.committed !== true) return `', put: 'if (false) return `',
    from: 'formed', bounds: small, violation: 'never a change of the set without a majority' },
  { rule: 'rule 4: a majority is heard', find: 'if (!isMajority(healthyVoters(leader, now), votersOf(now))) return', put: 'if (false) return',
    from: 'pair', bounds: { crash: 1, empty: 1 }, violation: 'never a change of the set without a majority' },
  { rule: 'rule 4: and is heard afterwards', find: 'if (!isMajority(healthyVoters(leader, next), votersOf(next))) return', put: 'if (false) return',
    from: 'formed', bounds: { crash: 1, scale: 1 }, violation: 'never a change of the set without a majority' },
  { rule: 'rule 6: only who is gone is taken out by another', find: 'peer.ordinal >= view.desired && !peer.exists && memberIn', put: 'peer.ordinal >= view.desired && memberIn',
    from: 'scaled', bounds: { scale: 1, elect: 1 }, violation: 'nobody is taken out by another unless it is gone and not wanted' },
  { rule: 'rule 6: only who is not wanted is taken out by another', find: 'peer.ordinal >= view.desired && !peer.exists && memberIn', put: '!peer.exists && memberIn',
    from: 'lost-first', bounds: { elect: 1 }, violation: 'nobody is taken out by another unless it is gone and not wanted' },
  { rule: 'rule 8: a volume of another set never joins', find: ['leaderOf(view, (answer) => idOf(answer) === id)', 'if (stranger) return wait('], put: ['leaderOf(view, () => true)', 'if (false) return wait('],
    from: 'stranger', bounds: {}, violation: 'a volume of another set never joins' },
];

// The functions of decide.js with the break in it.
module.exports.broken = (file, { find, put }) => {
  let source = fs.readFileSync(file, 'utf8');
  if (find) {
    const pieces = [].concat(find);
    const instead = [].concat(put);
    pieces.forEach((piece, at) => {
      if (!source.includes(piece)) throw new Error(`decide.js no longer has: ${piece}`);
      source = source.replaceAll(piece, () => instead[at]);
    });
  }
  const module_ = { exports: {} };
  new Function('module', 'require', source)(module_, require);
  return module_.exports;
};
