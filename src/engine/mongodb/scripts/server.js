// What the running server is told: settings that it takes without a restart, the certificate, the default of writes, and what is written
// down about it.
'use strict';

// Commands for parameters whose value in the server is not the mounted one. Pure.
function parameterSteps(mounted, present) {
  return Object.entries(mounted).filter(([name, value]) => JSON.stringify(present[name]) !== JSON.stringify(value)).map(([name, value]) => ({ setParameter: 1, [name]: value }));
}

// run(command), say(text). Out: names that the server did not take, with its words.
async function followParameters(run, say, mounted) {
  const refused = [];
  for (const name of Object.keys(mounted)) {
    try {
      const present = await run({ getParameter: 1, [name]: 1 });
      for (const command of parameterSteps({ [name]: mounted[name] }, { [name]: plain(present[name]) })) {
        await run(command);
        say(`Set in the running server: ${name} = ${JSON.stringify(mounted[name])}.`);
      }
    } catch (error) {
      refused.push(`${name}: ${error.message}`);
    }
  }
  return refused;
}
// numbers of 64 bits are objects in mongosh
const plain = (value) => (value !== null && typeof value === 'object' && typeof value.toNumber === 'function' ? value.toNumber() : value);

// Synchronous: a write is acknowledged when a majority has it, which is the server's own default. Asynchronous: when the primary has it.
async function followReplication(run, say, replication) {
  const want = replication === 'asynchronous' ? 1 : 'majority';
  const now = await run({ getDefaultRWConcern: 1 });
  const present = now.defaultWriteConcern ? plain(now.defaultWriteConcern.w) : undefined;
  if (present === want) return;
  await run({ setDefaultRWConcern: 1, defaultWriteConcern: { w: want, wtimeout: 0 }, writeConcern: { w: 'majority', wtimeout: 15000 } });
  say(`Writes are acknowledged by ${want === 1 ? 'the primary' : 'a majority'} unless they say otherwise.`);
}

// The next mode of TLS, or null. A member speaks TLS to the others only when all of them answer it with a certificate that it can verify.
function tlsStep(mode, verified) {
  return mode === 'allowTLS' && verified ? { setParameter: 1, tlsMode: 'preferTLS' } : null;
}

module.exports = { parameterSteps, followParameters, followReplication, tlsStep };
