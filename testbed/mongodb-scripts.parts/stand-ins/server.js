// A stand-in for a MongoDB server: a file of JSON that the other stand-ins read and write. It knows the few commands that tasks.js gives.
'use strict';
const fs = require('fs');
const FILE = process.env.STAND_IN_SERVER || '/server.json';
const load = () => JSON.parse(fs.readFileSync(FILE, 'utf8'));
const save = (server) => fs.writeFileSync(FILE, JSON.stringify(server));
const failure = (message, more) => Object.assign(new Error(message), more);

function login(user, password) {
  const server = load();
  if (server.down) throw failure('connect ECONNREFUSED', { name: 'MongoServerSelectionError' });
  if (server.users[user] !== password) throw failure('Authentication failed.', { name: 'MongoServerError', code: 18 });
}

function command(what, database) {
  const server = load();
  const rows = (name) => ((server.databases[database] ||= {})[name] ||= []);
  switch (Object.keys(what)[0]) {
    case 'buildInfo': return { version: server.version };
    case 'hello': return { isWritablePrimary: server.leads };
    case 'getParameter': return { featureCompatibilityVersion: { version: server.fcv } };
    case 'listDatabases': return { databases: Object.keys(server.databases).map((name) => ({ name })) };
    case 'listCollections': return { cursor: { id: 0, firstBatch: Object.keys(server.databases[database] || {}).map((name) => ({ name, type: name.startsWith('view') ? 'view' : 'collection' })) } };
    case 'find': return { cursor: { id: 0, firstBatch: rows(what.find).filter((row) => row._id === what.filter._id) } };
    case 'dropDatabase': delete server.databases[database]; save(server); return {};
    case 'update': {
      const [{ q, u, upsert }] = what.updates;
      const at = rows(what.update).findIndex((row) => row._id === q._id);
      if (u.$set) { if (at >= 0) Object.assign(rows(what.update)[at], u.$set); } else if (at >= 0) rows(what.update)[at] = u; else if (upsert) rows(what.update).push(u);
      save(server);
      return {};
    }
    default: throw failure(`the stand-in knows no ${Object.keys(what)[0]}`, { code: 59, name: 'MongoServerError' });
  }
}

class Mongo {
  constructor(uri) {
    const { username, password } = new URL(uri.replace('mongodb:', 'http:'));
    login(decodeURIComponent(username), decodeURIComponent(password));
  }
  getDB(name) { return { runCommand: async (what) => command(what, name) }; }
  async close() {}
}

module.exports = { Mongo, load, save, login };
