// The cases in mongosh: documents are made as the shell gets them from a server, with 64-bit numbers and ids as objects.
'use strict';
const { cases, judge } = require('./cases.js');

module.exports.main = ({ EJSON }, decide) => {
  const rules = require(decide);
  const typed = (view) => EJSON.parse(JSON.stringify(view), { relaxed: false });
  const term = typed({ term: { $numberLong: '3' }, id: { $oid: '65a1b2c3d4e5f60718293a4b' } });
  const wrong = cases.flatMap((each) => judge(rules, each, typed));
  if (typeof term.term !== 'object' || typeof term.id.toHexString !== 'function') wrong.push('the documents are not as the shell makes them');
  for (const each of wrong) console.log(`FAILED ${each}`);
  console.log(`mongosh: ${cases.length - wrong.length} passed, ${wrong.length} failed`);
};
