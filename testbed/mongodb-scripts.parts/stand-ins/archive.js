// Archives as mongodump writes them (mongo-tools, common/archive/spec.md), and just enough of BSON for their headers.
'use strict';
const cstring = (text) => Buffer.concat([Buffer.from(text, 'utf8'), Buffer.from([0])]);
function encode(document) {
  const parts = [];
  for (const [name, value] of Object.entries(document)) {
    const field = (type, content) => parts.push(Buffer.from([type]), cstring(name), content);
    if (typeof value === 'string') {
      const text = cstring(value);
      const size = Buffer.alloc(4);
      size.writeInt32LE(text.length);
      field(0x02, Buffer.concat([size, text]));
    } else if (typeof value === 'boolean') field(0x08, Buffer.from([value ? 1 : 0]));
    else if (typeof value === 'bigint') { const content = Buffer.alloc(8); content.writeBigInt64LE(value); field(0x12, content); }
    else { const content = Buffer.alloc(4); content.writeInt32LE(value); field(0x10, content); }
  }
  const body = Buffer.concat([...parts, Buffer.from([0])]);
  const size = Buffer.alloc(4);
  size.writeInt32LE(body.length + 4);
  return Buffer.concat([size, body]);
}
const TERMINATOR = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const split = (name) => (name === 'oplog' ? ['', 'oplog'] : [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)]);

// collections: [[name, [document as bytes…]]…]
function archive(collections, server) {
  const parts = [Buffer.from([0x6d, 0xe2, 0x99, 0x81]), encode({ concurrent_collections: 4, version: '0.1', server_version: server, tool_version: 'stand-in' })];
  for (const [name] of collections) { const [db, collection] = split(name); parts.push(encode({ db, collection, metadata: '{}', size: 0, type: 'collection' })); }
  parts.push(TERMINATOR);
  for (const [name, documents] of collections) {
    const [db, collection] = split(name);
    // in pieces, as several collections at once are written
    for (let at = 0; at < documents.length; at += 100) parts.push(encode({ db, collection, EOF: false, CRC: 0n }), ...documents.slice(at, at + 100), TERMINATOR);
    parts.push(encode({ db, collection, EOF: true, CRC: 0n }), TERMINATOR);
  }
  return Buffer.concat(parts);
}

// The documents of an archive: Map of name to bytes. Written apart from verify.js, which is tried with it.
function unpack(bytes) {
  let at = 4;
  const found = new Map();
  const next = () => {
    if (bytes.readUInt32LE(at) === 0xffffffff) { at += 4; return null; }
    const size = bytes.readInt32LE(at);
    const document = bytes.subarray(at, at + size);
    at += size;
    return document;
  };
  const text = (document, name) => {
    const from = document.indexOf(cstring(name)) + name.length + 1;
    return document.toString('utf8', from + 4, from + 3 + document.readInt32LE(from));
  };
  while (next());
  while (at < bytes.length) {
    const head = next();
    const db = text(head, 'db');
    const name = db ? `${db}.${text(head, 'collection')}` : text(head, 'collection');
    if (!found.has(name)) found.set(name, []);
    for (let document = next(); document; document = next()) found.get(name).push(document);
  }
  return found;
}

module.exports = { encode, archive, unpack };
