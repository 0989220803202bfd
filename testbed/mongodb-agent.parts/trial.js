// trial.js DECIDE [--more]: the cases, the runs of the explorer and the planted breaks, in Node. Prints a line each, and last
// `N passed, N failed`.
'use strict';
const path = require('path');
const { cases, judge } = require('./cases.js');
const { runs } = require('./runs.js');
const { explore } = require('./explore.js');
const { mutants, broken } = require('./mutants.js');

const file = path.resolve(process.argv[2]);
const more = process.argv.includes('--more');
const rules = require(file);
let passed = 0, failed = 0;
function check(what, wrong) {
  if (wrong.length) { failed += 1; console.log(`FAILED ${what}\n  ${wrong.join('\n  ')}`); } else passed += 1;
}

console.log(`${cases.length} decisions over answers that are written after the manual`);
for (const each of cases) check(each[0], judge(rules, each));

console.log('every interleaving of three agents with a model of servers, within a bound');
let states = 0;
for (const { name, from, bounds, short, whole } of runs) {
  if (!short && !more) continue;
  const found = explore({ from, bounds, whole }, rules);
  states += found.states;
  console.log(`  ${name} (${JSON.stringify(bounds)}): ${found.states} worlds, ${found.events} events, ${found.depth} deep`);
  check(name, found.violation ? [found.violation, ...found.path] : []);
}
console.log(`  ${states} worlds`);

console.log('a planted break for each rule: the explorer has to see it');
for (const mutant of mutants) {
  let found;
  try {
    found = explore({ from: mutant.from, bounds: mutant.bounds, whole: mutant.whole, limit: 100000 }, broken(file, mutant), mutant.faults);
  } catch (error) {
    check(mutant.rule, [error.message]);
    continue;
  }
  console.log(`  ${mutant.rule}: ${found.violation || 'NOT SEEN'} (${found.states} worlds)`);
  check(`the break of ${mutant.rule}`, found.violation === mutant.violation ? [] : [`seen: ${found.violation || 'nothing'}; it has to be: ${mutant.violation}`]);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
