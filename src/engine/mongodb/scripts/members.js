// How the members of a set are asked, and how what is mounted is read. No decisions. Loaded by agent.js and tasks.js, which hand in what
// only mongosh has.
'use strict';
const fs = require('fs');
const dns = require('dns');
const sockets = require('net');

const CONFIG = process.env.CONFIG || '/etc/dbrender/config';
const CREDENTIALS = process.env.CREDENTIALS || '/etc/dbrender/credentials';
const CA = '/etc/dbrender/tls/ca.crt';

// Assignments that a shell sources: NAME='value', a quote in it as '\''.
function assignments(name) {
  const found = {};
  for (const line of fs.readFileSync(`${CONFIG}/${name}`, 'utf8').split('\n')) {
    const match = /^([A-Z_]+)='(.*)'$/.exec(line);
    if (match) found[match[1]] = match[2].replaceAll("'\\''", "'");
  }
  return found;
}

// What changes when the kubelet swaps the mounted files of a directory.
function versionOf(directory) {
  try { return fs.readlinkSync(`${directory}/..data`); } catch { return 'none'; }
}

// The password in a mounted file, or an Error that says what is wrong with it. Never part of a message.
function password(name) {
  const file = `${CREDENTIALS}/${name}`;
  let text;
  try { text = fs.readFileSync(file); } catch { throw new Error(`The file ${file} is missing or cannot be read.`); }
  const decoded = text.toString('utf8');
  if (!text.length) throw new Error(`The password in ${file} is empty.`);
  if (/[\r\n]/.test(decoded)) throw new Error(`The password in ${file} has a line break (perhaps at its end, from the editor or from echo): store it without one.`);
  if (!Buffer.from(decoded, 'utf8').equals(text)) throw new Error(`The password in ${file} is not UTF-8 text.`);
  // SCRAM refuses them (RFC 4013)
  if (/[\u0000-\u001f\u007f]/.test(decoded)) throw new Error(`The password in ${file} has a control character: store it without one.`);
  return decoded;
}

// login: { user, password, source, mechanism } or null for nobody.
function uri(hosts, { login = null, set = '', tls = '', timeout = 3000 } = {}) {
  const who = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@` : '';
  const options = [
    ...(login ? [`authSource=${login.source || 'admin'}`, ...(login.mechanism ? [`authMechanism=${login.mechanism}`] : [])] : []),
    set ? `replicaSet=${encodeURIComponent(set)}` : 'directConnection=true',
    `serverSelectionTimeoutMS=${timeout}`, 'connectTimeoutMS=3000', 'socketTimeoutMS=30000', 'maxPoolSize=2', 'appName=dbrender',
    ...(tls ? ['tls=true', ...(tls === 'verify' ? [`tlsCAFile=${encodeURIComponent(CA)}`] : ['tlsInsecure=true'])] : []),
  ];
  return `mongodb://${who}${hosts}/?${options.join('&')}`;
}

// Whether anything takes connections there: the driver itself tries for seconds.
function listens(host, port) {
  return new Promise((resolve) => {
    const socket = sockets.connect({ host, port });
    const end = (answer) => { socket.destroy(); resolve(answer); };
    socket.setTimeout(2000, () => end(false));
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}

// The error of a command as data; a connection that broke is not an answer and is thrown on.
function refusal(error) {
  if (typeof error.code === 'number' && !/Network|ServerSelection/.test(error.name)) return { code: error.code, message: error.message };
  throw error;
}

// shell: { Mongo }, as mongosh has it.
function members(shell) {
  const open = new Map();

  async function connect(hosts, options) {
    return await new shell.Mongo(uri(hosts, options));
  }
  async function close(connection) {
    try { await connection.close(); } catch { /* it was closed already */ }
  }

  // A connection that is kept from turn to turn, and forgotten with the first thing that goes wrong.
  async function kept(hosts, options) {
    const key = uri(hosts, options);
    if (!open.has(key)) open.set(key, await connect(hosts, options));
    return { connection: open.get(key), forget: async () => { const old = open.get(key); open.delete(key); if (old) await close(old); } };
  }

  // The server's own user, which every member has: its password is the key file.
  function system(keyFile) {
    const key = fs.readFileSync(keyFile, 'utf8').replace(/\s/g, '');
    return { user: '__system', password: key, source: 'local', mechanism: 'SCRAM-SHA-256' };
  }

  async function run(connection, command, database = 'admin') {
    return await (await connection.getDB(database)).runCommand(command);
  }
  async function tryRun(connection, command) {
    try { return await run(connection, command); } catch (error) { return refusal(error); }
  }

  // What the server at host:port says, or null when it does not answer.
  async function askPort(host, port, waiting, login) {
    let use;
    if (!(await listens(host, port))) return null;
    try {
      use = await kept(`${host}:${port}`, { login });
      const { connection } = use;
      const hello = await run(connection, { hello: 1 });
      const leads = hello.isWritablePrimary === true;
      let config = await tryRun(connection, { replSetGetConfig: 1, ...(leads ? { commitmentStatus: true } : {}) });
      // it stopped leading in between
      if (leads && !config.config) config = await tryRun(connection, { replSetGetConfig: 1 });
      const status = await tryRun(connection, { replSetGetStatus: 1 });
      return { waiting, hello, config: config.config || config, committed: config.commitmentStatus, status };
    } catch (error) {
      if (use) await use.forget();
      // it is there, and does not let this member in: never the same as empty
      if (error.code === 18) return { waiting, hello: {}, config: { code: 18, message: 'it refuses the key file' }, status: {} };
      return null;
    }
  }
  async function ask(host, ports, login) {
    return (await askPort(host, ports.member, false, login)) || (await askPort(host, ports.waiting, true, login));
  }

  return { ask, kept, connect, close, system, run };
}

// The addresses that a name leads to; none when there is no such name. Other errors of the resolver are thrown: they say nothing.
async function addresses(name) {
  try {
    return (await dns.promises.lookup(name, { all: true })).map((found) => found.address);
  } catch (error) {
    if (error.code === 'ENOTFOUND') return [];
    throw error;
  }
}

module.exports = { members, assignments, versionOf, password, addresses, uri, CONFIG, CREDENTIALS, CA };
