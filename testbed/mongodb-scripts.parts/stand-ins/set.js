// A stand-in for the servers of a set, behind the Mongo of a shell: a file of JSON, /set.json, in which every host has its state. It answers
// what the agent asks, in the shape of the manual, and takes what the manual says that a server takes.
'use strict';
const fs = require('fs');
const FILE = '/set.json';
const load = () => JSON.parse(fs.readFileSync(FILE, 'utf8'));
const save = (set) => fs.writeFileSync(FILE, JSON.stringify(set));
const failure = (code, codeName, message = codeName) => Object.assign(new Error(message), { name: 'MongoServerError', code, codeName });
const ID = '65a1b2c3d4e5f60718293a4b';

class Mongo {
  constructor(uri) {
    const { username, password, host, searchParams } = new URL(uri.replace('mongodb:', 'http:'));
    const set = load();
    // this pod's own server, by whatever port
    this.host = host.startsWith('127.0.0.1:') ? set.own : host;
    this.user = decodeURIComponent(username);
    if (!this.user) return;
    const right = this.user === '__system' ? searchParams.get('authSource') === 'local' && set.key : set.users[this.user];
    if (decodeURIComponent(password) !== right) throw failure(18, 'AuthenticationFailed');
  }
  getDB(database) { return { runCommand: async (command) => this.run(command, database) }; }
  async close() {}

  run(command, database) {
    const [name] = Object.keys(command);
    const set = load();
    const here = set.hosts[this.host];
    const leads = set.primary === this.host;
    // the localhost exception: the first user, and nothing else
    if (!this.user && !['hello'].includes(name) && !(name === 'createUser' && !Object.keys(set.users).length)) throw failure(13, 'Unauthorized');
    fs.appendFileSync('/record/commands', `${JSON.stringify({ host: this.host, user: this.user, database, ...command })}\n`);
    const done = (change) => { change(); save(set); return { ok: 1 }; };
    switch (name) {
      case 'hello': return { isWritablePrimary: leads, secondary: here.config && !leads, ...(here.config ? { setName: set.name } : {}) };
      case 'replSetGetConfig':
        if (!here.config) throw failure(94, 'NotYetInitialized');
        return { config: here.config, ...(command.commitmentStatus ? { commitmentStatus: true } : {}) };
      case 'replSetGetStatus':
        if (!here.config) throw failure(94, 'NotYetInitialized');
        return { myState: leads ? 1 : 2, term: 1, members: here.config.members.map((member) => ({ name: member.host, health: 1, state: member.host === set.primary ? 1 : 2 })) };
      case 'replSetInitiate':
        if (here.config) throw failure(23, 'AlreadyInitialized');
        return done(() => { here.config = { ...command.replSetInitiate, settings: { replicaSetId: ID } }; set.primary = this.host; });
      case 'replSetReconfig':
        if (!leads) throw failure(10107, 'NotWritablePrimary');
        if (command.force || command.replSetReconfig.version !== here.config.version + 1) throw failure(103, 'NewReplicaSetConfigurationIncompatible');
        return done(() => {
          const next = command.replSetReconfig;
          const heard = (host) => host !== set.own || fs.readFileSync('/record/listening', 'utf8') === '27017';
          for (const [host, state] of Object.entries(set.hosts)) if (heard(host) && (state.config || next.members.some((member) => member.host === host))) state.config = next;
        });
      case 'replSetStepDown': return done(() => { set.primary = here.config.members.map((member) => member.host).find((host) => host !== this.host); });
      case 'usersInfo': return { users: Object.keys(set.users).map((user) => ({ user })) };
      case 'createUser': case 'updateUser':
        if (!leads) throw failure(10107, 'NotWritablePrimary');
        return done(() => { set.users[command.createUser || command.updateUser] = command.pwd; });
      case 'dropUser': return done(() => { delete set.users[command.dropUser]; });
      case 'createRole': case 'dropRole': case 'ping': return { ok: 1 };
      case 'buildInfo': return { version: '8.0.29' };
      case 'getParameter': return { featureCompatibilityVersion: { version: '8.0' }, ...set.parameters };
      case 'setParameter': return done(() => { const { setParameter, ...rest } = command; Object.assign(set.parameters, rest); });
      case 'getDefaultRWConcern': return { defaultWriteConcern: set.writes };
      case 'setDefaultRWConcern': return done(() => { set.writes = command.defaultWriteConcern; });
      case 'find': return { cursor: { id: 0, firstBatch: set.restored ? [{ _id: command.filter._id }] : [] } };
      default: throw failure(59, 'CommandNotFound', `the stand-in knows no ${name}`);
    }
  }
}

module.exports = { Mongo };
