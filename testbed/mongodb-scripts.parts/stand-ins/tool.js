// mongodump and mongorestore, as stand-ins: what they are called with is written down; data comes from the stand-in of a server, or, with
// STAND_IN_DRIVER, from a real one (FerretDB) as raw BSON. FAULT, a file, says how to go wrong.
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { archive, encode, unpack } = require('./archive.js');
const stand = require('./server.js');

const [, , tool, ...args] = process.argv;
const option = (name) => { const found = args.find((arg) => arg.startsWith(`--${name}=`)); return found && found.slice(name.length + 3); };
const options = (name) => args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
const end = (code, text) => { fs.writeSync(2, `${text}\n`); process.exit(code); };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const KNOWN = {
  mongodump: ['config', 'host', 'username', 'authenticationDatabase', 'readPreference', 'oplog', 'gzip', 'archive', 'ssl', 'tlsInsecure', 'sslCAFile'],
  mongorestore: ['config', 'host', 'username', 'authenticationDatabase', 'gzip', 'archive', 'oplogReplay', 'stopOnError', 'nsExclude', 'ssl', 'tlsInsecure', 'sslCAFile'],
};

// What a driver gives and takes: { names(), documents(name), insert(name, documents) }; documents are bytes.
async function source(user, password) {
  const hosts = option('host').split('/')[1];
  if (!process.env.STAND_IN_DRIVER) {
    try { stand.login(user, password); } catch (error) { end(1, `Failed: can't create session: could not connect to server: ${error.message}`); }
    const server = stand.load();
    return {
      version: server.version,
      names: async () => Object.entries(server.databases).flatMap(([db, collections]) => Object.keys(collections).filter((name) => !name.startsWith('view')).map((name) => `${db}.${name}`)),
      documents: async (name) => { const [db, ...rest] = name.split('.'); return server.databases[db][rest.join('.')].map((row) => encode({ _id: row._id, v: JSON.stringify(row) })); },
      insert: async (name, documents) => {
        const [db, ...rest] = name.split('.');
        const now = stand.load();
        (now.databases[db] ||= {})[rest.join('.')] = documents.map((bytes) => JSON.parse(bytes.toString('utf8', bytes.indexOf('{"'), bytes.length - 2)));
        stand.save(now);
      },
      close: async () => {},
    };
  }
  const { MongoClient } = require(process.env.STAND_IN_DRIVER);
  const client = new MongoClient(`mongodb://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${hosts}/?authSource=admin&replicaSet=${option('host').split('/')[0]}&serverSelectionTimeoutMS=5000`);
  await client.connect();
  return {
    version: (await client.db('admin').command({ buildInfo: 1 })).version,
    names: async () => {
      const all = [];
      for (const { name: db } of (await client.db('admin').command({ listDatabases: 1, nameOnly: true })).databases) {
        if (db === 'admin' || db === 'local') continue;
        for (const { name } of await client.db(db).listCollections({}, { nameOnly: true }).toArray()) all.push(`${db}.${name}`);
      }
      return all;
    },
    documents: async (name) => {
      const [db, ...rest] = name.split('.');
      return (await client.db(db).collection(rest.join('.')).find({}, { raw: true }).toArray()).map((bytes) => Buffer.from(bytes));
    },
    insert: async (name, documents) => {
      const [db, ...rest] = name.split('.');
      const { deserialize } = require(`${process.env.STAND_IN_DRIVER}/../bson`);
      const whole = documents.map((bytes) => deserialize(bytes, { promoteValues: false, promoteLongs: false, promoteBuffers: false, bsonRegExp: true }));
      if (whole.length) await client.db(db).collection(rest.join('.')).insertMany(whole);
      else await client.db(db).createCollection(rest.join('.'));
    },
    close: async () => client.close(),
  };
}

async function main() {
  if (args.includes('--version')) { process.stdout.write(`${tool} version: 100.0.0-stand-in\n`); return; }
  const record = process.env.STAND_IN_RECORD || '/record';
  fs.appendFileSync(`${record}/${tool}`, `${JSON.stringify({ args, environment: process.env, commandLine: fs.readFileSync('/proc/self/cmdline', 'utf8') })}\n`);
  for (const arg of args) if (!KNOWN[tool].includes(arg.replace(/^--/, '').split('=')[0])) end(1, `error parsing command line options: unknown flag ${arg}`);
  let fault = '';
  try { fault = fs.readFileSync(process.env.STAND_IN_FAULT || '/fault', 'utf8').trim(); } catch { /* none */ }
  const mode = fs.statSync(option('config')).mode & 0o777;
  if (mode !== 0o600) end(1, `the configuration file has mode ${mode.toString(8)}`);
  const password = /^password: '(.*)'\n$/.exec(fs.readFileSync(option('config'), 'utf8'))[1].replaceAll("''", "'");
  const from = await source(option('username'), password);
  const excluded = (name) => options('nsExclude').some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name));
  if (tool === 'mongodump') {
    if (fault === 'source-fails') end(1, 'Failed: error writing data for collection: (InterruptedDueToReplStateChange) operation was interrupted');
    const collections = [];
    for (const name of await from.names()) collections.push([name, await from.documents(name)]);
    if (fault === 'lacks-collection') collections.splice(collections.findIndex(([name]) => name === 'app.orders'), 1);
    if (fault !== 'no-oplog') collections.push(['oplog', [encode({ op: 'n' })]]);
    let bytes = archive(collections, from.version);
    if (fault === 'short') bytes = bytes.subarray(0, bytes.length - 30);
    let packed = zlib.gzipSync(bytes);
    if (fault === 'short-gzip') packed = packed.subarray(0, packed.length - 12);
    if (fault === 'large') packed = Buffer.alloc(64 * 1024 * 1024);
    try {
      fs.writeFileSync(option('archive'), packed);
    } catch (error) {
      end(1, `Failed: archive writer: error writing data: ${error.message}`);
    }
    if (fault === 'slow') { fs.writeFileSync(`${record}/half-way`, ''); await sleep(60000); }
  } else {
    if (fault === 'restore-fails-at-once') end(1, 'Failed: restore error: connection closed');
    const found = unpack(zlib.gunzipSync(fs.readFileSync(option('archive'))));
    if (args.includes('--oplogReplay') && !found.has('oplog')) end(1, 'Failed: no oplog file to replay; make sure you run mongodump with --oplog');
    let count = 0;
    for (const [name, documents] of found) {
      if (name === 'oplog' || excluded(name)) continue;
      await from.insert(name, documents);
      count += documents.length;
      if (fault === 'restore-fails-half-way') end(1, 'Failed: error restoring: (InterruptedDueToReplStateChange) operation was interrupted');
    }
    const failed = fault === 'documents-fail' ? 3 : 0;
    fs.writeSync(2, `2026-11-30T00:00:00.000+0000\t${count} document(s) restored successfully. ${failed} document(s) failed to restore.\n`);
  }
  await from.close();
}
main().catch((error) => end(1, `Failed: ${error.message}`));
