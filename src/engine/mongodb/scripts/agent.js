// The agent of a member, run by mongosh, which rewrites what it runs itself, but not what is loaded with require. It looks at all members, does the one step that decide.js says, and on the member that
// leads keeps users and settings as they are mounted. It never ends on an error of a server. agent.sh starts it anew each hour.
'use strict';
const fs = require('fs');
const { decide, decideLeaving, hostOf, readiness } = require('./decide.js');
const { members, assignments, versionOf, password, addresses, CONFIG, CREDENTIALS } = require('./members.js');
const accounts = require('./accounts.js');
const server = require('./server.js');

const volume = process.env.VOLUME || '/data/db';
const run = process.env.RUN || '/var/run/mongodb';
const tlsFiles = process.env.TLS_FILES || '/etc/dbrender/tls';
const lastWord = process.env.TERMINATION_LOG || '/dev/termination-log';
const LIFE_MS = 3600000;
const MAX = 7;

let net = null;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let said = '';
function say(text) {
  if (text === said) return;
  said = text;
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
function write(file, text, mode) {
  fs.writeFileSync(`${file}.new`, text, { mode });
  fs.renameSync(`${file}.new`, file);
}
// What a person has to know: the log, the last word of this container, and the readiness probe.
let reported = '';
function report(text) {
  if (text === reported) return;
  reported = text;
  say(text);
  try { fs.writeFileSync(lastWord, `${text}\n`); } catch { /* there is none where it is tried */ }
}
function read(file) {
  try { return fs.readFileSync(file, 'utf8').trim(); } catch { return null; }
}
const exists = (file) => fs.existsSync(file);

// A small file on the volume, whole or not at all, also after a loss of power.
function put(name, text) {
  const file = `${volume}/${name}`;
  const descriptor = fs.openSync(`${file}.new`, 'w', 0o640);
  try {
    fs.writeSync(descriptor, text);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
  fs.renameSync(`${file}.new`, file);
  const directory = fs.openSync(volume, 'r');
  try { fs.fsyncSync(directory); } finally { fs.closeSync(directory); }
}
const forget = (name) => fs.rmSync(`${volume}/${name}`, { force: true });

async function look(facts, login) {
  const me = Number(process.env.POD_NAME.split('-').pop());
  const port = Number(facts.PORT);
  const ports = { member: port, waiting: Number(facts.WAIT_PORT) };
  const set = facts.DB_NAME;
  const view = { me, set, domain: facts.HEADLESS, port, max: MAX, desired: Number(read(`${CONFIG}/replicas`)), peers: [], named: false };
  view.volume = { member: (/^set=(.+)$/m.exec(read(`${volume}/member`) || '') || [])[1] || null, joining: exists(`${volume}/joining`), founding: exists(`${volume}/founding`) };
  const nameOf = (ordinal) => `${set}-${ordinal}.${facts.HEADLESS}`;
  const others = [...Array(MAX).keys()].filter((ordinal) => ordinal !== me);
  const peer = async (ordinal) => {
    let exists = true;
    try { exists = (await addresses(nameOf(ordinal))).length > 0; } catch { /* the resolver says nothing: it may exist */ }
    return { ordinal, exists, answer: exists ? await net.ask(nameOf(ordinal), ports, login) : null };
  };
  const named = async () => {
    try { return (await addresses(nameOf(me))).includes(process.env.POD_IP); } catch { return false; }
  };
  [view.own, view.named, ...view.peers] = await Promise.all([net.ask('127.0.0.1', ports, login), named(), ...others.map(peer)]);
  return view;
}

async function onMember(view, ordinal, login, command) {
  const host = ordinal === view.me ? `127.0.0.1:${view.port}` : hostOf(view, ordinal);
  const { connection, forget: drop } = await net.kept(host, { login });
  try {
    return await net.run(connection, command);
  } catch (error) {
    await drop();
    throw error;
  }
}

// One step. What a server refuses is told and looked at anew: somebody else may have been first.
async function act(view, step, login) {
  switch (step.do) {
    case 'found': put('founding', `begun=${new Date().toISOString()}\n`); break;
    case 'join': put('joining', `begun=${new Date().toISOString()}\n`); break;
    case 'mark':
      put('member', `set=${step.set}\n`);
      forget('founding');
      forget('joining');
      break;
    case 'initiate': await onMember(view, view.me, login, { replSetInitiate: step.config }); break;
    case 'add': case 'vote': case 'remove':
      await onMember(view, step.at, login, { replSetReconfig: step.config, maxTimeMS: 20000 });
      break;
    case 'stepDown':
      try {
        await onMember(view, view.me, login, { replSetStepDown: 60, secondaryCatchUpPeriodSecs: 10 });
      } catch (error) {
        // older servers close all connections when they step down
        if (!/Network/.test(error.name)) throw error;
      }
      break;
    default: break;
  }
}

// Founding is decided by what does not exist, so it has to be true several times in a row.
let settled = 0;
async function turn(facts, login) {
  const leaving = exists(`${run}/leaving`);
  const view = await look(facts, login);
  const step = leaving ? decideLeaving(view) : decide(view);
  const state = leaving ? 'LEAVING' : readiness(view);
  write(`${run}/heartbeat`, `${state}\n${step.why}\n`, 0o644);
  if (step.do === 'wait') report(step.why);
  else say(step.why);
  settled = ['found', 'initiate'].includes(step.do) ? settled + 1 : 0;
  if (settled === 0 || settled >= 4) {
    try {
      await act(view, step, login);
    } catch (error) {
      say(`${step.why} The server said: ${error.codeName || error.name}: ${error.message}`);
    }
  }
  if (leaving) {
    if (step.do === 'done') write(`${run}/left`, '', 0o644);
    return 0.5;
  }
  if (view.own && [1, 2].includes(Number(view.own.status.myState))) await duties(view, facts, login);
  watchSpace();
  return step.do === 'serve' ? 3 : 1;
}

// restoring: a restore is asked for and its row does not say that it is done.
async function restoring(view, facts, login) {
  if (!facts.RESTORE_ID) return false;
  const { connection } = await net.kept(`127.0.0.1:${view.port}`, { login });
  const found = await net.run(connection, { find: 'restore', filter: { _id: facts.RESTORE_ID, finishedAt: { $exists: true } }, limit: 1 }, 'dbrender');
  return found.cursor.firstBatch.length === 0;
}

const seen = { accounts: '', config: '', tls: versionOf(tlsFiles), written: '', again: 0 };
async function duties(view, facts, login) {
  const here = (command) => onMember(view, view.me, login, command);
  const now = Date.now();
  const leads = view.own.hello.isWritablePrimary === true;
  if (seen.config !== versionOf(CONFIG)) {
    const refused = await server.followParameters(here, say, JSON.parse(read(`${CONFIG}/dynamic.json`) || '{}'));
    if (refused.length) report(`The server does not take these settings: ${refused.join('; ')}`);
    seen.config = versionOf(CONFIG);
  }
  if (facts.TLS === 'on') await followTls(view, facts, login, here);
  if (now < seen.again) return;
  seen.again = now + 10000;
  const build = await here({ buildInfo: 1 });
  const compatibility = await here({ getParameter: 1, featureCompatibilityVersion: 1 });
  const facing = `version=${build.version}\nfcv=${compatibility.featureCompatibilityVersion.version}\n`;
  if (facing !== seen.written) put('server', facing);
  seen.written = facing;
  if (!leads) { seen.accounts = ''; return; }
  const waits = await restoring(view, facts, login);
  const key = `${versionOf(CREDENTIALS)} ${waits} ${facts.APP_USERNAME}`;
  if (seen.accounts === key) return;
  const asked = {
    run: here, password, say,
    first: async (command) => {
      const connection = await net.connect(`127.0.0.1:${view.port}`);
      try { return await net.run(connection, command); } finally { await net.close(connection); }
    },
    accepts: async (user, secret) => {
      let connection;
      try {
        connection = await net.connect(`127.0.0.1:${view.port}`, { login: { user, password: secret } });
        await net.run(connection, { ping: 1 });
        return true;
      } catch (error) {
        return error.code === 18 ? false : undefined;
      } finally {
        if (connection) await net.close(connection);
      }
    },
  };
  const complaint = await accounts.follow(asked, facts, waits);
  if (complaint) { report(complaint); return; }
  await server.followReplication(here, say, facts.REPLICATION);
  seen.accounts = key;
}

async function followTls(view, facts, login, here) {
  const files = versionOf(tlsFiles);
  if (files !== seen.tls) {
    // as guard.sh joins them: each with the end of its last line
    const pem = ['tls.crt', 'tls.key'].map((file) => fs.readFileSync(`${tlsFiles}/${file}`, 'utf8').replace(/\n?$/, '\n'));
    write(`${run}/server.pem`, pem.join(''), 0o400);
    await here({ rotateCertificates: 1, message: 'mounted anew' });
    seen.tls = files;
    say('The certificate was read again.');
  }
  const { tlsMode } = await here({ getParameter: 1, tlsMode: 1 });
  if (tlsMode !== 'allowTLS') return;
  let verified = true;
  for (const member of view.own.config.members) {
    let connection;
    try {
      connection = await net.connect(member.host, { tls: 'verify' });
      await net.run(connection, { hello: 1 });
    } catch (error) {
      verified = false;
      say(`Members do not use TLS among themselves yet: ${member.host}: ${error.message}`);
      break;
    } finally {
      if (connection) await net.close(connection);
    }
  }
  const step = server.tlsStep(tlsMode, verified);
  if (step) { await here(step); say('Members use TLS among themselves.'); }
}

let spaceAgain = 0, spaceSaid = 0;
function watchSpace() {
  if (Date.now() < spaceAgain) return;
  spaceAgain = Date.now() + 15000;
  const { blocks, bavail, bsize } = fs.statfsSync(volume);
  const used = Math.floor(100 - (100 * bavail) / blocks);
  if (used >= 95 && used !== spaceSaid) report(`The volume is ${used} % full (${Math.floor((bavail * bsize) / 1048576)} MiB free): enlarge it before the server has to stop.`);
  spaceSaid = used >= 95 ? used : 0;
}

// shell: what only mongosh has.
async function main(shell) {
  net = members(shell);
  const until = Date.now() + LIFE_MS;
  while (Date.now() < until) {
    let pause = 2;
    try {
      const login = net.system(`${run}/keyfile`);
      // a key that differs from the others' would take this member out of its set at its next start
      if (read(`${CREDENTIALS}/keyfile`) !== read(`${run}/keyfile`)) report('The key keyfile of the admin Secret is no longer the one that this pod started with: put the former one back; a member that restarts with another one is out of its set.');
      pause = await turn(assignments('facts'), login);
    } catch (error) {
      say(`This turn failed: ${error.message}`);
    }
    await sleep(Number(process.env.PACE || 1) * pause * 1000);
  }
}

module.exports = { main };
