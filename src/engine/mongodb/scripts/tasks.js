// What backup.sh and restore.sh ask the server, one question a run of mongosh. The answer is one text on stdout; an error ends it with 1.
'use strict';
const fs = require('fs');
const { members } = require('./members.js');

// Databases of the server, and ours: no backup is about them, and no restore fills them.
const OWN = ['admin', 'config', 'local', 'dbrender'];

const actions = {
  // version of the server, its feature compatibility version, whether it takes writes
  async server(run) {
    const { version } = await run({ buildInfo: 1 });
    const { isWritablePrimary } = await run({ hello: 1 });
    const compatibility = await run({ getParameter: 1, featureCompatibilityVersion: 1 });
    return `${version} ${compatibility.featureCompatibilityVersion.version} ${isWritablePrimary === true ? 'leads' : 'follows'}`;
  },
  // every collection that holds documents of its own, one a line; views and time series have none under their own name
  async collections(run) {
    const lines = [];
    for (const { name } of (await run({ listDatabases: 1, nameOnly: true })).databases) {
      if (OWN.includes(name)) continue;
      for (const { name: collection, type } of await all(run, name)) if (type === 'collection') lines.push(`${name}.${collection}`);
    }
    return lines.sort().join('\n');
  },
  // the first thing that somebody put here, or nothing
  async content(run) {
    for (const { name } of (await run({ listDatabases: 1, nameOnly: true })).databases) {
      if (OWN.includes(name)) continue;
      const [first] = await all(run, name);
      if (first) return `${name}.${first.name}`;
    }
    return '';
  },
  // state ID: nothing, begun or done, and the backup
  async state(run, id) {
    const [row] = (await run({ find: 'restore', filter: { _id: id } }, 'dbrender')).cursor.firstBatch;
    if (!row) return 'nothing';
    return `${row.finishedAt ? 'done' : 'begun'} ${row.backup}`;
  },
  // begin ID BACKUP DATABASE…: written down before anything is loaded, so that the next attempt knows what to drop
  async begin(run, id, backup, ...databases) {
    await majority(run, { update: 'restore', updates: [{ q: { _id: id }, u: { _id: id, backup, databases }, upsert: true }] }, 'dbrender');
    return '';
  },
  // drop ID: what a former attempt has loaded
  async drop(run, id) {
    const [row] = (await run({ find: 'restore', filter: { _id: id } }, 'dbrender')).cursor.firstBatch;
    const dropped = ((row && row.databases) || []).filter((name) => !OWN.includes(name));
    for (const name of dropped) await majority(run, { dropDatabase: 1 }, name);
    return dropped.join(' ');
  },
  async finish(run, id) {
    await majority(run, { update: 'restore', updates: [{ q: { _id: id }, u: { $set: { finishedAt: new Date() } } }] }, 'dbrender');
    return '';
  },
};

async function all(run, database) {
  const reply = await run({ listCollections: 1, nameOnly: true }, database);
  const batch = [...reply.cursor.firstBatch];
  for (let id = reply.cursor.id; Number(String(id)) !== 0;) {
    const more = await run({ getMore: id, collection: '$cmd.listCollections' }, database);
    batch.push(...more.cursor.nextBatch);
    id = more.cursor.id;
  }
  return batch.filter(({ name }) => !name.startsWith('system.') || name.startsWith('system.buckets.'));
}

async function majority(run, command, database) {
  const reply = await run({ ...command, writeConcern: { w: 'majority', wtimeout: 60000 } }, database);
  const problem = (reply.writeErrors || [])[0] || reply.writeConcernError;
  if (problem) throw new Error(problem.errmsg);
}

async function main(shell) {
  const { LOGIN_USER: user, PASSWORD_FILE: file, TLS_MODE: tls, DB_NAME: set, SERVICE: host, PORT: port } = process.env;
  const [action, ...words] = JSON.parse(process.env.WORDS);
  const net = members(shell);
  let code = 0;
  try {
    const connection = await net.connect(`${host}:${port}`, { login: { user, password: fs.readFileSync(file, 'utf8') }, set, tls, timeout: 10000 });
    try {
      const answer = await actions[action]((command, database) => net.run(connection, command, database), ...words);
      fs.writeSync(1, answer ? `${answer}\n` : '');
    } finally {
      await net.close(connection);
    }
  } catch (error) {
    fs.writeSync(2, `error: ${error.message}\n`);
    code = 1;
  }
  process.exit(code);
}

module.exports = { main, actions };
